"""Parts of a big JSON object, taken out without building the rest.

A trial's result can hold many megabytes of token ids and chats. Everything here works on raw slices: an object
is scanned once, the wanted members are kept as bytes, and only those are decoded, one by one. A member of the
wrong type is missing, not an error. What the fast decoder refuses (`NaN` tokens, half surrogate pairs) is
put right first, or left to the standard library as the last resort.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from rl_pipeline.dialects.stored_values import LARGEST_INTEGER, storable

NUMBER_LIMIT = 400  # characters of a number worth reading; the longest finite float has 309 before its point
UTF8_BOM = codecs.BOM_UTF8
CHUNK = 1 << 16

ABSENT = msgspec.Raw(b"")
# Strings are matched so that a token inside one is left alone.
STRING_OR_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|\b(?:NaN|Infinity)\b|-Infinity\b', re.DOTALL)
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
NUMERIC = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d{1,4})?")


class Unreadable(Exception):  # noqa: N818 - a reason, raised and caught inside the trial reader only
    """Why the bytes are no JSON object."""


S = TypeVar("S", bound=msgspec.Struct)


class ObjectReader(Generic[S]):
    """Decodes objects into one struct whose members are all raw."""

    def __init__(self, struct: type[S]) -> None:
        self.decoder = msgspec.json.Decoder(struct)
        self.empty: Callable[[], S] = struct

    def read(self, raw: msgspec.Raw) -> S:
        """The members of a nested object; a struct of absent ones for anything else."""
        try:
            return self.decoder.decode(raw)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            return self.empty()

    def read_document(self, data: bytes) -> S:
        """The members of a whole document.

        Raises:
            Unreadable: it is empty, cut, no JSON, no object, or not UTF-8.
        """
        data = checked_text(data)
        try:
            return self.decoder.decode(data)
        except RecursionError:
            raise Unreadable("JSON nested too deeply to be read") from None
        except msgspec.ValidationError:
            raise Unreadable("not a JSON object") from None
        except msgspec.DecodeError as error:
            return self._decode_repaired(data, error)

    def _decode_repaired(self, data: bytes, error: msgspec.DecodeError) -> S:
        """Once more, with what JSON does not allow but trainers write put right."""
        try:
            return self.decoder.decode(repaired(data))
        except RecursionError:
            raise Unreadable("JSON nested too deeply to be read") from None
        except msgspec.ValidationError:
            raise Unreadable("not a JSON object") from None
        except msgspec.DecodeError as again:
            cut = "truncated" in str(again)
            raise Unreadable("JSON cut before its end" if cut else f"not JSON: {error}") from None


def checked_text(data: bytes) -> bytes:
    """The bytes without a byte order mark, when they are UTF-8 and not blank.

    Raises:
        Unreadable: they are neither.
    """
    if data.startswith(UTF8_BOM):
        data = data[len(UTF8_BOM) :]
    if not data.strip(b" \t\r\n\0"):
        return _fail("empty file" if not data else "nothing but blanks or NUL bytes")
    return data if is_text(data) else _fail("not UTF-8 text")


def is_text(data: bytes) -> bool:
    """Whether the bytes are UTF-8; looked at in pieces, so that no second copy of a big file is made."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), CHUNK):
            decoder.decode(data[start : start + CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _fail(reason: str) -> bytes:
    raise Unreadable(reason)


def repaired(data: bytes) -> bytes:
    """`NaN` and infinities become null; half surrogate pairs become the replacement character."""
    return STRING_OR_TOKEN.sub(_repaired_token, data)


def _repaired_token(found: re.Match[bytes]) -> bytes:
    token = found.group()
    if not token.startswith(b'"'):
        return b"null"
    if SURROGATE.search(token) is None:
        return token
    try:
        text = json.loads(token)
    except ValueError:
        return token
    return json.dumps(storable(text)).encode()


def text_of(raw: msgspec.Raw) -> str | None:
    """A string member, else None."""
    data = bytes(raw)
    if data[:1] != b'"':
        return None
    try:
        return str(msgspec.json.decode(data))
    except (msgspec.MsgspecError, ValueError):
        return None


def number_of(raw: msgspec.Raw) -> float | None:
    """A finite number, also one in quotes; truth values are 1 and 0. None for anything else."""
    data = bytes(raw)
    if data in (b"true", b"false"):
        return float(data == b"true")
    if len(data) > NUMBER_LIMIT:
        return None
    text = data.decode("ascii", "replace").strip('"')
    if NUMERIC.fullmatch(text) is None:
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def count_of(raw: msgspec.Raw) -> int | None:
    """A whole number from 0 that a table can hold. A truth value counts nothing."""
    data = bytes(raw)
    if len(data) <= len(str(LARGEST_INTEGER)) and data.isdigit():
        number = int(data)
        return number if number <= LARGEST_INTEGER else None
    number_or_none = None if data in (b"true", b"false") else number_of(raw)
    if number_or_none is None or not 0 <= number_or_none < 2**53 or not number_or_none.is_integer():
        return None
    return int(number_or_none)


MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


def members_of(raw: msgspec.Raw) -> Mapping[str, msgspec.Raw]:
    """All members of an object, raw; none for anything else."""
    try:
        return MEMBERS.decode(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return {}


def items_of(raw: msgspec.Raw) -> list[msgspec.Raw]:
    """The items of a list, raw; none for anything else."""
    try:
        return ITEMS.decode(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return []
