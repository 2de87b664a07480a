"""Processes that read trial files beside this one.

Decoding holds Python's lock, so threads would take turns; processes do not. A process that cannot be started, or dies,
costs nothing but time: its files are read here.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Sequence
from typing import Any

import msgspec

from rl_pipeline.processes import Helper
from rl_pipeline.trial_files.reading import Columns, read_columns

WORKER = "rl_pipeline.trial_files.worker"
DECODE = msgspec.msgpack.Decoder().decode


class Crew:
    """Some processes; `read` may be called from as many threads.

    Args:
        size: how many processes.
    """

    def __init__(self, size: int) -> None:
        self.helpers = [Helper(WORKER) for _ in range(size)]
        self._free: queue.SimpleQueue[Helper | None] = queue.SimpleQueue()
        for helper in self.helpers:
            self._free.put(helper)

    def read(self, paths: Sequence[str]) -> Columns:
        """The columns of `read_columns`, from a process that is free, else from this one."""
        helper = self._free.get()
        columns = None
        try:
            if helper is not None:
                columns = _columns(helper.ask(os.fsencode("\0".join(paths))))
        finally:
            self._free.put(helper if columns is not None else None)
        return read_columns(paths) if columns is None else columns

    def close(self) -> None:
        """End the processes."""
        for helper in self.helpers:
            helper.close()


def _columns(answer: bytes | None) -> Columns | None:
    try:
        columns: Any = None if answer is None else DECODE(answer)
    except (ValueError, msgspec.MsgspecError):
        return None
    return columns if isinstance(columns, list) else None
