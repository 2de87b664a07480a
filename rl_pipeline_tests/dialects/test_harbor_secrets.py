"""Credentials of trials are counted as if every text were searched whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.dialects.harbor_secrets import SecretCounter, suspects
from rl_pipeline.reader import text_marks
from rl_pipeline.redaction import may_hold_any, redact

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
    assert counter.count_all([text.encode() for text in texts]) == [0, 1, 0, 1, 0, 0]


# Digits, letters and names that differ only a little, and make a credential or none.
LIKE_TEXTS = [
    *(f"sandbox {begin}{'a1b2c3d4' * 5} failed" for begin in ("e2b_", "e3b_", "tgp_v1_", "tgp_v2_", "ya29.", "ya28.")),
    *(f"login {name}: hunter2aB3dE9fG5h" for name in ("task-one", "reset-password", "password")),
    *(f"API_{name}={SECRET}" for name in ("xyz", "KEY", "key")),
    "cannot start hello-world now",
    f"cannot start hf_{'a1B2c3D4' * 5} now",
]


VALUES = st.sampled_from(
    ["", "1", "a", "bb", SECRET, '"', ', "', ',"', "\n", ",", ": ", "task-1", "key", "api_key", "x" * 20]
)
TEXT_OF = st.lists(st.lists(VALUES, max_size=2).map("".join), min_size=3, max_size=3)


@pytest.mark.parametrize("end", ["\n", ', "', ',"'])
@given(st.lists(TEXT_OF, min_size=3, max_size=12))
def test_texts_that_are_built_alike_are_counted_as_each_by_itself(end: str, values: list[list[str]]):
    counter = SecretCounter()
    texts = [f'{{"a": "{a}{end}b": {b}{end}"same": 1{end}"api_key": "{c}{end}"last": 0}}' for a, b, c in values]
    told = [text.encode() for text in texts]
    alone = [sum(redact(text).found.values()) for text in texts]

    for size in (1, 2, len(told)):  # a frame is learned from the first ones
        parts = [told[first : first + size] for first in range(0, len(told), size)]
        assert [found for part in parts for found in counter.count_all(part)] == alone


@pytest.mark.parametrize("end", [b"\n", b', "', b',"'])
@pytest.mark.parametrize("odd", [b"x%sy", b"%sxy", b"xy%s"])
def test_a_text_as_long_as_others_with_a_line_more_is_not_taken_for_one_of_them(end: bytes, odd: bytes):
    counter = SecretCounter()
    usual = b"_" * len(end)
    alike = [b'{"a": 1%s"b": %s%s%s"c": 3}' % (end, usual, word, end) for word in (b"aa", b"bb", b"cc", b"dd")]
    other = alike[0].replace(usual + b"aa", odd.replace(b"%s", end))

    assert [counter.count(text) for text in [*alike, *alike]] == [0] * 8
    assert len(other) == len(alike[0])
    assert None not in [counter._lines_that_differ(text) for text in alike]
    assert counter._lines_that_differ(other) is None


@pytest.mark.parametrize("is_compiled", [True, False])
@given(parts=st.lists(st.sampled_from(LIKE_TEXTS), min_size=2, max_size=9), alike=st.booleans())
def test_a_text_that_looks_like_a_harmless_one_is_counted_as_what_it_is(is_compiled: bool, parts, alike: bool):
    texts = [f'{{"a": 1,\n"b": "{part}",\n"c": 2}}'.encode() if alike else part.encode() for part in parts]
    counter = SecretCounter()

    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.setattr(text_marks, "load", lambda: None)
        found = [*counter.count_all(texts[:2]), *counter.count_all(texts[2:])]

    assert found == [sum(redact(text.decode()).found.values()) for text in texts]


@given(st.lists(st.sampled_from(["plain", "task-1", "disk-4", "ſecret", "é", f"api_key={SECRET}", "sk-", "\ud800"])))
def test_suspects_are_the_same_where_nothing_was_compiled(texts: list[str]):
    compiled = suspects(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_marks, "load", lambda: None)
        assert set(compiled) <= set(suspects(texts))
    assert compiled == [text for text in texts if may_hold_any(text)]


def test_what_is_remembered_is_bounded():
    counter = SecretCounter()

    for number in range(3000):
        assert counter.count(f'{{\n"a": {number},\n"b": {number}\n}}'.encode()) == 0
    assert counter.count(f'{{\n"api_key": "{SECRET}"\n}}'.encode()) == 1
