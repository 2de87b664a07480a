"""All folders below some, visited: here, and by other processes when there are many."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from rl_pipeline.reader.trial_folders import TrialFile
from rl_pipeline.trial_files.crew import TASKS_EACH, Crew
from rl_pipeline.trial_files.visiting import Branch, Task, Visited, visit

CHUNK_FILES = 512  # folders that are visited in one go
CHUNK_TEXT = 32_000  # characters of their names
ALONE_S = 0.15  # visiting that is done here before other processes are worth their start
MANY = 4096  # folders in line that surely take longer than that


class ToDo:
    """Folders in line to be visited; the last ones first, so that one branch is finished before the next."""

    def __init__(self) -> None:
        self.waiting = 0
        self._branches: list[Branch] = []

    def add(self, branch: Branch) -> None:
        """Put folders in line; the list of their names is used up."""
        if branch.names:
            self._branches.append(branch)
            self.waiting += len(branch.names)

    def take(self) -> list[Branch]:
        """Some of them, enough for one go."""
        chunk: list[Branch] = []
        free, text = CHUNK_FILES, CHUNK_TEXT
        while self._branches and free > 0 and text > 0:
            above, names = self._branches[-1]
            some = names[-free:]
            while len(some) > 1 and sum(map(len, some)) > text:
                some = some[len(some) // 2 :]
            del names[-len(some) :]
            if not names:
                self._branches.pop()
            chunk.append(Branch(above, some))
            free, text = free - len(some), text - sum(map(len, some)) - len(above.path)
        self.waiting -= sum(len(branch.names) for branch in chunk)
        return chunk


class Survey:
    """Visits folders.

    Args:
        workers: processes that do so, this one included.
    """

    def __init__(self, workers: int) -> None:
        self._others = max(1, workers) - 1
        self._crew: Crew | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._running: deque[Future[Visited]] = deque()
        self._alone_s = 0.0  # what visits here have taken
        self._alone = 0  # folders or files of these

    def start_ahead(self, folders: int) -> None:
        """Start the processes before anything is in line, when there will surely be enough for them."""
        if folders >= MANY and self._others:
            self._crew_started()

    def visits(self, top: str, todo: ToDo) -> Iterator[Visited]:
        """Visit all that is in line and all that is put there meanwhile, in any order.

        Args:
            top: path of the root.
            todo: the line.
        """
        while todo.waiting or self._running:
            while todo.waiting and self._may_hand_out(todo.waiting):
                self._hand_out(Task(top, todo.take()))
            if todo.waiting:
                yield self._visit_here(Task(top, todo.take()))
            elif self._running:
                yield self._running.popleft().result()
            yield from self._done()

    def reads(self, files: Sequence[TrialFile]) -> Iterator[Visited]:
        """Take files that were found before; gives what is known of these or earlier ones."""
        task = Task("", (), files)
        if self._may_hand_out():
            self._hand_out(task)
        else:
            yield self._visit_here(task)
        yield from self._done()

    def rest(self) -> Iterator[Visited]:
        """What is not given yet; nothing may be put in line afterwards."""
        while self._running:
            yield self._running.popleft().result()
        if self._crew is not None:
            self._crew.dismiss()

    def close(self) -> None:
        """End the processes; what they have in hand is lost."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._crew is not None:
            self._crew.close()

    def _may_hand_out(self, waiting: int = 0) -> bool:
        """Whether other processes are worth their start, and have too little to go on with."""
        if self._crew is None and not self._are_worth_it(waiting):
            return False
        return len(self._running) < (TASKS_EACH + 1) * self._others

    def _are_worth_it(self, waiting: int) -> bool:
        """Whether what was visited here took long, and what waits will, as far as that is known."""
        rest_s = self._alone_s * waiting / max(1, self._alone)
        return waiting >= MANY or min(self._alone_s, rest_s if waiting else self._alone_s) >= ALONE_S

    def _hand_out(self, task: Task) -> None:
        crew, pool = self._crew_started()
        self._running.append(pool.submit(crew.visit, task))

    def _crew_started(self) -> tuple[Crew, ThreadPoolExecutor]:
        if self._crew is None or self._pool is None:
            self._crew = Crew(self._others)
            self._pool = ThreadPoolExecutor(TASKS_EACH * self._others, thread_name_prefix="trials")
        return self._crew, self._pool

    def _visit_here(self, task: Task) -> Visited:
        began = time.perf_counter()
        found = visit(task)
        self._alone_s += time.perf_counter() - began
        self._alone += len(task.files) or sum(len(branch.names) for branch in task.branches)
        return found

    def _done(self) -> Iterator[Visited]:
        while self._running and self._running[0].done():
            yield self._running.popleft().result()
