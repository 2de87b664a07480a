"""Numbers and times as text. The only place where fractions become percent and seconds become hours.

Three promises: what is absent prints as `—`, never as 0; a printed `0 %` or `100 %` is exact
(`< 0.1 %` otherwise); and the text reads back to within half a unit of its last digit.
Markdown keeps the ASCII minus, so that its tables can be read by programs; `typographic` gives
pages the real one.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

from rl_pipeline.units import SECONDS_PER_HOUR

ABSENT = "—"
NARROW_SPACE = "\u202f"
MINUS = "−"
LOOSE_PERCENT = re.compile(r"(\d) (%|×(?! \d))")
SIGNIFICANT_DIGITS = 6
TINY, HUGE = 1e-4, 1e12  # beyond these a number is written with a power of ten
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
TITLE_WORD = re.compile(r"\(?[A-Z][a-z]*\)?[:,;]?")
NAMES = {"Parquet", "Harbor", "Ray", "Markdown"}
WHOLE = re.compile(r"\d{4,15}")


def fixed(value: float | None, digits: int) -> str:
    """A number with that many decimals."""
    return ABSENT if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def significant(value: float | None, digits: int = SIGNIFICANT_DIGITS) -> str:
    """A number with that many significant digits, without trailing zeros."""
    return ABSENT if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def readable(value: float | None, digits: int = 4) -> str:
    """A number of any size as a person reads it: 30,310, 0.0184, 1.5 × 10⁻⁵; never `-0`."""
    if value is None or not math.isfinite(value):
        return ABSENT
    size = abs(value)
    if size >= 10 ** (digits - 1):
        return f"{value:,.0f}" if size < HUGE else _with_power(value)
    if value == 0:
        return "0"
    return f"{value:.{digits}g}" if size >= TINY else _with_power(value)


def _with_power(value: float) -> str:
    factor, power = f"{value:.1e}".split("e")
    return f"{factor} × 10{str(int(power)).translate(RAISED)}"


def grouped(text: str) -> str:
    """Whole numbers of a table's cell with separated thousands: `84740` → `84,740`; other text as it is."""
    return f"{int(text):,}" if WHOLE.fullmatch(text) else text


def count(value: int | None) -> str:
    """A count as a program reads it: no separators."""
    return ABSENT if value is None else str(value)


def thousands(value: int | None) -> str:
    """A count as a person reads it: 44,526."""
    return ABSENT if value is None else f"{value:,}"


def published_percent(fraction: float | None, digits: int = 1) -> str:
    """Percent as the published tables print it, `0.0%` for a very small share included."""
    return ABSENT if fraction is None or not math.isfinite(fraction) else f"{fraction * 100:.{digits}f}%"


def percent(fraction: float | None, digits: int = 1) -> str:
    """Percent for sentences: narrow space, and 0 % or 100 % only when it is exactly that."""
    if fraction is None or not math.isfinite(fraction):
        return ABSENT
    if fraction in (0.0, 1.0):
        return f"{fraction * 100:.0f}{NARROW_SPACE}%"
    text, unit = f"{abs(fraction) * 100:.{digits}f}", 10.0**-digits
    sign = "-" if fraction < 0 else ""
    if float(text) == 0.0:
        return f"{'> -' if sign else '< '}{unit:.{digits}f}{NARROW_SPACE}%"
    if abs(fraction) < 1 and float(text) >= 100.0:
        return f"{'< -' if sign else '> '}{100 - unit:.{digits}f}{NARROW_SPACE}%"
    return f"{sign}{text}{NARROW_SPACE}%"


def duration(seconds: float | None) -> str:
    """Seconds as people say them: 41 s, 12.6 min, 19.63 h."""
    if seconds is None or not math.isfinite(seconds):
        return ABSENT
    size = abs(seconds)
    if size < 120:
        return f"{seconds:.1f} s"
    if size < 2 * SECONDS_PER_HOUR:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / SECONDS_PER_HOUR:.2f} h"


def size(number_of_bytes: int | None) -> str:
    """Bytes in decimal multiples: 17.0 MB."""
    if number_of_bytes is None:
        return ABSENT
    value = float(number_of_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def moment(time: datetime | None, zone: str | None = None) -> str:
    """A time to the second; without a zone it is the node's local time."""
    if time is None:
        return ABSENT
    return f"{time.replace(microsecond=0, tzinfo=None).isoformat(sep=' ')}{' UTC' if zone == 'UTC' else ''}"


def span(start: datetime | None, end: datetime | None) -> str:
    """How long it took from one time to another."""
    if start is None or end is None:
        return ABSENT
    difference: timedelta = end - start
    return duration(difference.total_seconds())


def interval(low: float | None, high: float | None, digits: int) -> str:
    """Bounds in brackets; `—` when either is missing."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ABSENT
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def signed(value: float | None, digits: int) -> str:
    """A difference: the sign is always there, except on an exact 0."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return f"{value:+.{digits}f}" if value else f"{0:.{digits}f}"


def p_value(value: float | None) -> str:
    """A probability with two significant digits, `< 0.0001` below that."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def p_equals(value: float | None) -> str:
    """The same as part of a sentence: `p = 0.03`, `p < 0.0001`."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def sentence_case(text: str) -> str:
    """A heading of the Markdown report as pages write it: `How the Jobs Chain` → `How the jobs chain`."""
    first, *rest = text.split(" ")
    return " ".join(
        [first, *(word.lower() if TITLE_WORD.fullmatch(word) and word not in NAMES else word for word in rest)]
    )


def typographic(text: str) -> str:
    """The same text for pages: real minus signs, no line break between a number and its percent or times sign."""
    signed_text = text
    if "-" in text:
        signed_text = "".join(MINUS if is_minus(text, place) else sign for place, sign in enumerate(text))
    return LOOSE_PERCENT.sub(rf"\1{NARROW_SPACE}\2", signed_text)


def is_minus(text: str, place: int) -> bool:
    """Whether the hyphen at that place is the sign of a number."""
    before, after = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    return text[place] == "-" and after.isdigit() and not (before.isalnum() or before in {"-", "_", "."})
