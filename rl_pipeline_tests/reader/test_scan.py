"""Needles in windows."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.reader.scan import IRREGULAR, HyperscanEngine, NeedleScan, Re2Engine
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


def test_edges_cut_the_lines_out():
    scanned = NeedleScan((b"x",)).scan(Window(b"a\nxb\nc\nx", 0, 1))

    edges = scanned.edge_list
    assert [scanned.window.data[edges[hit] : edges[hit + 1]] for hit in scanned.hits] == [b"xb\n", b"x"]


@pytest.mark.parametrize("engine", [HyperscanEngine, Re2Engine])
def test_hits_that_hold_one_regular_needle_and_no_other_say_which(engine):
    data = b"one 1 one\none and two\none and rare\nnothing\ntwo\nrare\n"

    scanned = NeedleScan((b"one", b"two", b"rare"), (b"one", b"two"), engine).scan(Window(data, 0, 1))

    assert scanned.hits == [0, 1, 2, 4, 5]
    assert scanned.kinds.tolist() == [0, IRREGULAR, IRREGULAR, 1, IRREGULAR]
    assert [scanned.ends[0], scanned.ends[3]] == [3, data.index(b"two\nrare") + 3]


@given(st.lists(st.sampled_from([b"one", b"two", b"r.re", b"\n", b"x", b"\xff", b"on", b"e"]), max_size=60))
def test_both_engines_find_the_same(pieces):
    data = b"".join(pieces)
    needles = ((b"one", b"two", b"r.re", b"ne"), (b"one", b"two"))
    window = Window(data, 0, 1)

    one, other = (NeedleScan(*needles, engine).scan(window) for engine in (HyperscanEngine, Re2Engine))

    assert (one.hits, one.kinds.tolist()) == (other.hits, other.kinds.tolist())
    assert one.ends[one.kinds >= 0].tolist() == other.ends[other.kinds >= 0].tolist()


def test_bytes_that_are_not_utf8_are_counted():
    scanned = NeedleScan((b"x",)).scan(Window(b"ok\n\xff\xfe caf\xc3\n" + "█\n".encode(), 0, 1))

    assert scanned.undecodable_bytes == 3


def test_the_message_type_alone_loads_no_library():
    code = "import rl_pipeline.reader, sys; print([name for name in ('numpy', 'pyarrow') if name in sys.modules])"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
