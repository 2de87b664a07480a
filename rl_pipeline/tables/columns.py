"""Row classes as Arrow schemas, and Python values as Arrow columns that always hold together.

In: a row class of `schema`, lists of values. Out: a `pa.Schema` that tells each column's meaning and
unit, and arrays of exactly its types. A value that does not fit its column (an integer beyond 64
bits, a float where a count belongs, another type altogether) never stops a table: it becomes null,
and its position is handed back as a misfit, so that the caller can say so.

Why types are looked at before Arrow sees them: Arrow itself cuts 1.5 to 1 in an integer column and
takes a bare integer for microseconds since 1970, both without a word.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from functools import cache
from itertools import accumulate, chain, compress
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from rl_pipeline.schema import SCHEMA_VERSION, TABLES_BY_NAME, columns_of

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
TEXT_MAP_OF_COUNTS, TEXT_MAP_OF_NUMBERS = pa.map_(pa.string(), pa.int64()), pa.map_(pa.string(), pa.float64())

ARROW_TYPES: dict[Any, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us"),
    dict[str, int]: TEXT_MAP_OF_COUNTS,
    dict[str, float | None]: TEXT_MAP_OF_NUMBERS,
}

# Values of exactly these types go to Arrow as they are (which may still refuse one for its size).
FITTING_TYPES: dict[pa.DataType, frozenset[type]] = {
    pa.int64(): frozenset({int, type(None)}),
    pa.float64(): frozenset({float, int, type(None)}),
    pa.string(): frozenset({str, type(None)}),
    pa.bool_(): frozenset({bool, type(None)}),
    pa.timestamp("us"): frozenset({datetime, type(None)}),
}


class Misfit(NamedTuple):
    """A value that its column cannot hold."""

    row: int
    column: str
    what: str
    dropped: bool  # the column must not be null, so the whole row is left out


class Unfit(ValueError):  # noqa: N818 - a signal inside this module, not an error anybody sees
    """The value cannot stand in a column of this type."""


def arrow_schema(row_class: type[Any]) -> pa.Schema:
    """The Arrow schema of a table.

    Each field carries `description` and `unit`; the schema carries `table`, `schema_version` and
    `description`. A column may be null where its type says so, or its default is None.
    """
    return _schema_of(row_class.TABLE)


@cache
def _schema_of(table: str) -> pa.Schema:
    row_class = TABLES_BY_NAME[table]
    hints = get_type_hints(row_class)
    fields = [
        pa.field(
            column.name,
            _arrow_type(hints[column.name]),
            nullable=_is_optional(hints[column.name]) or column.default is None,
            metadata={"description": column.metadata["doc"], "unit": column.metadata["unit"].value},
        )
        for column in columns_of(row_class)
    ]
    described = {
        "table": row_class.TABLE,
        "schema_version": str(SCHEMA_VERSION),
        "description": (row_class.__doc__ or "").split("\n", 1)[0],
    }
    return pa.schema(fields, metadata=described)


def schema_digest(schemas: Iterable[pa.Schema]) -> str:
    """A digest of column names, types and nullability: equal for tables that can be read alike."""
    told = "\n".join(f"{field.name} {field.type} {field.nullable}" for schema in schemas for field in schema)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def column_array(values: Sequence[Any], field: pa.Field) -> tuple[pa.Array, list[Misfit]]:
    """The values as an array of the field's type; what does not fit is null and named.

    Args:
        values: one value per row.
        field: name, type and nullability of the column.
    """
    if _all_fit(values, field.type):
        try:
            array = _map_array(values, field.type) if pa.types.is_map(field.type) else pa.array(values, field.type)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError):
            return _array_value_by_value(values, field)
        if field.nullable or not array.null_count:
            return array, []
    return _array_value_by_value(values, field)


def _all_fit(values: Sequence[Any], arrow_type: pa.DataType) -> bool:
    """Whether all values are of the types expected."""
    if not pa.types.is_map(arrow_type):
        return FITTING_TYPES[arrow_type].issuperset(map(type, values))
    if not {dict, type(None)}.issuperset(map(type, values)):
        return False
    maps = [value for value in values if value]
    item_types = FITTING_TYPES[arrow_type.item_type] - ({type(None)} if arrow_type == TEXT_MAP_OF_COUNTS else set())
    items_fit = item_types.issuperset(map(type, chain.from_iterable(m.values() for m in maps)))
    return items_fit and {str}.issuperset(map(type, chain.from_iterable(maps)))


def _map_array(values: Sequence[dict[str, Any] | None], arrow_type: pa.DataType) -> pa.Array:
    """Maps from all their keys, all their items and where each map begins; many times faster than one by one."""
    maps = [value or {} for value in values]
    ends = list(accumulate(map(len, maps), initial=0))
    starts = [None if value is None else start for value, start in zip(values, ends, strict=False)]
    keys = pa.array(list(chain.from_iterable(maps)), pa.string())
    items = pa.array(list(chain.from_iterable(m.values() for m in maps)), arrow_type.item_type)
    return pa.MapArray.from_arrays(pa.array([*starts, ends[-1]], pa.int32()), keys, items).cast(arrow_type)


def _array_value_by_value(values: Sequence[Any], field: pa.Field) -> tuple[pa.Array, list[Misfit]]:
    fit = FITS[field.type]
    fitted: list[Any] = []
    misfits: list[Misfit] = []
    for row, value in enumerate(values):
        held, reason = _fitted(value, fit, field)
        fitted.append(held)
        if reason is not None:
            misfits.append(Misfit(row, field.name, reason, not field.nullable))
    return pa.array(fitted, field.type), misfits


def _fitted(value: Any, fit: Callable[[Any], Any], field: pa.Field) -> tuple[Any, str | None]:  # noqa: ANN401
    """The value as the column holds it, or None and why it cannot."""
    if value is None:
        return None, None if field.nullable else "nothing where a value must stand"
    try:
        return fit(value), None
    except Unfit as reason:
        return None, str(reason)


def rows_kept(count: int, misfits: Sequence[Misfit]) -> list[int] | None:
    """Row numbers without the dropped ones, or None when all are kept."""
    dropped = {misfit.row for misfit in misfits if misfit.dropped}
    if not dropped:
        return None
    return list(compress(range(count), (row not in dropped for row in range(count))))


def clean_text(text: str) -> str:
    """The text as Unicode that can be encoded: halves of surrogate pairs become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(text)


