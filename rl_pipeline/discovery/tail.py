"""The last bytes of a log, plain or packed, with their place in the uncompressed file.

A plain file is read from its end; a packed one has to be unpacked from its beginning, of which only the
last window is kept. Damage to a packed file ends the reading there and is no error.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from rl_pipeline.discovery.contents import GZIP_MAGIC, ZSTD_MAGIC
from rl_pipeline.places import on_disk, open_binary

TAIL_BYTES = 256 * 1024
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Tail:
    """The last whole lines of a file; `first_byte` is where they begin in the uncompressed file."""

    data: bytes
    first_byte: int

    @property
    def whole(self) -> bool:
        """Whether this is all of the file, so that lines can be numbered."""
        return self.first_byte == 0

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Byte offset and content of each line, without its line end."""
        offset = self.first_byte
        for line in self.data.split(b"\n"):
            yield offset, line.removesuffix(b"\r")
            offset += len(line) + 1


def read_tail(path: Path, size: int = TAIL_BYTES) -> Tail:
    """The last `size` bytes of the (uncompressed) file, from the first line that begins inside them."""
    with open_binary(path) as stream:
        magic = stream.read(4)
        if magic.startswith(GZIP_MAGIC) or magic == ZSTD_MAGIC:
            return _unpacked_tail(path, magic, size)
        end = stream.seek(0, os.SEEK_END)
        start = max(end - size, 0)
        stream.seek(start)
        return _from_line_start(stream.read(size), start)


def read_head(path: Path, size: int = TAIL_BYTES) -> bytes:
    """The first `size` bytes of the (uncompressed) file."""
    with open_binary(path) as stream:
        magic = stream.read(4)
        if not (magic.startswith(GZIP_MAGIC) or magic == ZSTD_MAGIC):
            stream.seek(0)
            return stream.read(size)
    head = b""
    for piece in _pieces(path, magic):
        head += piece
        if len(head) >= size:
            break
    return head[:size]


def _unpacked_tail(path: Path, magic: bytes, size: int) -> Tail:
    kept, total = b"", 0
    for piece in _pieces(path, magic):
        total += len(piece)
        kept = (kept + piece)[-size:]
    return _from_line_start(kept, total - len(kept))


def _from_line_start(data: bytes, start: int) -> Tail:
    """Drop what is left of a line that began before the window; one line longer than it is kept."""
    line_end = data.find(b"\n")
    if start == 0 or line_end < 0:
        return Tail(data, start)
    return Tail(data[line_end + 1 :], start + line_end + 1)


def _pieces(path: Path, magic: bytes) -> Iterator[bytes]:
    try:
        with on_disk(path) as file, _open_packed(file, magic) as stream:
            while piece := stream.read(_PIECE_BYTES):
                yield piece
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):
        return


def _open_packed(path: Path, magic: bytes) -> BinaryIO:
    if magic.startswith(GZIP_MAGIC):
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile reads like any binary stream
    stream: BinaryIO = zstandard.open(path, "rb", dctx=zstandard.ZstdDecompressor())
    return stream
