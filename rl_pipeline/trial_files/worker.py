"""The program of a process that reads trial files: paths come in, columns go out, until the input ends.

A message is its length (4 bytes, little-endian) and its content: paths with NUL between, or columns in MessagePack.
"""

from __future__ import annotations

import gc
import signal
import sys
from typing import IO

import msgspec

from rl_pipeline.trial_files.reading import read_columns

LENGTH_BYTES = 4
OLD_OBJECTS = 100_000  # between two looks for cycles; reading makes none


def main() -> None:
    """Answer every message of standard input on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and closes the input
    gc.set_threshold(OLD_OBJECTS)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    encode = msgspec.msgpack.Encoder().encode
    while (message := receive(source)) is not None:
        send(sink, encode(read_columns(message.split(b"\0"))))


def send(stream: IO[bytes], content: bytes) -> None:
    """Write one message."""
    stream.write(len(content).to_bytes(LENGTH_BYTES, "little") + content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message; None when the stream ended."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "little")
    content = stream.read(length)
    return content if len(content) == length else None
