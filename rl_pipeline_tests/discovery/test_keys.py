"""Keys are short slugs; a name gives always the same one, and two names never share one by accident."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.discovery.keys import is_partition_key, job_key, partition_key

VALID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$")
NAMES = st.text(max_size=300) | st.text("ab.-_/ ", max_size=130)


@pytest.mark.parametrize("name", ["a3-rl-selfinstruct-naive-sandboxes-2-verified-8b", "x", "Exp_1.2-b", "9" * 120])
def test_a_name_that_fits_is_its_own_key(name):
    assert partition_key(name) == name


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("grpo / lr 1e-6", "grpo-lr-1e-6-"),
        ("../../etc/passwd", "etc-passwd-"),
        ("", "unnamed-"),
        (".", "unnamed-"),
        ("été", "t-"),
        ("from...to", "from-to-"),
        ("n" * 121, "n" * 111 + "-"),
        ("-starts-with-a-dash", "starts-with-a-dash-"),
        ("line\nbreak", "line-break-"),
    ],
)
def test_another_name_becomes_readable_with_a_digest_behind(name, readable):
    key = partition_key(name)

    assert key.startswith(readable)
    assert re.fullmatch(r"[0-9a-f]{8}", key[-8:])
    assert len(key) == len(readable) + 8


@given(NAMES)
def test_every_key_is_valid_and_stays_itself(name):
    key = partition_key(name)

    assert VALID.match(key)
    assert "..." not in key
    assert is_partition_key(key)
    assert partition_key(key) == key


@given(NAMES, NAMES)
def test_different_names_have_different_keys(first, second):
    if first != second:
        assert partition_key(first) != partition_key(second)


@given(st.from_regex(r"[a-z][a-z_.0-9]{0,20}", fullmatch=True), st.from_regex(r"[a-z][a-z_.0-9]{0,20}", fullmatch=True))
def test_no_two_jobs_of_different_experiments_share_a_key(first, second):
    for first_id in ("1", "2_1", "1_2"):
        for second_id in ("1", "2_1", "1_2"):
            if (first, first_id) != (second, second_id):
                assert job_key(first, first_id) != job_key(second, second_id)


def test_the_key_of_a_job_is_its_experiment_and_its_id():
    assert job_key("demo", "567548") == "demo_567548"
    assert job_key("demo", "918273_4") == "demo_918273.4"
