"""Files from elsewhere on this disk, for programs that read all of a file, and more than once.

    <spool>/<digest of address, size and time>-<name>

A copy is named by what it is a copy of, so it is never out of date and needs no list. It is written beside and renamed;
it is locked (shared) while it is used. When all copies together are larger than the limit, those unused for the longest
time go, never one in use; so the spool holds its limit, or what is read at this moment.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from rl_pipeline.addresses import address, is_elsewhere
from rl_pipeline.places.elsewhere import Entry, fetch, file_facts
from rl_pipeline.settings import Settings

PART = ".part-"
PART_GRACE_SECONDS = 24 * 3600.0
GIGABYTE = 10**9


@contextlib.contextmanager
def on_disk(path: Path) -> Iterator[Path]:
    """A file on this disk with the content of `path`: itself, or a copy of what lies elsewhere.

    Raises:
        FileNotFoundError: it is not there.
        OSError: it changed while it was copied, or there is no room for the copy.
        PlaceError: its place did not answer.
    """
    if not is_elsewhere(path):
        yield path
        return
    settings = Settings.from_environment(os.environ)
    with Spool(settings.spool, limit_bytes=int(settings.spool_gb * GIGABYTE)).holding(path) as copy:
        yield copy


class Spool:
    """The folder of copies."""

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        self._folder, self._limit = folder, limit_bytes

    @contextlib.contextmanager
    def holding(self, path: Path) -> Iterator[Path]:
        """A copy of a file elsewhere, which stays while the block runs."""
        facts = file_facts(path)
        if facts is None:
            raise FileNotFoundError(2, "No such file or directory", address(path))
        self._folder.mkdir(parents=True, exist_ok=True)
        copy = self._folder / _name(path, facts)
        descriptor = self._locked(path, copy, facts)
        try:
            os.utime(descriptor)
            self.sweep()
            yield copy
        finally:
            os.close(descriptor)

    def _locked(self, path: Path, copy: Path, facts: Entry) -> int:
        """The copy, opened and locked; made when there is none, or when it went away before it was locked."""
        while True:
            with contextlib.suppress(FileNotFoundError):
                descriptor = os.open(copy, os.O_RDONLY | os.O_CLOEXEC)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                if copy.exists():
                    return descriptor
                os.close(descriptor)
            self._fetch(path, copy, facts)

    def _fetch(self, path: Path, copy: Path, facts: Entry) -> None:
        part = copy.with_name(f"{copy.name}{PART}{uuid4().hex}")
        try:
            fetch(path, part)
            size = part.stat().st_size
            if size > facts.size_bytes:  # a log that grew meanwhile: what was told is what is read
                os.truncate(part, facts.size_bytes)
            if size < facts.size_bytes:
                raise OSError(5, "changed while it was copied", address(path))
            part.replace(copy)
        finally:
            part.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete copies until all together are within the limit: the longest unused first, none in use."""
        files = []
        for file in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                info = file.stat()
                if PART not in file.name:
                    files.append((info.st_mtime_ns, info.st_size, file))
                elif time.time() - info.st_mtime > PART_GRACE_SECONDS:  # its process was killed
                    file.unlink()
        total = sum(size for _, size, _ in files)
        for _, size, file in sorted(files):
            if total <= self._limit:
                return
            total -= size if _removed(file) else 0


def _removed(file: Path) -> bool:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _name(path: Path, facts: Entry) -> str:
    what = f"{address(path)} {facts.size_bytes} {facts.mtime_ns}"
    digest = hashlib.blake2b(what.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return f"{digest}-{os.fsdecode(os.fsencode(path.name)[-120:])}"
