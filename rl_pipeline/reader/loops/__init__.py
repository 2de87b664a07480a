"""Compiled loops over the bytes of a window: `loops.c`, a part of the installed program where there was a compiler.

All arguments are arrays of numpy and whole numbers; types and layout of the arrays are checked with each call, their
sizes by whoever makes them, as said at each loop. What is "filled" must have room for all that is said there.
"""

from __future__ import annotations

import ctypes
import logging
import sys
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from rl_pipeline.reader.compiled import NotUsable, open_library

SOURCE = Path(__file__).with_name("loops.c")
MOST_TAKEN = 4096  # lines of a block at once
COMPILED = Path(__file__).with_name("loops.dll" if sys.platform == "win32" else "loops.so")
log = logging.getLogger(__name__)


@cache
def load() -> Loops | None:
    """The loops; None, with a warning, where they were not compiled, or from another source, or are not whole."""
    try:
        return Loops(open_library(SOURCE, COMPILED))
    except NotUsable as reason:
        _without(str(reason))
        return None


def _without(reason: str) -> None:
    do = "install rl-pipeline again where a C compiler works"
    log.warning("Large logs are read ten times slower, since %s %s: %s.", COMPILED.name, reason, do)


class Loops:
    """The functions of the library."""

    def __init__(self, library: Any) -> None:  # noqa: ANN401 - ctypes
        """Say what each takes."""
        import numpy as np  # noqa: PLC0415 - whoever needs no loop does not pay for the library

        self.np = np
        some_bytes, shorts, numbers = (np.ctypeslib.ndpointer(of, flags="C") for of in (np.uint8, np.int16, np.int64))
        filled_shorts, filled = (np.ctypeslib.ndpointer(of, flags=["C", "W"]) for of in (np.int16, np.int64))
        count = ctypes.c_int64
        self._count_bytes = library.count_bytes
        self._count_bytes.argtypes = [ctypes.c_char_p, count, filled]
        self._cut_and_find = library.cut_and_find
        self._cut_and_find.argtypes = [
            some_bytes, count, some_bytes, some_bytes, numbers, numbers, some_bytes, numbers, shorts,
            filled, filled, filled_shorts, filled, filled, filled,
        ]  # fmt: skip
        self._usual_folds = library.usual_folds
        self._usual_folds.argtypes = [
            some_bytes, count, numbers, count, count, some_bytes, count, some_bytes, numbers, count, count,
            filled, filled,
        ]  # fmt: skip
        self._hash_of = library.hash_of
        self._hash_of.argtypes, self._hash_of.restype = [ctypes.c_char_p, count], ctypes.c_uint32
        self._read_regular = library.read_regular
        self._read_regular.argtypes = [
            some_bytes, numbers, numbers, numbers, shorts, count,
            some_bytes, some_bytes, numbers, numbers, count,
            some_bytes, numbers, numbers, count, numbers, numbers, count, numbers, count, numbers, count,
            filled, filled, filled, filled, filled, filled, filled, filled,
        ]  # fmt: skip
        self._follow_block = library.follow_block
        self._follow_block.argtypes = [
            some_bytes, numbers, count, count, numbers, count, count, some_bytes, ctypes.c_char_p, count,
            ctypes.c_char_p, numbers, count, count, count, count, filled, count, filled,
        ]  # fmt: skip
        without_value = (
            self._count_bytes, self._cut_and_find, self._usual_folds, self._read_regular, self._follow_block
        )  # fmt: skip
        for function in without_value:
            function.restype = None

    @lru_cache(maxsize=64)  # noqa: B019 - there is one of it
    def _ends_of(self, texts: tuple[bytes, ...]) -> Any:  # noqa: ANN401 - an array
        """Where texts end when they stand end to end."""
        return self.np.cumsum([len(text) for text in texts])

    def bytes_of(self, data: bytes) -> Any:  # noqa: ANN401 - an array
        """Bytes as an array, without a copy."""
        return self.np.frombuffer(data, self.np.uint8)

    def count_bytes(self, data: bytes) -> tuple[int, int, bool]:
        """How many line feeds and NULs there are, and whether all is ASCII."""
        counts = self.np.empty(3, self.np.int64)
        self._count_bytes(data, len(data), counts)
        feeds, nuls, has_other = counts.tolist()
        return feeds, nuls, not has_other

    def cut_and_find(self, data: Any, needles: tuple[Any, ...], room: tuple[Any, ...]) -> tuple[int, int, int]:  # noqa: ANN401
        """Cut bytes into lines and find those that hold a needle, in one pass.

        Args:
            data: the bytes, looked at two by two.
            needles: seven arrays. *flags* of each pair (first + 256 × second): whether a needle shows it (1), a line
                feed is its first (2), its second (4). *thirds*, by `third_of`: whether a needle shows the pair and the
                byte behind it (1), before it (2). *firsts* of each pair, the first of its entries. *entries*: needle,
                place of the pair in it, whether another entry of the pair follows; a needle has one for a pair at an
                even place of it and one for a pair at an odd place. *text* of all needles, end to end. *offsets*: where
                each begins, and the end. *kinds* of each: `IRREGULAR`, `MARK`, or a number.
            room: five arrays of at least two more than there are bytes, filled with the begin of each line and of the
                one behind the last; the lines that hold a needle; the kind that all their needles have, or
                `IRREGULAR`; where the first of these ends; where marks begin.

        Returns:
            How many line feeds, hits and marks there are.
        """
        counts = self.np.empty(3, self.np.int64)
        self._cut_and_find(data, len(data), *needles, *room, counts)
        feeds, hits, marks = counts.tolist()
        return feeds, hits, marks

    def usual_folds(
        self,
        data: Any,  # noqa: ANN401
        marks: Any,  # noqa: ANN401
        mark: bytes,
        opening: bytes,
        endings: tuple[bytes, ...],
        most: int,
    ) -> tuple[int, Any]:
        """Lines that Ray left out, told by marks in their usual place: `[repeated 7x across cluster]` and an ending.

        Args:
            data: the bytes.
            marks: where `mark` begins, ascending.
            mark: `x across cluster]`.
            opening: what stands before the number.
            endings: what may stand behind the mark before the line feed.
            most: a larger number counts as that.

        Returns:
            The sum of the numbers less one each; and the marks that are not so, but for later ones of a line.
        """
        np = self.np
        unusual, counts = np.empty(len(marks), np.int64), np.empty(2, np.int64)
        self._usual_folds(
            data, len(data), marks, len(marks), len(mark), self.bytes_of(opening), len(opening),
            self.bytes_of(b"".join(endings)), self._ends_of(endings), len(endings), most,
            unusual, counts,
        )  # fmt: skip
        return int(counts[0]), unusual[: counts[1]]

    def hash_of(self, text: bytes) -> int:
        """The hash of a tail, as `read_regular` makes it."""
        return int(self._hash_of(text, len(text)))

    def read_regular(self, data: Any, lines: tuple[Any, ...], shapes: Any, filled: tuple[Any, ...]) -> None:  # noqa: ANN401
        """Tell which learned head and tail each line has, and read its stamp and its numbers.

        Args:
            data: the bytes.
            lines: where each begins, where its needle ends, where the line ends, line feed included (at most
                `MAX_LINE` bytes further), and the kind of its needle.
            shapes: `reader.shapes.ShapeArrays`.
            filled: eight arrays, of as many rows as there are lines: head and tail (-1: none); plan that may read the
                line, else `NO_PLAN` or `NOT_LEARNED`; what Ray folded it to; its numbers, and the digits of each (as
                wide as `most_digits`, zeros before); year × 10000 + month × 100 + day of the stamp, -1 where it is
                none; microseconds of the day. The last seven only where a plan may read the line.
        """
        most_line, buckets = shapes.head_firsts.shape[1] - 1, len(shapes.tail_firsts)
        self._read_regular(
            data, *lines, len(lines[0]),
            shapes.head_text, shapes.head_compared, shapes.heads, shapes.head_firsts, most_line,
            shapes.tail_text, shapes.tails, shapes.tail_firsts, buckets, shapes.roles, shapes.fixed,
            shapes.roles.shape[1], shapes.plan_numbers, len(shapes.tails), shapes.most_digits,
            shapes.most_digits.shape[1], shapes.usual, *filled,
        )  # fmt: skip

    def follow_block(
        self,
        data: Any,  # noqa: ANN401
        edges: Any,  # noqa: ANN401
        lines: tuple[int, int],
        hits: tuple[Any, int, Any],
        expected: Any,  # noqa: ANN401
    ) -> tuple[int, list[int], bool]:
        """Follow an open block line by line for as long as its lines look like plain entries.

        Stops at a line that has to be looked at: it may go on with the block in another way, or holds a needle.

        Args:
            data: the bytes; line i is `data[edges[i]:edges[i + 1]]`, line feed included.
            edges: see above.
            lines: the first to look at, and the one behind the last.
            hits: lines with a needle; the first of them at or behind the first line; how each is read (0: it is
                looked at).
            expected: `reader.demultiplexer.Expected`.

        Returns:
            The line at which it stopped, the lines that it took, and whether the last of these ends the block.
        """
        taken = self.np.empty(min(max(0, lines[1] - lines[0]), expected.lines, MOST_TAKEN), self.np.int64)
        marks, counts = expected.marks, self.np.empty(3, self.np.int64)
        ends = self._ends_of(marks)
        self._follow_block(
            data, edges, *lines, hits[0], len(hits[0]), *hits[1:], expected.prefix, len(expected.prefix),
            b"".join(marks), ends, len(marks), expected.is_only, expected.may_close,
            expected.characters, taken, len(taken), counts,
        )  # fmt: skip
        stop, count, is_closed = counts.tolist()
        return stop, taken[:count].tolist(), bool(is_closed)
