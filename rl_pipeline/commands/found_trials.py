"""What a walk over trials found, on its way from the process that walked to the one that reads them.

A file for each root, in the order of the walk: frames of a length (4 bytes, little-endian) and finds as MessagePack.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from rl_pipeline.addresses import is_elsewhere
from rl_pipeline.reader.trial_folders import RESULT, Found, IsAsItWas, NotRead, TrialFile
from rl_pipeline.trial_files.elsewhere import trials_below

LENGTH_BYTES = 4


class Told(msgspec.Struct, array_like=True, frozen=True):
    """A trial's file, or with a reason what is not read; the path only where it does not follow from the folder."""

    folder: str
    reason: str | None
    size: int | None = None
    mtime_ns: int | None = None
    inode: int | None = None
    is_eval: bool = False
    is_leaf: bool = False
    path: bytes | None = None


ENCODE = msgspec.msgpack.Encoder().encode
DECODE = msgspec.msgpack.Decoder(list[Told]).decode


class FoundTrials:
    """Keeps what a walk finds.

    Args:
        folder: receives a file for each root.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder

    def __enter__(self) -> FoundTrials:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._folder.iterdir() if error is not None else ():
            file.unlink()  # half a walk must not pass for a whole one

    def add(self, root: Path, content: bytes) -> None:
        """Keep some finds below a root, as `encoded` makes them."""
        with (self._folder / _name(_top(root))).open("ab") as file:
            file.write(len(content).to_bytes(LENGTH_BYTES, "little") + content)


def encoded(root: Path, finds: Sequence[Found]) -> bytes:
    """What was found below a root, as bytes that are the same for the same finds."""
    top = _top(root)
    return ENCODE([_told(found, top) for found in finds])


class HandedOver:
    """Gives what another process found; walks where it did not.

    Args:
        folder: of `FoundTrials`; there is none when nobody walked.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(
        self,
        root: Path,
        *,
        known: Container[str] = (),
        is_as_it_was: IsAsItWas | None = None,
        asked: Container[str] | None = None,
    ) -> Iterator[Found]:
        """As `trials_below`; what was found is given whole, known trials with the others."""
        file = self._folder / _name(str(root))
        if not file.exists():
            yield from trials_below(root, known=known, is_as_it_was=is_as_it_was, asked=asked)
            return
        with file.open("rb") as frames:
            while head := frames.read(LENGTH_BYTES):
                for told in DECODE(frames.read(int.from_bytes(head, "little"))):
                    yield _found(told, str(root))


def _top(root: Path) -> str:
    return str(root) if is_elsewhere(root) else os.path.realpath(root)


def _name(root: str) -> str:
    return hashlib.blake2b(os.fsencode(root), digest_size=16).hexdigest()


def _path(top: str, folder: str) -> str:
    return f"{top}/{RESULT}" if folder == "." else f"{top}/{folder}/{RESULT}"


def _told(found: Found, top: str) -> Told:
    if isinstance(found, NotRead):
        return Told(*found)
    path, folder, size, mtime_ns, inode, is_eval, is_leaf = found
    own_path = None if path == _path(top, folder) else os.fsencode(path)
    return Told(folder, None, size, mtime_ns, inode, is_eval, is_leaf, own_path)


def _found(told: Told, top: str) -> Found:
    if told.reason is not None:
        return NotRead(told.folder, told.reason)
    path = _path(top, told.folder) if told.path is None else os.fsdecode(told.path)
    return TrialFile(path, told.folder, told.size, told.mtime_ns, told.inode, told.is_eval, told.is_leaf)
