"""Time stamps of log lines: with date, or without a year that must come from elsewhere.

Dated stamps become a `datetime`: UTC with zone "UTC" where they name an offset, naive local time with zone None
otherwise. A stamp without year takes the year that brings it closest to the dated stamp before it in the file (or
the first dated one of the file's beginning), which also works across New Year; without any it may not lie more
than a month after the file's own time; without that it stays unknown.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

DATED = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?: ?(Z|[+-]\d\d:?\d\d))?")
UNDATED = re.compile(r"(\d\d-\d\d \d\d:\d\d:\d\d)[.,](\d{1,9})")
AFTER_FILE_TIME = timedelta(days=31)  # clocks differ, and a copy may carry an older file time

A_YEAR = timedelta(days=366)
HALF_A_YEAR = timedelta(days=182)  # no other year can be closer


class Moment(NamedTuple):
    """A time and what is known about its zone ("UTC", or None for unmarked local time)."""

    at: datetime
    zone: str | None


def dated_moment(text: str) -> Moment | None:
    """The moment of a stamp with date; None when it is not one (or no day of the calendar)."""
    try:
        if len(text) == 23 and text[20:].isdigit():  # loguru and logging: milliseconds, no zone
            return Moment(datetime.fromisoformat(text.replace(",", ".")), None)
        found = DATED.fullmatch(text)
        if found is None:
            return None
        day, clock, fraction, offset = found.groups()
        at = datetime.fromisoformat(f"{day} {clock}")
        if fraction:
            at += timedelta(microseconds=int(fraction[:6].ljust(6, "0")))
        return Moment(at, None) if offset is None else Moment(at - _offset(offset), "UTC")
    except (ValueError, OverflowError):
        return None


def _offset(text: str) -> timedelta:
    if text == "Z":
        return timedelta()
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timedelta(minutes=-minutes if text[0] == "-" else minutes)


class YearResolver:
    """Remembers dated evidence in file order and completes stamps of the form `MM-DD HH:MM:SS`."""

    def __init__(self, first_dated: datetime | None, anchor: datetime | None) -> None:
        """`first_dated` is the first dated time of the file's beginning, `anchor` the file's own time."""
        self._evidence = first_dated
        if anchor is not None and anchor.tzinfo is not None:
            anchor = anchor.astimezone(timezone.utc).replace(tzinfo=None)
        self._anchor = anchor

    @property
    def evidence(self) -> datetime | None:
        """The dated time in whose light stamps without year are read at present."""
        return self._evidence

    def saw(self, at: datetime) -> None:
        """A dated line was read."""
        self._evidence = at

    def resolve(self, stamp: str) -> datetime | None:
        """`MM-DD HH:MM:SS[.fff]` with its year; naive local time, or None when nothing tells the year."""
        near = self._evidence or self._anchor
        if near is None:
            return None
        if self._evidence is not None and (at := _in_year(stamp, near.year)) and abs(at - near) < HALF_A_YEAR:
            return at
        candidates = [at for year in (near.year - 1, near.year, near.year + 1) if (at := _in_year(stamp, year))]
        candidates = [at for at in candidates if abs(at - near) <= A_YEAR]  # a leap day may be farther away
        if self._evidence is None:
            candidates = [at for at in candidates if at - near <= AFTER_FILE_TIME]
        return min(candidates, key=lambda at: abs(at - near), default=None)


def _in_year(stamp: str, year: int) -> datetime | None:
    """The stamp in that year; None for 29 February of a common year and for no date at all."""
    try:
        if len(stamp) == 14:
            return datetime.fromisoformat(f"{year:04d}-{stamp}")
        found = UNDATED.fullmatch(stamp)
        if found is None:
            return None
        at = datetime.fromisoformat(f"{year:04d}-{found.group(1)}")
        return at.replace(microsecond=int(found.group(2)[:6].ljust(6, "0")))
    except ValueError:
        return None
