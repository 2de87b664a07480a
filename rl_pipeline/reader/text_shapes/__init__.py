"""Shapes of texts that are much alike, and words in them, many in one call: `text_shapes.c`, compiled with the program.

No numpy here: processes that only read trials do without it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, chain, compress
from pathlib import Path
from typing import Any, NamedTuple

from rl_pipeline.reader.compiled import NotUsable, open_library

SOURCE = Path(__file__).with_name("text_shapes.c")
COMPILED = SOURCE.with_suffix(".dll" if sys.platform == "win32" else ".so")


class Frame(NamedTuple):
    """What is equal in texts that are much alike.

    Attributes:
        line_end: what ends a line; not empty.
        stretches: the equal stretches, each up to a line that differs.
    """

    line_end: bytes
    stretches: tuple[bytes, ...]


@cache
def load() -> TextShapes | None:
    """The functions; None where they were not compiled, or from another source, or are not whole."""
    try:
        return TextShapes(open_library(SOURCE, COMPILED))
    except NotUsable:
        return None


class TextShapes:
    """The functions of the library."""

    def __init__(self, library: Any) -> None:  # noqa: ANN401 - ctypes
        """Say what each takes."""
        number, text, numbers, filled = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p
        self._shapes_of = library.shapes_of
        self._shapes_of.argtypes = [
            text, numbers, number, text, number, text, numbers, number, number, number, text, numbers, number, filled,
            filled,
        ]  # fmt: skip
        self._which_hold = library.which_hold
        self._which_hold.argtypes = [text, numbers, number, text, numbers, number, filled]
        self._shapes_of.restype = self._which_hold.restype = None

    def shapes(
        self,
        texts: Sequence[bytes],
        frame: Frame,
        names: Sequence[tuple[bytes, ...]],
        *,
        most_looked_at: int,
        most_whole: int,
    ) -> list[bytes]:
        """Each text with NUL in the place of names and quoted identifiers, and 0 in that of every digit.

        Args:
            texts: any bytes.
            frame: of a text that is built so, only the lines that differ are its shape, a line feed between two.
            names: of each text, as many of each; an empty one is none.
            most_looked_at: bytes of a text that count.
            most_whole: a text that is built differently, and longer, has no shape: `b""`.
        """
        count, each = len(texts), len(names[0]) if names else 0
        ends, stretch_ends = _ends(texts), _ends(frame.stretches)
        flat = list(chain.from_iterable(names))
        room = ctypes.create_string_buffer(max(1, ends[-1] + count * len(frame.stretches)))
        told = (ctypes.c_int64 * (count + 1))()
        self._shapes_of(
            b"".join(texts), _numbers(ends), count, frame.line_end, len(frame.line_end), b"".join(frame.stretches),
            _numbers(stretch_ends), len(frame.stretches), most_looked_at, most_whole, b"".join(flat),
            _numbers(_ends(flat)), each, room, told,
        )  # fmt: skip
        shapes = memoryview(room).cast("B")
        return [shapes[begin:end].tobytes() for begin, end in zip((0, *told[: count - 1]), told[:count], strict=False)]

    def which_hold(self, texts: Sequence[str], words: Sequence[str]) -> list[str]:
        """Those of the texts that hold one of the words, large letters counting as small ones, or are not ASCII.

        Args:
            texts: any.
            words: ASCII without large letters or NUL, each of two letters or more; at most 255.
        """
        together = "".join(texts)
        if not together.isascii():
            return [text for text in texts if not text.isascii() or self.which_hold([text], words)]
        told = [word.encode() for word in words]
        holds = bytearray(len(texts))
        self._which_hold(
            together.encode(), _numbers(_ends(texts)), len(texts), b"".join(told), _numbers(_ends(told)), len(told),
            (ctypes.c_char * len(holds)).from_buffer(holds) if holds else None,
        )  # fmt: skip
        return list(compress(texts, holds))


def _ends(texts: Iterable[bytes | str]) -> list[int]:
    """Where each ends when they stand end to end; at least one number."""
    return list(accumulate(map(len, texts))) or [0]


def _numbers(values: Sequence[int]) -> Any:  # noqa: ANN401 - ctypes
    return (ctypes.c_int64 * len(values))(*values)
