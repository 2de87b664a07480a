"""Results as JSON values: what a number does not have is null, and NaN is never printed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any

import numpy as np

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


def plain(value: Any) -> JsonValue:  # noqa: ANN401 - any result
    """The value as dicts, lists, strings, numbers and null.

    Raises:
        TypeError: something that is no result (a frame, an object) got in.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair from a file name
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, np.generic):
        return plain(value.item())
    return _composite(value)


def _composite(value: Any) -> JsonValue:  # noqa: ANN401 - see plain
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return [plain(item) for item in sorted(value)]
    raise TypeError(f"not a result: {type(value).__name__}")
