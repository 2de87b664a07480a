"""Folders and files elsewhere: listed, asked for their facts, read in ranges or whole.

An object store has no times to trust below a second and nothing like an inode. So a file's time here is the second of
its last writing with a digest of its entity tag in the place of the nanoseconds (an object that is replaced within a
second has another time), and its inode is a digest of its address.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from rl_pipeline.addresses import address, is_elsewhere
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.places.trouble import is_of_place, trouble

ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
BUFFER_BYTES = 256 * 1024
SAME_TIME = 6  # channels on one connection; servers allow ten
TIMES, TAGS = ("LastModified", "mtime", "updated", "created"), ("ETag", "etag", "generation", "md5Hash")


class Entry(NamedTuple):
    """One name in a folder; size in bytes, time of the last write in ns. Both are 0 for a folder."""

    name: str
    is_folder: bool
    size_bytes: int
    mtime_ns: int
    inode: int


class PlaceError(OSError):
    """A place elsewhere that failed; `told` is what a person must do."""

    def __init__(self, told: ConfigurationError) -> None:
        super().__init__(None, told.what)
        self.told, self.strerror = told, told.what

    def __str__(self) -> str:
        return str(self.told)


def exists(path: Path) -> bool:
    """Whether there is a file or folder; a place or a path that cannot be looked at says so.

    Raises:
        PlaceError: nobody can tell.
    """
    return is_folder(path) or is_file(path) if is_elsewhere(path) else _told(path.exists, path)


def is_folder(path: Path) -> bool:
    """Whether it is a folder; in a bucket, a beginning of names behind which there are some."""
    if not is_elsewhere(path):
        return _told(path.is_dir, path)
    try:
        return bool(entries(path)) or _is_made_folder(path)
    except ABSENT:
        return False


def is_file(path: Path) -> bool:
    """Whether it is a file."""
    return file_facts(path) is not None if is_elsewhere(path) else _told(path.is_file, path)


def _told(question: Callable[[], bool], path: Path) -> bool:
    """The answer to a question about a path of this machine."""
    try:
        return bool(question())
    except (OSError, ValueError) as error:  # a name that is too long, a folder above that nobody may look into
        told = ConfigurationError(
            "a path that cannot be looked at",
            where=f"{path} ({getattr(error, 'strerror', None) or error})",
            expected="a file or folder that this user may read",
            do="correct the path, or its permissions",
            slug="path-unreadable",
        )
        raise PlaceError(told) from error


def entries(path: Path | str) -> list[Entry]:
    """What lies directly in a folder elsewhere, by name.

    Raises:
        FileNotFoundError: there is no such folder.
        NotADirectoryError: it is a file.
        PlaceError: the place did not answer.
    """
    with _asking(path) as (files, root):
        files.invalidate_cache(root)
        listed = [_followed(files, entry) for entry in files.ls(root, detail=True)]
    if (
        [_plain(entry["name"]) for entry in listed] == [_plain(root)]
        and listed[0]["type"] == "file"
        and listed[0]["size"]
    ):
        raise NotADirectoryError(20, "Not a directory", address(path))
    found = [_entry(entry, path) for entry in listed if _plain(entry["name"]) != _plain(root)]
    return sorted(found)


def file_facts(path: Path | str) -> Entry | None:
    """Facts of a file elsewhere, or None when it is not there.

    Raises:
        PlaceError: the place did not answer.
    """
    try:
        with _asking(path) as (files, root):
            files.invalidate_cache(root)
            told = files.info(root)
    except ABSENT:
        return None
    return None if told["type"] != "file" else _entry(told, Path(path).parent)


def walk_files(root: Path) -> Iterator[tuple[str, Entry]]:
    """Every file below a folder in a bucket, as its folder (relative, "" for the root itself) and its facts.

    One question for each thousand files, whatever the folders.
    """
    with _asking(root) as (files, top):
        files.invalidate_cache()
        found = files.find(top, detail=True)
    start = len(_plain(top)) + 1
    for name, told in found.items():
        relative = _plain(name)[start:]
        if relative:
            folder = relative.rpartition("/")[0]
            yield folder, _entry(told, root / folder)


def is_bucket(path: Path) -> bool:
    """Whether it lies in an object store, where a whole tree can be listed at once."""
    return str(path).startswith(("/s3:/", "/gs:/"))


def open_binary(path: Path) -> BinaryIO:
    """A file to read and to seek in; of one elsewhere only the ranges that are read are fetched.

    Raises:
        FileNotFoundError: it is not there.
        PlaceError: the place did not answer.
    """
    if not is_elsewhere(path):
        return path.open("rb")
    facts = file_facts(path)
    if facts is None:
        raise FileNotFoundError(2, "No such file or directory", address(path))
    return cast("BinaryIO", io.BufferedReader(_Ranges(path, facts.size_bytes), BUFFER_BYTES))


def fetch(path: Path, target: Path) -> None:
    """Copy a file from elsewhere to this disk.

    Raises:
        FileNotFoundError: it is gone.
        PlaceError: the place did not answer.
    """
    with _asking(path) as (files, root):
        files.get_file(root, str(target))


def fetch_many(paths: Sequence[str], folder: Path) -> list[Path]:
    """Copy small files, at the same time where the place can; what is gone meanwhile has no copy afterwards.

    Returns:
        The place of each copy, in the order of `paths`.

    Raises:
        PlaceError: the place did not answer.
    """
    targets = [folder / str(number) for number in range(len(paths))]
    if paths:
        with _asking(paths[0]) as (files, _):
            names = [str(files._strip_protocol(address(path))) for path in paths]
            if files.async_impl:
                with contextlib.suppress(FileNotFoundError):
                    files.get(names, [str(target) for target in targets])
                    return targets
            with ThreadPoolExecutor(SAME_TIME) as pool:
                list(pool.map(partial(_copy, files), names, targets))
    return targets


def _copy(files: Any, name: str, target: Path) -> None:  # noqa: ANN401 - fsspec has no types
    with contextlib.suppress(*ABSENT):
        target.write_bytes(files.cat_file(name))


class _Ranges(io.RawIOBase):
    """A file elsewhere of a size that was told before, read by ranges."""

    def __init__(self, path: Path, size: int) -> None:
        self._path, self._size, self._position = path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - any writable bytes
        view = memoryview(buffer)
        end = min(self._position + len(view), self._size)
        if end <= self._position:
            return 0
        with _asking(self._path) as (files, root):
            data = files.cat_file(root, start=self._position, end=end)
        view[: len(data)] = data
        self._position += len(data)
        return len(data)


@contextlib.contextmanager
def _asking(path: Path | str) -> Iterator[tuple[Any, str]]:
    """The file system of a path and its name there; errors of the service become `PlaceError`."""
    url = address(path)
    try:
        yield file_system(url)
    except ABSENT:
        raise
    except ConfigurationError as error:
        raise PlaceError(error) from error
    except Exception as error:
        if not is_of_place(error):
            raise
        raise PlaceError(trouble(error, url)) from error


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL, as fsspec has it, and the name in it."""
    import fsspec  # noqa: PLC0415 - local inputs need none of it

    if url.startswith(("sftp://", "ssh://")):
        from rl_pipeline.places.ssh import register  # noqa: PLC0415 - needs paramiko

        register()
    files, root = fsspec.core.url_to_fs(url)
    return files, str(root)


