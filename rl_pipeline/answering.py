"""What runs in a helper process, and how messages pass: see `processes.py`.

A message is its length (8 bytes, little-endian) and its content. Imports little: every helper begins with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import IO

from rl_pipeline.cycles import look_rarely_for_cycles

LENGTH_BYTES = 8

Answer = Callable[[bytes], bytes]


def do_without(modules: Sequence[str]) -> None:
    """Importing one of the modules fails from now on, as if it was not installed."""
    if modules:
        sys.meta_path.insert(0, _Absent(modules))


class _Absent:
    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = frozenset(modules)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Refuse what is absent; others are found as usual."""
        if fullname in self._modules:
            raise ModuleNotFoundError(f"{fullname} is not for this process", name=fullname)


def answer_all(answer: Answer) -> None:
    """The program of a helper: answer every message of standard input on standard output."""
    look_rarely_for_cycles()  # each look goes through all that was imported, and helpers make few
    source, sink = _moved(0, "rb"), _moved(1, "wb")
    sys.stdout = sys.stderr  # what a library prints must not come between the answers
    while (message := receive(source)) is not None:
        answered = answer(message)
        try:
            send(sink, answered)
        except BrokenPipeError:  # whoever asked is gone, and Python would complain about it once more at the end
            os._exit(0)


def _moved(number: int, mode: str) -> IO[bytes]:
    """The stream of messages under another number: who reads standard input here, as a file too, finds nothing there.

    Otherwise a path like `/dev/stdin` would take the next question, and code in C could print into an answer.
    """
    stream: IO[bytes] = os.fdopen(os.dup(number), mode)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, number)
    os.close(nothing)
    return stream


def send(stream: IO[bytes], content: bytes) -> None:
    """Tell one message."""
    stream.write(len(content).to_bytes(LENGTH_BYTES, "little"))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """One message; None when the stream ended."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "little")
    content = stream.read(length)
    return content if len(content) == length else None
