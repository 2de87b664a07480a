"""Credentials of trials are counted as if every text were searched whole."""

from __future__ import annotations

import json

import pytest

from rl_pipeline.dialects.harbor_secrets import SecretCounter
from rl_pipeline.redaction import redact

SECRET = "abcd1234efgh5678ijkl"
CONFIGURATIONS = [
    {"task": {"path": "/scratch/tasks/one"}, "agent": {"kwargs": {"api_key": None, "max_tokens": 5}}},
    {"task": {"path": "/scratch/tasks/two"}, "agent": {"kwargs": {"api_key": SECRET, "max_tokens": 5}}},
    {"env": [f"HF_TOKEN={SECRET}", f"HF_TOKEN={SECRET}"]},
    {"env": {"text": f'{{"api_key": "{SECRET}"}}'}},
    {"url": "postgresql://ada:s3cret@db/runs"},
    {"api_key": [SECRET]},
    {},
]


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("separators", [None, (",", ":")])
def test_the_count_does_not_depend_on_what_was_seen_before(indent, separators):
    counter = SecretCounter()
    texts = [json.dumps(config, indent=indent, separators=separators) for config in CONFIGURATIONS]

    for text in [*texts, *texts]:
        assert counter.count(text.encode()) == sum(redact(text).found.values())


def test_secrets_are_found_however_the_file_is_laid_out():
    found = [SecretCounter().count(json.dumps(config, indent=4).encode()) for config in CONFIGURATIONS]

    assert found == [0, 1, 2, 1, 1, 0, 0]


def test_a_value_in_the_line_after_its_name_is_seen():
    counter = SecretCounter()

    assert [counter.count(f'{{"api_key":\n"{SECRET}"}}'.encode()) for _ in range(2)] == [1, 1]


def test_a_line_that_announces_a_credential_of_the_next_one_is_not_taken_for_harmless():
    counter = SecretCounter()
    texts = [
        '"api_key":',
        f'"api_key":\n"{SECRET}"',
        "Bearer ",
        f"Bearer \n{SECRET}",
        '"max_tokens":',
        '"max_tokens":\n5',
    ]

    assert [counter.count(text.encode()) for text in texts] == [0, 1, 0, 1, 0, 0]
    assert counter.count_all([text.encode() for text in texts], [()] * len(texts)) == [0, 1, 0, 1, 0, 0]


def test_what_is_remembered_is_bounded():
    counter = SecretCounter()

    for number in range(3000):
        assert counter.count(f'{{\n"a": {number},\n"b": {number}\n}}'.encode()) == 0
    assert counter.count(f'{{\n"api_key": "{SECRET}"\n}}'.encode()) == 1
