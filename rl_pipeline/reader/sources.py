"""Stored bytes to text bytes: plain, gzip (members may follow one another) and zstd, told apart by content.

In comes a path; out come chunks of a bounded size, in order, whatever the compression ratio. Damage ends the
stream early and is noted in the report with the stored byte near which it was met; what was readable is kept.
The digest of the stored bytes is made on the way.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard
from blake3 import blake3

from rl_pipeline.reader.read_report import ReadReport

CHUNK_BYTES = 4 * 1024 * 1024  # also the window of one scan
# The first windows teach what lines look like, and the lines of the very first are all read the long way.
FIRST_BYTES = (32 * 1024, 224 * 1024)
PIECE_BYTES = 4 * 1024 * 1024  # of a fingerprint
# Compressed input per step. One kilobyte of zstd can stand for 32 MB, so that is the most one step gives.
COMPRESSED_BYTES = 1024
GZIP_MAGIC, ZSTD_MAGIC, XZ_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SAMPLE_BYTES = 4096  # enough to tell UTF-16 without mark
MIN_SAMPLE = 64
ZSTD_SKIPPABLE = tuple(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16))


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class Fingerprint:
    """A digest of bytes that come one after another, which can be gone on with when more come later.

    Every `PIECE_BYTES` have a BLAKE3 digest of their own, and the fingerprint is that of these digests.
    """

    def __init__(self, pieces: Sequence[bytes] = ()) -> None:
        """`pieces`: digests of whole pieces that came earlier."""
        self._pieces = list(pieces)
        self._present, self._room = blake3(), PIECE_BYTES

    def update(self, data: bytes) -> None:
        """Take the next bytes."""
        rest = memoryview(data)
        while rest:
            part, rest = rest[: self._room], rest[self._room :]
            self._present.update(part)
            self._room -= len(part)
            if not self._room:
                self._pieces.append(self._present.digest())
                self._present, self._room = blake3(), PIECE_BYTES

    def pieces(self, size: int) -> tuple[bytes, ...]:
        """Digests of the whole pieces among the first `size` bytes."""
        return tuple(self._pieces[: size // PIECE_BYTES])

    def hexdigest(self) -> str:
        """The digest in hex of all that came so far."""
        last = [] if self._room == PIECE_BYTES and self._pieces else [self._present.digest()]
        return blake3(b"".join([*self._pieces, *last])).hexdigest()


def fingerprint(path: Path) -> str:
    """The digest of a file's stored bytes, hex; the same as `ReadReport.fingerprint` after a full read."""
    digest = Fingerprint()
    with Path(path).open("rb") as file:
        while data := file.read(CHUNK_BYTES):
            digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was read of a plain file before: so many bytes, and the digests of whole pieces among them."""

    size: int
    pieces: tuple[bytes, ...]


def compression_of(beginning: bytes) -> str | None:
    """gzip, zstd, xz or None (plain) by the first bytes of a file."""
    if beginning.startswith(GZIP_MAGIC):
        return "gzip"
    if beginning.startswith(ZSTD_MAGIC) or beginning.startswith(ZSTD_SKIPPABLE):
        return "zstd"
    return "xz" if beginning.startswith(XZ_MAGIC) else None


def starts_plain(path: Path) -> bool:
    """Whether a file is read as it is stored."""
    with Path(path).open("rb") as file:
        beginning = file.read(SAMPLE_BYTES)
    return compression_of(beginning) is None and utf16_of(beginning) is None


def text_chunks(
    path: Path,
    report: ReadReport,
    *,
    on_bytes: Callable[[int], None] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
    earlier: Earlier | None = None,
    digest: Fingerprint | None = None,
) -> Generator[bytes, None, None]:
    """The file's text in chunks; fills size, compression, fingerprint and read error of the report.

    Args:
        path: the file.
        report: see above.
        on_bytes: told how many stored bytes were read since the last call.
        chunk_bytes: stored bytes read at once.
        earlier: what was read before, of a plain file; the text behind it is given.
        digest: is filled with the stored bytes.
    """
    digest = digest or Fingerprint()
    try:
        with Path(path).open("rb") as file:
            report.size_bytes = file.seek(0, 2)
            if earlier is not None:
                yield from _stored(_opened_behind(file, earlier, digest), report, digest, on_bytes, chunk_bytes)
                return
            file.seek(0)
            beginning = file.read(SAMPLE_BYTES)
            file.seek(0)
            report.compression = compression_of(beginning)
            stored = _stored(file, report, digest, on_bytes, chunk_bytes)
            encoding = utf16_of(beginning) if report.compression is None else None
            yield from _plain_text(stored, report) if encoding is None else _from_utf16(stored, encoding)
    finally:
        report.fingerprint = digest.hexdigest()


def _opened_behind(file: BinaryIO, earlier: Earlier, digest: Fingerprint) -> BinaryIO:
    """The file, with what was read before of its present piece in the digest only."""
    begin = len(earlier.pieces) * PIECE_BYTES
    file.seek(begin)
    digest.update(file.read(earlier.size - begin))
    return file


def _stored(
    file: BinaryIO,
    report: ReadReport,
    digest: Fingerprint,
    on_bytes: Callable[[int], None] | None,
    chunk_bytes: int,
) -> Iterator[bytes]:
    """Stored pieces; a failing disk ends them, with a note."""
    position, sizes = file.tell(), chain(FIRST_BYTES, repeat(chunk_bytes))
    for wanted in sizes:
        try:
            piece = file.read(min(wanted, chunk_bytes))
        except OSError as error:
            report.read_error = f"reading failed at stored byte {position}: {error.strerror or error}"
            return
        if not piece:
            return
        position += len(piece)
        digest.update(piece)
        if on_bytes is not None:
            on_bytes(len(piece))
        yield piece


def _plain_text(stored: Iterator[bytes], report: ReadReport) -> Iterator[bytes]:
    """Text pieces, by the compression found; xz is named but not read."""
    if report.compression is None:
        yield from stored
    elif report.compression == "xz":
        report.read_error = "xz compression is not read: unpack the file first (stored byte 0)"
        _drain(stored)
    else:
        opener = _gzip_member if report.compression == "gzip" else _zstd_frame
        yield from _gathered(_decompressed(stored, report, opener))


def utf16_of(beginning: bytes) -> str | None:
    """The codec of a text in UTF-16, by its mark or by the NULs at every second byte; None for all others."""
    if beginning.startswith(UTF16_MARKS):
        return "utf-16"
    pairs = len(beginning) // 2
    if pairs * 2 < MIN_SAMPLE:
        return None
    even, odd = beginning[: pairs * 2 : 2].count(0), beginning[1 : pairs * 2 : 2].count(0)
    if odd > 0.6 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * pairs and odd < 0.05 * pairs else None


def _from_utf16(stored: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """UTF-8 of a text that some editor saved as UTF-16; offsets count in the UTF-8 text."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in stored:
        yield decoder.decode(piece).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _gzip_member() -> _Decompressor:
    return zlib.decompressobj(wbits=31)


