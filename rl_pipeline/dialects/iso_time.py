"""ISO 8601 times as trial files write them: with `Z`, an offset or nothing; decimals are rounded to microseconds."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

ISO_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(Z|z|[+-]\d\d:?\d\d(?::?\d\d)?)?"
)
USUAL = "2026-01-09T11:22:33.444555Z"  # as Harbor writes nearly all of them; read without the pattern
LONGEST = 60
MICROSECOND_DIGITS = 6


class Moment(NamedTuple):
    """A time without zone information of Python's; `aware`: it is UTC, else local to whoever wrote it."""

    at: datetime
    aware: bool


def read_time(text: str | None) -> Moment | None:
    """The moment, in UTC when the text names its zone; None for text that is no time.

    >>> read_time("2026-01-09T11:22:33.4445Z").at.microsecond
    444500
    >>> read_time("2026-01-09T11:22:33+02:00").at.hour
    9
    """
    if text is None or len(text) > LONGEST:
        return None
    if len(text) == len(USUAL) and text[-1] == "Z":
        try:
            return Moment(datetime.fromisoformat(text[:-1]), aware=True)
        except ValueError:
            pass
    found = ISO_TIME.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, decimals, zone = found.groups()
    tenths = int((decimals or "0")[: MICROSECOND_DIGITS + 1].ljust(MICROSECOND_DIGITS + 1, "0"))
    try:
        at = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))
        return Moment(at + timedelta(microseconds=(tenths + 5) // 10) - offset_of(zone), aware=zone is not None)
    except (ValueError, OverflowError):
        return None


def offset_of(zone: str | None) -> timedelta:
    """The distance of a zone from UTC; 0 for `Z` and for none."""
    if zone is None or zone in "Zz":
        return timedelta(0)
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]), seconds=int(digits[4:6] or 0))
    return -offset if zone[0] == "-" else offset


def seconds_between(start: Moment | None, end: Moment | None) -> float | None:
    """Seconds from start to end; None when one is missing, only one has a zone, or the end comes first."""
    if start is None or end is None or start.aware != end.aware:
        return None
    seconds = (end.at - start.at).total_seconds()
    return seconds if seconds >= 0 else None
