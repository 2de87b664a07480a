"""A file system that dies in the middle of a write, as a killed process would leave it.

`dying://` keeps its files in memory. After `DyingDisk.die_after(n)` the n-th changing operation is
done in part or not at all, it and every later one raises `Killed`, until `revive()`.
"""

from __future__ import annotations

from typing import Any

import fsspec
from fsspec.implementations.memory import MemoryFileSystem


class Killed(BaseException):
    """The process is gone; nothing may catch this and go on."""


class DyingDisk(MemoryFileSystem):  # type: ignore[misc] # fsspec has no types
    """Files in memory, and a countdown."""

    protocol = "dying"
    store: dict[str, Any] = {}  # noqa: RUF012 - fsspec's own name for the files of all instances
    pseudo_dirs = [""]  # noqa: RUF012
    _left: int | None = None

    @classmethod
    def die_after(cls, changes: int) -> None:
        cls._left = changes

    @classmethod
    def revive(cls) -> None:
        cls._left = None

    @classmethod
    def wipe(cls) -> None:
        cls.store.clear()
        cls.pseudo_dirs[:] = [""]
        cls.revive()

    def _count(self) -> None:
        if DyingDisk._left is None:
            return
        if DyingDisk._left <= 0:
            raise Killed
        DyingDisk._left -= 1

    def pipe_file(self, path: str, value: bytes, *args: Any, **kwargs: Any) -> None:
        self._count()
        super().pipe_file(path, value, *args, **kwargs)

    def open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        if "w" in mode and "data" not in kwargs:
            self._count()
        return super().open(path, mode, **kwargs)

    def rm(self, path: str, recursive: bool = False, maxdepth: int | None = None) -> None:
        self._count()
        super().rm(path, recursive=recursive, maxdepth=maxdepth)


fsspec.register_implementation("dying", DyingDisk, clobber=True)