def _followed(files: Any, entry: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """What a link leads to, under the link's own name; a link to nothing stays one."""
    if entry["type"] != "link":
        return entry
    with contextlib.suppress(*ABSENT):
        return {**files.info(entry["name"]), "name": entry["name"]}
    return {**entry, "type": "file", "size": 0}


def _is_made_folder(path: Path) -> bool:
    """Whether it is an empty folder where there are such (SSH)."""
    with _asking(path) as (files, root):
        return bool(files.isdir(root))


def _plain(name: str) -> str:
    return name.strip("/")


def _entry(told: dict[str, Any], folder: Path | str) -> Entry:
    name = _plain(str(told["name"])).rpartition("/")[2]
    inode = _digest(f"{address(folder)}/{name}") % 2**63
    if told["type"] != "file":
        return Entry(name, True, 0, 0, inode)
    return Entry(name, False, int(told["size"] or 0), _time_ns(told), inode)


def _time_ns(told: dict[str, Any]) -> int:
    when = next((told[name] for name in TIMES if told.get(name)), 0)
    tag = next((str(told[name]) for name in TAGS if told.get(name)), None)
    seconds = _seconds(when)
    if tag is None:
        return int(seconds * 1_000_000) * 1000
    return int(seconds) * 1_000_000_000 + _digest(tag.strip('"')) % 1_000_000_000


def _seconds(when: Any) -> float:  # noqa: ANN401 - each service has its own
    if isinstance(when, str):
        when = datetime.fromisoformat(when.replace("Z", "+00:00"))
    if isinstance(when, datetime):
        return (when if when.tzinfo else when.replace(tzinfo=timezone.utc)).timestamp()
    return float(when)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "big")
