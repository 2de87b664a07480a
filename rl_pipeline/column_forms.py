"""Columns of many rows in the forms in which they are at hand, beside arrays of numpy, lists, and one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Chosen(NamedTuple):
    """Each row has one of few values: `choices[numbers[row]]`."""

    choices: Sequence[Any]
    numbers: Any


class Known(NamedTuple):
    """Row has `values[row]` where `is_known[row]`, else null; arrays of numpy."""

    values: Any
    is_known: Any


class Maps(NamedTuple):
    """Each row has a map of `lengths[row]` entries, whose keys `choices[numbers]` and `values` stand end to end."""

    choices: Sequence[str]
    numbers: Any
    values: Any
    lengths: Any
