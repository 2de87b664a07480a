"""Questions to the file system about many folders at once: `folder_calls.c`, compiled for Linux.

One call lists many folders and reads a file of each. Python's lock is free meanwhile. What is not quite as usual is not
judged here: it is left to the caller, who looks at it as without this library, so that both ways find the same.

No numpy here: processes that only read trials do without it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rl_pipeline.reader.compiled import NotUsable, open_library

SOURCE = Path(__file__).with_name("folder_calls.c")
COMPILED = SOURCE.with_suffix(".so")
LONGEST_PATH = 3072  # bytes of a folder's path: what lies in it can be opened by its whole path, too
CONTENT_BYTES = 2**22  # of files that are read at once; what does not fit is read by itself
NUMBER_BYTES = 8
LISTED_BYTES = 2**20  # of names that one call lists
UNUSUAL, NOT_READ, WHOLE = 0, 1, 2
IS_FOLDER, IS_FILE = 4, 8  # kinds of what is listed
SHARE = 4096  # folders whose state one thread asks for before another is worth its start
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class Readings(NamedTuple):
    """What was read of the files in some folders: columns with a value for each."""

    how: bytes  # `UNUSUAL`: the folder is to be looked at; `NOT_READ`: its file is to be read; `WHOLE`
    size: list[int]
    mtime_ns: list[int]
    inode: list[int]
    folder_mtime_ns: list[int]
    contents: list[bytes]

    @property
    def are_whole(self) -> bool:
        """Whether every file was read."""
        return self.how.count(WHOLE) == len(self.how)

    def one(self, place: int) -> Readings:
        """What was read of one file."""
        its = slice(place, place + 1)
        how, size, mtime_ns, inode, folder_mtime_ns, contents = self
        return Readings(how[its], size[its], mtime_ns[its], inode[its], folder_mtime_ns[its], contents[its])


class States(NamedTuple):
    """States of files.

    `is_file`: a byte for each, 1 where it is a regular file. `columns`: four of 64-bit numbers, one behind the other:
    size, time in nanoseconds, inode, time of the folder.
    """

    is_file: bytearray
    columns: bytearray


@cache
def load() -> FolderCalls | None:
    """The calls; None where they were not compiled, or from another source, or are not whole."""
    try:
        return FolderCalls(open_library(SOURCE, COMPILED))
    except NotUsable:
        return None


def end_to_end(texts: Iterable[str]) -> bytes:
    """Texts as the library takes them."""
    return b"".join(os.fsencode(text) + b"\0" for text in texts)


class FolderCalls:
    """The functions of the library."""

    def __init__(self, library: Any) -> None:  # noqa: ANN401 - ctypes
        """Say what each takes."""
        number, text, filled = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p
        self._list_some = library.list_some
        self._list_some.argtypes, self._list_some.restype = [ctypes.c_int, filled, number, filled, filled], None
        self._states_of = library.states_of
        self._states_of.argtypes = [ctypes.c_int, text, number, text, number, filled, filled]
        self._states_of.restype = None
        self._read_trials = library.read_trials
        self._read_trials.argtypes = [
            ctypes.c_int, text, number, number, text, text, text, number, text, number, filled, number, filled, filled,
        ]  # fmt: skip
        self._read_trials.restype = None
        self._contents: list[Any] = []  # room that nobody uses now

    def listed(self, path: str) -> tuple[list[str], bytes] | None:
        """The names in a folder and the kind of each; None when it cannot be listed whole."""
        folder = _opened(path)
        if folder is None:
            return None
        names, kinds, told = bytearray(LISTED_BYTES), bytearray(LISTED_BYTES), (ctypes.c_int64 * 3)()
        texts: list[bytes] = []
        of: list[bytes] = []
        try:
            while not told[2]:
                self._list_some(folder, _address(names), LISTED_BYTES, _address(kinds), told)
                texts.append(bytes(names[: told[1]]))
                of.append(bytes(kinds[: told[0]]))
        finally:
            os.close(folder)
        return (os.fsdecode(b"".join(texts)).split("\0")[:-1], b"".join(of)) if told[2] > 0 else None

    def states(self, path: str, names: Sequence[str], result: str) -> tuple[States, States] | None:
        """The state of a file in each of some folders; a link is none.

        Args:
            path: the folder in which these lie.
            names: of the folders.
            result: the file's name.

        Returns:
            Those of the first of the folders, and those of the others. None when the folder cannot be opened.
        """
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - processes that only read do without it

        above = _opened(path)
        if above is None:
            return None
        half = len(names) if len(names) < 2 * SHARE else len(names) // 2
        try:
            with ThreadPoolExecutor(1) as thread:
                others = thread.submit(self._states, above, names[half:], result)
                return self._states(above, names[:half], result), others.result()
        finally:
            os.close(above)

    def _states(self, above: int, names: Sequence[str], result: str) -> States:
        told, count = os.fsencode("\0".join(names)) + b"\0", len(names)
        is_file, columns = bytearray(count), bytearray(4 * NUMBER_BYTES * count)
        if count:
            self._states_of(
                above, told, len(told), os.fsencode(result), count, _address(is_file), _address(columns)
            )  # fmt: skip
        return States(is_file, columns)

    def read(self, path: str, names: Sequence[str], rules: Rules) -> Readings | None:
        """List some folders, and read the result of each that is a trial's with nothing else to look at.

        Args:
            path: the folder in which these lie.
            names: of the folders.
            rules: what is usual in the folder of a trial.

        Returns:
            A row for each name; None when the folder cannot be opened.
        """
        above = _opened(path)
        if above is None:
            return None
        room = self._contents.pop() if self._contents else (ctypes.c_char * CONTENT_BYTES)()
        try:
            return self._read(above, names, rules, room)
        finally:
            os.close(above)
            self._contents.append(room)

    def _read(self, above: int, names: Sequence[str], rules: Rules, room: Any) -> Readings:  # noqa: ANN401 - ctypes
        told, count = os.fsencode("\0".join(names)) + b"\0", len(names)
        how, numbers = bytearray(count), (ctypes.c_int64 * (5 * count))()
        self._read_trials(
            above, told, len(told), count, rules.result, rules.sign_of_a_job, rules.parts, len(rules.parts),
            rules.archives, len(rules.archives), room, CONTENT_BYTES, _address(how), numbers,
        )  # fmt: skip
        size, mtime_ns, inode, ends, folders = (numbers[place * count : (place + 1) * count] for place in range(5))
        view = memoryview(room).cast("B")
        contents = [view[begin:end].tobytes() for begin, end in zip((0, *ends), ends, strict=False)]
        if min(inode, default=0) < 0:
            inode = [number % 2**64 for number in inode]
        return Readings(bytes(how), size, mtime_ns, inode, folders, contents)


class Rules(NamedTuple):
    """What is usual in the folder of a trial; several texts stand end to end, each with a NUL behind it."""

    result: bytes
    sign_of_a_job: bytes
    parts: bytes
    archives: bytes


def _opened(path: str) -> int | None:
    """A folder, to be asked about what lies in it; None when it cannot be opened, or its path is very long."""
    if len(os.fsencode(path)) > LONGEST_PATH:
        return None
    try:
        return os.open(path, OPEN_FLAGS)
    except OSError:
        return None


def _address(room: bytearray) -> Any:  # noqa: ANN401 - ctypes
    return (ctypes.c_char * len(room)).from_buffer(room)
