"""Where a quantity cannot be: intervals are cut there, and axes do not go beyond."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rl_pipeline.report.charts.chart import rounded
from rl_pipeline.report.formatting import significant

ROOM = 0.1  # of the values' span that an axis leaves beyond them


class Bounds(NamedTuple):
    """Smallest and largest possible value; None where there is none."""

    low: float | None = None
    high: float | None = None


ANYWHERE, NOT_NEGATIVE, FRACTION = Bounds(), Bounds(low=0.0), Bounds(low=0.0, high=1.0)


def interval_within(low: float | None, high: float | None, bounds: Bounds) -> tuple[float | None, float | None]:
    """Ends of an interval, cut at the bounds, to a chart's digits."""
    if low is not None and bounds.low is not None:
        low = max(low, bounds.low)
    if high is not None and bounds.high is not None:
        high = min(high, bounds.high)
    return rounded(low), rounded(high)


def cut_words(intervals: Iterable[tuple[float | None, float | None]], bounds: Bounds) -> str:
    """`, cut at 1` where an interval went beyond a bound; empty where none did."""
    found = tuple(intervals)
    at = [bounds.low] if any(_is_below(low, bounds.low) for low, _ in found) else []
    at += [bounds.high] if any(_is_below(bounds.high, high) for _, high in found) else []
    return f", cut at {' and '.join(significant(bound) for bound in at)}" if at else ""


def _is_below(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and a < b


def value_scale(values: Iterable[float | None], bounds: Bounds, *, padding: int) -> dict[str, Any]:
    """A scale around the values that ends at a bound which it would pass otherwise.

    Args:
        values: everything that is drawn on it.
        bounds: of the quantity.
        padding: pixels left free at the ends.
    """
    known = [value for value in values if value is not None]
    free: dict[str, Any] = {"zero": False, "padding": padding}
    if not known:
        return free
    lowest, highest = min(known), max(known)
    room = ROOM * (highest - lowest)
    is_low = bounds.low is not None and lowest - room <= bounds.low
    is_high = bounds.high is not None and highest + room >= bounds.high
    if not is_low and not is_high:
        return free
    low = bounds.low if is_low and bounds.low is not None else lowest - room
    high = bounds.high if is_high and bounds.high is not None else highest + room
    if low == high:  # nothing but the bound itself: an axis needs a second end
        low, high = (low, low + 1.0) if is_low else (high - 1.0, high)
    return {"domain": [low, high], "nice": True, "zero": False}
