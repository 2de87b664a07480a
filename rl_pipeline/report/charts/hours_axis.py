"""An axis of hours that is told in minutes where there are few: the data stay hours."""

from __future__ import annotations

from typing import Any

MINUTES_BELOW = 2.0  # hours
MOST_TICKS = 12
MINUTES_BETWEEN = (1, 2, 5, 10, 15)  # ticks


def hours_axis(hours: float, behind: str = "") -> dict[str, Any]:
    """Title and axis of a channel in hours.

    Args:
        hours: the largest value.
        behind: what follows the unit in the title: `since the first line`.
    """
    unit = "hours" if hours >= MINUTES_BELOW else "minutes"
    title = f"{unit} {behind}".rstrip()
    if unit == "hours":
        return {"title": title}
    step = next((step for step in MINUTES_BETWEEN if hours * 60 / step <= MOST_TICKS), MINUTES_BETWEEN[-1])
    minutes = range(0, int(hours * 60) + 1, step)
    return {
        "title": title,
        "axis": {"values": [minute / 60 for minute in minutes], "labelExpr": "format(datum.value * 60, '.0f')"},
    }