def _fit_integer(value: Any) -> int:  # noqa: ANN401 - anything a parser may hand over
    is_whole = hasattr(value, "__index__") or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_whole:
        raise Unfit(f"a {type(value).__name__} that is no whole number")
    number = int(value)
    if not INT64_MIN <= number <= INT64_MAX:
        raise Unfit(f"an integer of {number.bit_length()} bits, beyond 64")
    return number


def _fit_float(value: Any) -> float:  # noqa: ANN401
    if isinstance(value, bool | str) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise Unfit(f"a {type(value).__name__} that is no number")
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise Unfit("a number beyond the range of a float") from error


def _fit_text(value: Any) -> str:  # noqa: ANN401
    if not isinstance(value, str):
        raise Unfit(f"a {type(value).__name__} that is no text")
    return clean_text(value)


def _fit_flag(value: Any) -> bool:  # noqa: ANN401
    if type(value).__name__ not in {"bool", "bool_"}:
        raise Unfit(f"a {type(value).__name__} that is neither true nor false")
    return bool(value)


def _fit_time(value: Any) -> datetime:  # noqa: ANN401
    if not isinstance(value, datetime) or type(value).__name__ == "NaTType":
        raise Unfit(f"a {type(value).__name__} that is no time")
    return value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value


def _fit_map(fit: Callable[[Any], Any], *, may_be_null: bool) -> Callable[[Any], list[tuple[str, Any]]]:
    def fit_map(value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
        if not isinstance(value, dict):
            raise Unfit(f"a {type(value).__name__} that is no map")
        return [(_fit_text(key), None if item is None and may_be_null else fit(item)) for key, item in value.items()]

    return fit_map


FITS: dict[pa.DataType, Callable[[Any], Any]] = {
    pa.int64(): _fit_integer,
    pa.float64(): _fit_float,
    pa.string(): _fit_text,
    pa.bool_(): _fit_flag,
    pa.timestamp("us"): _fit_time,
    TEXT_MAP_OF_COUNTS: _fit_map(_fit_integer, may_be_null=False),
    TEXT_MAP_OF_NUMBERS: _fit_map(_fit_float, may_be_null=True),
}


def _is_optional(hint: Any) -> bool:  # noqa: ANN401 - a type as written in a row class
    return get_origin(hint) in {Union, types.UnionType} and type(None) in get_args(hint)


def _arrow_type(hint: Any) -> pa.DataType:  # noqa: ANN401
    if _is_optional(hint):
        hint = next(part for part in get_args(hint) if part is not type(None))
    return ARROW_TYPES[hint]
