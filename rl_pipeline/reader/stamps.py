"""Times of many lines at once, from the digits at a known place of each.

A stamp with date is `2026-01-09 11:22:33.444`, one without is `01-09 11:22:33`; what is no time of the calendar is
not valid here and left to those who read one line at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

EPOCH = date(1970, 1, 1).toordinal()
DATED_STAMP, UNDATED_STAMP = 23, 14  # characters
DAY, SECOND = 86_400_000_000, 1_000_000  # microseconds
A_LEAP_YEAR, LEAP_DAY = 2024, 229
NO_DAY = -1 << 40
CLOSE = timedelta(days=100)  # nearer than that no other year can be closer, a month and a day earlier or later
Resolve = Callable[[int, str], "datetime | None"]


@dataclass(frozen=True, slots=True)
class Stamps:
    """Stamps of lines, arrays of one length.

    `days`: days since 1970 of dated stamps; month × 100 + day of those without year. `clock`: microseconds of the day.
    """

    np: Any
    days: Any
    clock: Any
    valid: Any

    def chosen(self, rows: Any) -> Stamps:  # noqa: ANN401 - an array of numpy
        """Some of them."""
        return Stamps(self.np, self.days[rows], self.clock[rows], self.valid[rows])

    def moments(self) -> list[datetime]:
        """The times of dated stamps."""
        found: list[datetime] = (self.days * DAY + self.clock).astype("datetime64[us]").tolist()
        return found

    def with_years(self, near: Sequence[datetime], resolve: Resolve) -> Any:  # noqa: ANN401 - an array of numpy
        """The times of stamps without year, as datetime64[us].

        Args:
            near: the earliest and the latest dated time around, in whose light the stamps are read.
            resolve: the time of the stamp of a row, or None; asked for the first stamp of each day, and for every
                stamp only where dated times and stamps do not lie close together.
        """
        np = self.np
        found = np.empty(len(self.days), "datetime64[us]")
        for day in np.unique(self.days).tolist():
            rows = np.flatnonzero(self.days == day)
            first = resolve(int(rows[0]), self._told(rows[0]))
            if first is not None and all(abs(first - at) < CLOSE for at in near):
                begin = (first.toordinal() - EPOCH) * DAY
                found[rows] = (begin + self.clock[rows]).astype("datetime64[us]")
                continue
            for row in rows.tolist():
                at = resolve(row, self._told(row))
                found[row] = np.datetime64("NaT") if at is None else np.datetime64(at, "us")
        return found

    def _told(self, row: int) -> str:
        """A stamp without year as it was printed."""
        day, seconds = int(self.days[row]), int(self.clock[row]) // SECOND
        return f"{day // 100:02d}-{day % 100:02d} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def stamps_of(np: Any, days: Any, clock: Any, dated: Any) -> Stamps:  # noqa: ANN401 - numpy and its arrays
    """Stamps that a calendar has; 29 February without a year is left to others.

    Args:
        np: numpy.
        days: year × 10000 + month × 100 + day, the year 0 of those without; -1: no stamp.
        clock: microseconds of the day.
        dated: whether a stamp has a date.
    """
    told, places = np.unique(days * 2 + dated, return_inverse=True)  # a log may name another day on each line
    since = np.array([_days_since(stamp // 2, has_year=bool(stamp % 2)) for stamp in told.tolist()], np.int64)[places]
    return Stamps(np, np.where(dated, since, days), clock, (days >= 0) & (since != NO_DAY))


def _days_since(day: int, *, has_year: bool) -> int:
    """Days from 1970 to a day as it was read, of some leap year where none is told; `NO_DAY` of what is to be left."""
    try:
        ordinal = date(day // 10_000 if has_year else A_LEAP_YEAR, day // 100 % 100, day % 100).toordinal()
    except ValueError:
        return NO_DAY
    return ordinal - EPOCH if has_year or day != LEAP_DAY else NO_DAY
