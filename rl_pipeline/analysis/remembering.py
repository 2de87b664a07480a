"""What was made of frames, remembered for as long as these frames are there.

Many parts of an analysis begin with the same rows. Who gets a remembered result shares it: neither the frames nor
the result may be changed afterwards.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import pandas as pd

P = ParamSpec("P")
R = TypeVar("R")


def remembered(make: Callable[P, R]) -> Callable[P, R]:
    """The same function of frames (told apart by identity) and hashable values; it is called once for each of them."""
    known: dict[object, tuple[list[weakref.ref[pd.DataFrame]], R]] = {}

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        values = (*args, *sorted(kwargs.items()))
        frames = [value for value in args if isinstance(value, pd.DataFrame)]
        key = tuple(id(value) if isinstance(value, pd.DataFrame) else value for value in values)
        if key in known:
            return known[key][1]
        result = make(*args, **kwargs)
        if all(result is not frame for frame in frames):  # such a frame would keep itself
            known[key] = [weakref.ref(frame, lambda _: known.pop(key, None)) for frame in frames], result
        return result

    return made
