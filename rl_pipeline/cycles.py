"""How often Python looks for cycles of objects while much is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_BETWEEN_LOOKS = 100_000


def look_rarely_for_cycles() -> None:
    """Raise the number of new objects between two looks; where Python does not look at all, it stays so."""
    usual = gc.get_threshold()
    gc.set_threshold(max(usual[0], OBJECTS_BETWEEN_LOOKS) if usual[0] else 0, *usual[1:])


@contextmanager
def rare_looks_for_cycles() -> Iterator[None]:
    """Reading makes many objects and no cycles; each look for some would go through all that the program holds."""
    usual = gc.get_threshold()
    look_rarely_for_cycles()
    try:
        yield
    finally:
        gc.set_threshold(*usual)
