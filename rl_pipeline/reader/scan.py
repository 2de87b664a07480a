"""Which lines of a window are worth unwrapping: all needles in one pass over the bytes.

The plan, and what was tried on 200 MB on one core: one alternation in Python's `re` walks byte by byte (75 MB/s);
`bytes.find` costs one pass for each needle (26 needles: 115 MB/s); an automaton over all, as RE2 builds it behind
Arrow's `match_substring_regex`, does not care how many there are (180 needles: 330 MB/s), nor do the automata of
`ahocorasick_rs` (260 MB/s); Hyperscan compares many bytes at a time (1,300 MB/s, with 244,000 hits told one by one).
Hyperscan is used where it is installed, RE2 elsewhere; both find the same lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rl_pipeline.reader.windows import LINE_FEED, Window

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Indexes = npt.NDArray[np.int64]

IRREGULAR = -1


@dataclass(frozen=True)
class ScannedWindow:
    """A window cut into lines.

    `edges` has one entry more than there are lines: line i is `data[edges[i]:edges[i + 1]]`, line feed included.
    `hits` are the indexes of lines that hold a needle, ascending. `kinds` says for each hit which of the needles
    called regular it holds, if it holds no other one; else `IRREGULAR`. `ends` says where in the window that needle
    ends for the first time in the line.
    """

    window: Window
    edges: npt.NDArray[np.int64]
    hits: list[int]
    kinds: npt.NDArray[np.int16]
    ends: npt.NDArray[np.int64]
    undecodable_bytes: int

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self.edges) - 1

    @cached_property
    def edge_list(self) -> list[int]:
        """The edges as plain numbers; slicing with numpy's costs more than the slice."""
        edges: list[int] = self.edges.tolist()
        return edges


class Engine(Protocol):
    """Tells in which lines of a window which needles stand."""

    def find(self, data: bytes, edges: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401 - numpy arrays
        """Indexes of lines that hold a needle, ascending; the kind of each, and where its needle ends."""
        ...


class NeedleScan:
    """Finds the lines that hold one of some byte strings."""

    def __init__(
        self, needles: tuple[bytes, ...], regular: tuple[bytes, ...] = (), engine: type[Engine] | None = None
    ) -> None:
        """Needles may hold any bytes but line feeds; an empty tuple finds nothing. `regular` are some of them."""
        import numpy as np  # noqa: PLC0415 - whoever needs the message type alone does not pay for the libraries

        self._np = np
        needles = tuple(dict.fromkeys(needle for needle in needles if needle))
        engine = engine or usual_engine()
        self._engine: Any = engine(needles, regular) if needles else None  # type: ignore[call-arg]

    def scan(self, window: Window) -> ScannedWindow:
        """Cut the window into lines and mark those that hold a needle."""
        np = self._np
        feeds = np.flatnonzero(np.frombuffer(window.data, np.uint8) == LINE_FEED)
        tail = 0 if window.data.endswith(b"\n") else 1
        edges = np.empty(len(feeds) + 1 + tail, np.int64)
        edges[0] = 0
        edges[1 : len(feeds) + 1] = feeds + 1
        if tail:
            edges[-1] = len(window.data)
        found = no_hits(np) if self._engine is None else self._engine.find(window.data, edges)
        hits, kinds, ends = found
        return ScannedWindow(window, edges, hits.tolist(), kinds, ends, undecodable(window.data))


class HyperscanEngine:
    """Hyperscan: literals compared many bytes at a time."""

    def __init__(self, needles: tuple[bytes, ...], regular: tuple[bytes, ...]) -> None:
        """Compile all needles into one database."""
        import hyperscan  # noqa: PLC0415 - not everywhere
        import numpy as np  # noqa: PLC0415

        self._np = np
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        expressions = [escaped(needle).encode() for needle in needles]
        numbers = list(range(len(needles)))
        self._database.compile(expressions=expressions, ids=numbers, elements=len(needles), flags=[0] * len(needles))
        kinds = {needle: kind for kind, needle in enumerate(regular)}
        self._kinds = np.array([kinds.get(needle, IRREGULAR) for needle in needles], np.int16)

    def find(self, data: bytes, edges: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401 - numpy arrays
        """See `Engine`."""
        np = self._np
        numbers: list[int] = []
        ends: list[int] = []
        tell_number, tell_end = numbers.append, ends.append

        def seen(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            tell_number(number)
            tell_end(end)

        self._database.scan(data, match_event_handler=seen)
        if not ends:
            return no_hits(np)
        places, kinds = np.array(ends, np.int64), self._kinds[np.array(numbers)]
        if (places[1:] < places[:-1]).any():
            order = np.argsort(places, kind="stable")
            places, kinds = places[order], kinds[order]
        lines = np.searchsorted(edges, places, side="left") - 1
        firsts = np.flatnonzero(np.diff(lines, prepend=-1))
        least, most = np.minimum.reduceat(kinds, firsts), np.maximum.reduceat(kinds, firsts)
        return lines[firsts], np.where(least == most, least, IRREGULAR).astype(np.int16), places[firsts]


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

    def find(self, data: bytes, edges: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401 - numpy arrays
        """See `Engine`."""
        np, pa = self._np, self._pa
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
        return hits, kinds, ends

    def _matches(self, lines: Any, pattern: str) -> Any:  # noqa: ANN401 - Arrow to numpy
        return self._pc.match_substring_regex(lines, pattern).to_numpy(zero_copy_only=False).astype(bool)


def no_hits(np: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401 - the numpy module, and its arrays
    """What an engine gives for a window without hits."""
    return np.empty(0, np.int64), np.empty(0, np.int16), np.empty(0, np.int64)


def usual_engine() -> type[Engine]:
    """The fastest engine that is installed."""
    try:
        import hyperscan  # noqa: F401, PLC0415
    except ImportError:
        return Re2Engine
    return HyperscanEngine


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
