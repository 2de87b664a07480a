"""The end of a file is the same, plain or packed, and its lines keep their places."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.discovery.tail import Tail, read_head, read_tail

TEXT = b"".join(b"line %06d with some words\n" % number for number in range(20_000))
PACKERS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "two gzip members": lambda data: gzip.compress(data[:1000]) + gzip.compress(data[1000:]),
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("packer", PACKERS)
def test_the_tail_begins_with_a_whole_line_whose_place_is_known(tmp_path, packer):
    path = tmp_path / "log"
    path.write_bytes(PACKERS[packer](TEXT))

    tail = read_tail(path, 1000)

    assert tail.data == TEXT[tail.first_byte :]
    assert tail.data.startswith(b"line ")
    assert 970 < len(tail.data) <= 1000
    assert not tail.whole
    assert read_head(path, 40) == TEXT[:40]


@pytest.mark.parametrize("packer", PACKERS)
def test_a_short_file_is_its_own_tail(tmp_path, packer):
    path = tmp_path / "log"
    path.write_bytes(PACKERS[packer](b"one\r\ntwo"))

    tail = read_tail(path)

    assert (tail.data, tail.whole) == (b"one\r\ntwo", True)
    assert list(tail.lines()) == [(0, b"one"), (5, b"two")]


@pytest.mark.parametrize("packer", ["gzip", "zstd"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_gives_what_comes_before_the_damage(tmp_path: Path, packer, damage):
    packed = PACKERS[packer](TEXT)
    half = len(packed) // 2
    broken = packed[:half] if damage == "cut" else packed[:half] + bytes([packed[half] ^ 255]) + packed[half + 1 :]
    path = tmp_path / "log"
    path.write_bytes(broken)

    tail = read_tail(path, 1000)

    assert len(tail.data) <= 1000
    assert damage == "flipped" or tail.data in TEXT


def test_one_endless_line_is_kept(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 5000)

    assert read_tail(path, 1000) == Tail(b"x" * 1000, 4000)


@given(st.binary(max_size=300), st.integers(0, 10**6))
def test_lines_with_their_places_rebuild_the_tail(data, first):
    for offset, line in Tail(data, first).lines():
        assert data[offset - first :].startswith(line)
