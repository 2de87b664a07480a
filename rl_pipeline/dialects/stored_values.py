"""What a table can hold: text without half surrogate pairs, integers of 64 bits."""

from __future__ import annotations

import re

LARGEST_INTEGER = 2**63 - 1
HALF_PAIR = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text without half surrogate pairs, which no file format can hold."""
    return text if text.isascii() else HALF_PAIR.sub("\ufffd", text)
