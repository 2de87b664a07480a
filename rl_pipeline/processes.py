"""Helper processes: fresh interpreters that answer messages, for work that holds Python's lock or much memory.

They are no forks: a fork of a process with threads can hang, and a spawned one of `multiprocessing` would run the
parent's program again. A helper is told where to find the package and one function to run (`answering.py`); it ends
when its input does, so it never outlives its parent.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from rl_pipeline.answering import receive, send

# Ctrl-C reaches helpers too: the parent decides, and closes the input.
PROGRAM = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = sys.argv[2:]; "
PROGRAM += "from rl_pipeline.answering import answer_all, do_without; "
PROGRAM += "do_without({absent!r}); from {module} import answer; answer_all(answer)"
PACKAGES = Path(__file__).parents[1]  # where the package lies, however it was found
LAST_WORDS_S = 10.0  # a helper whose input is closed ends after the message it is at
PIPE_BYTES = 2**20


class Helper:
    """One helper process.

    Args:
        module: a module of this package with a function `answer`, bytes to bytes.
        without: modules that count as not installed in the helper.
        environment: variables of the helper besides those of this process, which come first.
    """

    def __init__(
        self, module: str, *, without: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> None:
        options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
        places = [os.path.abspath(place) for place in (*sys.path, str(PACKAGES))]  # noqa: PTH100 - "" is the working folder
        command = [
            sys.executable,
            *options,
            "-c",
            PROGRAM.format(module=module, absent=tuple(without)),
            module,
            *places,
        ]
        self.process: subprocess.Popen[bytes] | None = (
            _started(command, {**(environment or {}), **os.environ}) if sys.executable else None
        )
        self._telling, self._hearing = Lock(), Lock()

    def ask(self, message: bytes) -> bytes | None:
        """The answer; None when the helper could not be started, or died.

        Several threads may ask: the next question is told while the answer to the last one is awaited, so that the
        helper goes on without a pause. Answers come in the order of the questions.
        """
        if self.process is None or self.process.stdin is None or self.process.stdout is None:
            return None
        try:
            with self._telling:
                send(self.process.stdin, message)
                self._hearing.acquire()  # in the order of telling
            try:
                return receive(self.process.stdout)
            finally:
                self._hearing.release()
        except (OSError, ValueError):
            return None

    def dismiss(self) -> None:
        """Nothing more will be asked: the helper ends when it has answered, and is not waited for yet."""
        if self.process is not None and self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def close(self, *, at_once: bool = False) -> None:
        """End the helper: after the message it is at, or in the middle of it."""
        process = self.process
        if process is None or process.stdin is None or process.stdout is None:
            return
        self.dismiss()
        try:
            process.wait(0 if at_once else LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes] | None:
    """The process, with pipes as wide as the system gives them: an answer need not wait until somebody listens."""
    for pipe_bytes in (PIPE_BYTES, -1):
        with suppress(OSError):
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pipesize=pipe_bytes, env=dict(environment)
            )
    return None
