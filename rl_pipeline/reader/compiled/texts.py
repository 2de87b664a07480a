"""What all loops do with bytes: compare them, and read their digits."""

from __future__ import annotations

from numba import njit

LINE_FEED, ZERO, NINE = 10, 48, 57
MOST_DIGITS = 9
NO_NUMBER = -(10**12)


@njit(nogil=True)
def is_same_at(data, begin, text, first, length):
    """Whether so many bytes are those of a text from a place of it on."""
    for place in range(length):
        if data[begin + place] != text[first + place]:
            return False
    return True


@njit(nogil=True)
def number_at(data, begin, count):
    """So many digits as a number; a large negative one when one is none."""
    value = 0
    for place in range(begin, begin + count):
        if not ZERO <= data[place] <= NINE:
            return NO_NUMBER
        value = value * 10 + (data[place] - ZERO)
    return value
