"""What a process that reads trial files answers: paths come in with NUL between them, columns go out as MessagePack."""

from __future__ import annotations

import gc

import msgspec

from rl_pipeline.trial_files.reading import read_columns

gc.set_threshold(100_000)  # objects between two looks for cycles; reading makes none

ENCODE = msgspec.msgpack.Encoder().encode


def answer(message: bytes) -> bytes:
    """The columns of some files."""
    return ENCODE(read_columns(message.split(b"\0")))
