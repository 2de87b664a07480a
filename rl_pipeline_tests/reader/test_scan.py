"""Needles in windows."""

from __future__ import annotations

import subprocess
import sys

from rl_pipeline.reader.scan import NeedleScan
from rl_pipeline.reader.windows import Window


def hits(data: bytes, *needles: bytes) -> list[int]:
    return NeedleScan(needles).scan(Window(data, 0, 1)).hits


def test_lines_with_any_needle_are_found():
    assert hits(b"a b\nc\nb\n\nxbx", b"b", b"q") == [0, 2, 4]


def test_needles_are_bytes_and_not_patterns():
    assert hits(b"a.b\naxb\n(x\n[y\n", b"a.b", b"(", b"[") == [0, 2, 3]
    assert hits(b"\xff\xfe\n\xe2\x96\x88\n|\n", b"\xfe", "█".encode()) == [0, 1]


def test_a_needle_is_not_found_across_a_line_end():
    assert hits(b"Ste\np 7\n", b"Step") == []


def test_no_needles_find_nothing():
    assert hits(b"a\n") == []
    assert hits(b"", b"a") == []


def test_bounds_of_hits_cut_the_lines_out():
    scanned = NeedleScan((b"x",)).scan(Window(b"a\nxb\nc\nx", 0, 1))

    starts, ends = scanned.bounds_of_hits()

    assert [scanned.window.data[start:end] for start, end in zip(starts, ends, strict=True)] == [b"xb\n", b"x"]


def test_bytes_that_are_not_utf8_are_counted():
    scanned = NeedleScan((b"x",)).scan(Window(b"ok\n\xff\xfe caf\xc3\n" + "█\n".encode(), 0, 1))

    assert scanned.undecodable_bytes == 3


def test_the_message_type_alone_loads_no_library():
    code = "import rl_pipeline.reader, sys; print([name for name in ('numpy', 'pyarrow') if name in sys.modules])"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
