"""Needles in windows."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_pipeline.dialects import JobParser
from rl_pipeline.reader.folds import folded_lines
from rl_pipeline.reader.loops import Loops, load
from rl_pipeline.reader.scan import IRREGULAR, CompiledEngine, NeedleScan
from rl_pipeline.reader.shapes import ShapeBook
from rl_pipeline.reader.windows import Window


def compiled() -> Loops:
    loops = load()
    assert loops is not None
    return loops


def hits(data: bytes, *needles: bytes) -> list[int]:
    return NeedleScan(needles).scan(Window(data, 0, 1)).hit_list


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

    assert [scanned.window.data[slice(*scanned.span(hit))] for hit in scanned.hit_list] == [b"xb\n", b"x"]


@pytest.mark.parametrize("loops", [pytest.param(load(), id="compiled"), pytest.param(None, id="RE2")])
def test_hits_that_hold_one_regular_needle_and_no_other_say_which(loops):
    data = b"one 1 one\none and two\none and rare\nnothing\ntwo\nrare\n"

    scanned = NeedleScan((b"one", b"two", b"rare"), (b"one", b"two"), loops).scan(Window(data, 0, 1))

    assert scanned.hit_list == [0, 1, 2, 4, 5]
    assert scanned.kinds.tolist() == [0, IRREGULAR, IRREGULAR, 1, IRREGULAR]
    assert [scanned.ends[0], scanned.ends[3]] == [3, data.index(b"two\nrare") + 3]


@settings(max_examples=300)
@given(st.lists(st.sampled_from([b"one", b"two", b"r.re", b"\n", b"x", b"\xff", b"on", b"e", b"\n\n"]), max_size=60))
def test_both_engines_find_the_same(pieces):
    data = b"".join(pieces)
    needles = ((b"one", b"two", b"r.re", b"nex", b"ee\xff"), (b"one", b"two"))
    window = Window(data, 0, 1)

    one, other = (NeedleScan(*needles, loops).scan(window) for loops in (load(), None))

    assert one.edges.tolist() == other.edges.tolist()
    assert (one.hit_list, one.kinds.tolist()) == (other.hit_list, other.kinds.tolist())
    assert one.ends[one.kinds >= 0].tolist() == other.ends[other.kinds >= 0].tolist()


@pytest.mark.parametrize("size", [3, 4, 5, 300])
def test_needles_are_found_at_every_place_of_a_window(size):
    needle = bytes(range(48, 48 + size)) if size < 100 else bytes(100 + place % 90 for place in range(size))
    for before in range(7):
        data = b"x" * before + needle
        scanned = NeedleScan((needle, b"rare"), (needle,), load()).scan(Window(data, 0, 1))

        assert (scanned.hit_list, scanned.ends.tolist()) == ([0], [len(data)])


def test_the_compiled_loop_refuses_needles_that_it_would_miss():
    with pytest.raises(ValueError, match="at least 3 bytes"):
        CompiledEngine((b"ab",), (), compiled())


FOLD_PIECES = [
    b"[repeated 7x across cluster]", b"[repeated 0x across cluster]", b"[repeated 12", b"x across cluster]",
    b"\x1b[0m", b"\x1b[32m", b"\n", b"\r", b" ", b"9", b" (Ray deduplicates logs by default)", b"text",
    b"[repeated 1234567890x across cluster]",
]  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.sampled_from(FOLD_PIECES), max_size=40))
def test_folded_lines_are_counted_alike_by_their_marks(pieces):
    data = b"".join(pieces)
    scanned = NeedleScan((b"needle",), (), load()).scan(Window(data, 0, 1))

    assert ShapeBook(JobParser("job_1"), compiled()).folded_lines(data, scanned.marks) == folded_lines(data)


def test_bytes_that_are_not_utf8_are_counted():
    scanned = NeedleScan((b"x",)).scan(Window(b"ok\n\xff\xfe caf\xc3\n" + "█\n".encode(), 0, 1))

    assert scanned.undecodable_bytes == 3


def test_the_message_type_alone_loads_no_library():
    code = "import rl_pipeline.reader, sys; print([name for name in ('numpy', 'pyarrow') if name in sys.modules])"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
