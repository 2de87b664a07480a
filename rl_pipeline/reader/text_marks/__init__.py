"""Which of some texts hold a mark, asked of many in one call: `text_marks.c`, compiled with the program.

No numpy here: processes that only read trials do without it.
"""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from rl_pipeline.reader.compiled import NotUsable, open_library

SOURCE = Path(__file__).with_name("text_marks.c")
COMPILED = SOURCE.with_suffix(".dll" if sys.platform == "win32" else ".so")
MOST_WORDS = 255
ANYWHERE, AT_EDGE, WITH_SIGN = 1, 2, 3


class Frame(NamedTuple):
    """What is equal in texts that are much alike.

    Attributes:
        line_end: what ends a line; not empty.
        stretches: the equal stretches, each up to a line that differs.
    """

    line_end: bytes
    stretches: tuple[bytes, ...]


class Marks(NamedTuple):
    r"""Words, in ASCII without large letters or NUL, each of two letters or more; at most 255 in all.

    Attributes:
        anywhere: those that are a mark wherever they stand.
        at_edge: those that are one where no letter or digit stands before them, but for those of an escape (`\n`,
            `%3D`, the end of a colour).
        with_sign: those that are one where the sign stands in the text, too.
        sign: one byte.
    """

    anywhere: tuple[str, ...]
    at_edge: tuple[str, ...]
    with_sign: tuple[str, ...]
    sign: bytes


NO_FRAME = Frame(b"\n", ())


@cache
def load() -> TextMarks | None:
    """The function; None where it was not compiled, or from another source, or is not whole."""
    try:
        return TextMarks(open_library(SOURCE, COMPILED))
    except NotUsable:
        return None


class TextMarks:
    """The function of the library."""

    def __init__(self, library: Any) -> None:  # noqa: ANN401 - ctypes
        """Say what it takes."""
        number, text, numbers, filled = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p
        self._which_hold = library.which_hold
        self._which_hold.argtypes = [
            text, numbers, number, text, number, text, numbers, number, text, numbers, text, number, ctypes.c_uint8,
            filled,
        ]  # fmt: skip
        self._which_hold.restype = None

    def which_hold(self, texts: Sequence[bytes], marks: Marks, frame: Frame = NO_FRAME) -> bytearray:
        """A byte for each text, 1 where it holds a mark or a byte beyond ASCII; large letters count as small ones.

        Args:
            texts: any bytes.
            marks: what is looked for.
            frame: of a text that is built so, only the lines that differ are looked at.
        """
        words, word_ends, kinds = _told(marks)
        ends, stretch_ends = _ends(texts), _ends(frame.stretches)
        holds = bytearray(max(1, len(texts)))
        self._which_hold(
            b"".join(texts), _address(ends), len(texts), frame.line_end, len(frame.line_end),
            b"".join(frame.stretches), _address(stretch_ends), len(frame.stretches), words,
            _address(word_ends), kinds, len(kinds), marks.sign[0], (ctypes.c_char * len(holds)).from_buffer(holds),
        )  # fmt: skip
        return holds[: len(texts)]


@lru_cache
def _told(marks: Marks) -> tuple[bytes, array[int], bytes]:
    """All words end to end, where each ends, and the kind of each."""
    words = [word.encode() for of_kind in marks[:3] for word in of_kind]
    kinds = [bytes([kind]) * len(of_kind) for kind, of_kind in zip((ANYWHERE, AT_EDGE, WITH_SIGN), marks, strict=False)]
    return b"".join(words), _ends(words), b"".join(kinds)


def _ends(texts: Iterable[bytes]) -> array[int]:
    """Where each ends when they stand end to end."""
    return array("q", accumulate(map(len, texts)))


def _address(numbers: array[int]) -> int:
    return numbers.buffer_info()[0]
