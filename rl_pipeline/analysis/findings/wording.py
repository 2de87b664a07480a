"""How numbers are written in the sentences of findings.

Fractions become percent with one decimal; 0 % and 100 % appear only when exact. A missing number is a dash.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

MISSING = "–"


def percent(fraction: float | None, decimals: int = 1) -> str:
    """A fraction as percent; the smallest and largest printable values stand for what lies beyond."""
    if fraction is None or not math.isfinite(fraction):
        return MISSING
    smallest = 10**-decimals
    shown = fraction * 100
    if fraction != 0 and abs(shown) < smallest / 2:
        return f"< {smallest:.{decimals}f} %"
    if fraction != 1 and round(shown, decimals) == 100:
        return f"> {100 - smallest:.{decimals}f} %" if fraction < 1 else f"{shown:.{decimals}f} %"
    return f"{shown:.{decimals}f} %"


def number(value: float | None, decimals: int = 3) -> str:
    """A number with so many decimals and thousands separated."""
    if value is None or math.isnan(value):
        return MISSING
    return "∞" if math.isinf(value) else f"{value:,.{decimals}f}"


def signed(value: float | None, decimals: int = 3) -> str:
    """The same with its sign, for differences and slopes."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:+,.{decimals}f}".replace("-", "−")


def significant(value: float | None, digits: int = 2) -> str:
    """A number with so many significant digits, for p-values and other small numbers."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{value:.{digits}g}"


def steps_text(steps: Iterable[int]) -> str:
    """Step numbers as ranges: 9–10, 51."""
    ordered = sorted(set(steps))
    parts: list[str] = []
    start = previous = None
    for step in [*ordered, None]:
        if start is None:
            start = previous = step
        elif step is not None and previous is not None and step == previous + 1:
            previous = step
        else:
            parts.append(str(start) if start == previous else f"{start}–{previous}")
            start = previous = step
    return ", ".join(parts)
