"""The type that leaves the room."""

from __future__ import annotations

from rl_pipeline.reader.message import Message, Source


def test_equal_sources_are_one_stream_and_messages_are_plain_values():
    left = Message(line=1, byte_offset=0, source=Source(actor="T", pid=1), payload="x")

    assert left == Message(line=1, byte_offset=0, source=Source(actor="T", pid=1), payload="x")
    assert (left.repeat_count, left.complete, left.logged_at) == (1, True, None)
    assert len({Source(pid=1), Source(pid=1), Source(pid=1, ip="10.0.0.1")}) == 2