def _zstd_frame() -> _Decompressor:
    return zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()


def _decompressed(stored: Iterator[bytes], report: ReadReport, opener: Callable[[], _Decompressor]) -> Iterator[bytes]:
    """Members or frames one after another; padding of zeros between and after them is skipped."""
    position, member = 0, opener()
    fresh = True  # nothing of the present member has been seen
    for piece in _pieces(stored):
        rest = piece
        while rest:
            if fresh and not (rest := rest.lstrip(b"\0")):
                break
            fresh = False
            try:
                text = member.decompress(rest)
            except (zlib.error, zstandard.ZstdError) as error:
                report.read_error = f"{report.compression} damaged near stored byte {position}: {error}"
                _drain(stored)
                return
            if text:
                yield text
            rest = b""
            if member.eof:
                rest, member, fresh = member.unused_data, opener(), True
        position += len(piece)
    if not fresh and report.read_error is None:
        report.read_error = f"{report.compression} ends early at stored byte {position}"


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces of text as chunks: each chunk is scanned by an automaton of its own."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= CHUNK_BYTES:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _pieces(stored: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces, so that one step of decompression cannot fill the memory; alike however the file was read."""
    held = b""
    for chunk in stored:
        together = held + chunk if held else chunk
        whole = len(together) - len(together) % COMPRESSED_BYTES
        for start in range(0, whole, COMPRESSED_BYTES):
            yield together[start : start + COMPRESSED_BYTES]
        held = together[whole:]
    if held:
        yield held


def _drain(stored: Iterator[bytes]) -> None:
    """Read on for the fingerprint alone."""
    for _ in stored:
        pass
