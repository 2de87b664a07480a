"""Files of a store on a disk or in a bucket, behind the four operations that the store needs.

In: an fsspec URL or a path. The promise that everything else stands on is `replace`: a reader sees
the old bytes or the new ones, never part. Disks and SFTP servers keep it by writing beside and
renaming; object stores by a single put, where a rename would be a copy and a deletion.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import IO, Any
from uuid import uuid4

from rl_pipeline.addresses import refuse_password, without_login
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.places.elsewhere import file_system
from rl_pipeline.places.trouble import is_of_place, trouble

# Where a file can be renamed over another in one step; everywhere else a put is that step.
RENAMING_PROTOCOLS = frozenset({"file", "local", "sftp", "ssh", "smb", "hdfs"})
NOTHING_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
LOCAL_PROTOCOLS = frozenset({"file", "local"})


class StoreFiles:
    """Files below one folder; names are relative to it, with slashes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._files, root = _filesystem(url)
        self._root = root.rstrip("/")
        protocol = self._files.protocol
        protocols = {protocol} if isinstance(protocol, str) else set(protocol)
        self._renames = bool(protocols & RENAMING_PROTOCOLS)
        self._is_local = bool(protocols & LOCAL_PROTOCOLS)

    def read(self, name: str) -> bytes | None:
        """The bytes of a file, or None when there is none."""
        if self._is_local and _is_no_file(self._path(name)):
            return None
        try:
            with self._asking():
                content: bytes = self._files.cat_file(self._path(name))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        return content

    def read_many(self, names: Sequence[str]) -> dict[str, bytes]:
        """Several small files; in a bucket they are fetched at the same time. Missing ones are left out."""
        if not names:
            return {}
        if self._is_local:
            found = ((name, self.read(name)) for name in names)
            return {name: content for name, content in found if content is not None}
        with self._asking():
            fetched = self._files.cat([self._path(name) for name in names], on_error="return")
            contents = {}
            for name in names:
                content = fetched.get(self._path(name).lstrip("/"), fetched.get(self._path(name)))
                if isinstance(content, bytes):
                    contents[name] = content
                elif isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                    raise content
        return contents

    def replace(self, name: str, content: bytes) -> None:
        """Put the bytes in the place of the old ones, in one step."""
        with self._writing():
            self._make_parent(name)
            if not self._renames:
                self._files.pipe_file(self._path(name), content)
                return
            beside = f"{self._path(name)}.{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{uuid4().hex[:12]}.tmp"
            self._files.pipe_file(beside, content)
            self._files.mv(beside, self._path(name))

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A new file, written as a stream; nobody may look for it before it is complete."""
        with self._writing():
            self._make_parent(name)
            with self._files.open(self._path(name), "wb") as file:
                yield file

    def names(self, folder: str) -> list[str]:
        """Names of files and folders directly in a folder, sorted; none when it does not exist."""
        self._files.invalidate_cache(self._path(folder))
        try:
            with self._asking():
                listed = self._files.ls(self._path(folder), detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted({path.rstrip("/").rpartition("/")[2] for path in listed})

    def sizes(self, folder: str) -> dict[str, int]:
        """Names and sizes of the files directly in a folder."""
        self._files.invalidate_cache(self._path(folder))
        try:
            with self._asking():
                listed = self._files.ls(self._path(folder), detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return {entry["name"].rpartition("/")[2]: entry["size"] for entry in listed if entry["type"] == "file"}

    def remove(self, name: str) -> None:
        """Delete a file or a whole folder; that it is gone already, or is held by others, does not matter."""
        with contextlib.suppress(OSError):
            self._files.rm(self._path(name), recursive=True)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _make_parent(self, name: str) -> None:
        if self._renames:
            self._files.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Errors of a service as people can act on them; those of a disk stay as they are."""
        try:
            yield
        except Exception as error:
            if self._is_local or not is_of_place(error):
                raise
            raise trouble(error, self.url) from error

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._asking():
                yield
        except (PermissionError, NotADirectoryError, FileExistsError) as error:
            raise self._unwritable(error) from error
        except FileNotFoundError as error:
            if self._renames:
                raise
            raise self._unwritable(error) from error  # no such bucket
        except OSError as error:
            if error.errno is None:  # not of the file system
                raise
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            "The table store cannot be written",
            where=f"{self.url} ({error.strerror or error})",
            expected="a folder or bucket with permission to write and with space left",
            do="free space or correct the permission, or choose another store with RL_PIPELINE_STORE",
            slug="store-not-writable",
        )


def _is_no_file(path: str) -> bool:
    """Whether there is nothing to be read at a path of a disk; a pipe would be waited for."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - as text, as the store has it
    except OSError as error:
        return error.errno in NOTHING_THERE


def _filesystem(url: str) -> tuple[Any, str]:
    refuse_password(url)
    try:
        files, root = file_system(url)
    except ImportError as error:
        raise trouble(error, url) from error
    except ValueError as error:
        raise ConfigurationError(
            "The table store has an address that nothing here can open",
            where=f"{without_login(url)} ({error})",
            expected="a path, or a URL of a known kind such as s3://bucket/folder, gs://…, sftp://host/folder",
            do="correct the address of the store (RL_PIPELINE_STORE)",
            slug="store-address-unknown",
        ) from error
    except Exception as error:
        if not is_of_place(error):
            raise
        raise trouble(error, url) from error
    return files, str(root)
