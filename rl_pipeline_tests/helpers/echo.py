"""A helper process that gives its messages back, the last byte first; some mean something."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def answer(message: bytes) -> bytes:
    """The message, reversed."""
    if message == b"print":
        sys.stdout.write("something a library prints")
    if message == b"print in C":
        os.write(1, b"something a library prints")
    if message == b"read":
        return Path("/dev/stdin").read_bytes() + sys.stdin.buffer.read()
    if message == b"die":
        os._exit(3)
    if message.startswith(b"variable "):
        return os.environ.get(message.decode().removeprefix("variable "), "").encode()
    return message[::-1]
