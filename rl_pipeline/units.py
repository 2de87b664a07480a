"""Units of table columns and catalogued metrics.

Tables hold SI-like base units only: seconds, bytes, tokens, tokens per second, nats, fractions
between 0 and 1, pure numbers. Percent, minutes and gigabytes appear in `report.formatting` alone
(metrics that a trainer itself logs in GiB or percent keep its unit, and say so here).
"""

from __future__ import annotations

from enum import Enum


class Unit(str, Enum):
    """What one step of a number means; the value is the text printed in column descriptions."""

    ONE = "1"
    TEXT = "text"
    TIME = "timestamp"
    SECONDS = "s"
    BYTES = "bytes"
    TOKENS = "tokens"
    TOKENS_PER_SECOND = "tokens/s"
    FRACTION = "fraction 0–1"
    PERCENT = "%"
    NATS = "nats"
    REQUESTS = "requests"
    GIBIBYTES = "GiB"
    REWARD = "reward"
    STEPS = "steps"
    USD = "USD"
    FLAG = "true/false"
    MAP = "map"


SECONDS_PER_HOUR = 3600.0
