"""Stamps with and without a year."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rl_pipeline.reader.years import Moment, YearResolver, dated_moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-09 11:22:33.444", Moment(datetime(2026, 1, 9, 11, 22, 33, 444000), None)),
        ("2026-01-09 11:22:33,444", Moment(datetime(2026, 1, 9, 11, 22, 33, 444000), None)),
        ("2026-01-09 11:22:33", Moment(datetime(2026, 1, 9, 11, 22, 33), None)),
        ("2026-01-09 11:22:33.444 +0100", Moment(datetime(2026, 1, 9, 10, 22, 33, 444000), "UTC")),
        ("2026-01-09 11:22:33.444 Z", Moment(datetime(2026, 1, 9, 11, 22, 33, 444000), "UTC")),
        ("2026-01-09T11:22:33.444555666Z", Moment(datetime(2026, 1, 9, 11, 22, 33, 444555), "UTC")),
        ("2026-01-09T23:22:33-05:30", Moment(datetime(2026, 1, 10, 4, 52, 33), "UTC")),
        ("2026-02-30 11:22:33.444", None),
        ("0001-01-01 00:00:00 +0100", None),
        ("yesterday", None),
    ],
)
def test_dated_stamps(text, moment):
    assert dated_moment(text) == moment


def test_the_year_is_the_one_that_brings_a_stamp_closest_to_the_dated_line_before():
    years = YearResolver(None, None)
    years.saw(datetime(2025, 12, 31, 23, 59))

    assert years.resolve("01-01 00:00:05") == datetime(2026, 1, 1, 0, 0, 5)
    assert years.resolve("12-31 23:59:58") == datetime(2025, 12, 31, 23, 59, 58)
    assert years.resolve("12-31 23:59:58.250") == datetime(2025, 12, 31, 23, 59, 58, 250000)

    years.saw(datetime(2026, 1, 1, 0, 1))

    assert years.resolve("12-31 23:59:59") == datetime(2025, 12, 31, 23, 59, 59)


def test_the_file_time_serves_when_no_dated_line_does_and_the_log_is_not_from_its_future():
    years = YearResolver(None, datetime(2026, 3, 1, tzinfo=timezone.utc))

    assert years.resolve("02-27 10:00:00") == datetime(2026, 2, 27, 10)
    assert years.resolve("03-02 10:00:00") == datetime(2026, 3, 2, 10)
    assert years.resolve("06-15 10:00:00") == datetime(2025, 6, 15, 10)


def test_without_any_evidence_the_time_is_unknown():
    assert YearResolver(None, None).resolve("02-27 10:00:00") is None


def test_a_leap_day_exists_in_leap_years_only():
    assert YearResolver(datetime(2027, 12, 1), None).resolve("02-29 10:00:00") == datetime(2028, 2, 29, 10)
    assert YearResolver(datetime(2025, 12, 1), None).resolve("02-29 10:00:00") is None
    assert YearResolver(datetime(2025, 12, 1), None).resolve("99-99 10:00:00") is None
