"""Which lines of a window are worth unwrapping: all needles in one pass over the bytes.

The plan, and what was tried: `bytes.find` per needle costs one pass for each (26 needles: 115 MB/s), one
alternation in Python's `re` walks byte by byte (75 MB/s). An automaton over all needles at once, as RE2 builds it
behind Arrow's `match_substring_regex`, does not care how many there are (480 MB/s); the lines it works on are a view
of the window's bytes, nothing is copied. Numbers from one 60 MB log on one core.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rl_pipeline.reader.windows import Window

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LINE_FEED = 10


@dataclass(frozen=True)
class ScannedWindow:
    """A window cut into lines.

    `edges` has one entry more than there are lines: line i is `data[edges[i]:edges[i + 1]]`, line feed included.
    `hits` are the indexes of lines that hold a needle, ascending.
    """

    window: Window
    edges: npt.NDArray[np.int32]
    hits: list[int]
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

    def bounds_of_hits(self) -> tuple[list[int], list[int]]:
        """Where the lines that hold a needle begin and end in the window's data."""
        return self.edges[self.hits].tolist(), self.edges[[index + 1 for index in self.hits]].tolist()


class NeedleScan:
    """Finds the lines that hold one of some byte strings."""

    def __init__(self, needles: tuple[bytes, ...]) -> None:
        """Needles may hold any bytes but line feeds; an empty tuple finds nothing."""
        import numpy as np  # noqa: PLC0415 - whoever needs the message type alone does not pay for the libraries
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        self._np, self._pa, self._pc = np, pa, pc
        self._pattern = "|".join(_escaped(needle) for needle in needles if needle)

    def scan(self, window: Window) -> ScannedWindow:
        """Cut the window into lines and mark those that hold a needle."""
        np, pa = self._np, self._pa
        feeds = np.flatnonzero(np.frombuffer(window.data, np.uint8) == LINE_FEED)
        tail = 0 if window.data.endswith(b"\n") else 1
        edges = np.empty(len(feeds) + 1 + tail, np.int32)
        edges[0] = 0
        edges[1 : len(feeds) + 1] = feeds + 1
        if tail:
            edges[-1] = len(window.data)
        buffers = [None, pa.py_buffer(edges), pa.py_buffer(window.data)]
        text = pa.Array.from_buffers(pa.string(), len(edges) - 1, buffers)
        lines = pa.Array.from_buffers(pa.binary(), len(edges) - 1, buffers)
        hits: list[int] = []
        if self._pattern:
            found = self._pc.match_substring_regex(lines, self._pattern)
            hits = np.flatnonzero(found.to_numpy(zero_copy_only=False)).tolist()
        return ScannedWindow(window, edges, hits, self._undecodable(window.data, text))

    def _undecodable(self, data: bytes, text: Any) -> int:  # noqa: ANN401 - an Arrow array
        """Bytes of the window that are not UTF-8; the vectorised check comes first since it nearly always suffices."""
        if data.isascii():
            return 0
        try:
            text.validate(full=True)
        except self._pa.ArrowInvalid:
            return undecodable(data)
        return 0


def undecodable(data: bytes) -> int:
    """Bytes that are not UTF-8."""
    return 0 if data.isascii() else len(data) - len(data.decode("utf-8", "ignore").encode())


def _escaped(needle: bytes) -> str:
    """The needle as a pattern of bytes."""
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\x{byte:02x}" for byte in needle)
