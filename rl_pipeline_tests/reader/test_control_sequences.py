"""Terminal control sequences out of lines."""

from __future__ import annotations

import pytest

from rl_pipeline.reader.control_sequences import without_control_sequences


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[36m(T pid=1)\x1b[0m x", "(T pid=1) x"),
        ("\x1b[2m\x1b[36m(T pid=1)\x1b[0m x", "(T pid=1) x"),
        ("\x1b[38;5;12mx\x1b[K\x1b[2K\x1b[1A\x1b[?25l", "x"),
        ("\x1b]8;;http://a/b\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b(Bx\x1b7y\x1b=", "xy"),
        ("x\x1b", "x"),
        ("x\x1b[3", "x3"),
        ("[36m(T pid=1)[0m x", "(T pid=1) x"),
        ("(T pid=1)[0m [32m2026-01-09[0m", "(T pid=1) 2026-01-09"),
        (" 'trainer/global_step': 7}[0m", " 'trainer/global_step': 7}"),
        ("a [5m] b", "a [5m] b"),
        ("mean [m]", "mean [m]"),
    ],
)
def test_only_the_text_remains(text, plain):
    assert without_control_sequences(text) == plain
