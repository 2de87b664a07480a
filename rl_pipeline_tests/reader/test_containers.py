"""Records of container runtimes."""

from __future__ import annotations

import json

import pytest

from rl_pipeline.reader.containers import LogicalLine, Record, RecordJoiner, record_of

TIME = "2026-01-09T11:22:33.444555666Z"


@pytest.mark.parametrize(
    ("raw", "record"),
    [
        (json.dumps({"log": "a\n", "stream": "stderr", "time": TIME}), Record(b"a", "stderr", TIME, True)),
        (json.dumps({"log": "a", "stream": "stderr", "time": TIME}), Record(b"a", "stderr", TIME, False)),
        (json.dumps({"log": "\ud800\n", "stream": "s", "time": TIME}), Record(b"?", "s", TIME, True)),
        (f"{TIME} stdout F text", Record(b"text", "stdout", TIME, True)),
        (f"{TIME} stderr P te", Record(b"te", "stderr", TIME, False)),
        (f"{TIME} stderr F", Record(b"", "stderr", TIME, True)),
        (f"{TIME} text", None),
        ('{"log": 5}', None),
        ('{"log": "cut', None),
        ('{"loss": 0.5}', None),
        ("plain", None),
    ],
)
def test_records_are_recognised(raw, record):
    assert record_of(raw.encode()) == record


def test_parts_are_joined_per_stream_and_have_the_place_of_the_first():
    joiner = RecordJoiner()

    assert joiner.take(f"{TIME} stderr P ab".encode(), 1, 0) == []
    assert joiner.take(f"{TIME} stdout F other".encode(), 2, 50) == [LogicalLine(b"other", 2, 50, TIME)]
    assert joiner.take(b"no record", 3, 100) == [LogicalLine(b"no record", 3, 100, None)]
    assert joiner.take(f"{TIME} stderr F cd".encode(), 4, 150) == [LogicalLine(b"abcd", 1, 0, TIME)]
    assert joiner.close() == []


def test_parts_whose_end_never_came_are_handed_on_at_the_end():
    joiner = RecordJoiner()
    joiner.take(f"{TIME} stderr P ab".encode(), 1, 0)

    assert joiner.close() == [LogicalLine(b"ab", 1, 0, TIME)]


def test_parts_without_end_do_not_fill_the_memory():
    joiner = RecordJoiner()
    part = f"{TIME} stderr P ".encode() + b"x" * 1_000_000

    lengths = [len(line.raw) for number in range(40) for line in joiner.take(part, number, 0)]

    assert lengths == [17_000_000, 17_000_000]
