"""Processes that visit trial folders beside this one.

Decoding holds Python's lock, so threads would take turns; processes do not. A process that cannot be started, or dies,
costs nothing but time: its folders are visited here.
"""

from __future__ import annotations

import queue

import msgspec

from rl_pipeline.processes import Helper
from rl_pipeline.trial_files.visiting import Task, Visited, question, visit, visited

NOT_NEEDED = ("typing_extensions", "_hashlib")  # other modules use them where they are there; they take long to import
TASKS_EACH = 4  # one in hand, and some to go on with while this process is at something else
WORKER = "rl_pipeline.trial_files.worker"


class Crew:
    """Some processes; `visit` may be called from as many threads.

    Args:
        size: how many processes.
    """

    def __init__(self, size: int) -> None:
        self.helpers = [Helper(WORKER, without=NOT_NEEDED) for _ in range(size)]
        self._free: queue.SimpleQueue[Helper | None] = queue.SimpleQueue()
        for helper in [*self.helpers] * TASKS_EACH:
            self._free.put(helper)

    def visit(self, task: Task) -> Visited:
        """What `visiting.visit` finds, from a process that is free, else from this one."""
        helper = self._free.get()
        found = None
        try:
            if helper is not None:
                found = _visited(helper.ask(question(task)))
        finally:
            self._free.put(helper if found is not None else None)
        return visit(task) if found is None else found

    def dismiss(self) -> None:
        """Nothing more is to be visited: the processes end meanwhile."""
        for helper in self.helpers:
            helper.dismiss()

    def close(self) -> None:
        """End the processes."""
        for helper in self.helpers:
            helper.close()


def _visited(answer: bytes | None) -> Visited | None:
    try:
        return None if answer is None else visited(answer)
    except (ValueError, msgspec.MsgspecError):
        return None
