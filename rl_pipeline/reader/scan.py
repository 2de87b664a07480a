"""Which lines of a window are worth unwrapping: all needles in one pass over the bytes.

The plan, and what was tried on 200 MB on one core: one alternation in Python's `re` walks byte by byte (75 MB/s);
`bytes.find` costs one pass for each needle (26 needles: 115 MB/s); an automaton over all, as RE2 builds it behind
Arrow's `match_substring_regex`, does not care how many there are (180 needles: 330 MB/s), nor do the automata of
`ahocorasick_rs` (260 MB/s); Hyperscan compares many bytes at a time, but tells each hit to Python (600 MB/s with
244,000 hits, lines cut by numpy before). What is used cuts the lines and looks at every second pair of neighbouring
bytes: of each needle the two pairs are known that are rarest in the log, one of which must be among these, and where
one stands, the needle is compared (1,350 MB/s).
Where that loop is not compiled, RE2 does it; both find the same lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rl_pipeline.reader.lines import REPEATED_MARK
from rl_pipeline.reader.windows import LINE_FEED, Window

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rl_pipeline.reader.loops import Loops

    Indexes = npt.NDArray[np.int64]

IRREGULAR, MARK = -1, -2  # kinds of needles
NEEDLE_PAIR, FEED_FIRST, FEED_SECOND = 1, 2, 4  # flags of pairs
BEHIND, BEFORE = 1, 2  # where a third byte stands
PAIRS = 1 << 16  # of neighbouring bytes
SAMPLE_BYTES = 200_000  # enough to tell which pairs are rare
LEAST_NEEDLE = 3  # bytes of a needle that the compiled loop finds


@dataclass(frozen=True)
class ScannedWindow:
    """A window cut into lines.

    `edges` has one entry more than there are lines: line i is `data[edges[i]:edges[i + 1]]`, line feed included.
    `hits` are the indexes of lines that hold a needle, ascending. `kinds` says for each hit which of the needles
    called regular it holds, if it holds no other one; else `IRREGULAR`. `ends` says where in the window that needle
    ends for the first time in the line. `marks` are the places of `REPEATED_MARK`; None: nobody looked.
    """

    window: Window
    edges: npt.NDArray[np.int64]
    hits: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int16]
    ends: npt.NDArray[np.int64]
    marks: npt.NDArray[np.int64] | None
    undecodable_bytes: int

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self.edges) - 1

    @cached_property
    def hit_list(self) -> list[int]:
        """The hits as plain numbers."""
        hits: list[int] = self.hits.tolist()
        return hits

    def span(self, line: int) -> tuple[int, int]:
        """Where a line begins in the window, and where it ends, line feed included."""
        return int(self.edges[line]), int(self.edges[line + 1])


class Found(NamedTuple):
    """What an engine tells of a window: arrays of numpy, see `ScannedWindow`."""

    edges: Any
    hits: Any
    kinds: Any
    ends: Any
    marks: Any = None


class Engine(Protocol):
    """Cuts windows into lines and tells which hold which needles."""

    def find(self, data: bytes) -> Found:
        """The lines of a window."""
        ...


class NeedleScan:
    """Finds the lines that hold one of some byte strings."""

    def __init__(self, needles: tuple[bytes, ...], regular: tuple[bytes, ...] = (), loops: Loops | None = None) -> None:
        """Needles may hold any bytes but line feeds; an empty tuple finds nothing. `regular` are some of them.

        With `loops` they are used; without RE2 is.
        """
        needles = tuple(dict.fromkeys(needle for needle in needles if needle))
        self._engine: Engine = CompiledEngine(needles, regular, loops) if loops else Re2Engine(needles, regular)

    def scan(self, window: Window) -> ScannedWindow:
        """Cut the window into lines and mark those that hold a needle."""
        odd = 0 if window.is_ascii else undecodable(window.data)
        return ScannedWindow(window, *self._engine.find(window.data), odd)


class CompiledEngine:
    """A compiled loop that compares needles where their rarest pairs of bytes stand."""

    def __init__(self, needles: tuple[bytes, ...], regular: tuple[bytes, ...], loops: Loops) -> None:
        """Put the needles into arrays.

        Raises:
            ValueError: a needle has less than three bytes.
        """
        if min(map(len, needles), default=LEAST_NEEDLE) < LEAST_NEEDLE:
            raise ValueError(f"needles have at least {LEAST_NEEDLE} bytes")
        np = self._np = loops.np
        self._loops, self._needles = loops, (*needles, REPEATED_MARK)
        self._text = np.frombuffer(b"".join(self._needles), np.uint8)
        self._offsets = np.cumsum([0, *map(len, self._needles)])
        kinds = {needle: kind for kind, needle in enumerate(regular)}
        self._kinds = np.array([*(kinds.get(needle, IRREGULAR) for needle in needles), MARK], np.int16)
        self._pairs: tuple[Any, ...] = ()
        self._sampled = -1  # bytes in which rare pairs were looked for
        self._room: tuple[Any, ...] = (np.empty(0),)

    def find(self, data: bytes) -> Found:
        """See `Engine`."""
        np = self._np
        buffer = np.frombuffer(data, np.uint8)
        sample = buffer[:SAMPLE_BYTES]
        if len(sample) > self._sampled:
            self._pairs, self._sampled = self._pairs_of(sample), len(sample)
        if len(data) + 2 > len(self._room[0]):
            types = (np.int64, np.int64, np.int16, np.int64, np.int64)
            self._room = tuple(np.empty(len(data) + 2, of) for of in types)
        known = (*self._pairs, self._text, self._offsets, self._kinds)
        feeds, count, told = self._loops.cut_and_find(buffer, known, self._room)
        edges, hits, kinds, ends, marks = self._room
        edges = edges[: feeds + 1 + (not data.endswith(b"\n"))].copy()
        edges[-1] = len(data)
        return Found(edges, hits[:count].copy(), kinds[:count].copy(), ends[:count].copy(), marks[:told].copy())

    def _pairs_of(self, sample: Any) -> tuple[Any, ...]:  # noqa: ANN401 - numpy
        """What is known of all pairs, as `Loops.cut_and_find` wants it."""
        np = self._np
        shown = sample.astype(np.int64)
        seen = np.bincount(shown[:-1] | shown[1:] << 8, minlength=PAIRS).tolist()
        entries: dict[int, list[tuple[int, int]]] = {}
        for number, needle in enumerate(self._needles):
            pairs = [needle[place] | needle[place + 1] << 8 for place in range(len(needle) - 1)]
            for first in (0, 1):
                place = min(range(first, len(pairs), 2), key=lambda place: seen[pairs[place]])
                entries.setdefault(pairs[place], []).append((number, place))
        flags, thirds = np.zeros(PAIRS, np.uint8), np.zeros(PAIRS, np.uint8)
        firsts = np.zeros(PAIRS, np.int64)
        rows: list[tuple[int, int, bool]] = []
        for pair, found in entries.items():
            flags[pair], firsts[pair] = NEEDLE_PAIR, len(rows)
            for number, place in found:
                needle, is_last = self._needles[number], place + 2 == len(self._needles[number])
                third = needle[place - 1 if is_last else place + 2]
                thirds[third_of(pair, third)] |= BEFORE if is_last else BEHIND
            rows += [(number, place, is_followed < len(found)) for is_followed, (number, place) in enumerate(found, 1)]
        flags[LINE_FEED::256] |= FEED_FIRST
        flags[LINE_FEED * 256 : (LINE_FEED + 1) * 256] |= FEED_SECOND
        return flags, thirds, firsts, np.array(rows, np.int64)


def third_of(pair: int, third: int) -> int:
    """A hash of a pair of bytes and a third one, as `loops.c` makes it."""
    return ((pair * 40_503) ^ (third * 2_654_435)) & (PAIRS - 1)


class Re2Engine:
    """RE2 behind Arrow: one automaton over lines that are a view of the window's bytes."""

    def __init__(self, needles: tuple[bytes, ...], regular: tuple[bytes, ...]) -> None:
        """Build the patterns; Arrow compiles them anew for each window."""
        import numpy as np  # noqa: PLC0415
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        self._np, self._pa, self._pc = np, pa, pc
        self._pattern = "|".join(map(escaped, needles))
        self._irregular = "|".join(escaped(needle) for needle in needles if needle not in regular)
        self._regular = regular

    def find(self, data: bytes) -> Found:
        """See `Engine`."""
        np, pa = self._np, self._pa
        edges = _edges(np, data)
        if not self._pattern:
            return Found(edges, np.empty(0, np.int64), np.empty(0, np.int16), np.empty(0, np.int64))
        buffers = [None, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(data)]
        lines = pa.Array.from_buffers(pa.binary(), len(edges) - 1, buffers)
        found = self._matches(lines, self._pattern)
        hits = np.flatnonzero(found)
        kinds = np.full(len(hits), IRREGULAR, np.int16)
        if len(hits) and self._regular:
            of_hits = lines.take(pa.array(hits))
            held = [self._matches(of_hits, escaped(needle)) for needle in self._regular]
            kinds = np.where(sum(held) == 1, np.argmax(held, axis=0), IRREGULAR).astype(np.int16)
            if self._irregular:
                kinds[self._matches(of_hits, self._irregular)] = IRREGULAR
        ends = np.zeros(len(hits), np.int64)
        for hit in np.flatnonzero(kinds != IRREGULAR).tolist():
            needle = self._regular[kinds[hit]]
            ends[hit] = data.find(needle, edges[hits[hit]]) + len(needle)
        return Found(edges, hits, kinds, ends)

    def _matches(self, lines: Any, pattern: str) -> Any:  # noqa: ANN401 - Arrow to numpy
        return self._pc.match_substring_regex(lines, pattern).to_numpy(zero_copy_only=False).astype(bool)


def _edges(np: Any, data: bytes) -> Any:  # noqa: ANN401 - the numpy module, and its array
    """Where lines begin, and the end."""
    feeds = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_FEED)
    return np.concatenate(([0], feeds + 1, [] if data.endswith(b"\n") else [len(data)])).astype(np.int64)


def undecodable(data: bytes) -> int:
    """Bytes that are not UTF-8."""
    if data.isascii():
        return 0
    try:
        data.decode()
    except UnicodeDecodeError:
        return len(data) - len(data.decode("utf-8", "ignore").encode())
    return 0


def escaped(needle: bytes) -> str:
    """The needle as a pattern of bytes."""
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\x{byte:02x}" for byte in needle)
