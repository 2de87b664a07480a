"""Token ids are cut out, whole and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.dialects.token_ids import WORTH_IT, end_of_value, without_token_ids

PADDING = " " * WORTH_IT
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(st.sampled_from('ab[]{}"\\:,'), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def big(document: Any, indent: int | None = None) -> bytes:
    return (json.dumps(document, indent=indent) + PADDING).encode()


@given(details=VALUES, rest=VALUES, indent=st.sampled_from([None, 2]))
def test_the_rest_of_the_document_stays(details: Any, rest: Any, indent: int | None):
    document = {"a": rest, "agent_result": {"rollout_details": details, "b": rest}, "c": rest}

    told = json.loads(without_token_ids(big(document, indent)))

    told["agent_result"]["rollout_details"] = details
    assert told == document


@given(value=VALUES.filter(lambda value: isinstance(value, list | dict)), tail=st.binary(max_size=5))
def test_a_value_ends_where_its_bracket_closes_or_is_left_alone(value: Any, tail: bytes):
    data = json.dumps(value).encode()

    assert end_of_value(data + tail, 0) in {len(data), None}


def test_numbers_leave_the_document():
    details = [{"prompt_token_ids": [list(range(9000))], "logprobs": [[-0.5] * 9000], "extra": {}}] * 3

    assert len(without_token_ids(big({"rollout_details": details, "steps": [{"rollout_details": details}]}))) < 33_000


@pytest.mark.parametrize(
    "text",
    [
        '{"rollout_details": [[1, 2',
        '{"rollout_details": [1}]',
        '{"rollout_details": ["\\""]}',
        '{"x": "rollout_details"}',
    ],
)
def test_what_does_not_end_as_it_should_stays_as_it_is(text: str):
    data = (text + PADDING).encode()

    assert without_token_ids(data) == data


def test_a_small_document_stays_as_it_is():
    assert without_token_ids(b'{"rollout_details": [1]}') == b'{"rollout_details": [1]}'


def test_hostile_nesting_is_left_to_the_decoder():
    data = b'{"rollout_details": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

    assert without_token_ids(data) == data
