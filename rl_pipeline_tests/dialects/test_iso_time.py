"""Times of trial files."""

from __future__ import annotations

from datetime import datetime

import pytest

from rl_pipeline.dialects.iso_time import read_time, seconds_between


@pytest.mark.parametrize(
    ("text", "at", "aware"),
    [
        ("2026-01-09T11:22:33.444555Z", datetime(2026, 1, 9, 11, 22, 33, 444555), True),
        ("2026-01-09T11:22:33Z", datetime(2026, 1, 9, 11, 22, 33), True),
        ("2026-01-09 11:22:33.4+02:00", datetime(2026, 1, 9, 9, 22, 33, 400000), True),
        ("2026-01-09T11:22:33.123456789-0530", datetime(2026, 1, 9, 16, 52, 33, 123457), True),
        ("2026-01-09T11:22", datetime(2026, 1, 9, 11, 22), False),
        ("2026-12-31T23:30:00-01:00", datetime(2027, 1, 1, 0, 30), True),
    ],
)
def test_a_time_is_utc_when_it_names_its_zone(text, at, aware):
    assert read_time(text) == (at, aware)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00.000000Z",
        "0001-01-01T00:00:00+23:00",
        "9" * 99,
    ],
)
def test_what_is_no_time_is_missing(text):
    assert read_time(text) is None


def test_seconds_need_one_zone_and_the_right_order():
    start, end, local = (
        read_time(text) for text in ("2026-01-09T11:00:00Z", "2026-01-09T13:00:01+02:00", "2026-01-09T11:00:01")
    )

    assert seconds_between(start, end) == 1.0
    assert seconds_between(end, start) is None
    assert seconds_between(start, local) is None
    assert seconds_between(start, None) is None
