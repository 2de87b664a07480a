"""Rows of a frame by group as places, for numbers that are taken from arrays and not from a frame for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Places = npt.NDArray[np.intp]


def row_groups(frame: pd.DataFrame, keys: Sequence[Any], *, sort: bool, dropna: bool = True) -> list[Places]:
    """Places of the rows of each group, in order; the groups that `frame.groupby` gives, in its order."""
    number = frame.groupby(list(keys), sort=sort, dropna=dropna).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    order = order[number[order] >= 0]  # those without a key have none
    if not order.size:
        return []
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
