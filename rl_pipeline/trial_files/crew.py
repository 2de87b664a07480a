"""Processes that read trial files beside this one.

Decoding holds Python's lock, so threads would take turns; processes do not. They are fresh interpreters, not forks
(a fork of a process with threads can hang), told where to find the package, and know nothing of the parent's program.
A process that cannot be started, or dies, costs nothing but time: its files are read here.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from rl_pipeline.trial_files.reading import Columns, read_columns
from rl_pipeline.trial_files.worker import receive, send

PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from rl_pipeline.trial_files.worker import main; main()"
PACKAGES = Path(__file__).parents[2]  # where the package lies, however it was found
LAST_WORDS_S = 10.0  # a process whose input is closed ends after the file it is at

DECODE = msgspec.msgpack.Decoder().decode


class Crew:
    """Some processes; `read` may be called from as many threads.

    Args:
        size: how many processes.
    """

    def __init__(self, size: int) -> None:
        self.processes = [process for process in (_start() for _ in range(size)) if process is not None]
        self._free: queue.SimpleQueue[subprocess.Popen[bytes] | None] = queue.SimpleQueue()
        for process in self.processes:
            self._free.put(process)
        for _ in range(size - len(self.processes)):
            self._free.put(None)

    def read(self, paths: Sequence[str]) -> Columns:
        """The columns of `read_columns`, from a process that is free, else from this one."""
        process = self._free.get()
        columns = None
        try:
            if process is not None:
                columns = _ask(process, paths)
        finally:
            self._free.put(process if columns is not None else None)
        return read_columns(paths) if columns is None else columns

    def close(self) -> None:
        """End the processes."""
        for process in self.processes:
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr] # a pipe, as it was asked for
        for process in self.processes:
            try:
                process.wait(LAST_WORDS_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()  # type: ignore[union-attr]


def _start() -> subprocess.Popen[bytes] | None:
    if not sys.executable:
        return None
    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    places = [os.path.abspath(place) for place in (*sys.path, str(PACKAGES))]  # noqa: PTH100 - "" is the working folder
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen([sys.executable, *options, "-c", PROGRAM, *places], stdin=pipe, stdout=pipe)
    except OSError:
        return None


def _ask(process: subprocess.Popen[bytes], paths: Sequence[str]) -> Columns | None:
    """Send the paths, wait for the columns; None when the process does not answer as it should."""
    source, sink = process.stdout, process.stdin
    if source is None or sink is None:
        return None
    try:
        send(sink, os.fsencode("\0".join(paths)))
        answer = receive(source)
        columns: Any = None if answer is None else DECODE(answer)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    return columns if isinstance(columns, list) else None
