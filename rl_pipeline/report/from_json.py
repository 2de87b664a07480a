"""Results back from JSON values: the reverse of `plain`, for the parts that an index reads again.

Types come from the classes; whatever does not fit them is a `ValueError`, since the file may be of another
version or damaged. Names that a class does not know are left out, names that the file lacks take the
class's default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")


def built(kind: type[Kind], value: object) -> Kind:
    """The value as an instance of the class.

    Raises:
        ValueError: it is not one.
    """
    made: Kind = _built(kind, value)
    return made


def _built(kind: Any, value: Any) -> Any:  # noqa: ANN401 - any annotation, any value
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _instance(kind, value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if value is None else _built(next(part for part in inner if part is not type(None)), value)
    if origin is tuple:
        return _tuple(inner, value)
    if origin is dict:
        _require(isinstance(value, Mapping), kind, value)
        return {str(key): _built(inner[1], item) for key, item in value.items()}
    return _scalar(kind, value)


def _instance(kind: type[Any], value: Any) -> Any:  # noqa: ANN401 - see above
    _require(isinstance(value, Mapping), kind, value)
    hints = get_type_hints(kind)
    known = {
        field.name: _built(hints[field.name], value[field.name])
        for field in dataclasses.fields(kind)
        if field.name in value
    }
    try:
        return kind(**known)
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {error}") from error


def _tuple(inner: tuple[Any, ...], value: Any) -> tuple[Any, ...]:  # noqa: ANN401 - see above
    _require(isinstance(value, list), tuple, value)
    if len(inner) == 2 and inner[1] is Ellipsis:
        return tuple(_built(inner[0], item) for item in value)
    _require(len(value) == len(inner), tuple, value)
    return tuple(_built(part, item) for part, item in zip(inner, value, strict=True))


def _scalar(kind: Any, value: Any) -> Any:  # noqa: ANN401 - see above
    if kind is datetime:
        _require(isinstance(value, str), kind, value)
        return datetime.fromisoformat(value)
    if kind is float:
        _require(isinstance(value, int | float) and not isinstance(value, bool), kind, value)
        return float(value)
    _require(isinstance(value, kind) and (kind is not int or not isinstance(value, bool)), kind, value)
    return value


def _require(fits: bool, kind: Any, value: object) -> None:  # noqa: ANN401 - a type
    if not fits:
        raise ValueError(f"{getattr(kind, '__name__', kind)} expected, found {str(value)[:60]!r}")
