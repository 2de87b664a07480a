"""A helper process that gives its messages back, the last byte first; some mean something."""

from __future__ import annotations

import os
import sys


def answer(message: bytes) -> bytes:
    """The message, reversed."""
    if message == b"print":
        sys.stdout.write("something a library prints")
    if message == b"die":
        os._exit(3)
    if message.startswith(b"variable "):
        return os.environ.get(message.decode().removeprefix("variable "), "").encode()
    return message[::-1]
