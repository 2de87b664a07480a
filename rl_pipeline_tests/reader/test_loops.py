"""The compiled loops: whether they are there, and what they take."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hatch_build
from rl_pipeline.reader import loops
from rl_pipeline.reader.compiled import digest_file, digest_of
from rl_pipeline.reader.entries import ENTRY
from rl_pipeline.reader.scan import third_of

PIECES = [
    b" '", b"'", b"': ", b"1", b"23", b".5", b"-", b"e+3", b"e", b"True", b"False", b"None", b",", b"abc/x", b" ",
    b"\\", b"|", b"\x1b", b"[", b"]", b":", b"}", b"~", b"\x00", b"\xff", b"9" * 31, b"k" * 301,
]  # fmt: skip


@dataclass
class Expected:
    """As the demultiplexer makes it."""

    prefix: bytes = b""
    marks: tuple[bytes, ...] = (b"\n",)
    is_only: bool = False
    may_close: bool = False
    characters: int = 1 << 20
    lines: int = 100


def taken(line: bytes, **expected: Any) -> bool:
    """Whether a line is taken as an entry of a block."""
    compiled = loops.load()
    assert compiled is not None
    hits = np.empty(0, np.int64), 0, np.empty(0, np.uint8)
    edges = np.array([0, len(line) + 1])
    _, lines, _ = compiled.follow_block(compiled.bytes_of(line + b"\n"), edges, (0, 1), hits, Expected(**expected))
    return bool(len(lines))


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from([b"\n", b"\x00", b"a", b"\x7f", b"\x80", "é".encode(), b"\n" * 64, b"b" * 63]), max_size=40
    ),
    st.integers(0, 3),
)
def test_bytes_are_counted_as_python_counts_them(pieces, times):
    data = b"".join(pieces) * 10**times
    compiled = loops.load()
    assert compiled is not None
    assert compiled.count_bytes(data) == (data.count(b"\n"), data.count(b"\0"), data.isascii())


def test_many_line_feeds_overflow_no_lane():
    compiled = loops.load()
    assert compiled is not None
    assert compiled.count_bytes(b"\n" * 1_000_003) == (1_000_003, 0, True)
    assert compiled.count_bytes(b"\0" * 1_000_003 + b"\xff") == (0, 1_000_003, False)


@pytest.mark.parametrize(
    ("line", "is_taken"),
    [(b"x pid=8051 y", True), (b"x pid=805 1 y", False), (b"8051", True), (b"805", False), (b"8888 8051", True)],
)
def test_a_line_that_shows_a_mark_is_looked_at(line, is_taken):
    compiled = loops.load()
    assert compiled is not None
    data = line + b"\n"
    hits = np.empty(0, np.int64), 0, np.empty(0, np.uint8)
    expected: Any = Expected(prefix=b"(own) ", marks=(b"77", b"8051"))
    stop, lines, _ = compiled.follow_block(compiled.bytes_of(data), np.array([0, len(data)]), (0, 1), hits, expected)
    assert (stop, lines) == (0 if is_taken else 1, [])


def test_they_are_compiled_where_the_tests_run():
    assert loops.load() is not None


@settings(max_examples=1000)
@given(
    st.lists(st.sampled_from(PIECES), max_size=7), st.sampled_from([b" 'k/a': ", b" '", b""]), st.sampled_from(b",}")
)
def test_an_entry_is_what_the_pattern_says(pieces, begin, end):
    line = begin + b"".join(pieces)

    assert taken(line + b",") == (ENTRY.match(line + b",") is not None)
    assert taken(line + b"}", may_close=True) == (ENTRY.match(line + b",") is not None)
    assert taken(line + bytes([end])) == (ENTRY.match(line + bytes([end])) is not None)


def test_a_block_takes_no_more_than_it_may():
    assert taken(b" 'a': 1,", characters=9)
    assert not taken(b" 'a': 1,", characters=8)
    assert not taken(b" 'a': 1,", lines=0)


def test_arrays_of_another_type_are_refused():
    compiled = loops.load()
    assert compiled is not None

    with pytest.raises(Exception, match="array must have data type"):
        compiled.usual_folds(np.zeros(3), np.empty(0, np.int64), b"x", b"[", (b"",), 9)


@given(st.integers(0, 65535), st.integers(0, 255))
def test_the_hash_of_three_bytes_has_sixteen_bits(pair, third):
    assert third_of(pair, third) == (pair * 40_503 ^ third * 2_654_435) % 65536


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Source and library in a folder of their own."""
    shutil.copy(loops.SOURCE, tmp_path)
    shutil.copy(loops.COMPILED, tmp_path)
    shutil.copy(digest_file(loops.COMPILED), tmp_path)
    monkeypatch.setattr(loops, "SOURCE", tmp_path / loops.SOURCE.name)
    monkeypatch.setattr(loops, "COMPILED", tmp_path / loops.COMPILED.name)
    loops.load.cache_clear()
    yield tmp_path
    loops.load.cache_clear()


def test_a_library_that_is_missing_is_told_and_done_without(elsewhere, caplog):
    loops.COMPILED.unlink()

    assert loops.load() is None
    assert "ten times slower" in caplog.text


def test_a_library_of_another_source_is_told_and_done_without(elsewhere, caplog):
    loops.SOURCE.write_bytes(loops.SOURCE.read_bytes() + b"\n")

    assert loops.load() is None
    assert "older than its source" in caplog.text


def test_a_file_that_is_no_library_is_told_and_done_without(elsewhere, caplog):
    loops.COMPILED.write_bytes(b"no library")
    digest_file(loops.COMPILED).write_text(digest_of(b"no library"))

    assert loops.load() is None
    assert "ten times slower" in caplog.text


@pytest.mark.parametrize("file", ["SOURCE", "DIGEST"])
def test_a_library_without_what_tells_of_it_is_done_without(elsewhere, caplog, file):
    (loops.SOURCE if file == "SOURCE" else digest_file(loops.COMPILED)).unlink()

    assert loops.load() is None
    assert "ten times slower" in caplog.text


@pytest.mark.parametrize("damaged", [lambda made: made[:5000], lambda made: made[:8192] + bytes(len(made) - 8192)])
def test_half_a_library_is_not_loaded(elsewhere, caplog, damaged):
    loops.COMPILED.write_bytes(damaged(loops.COMPILED.read_bytes()))

    assert loops.load() is None
    assert "not whole" in caplog.text


def test_the_build_compiles_beside_the_source(tmp_path):
    folder = tmp_path / hatch_build.FOLDER
    folder.mkdir(parents=True)
    shutil.copy(loops.SOURCE, folder)

    made = hatch_build.compile_loops(tmp_path)

    code = f"import ctypes; l = ctypes.CDLL({str(made)!r}); l.source_digest.restype = ctypes.c_char_p; "
    code += "print(l.source_digest().decode())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert told == digest_of(loops.SOURCE.read_bytes())
    assert digest_file(made).read_text() == digest_of(made.read_bytes())
    assert sorted(path.name for path in folder.iterdir()) == sorted(["loops.c", made.name, "loops.digest"])


def test_a_build_without_compiler_fails_without_leaving_anything(tmp_path, monkeypatch):
    folder = tmp_path / hatch_build.FOLDER
    folder.mkdir(parents=True)
    (folder / "loops.c").write_text("this is no C")

    with pytest.raises(subprocess.CalledProcessError):
        hatch_build.compile_loops(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["loops.c"]


def test_the_build_uses_another_compiler_when_the_one_that_was_named_fails(tmp_path, monkeypatch):
    folder = tmp_path / hatch_build.FOLDER
    folder.mkdir(parents=True)
    shutil.copy(loops.SOURCE, folder)
    monkeypatch.setenv("CC", f"{sys.executable} -c 1/0")

    assert hatch_build.compile_loops(tmp_path).exists()


def test_the_build_knows_the_compilers_of_the_machine(monkeypatch):
    monkeypatch.setenv("CC", f"{sys.executable} -c pass")
    assert hatch_build.compilers()[0] == [sys.executable, "-c", "pass"]

    monkeypatch.delenv("CC")
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert hatch_build.compilers() == []


def test_the_source_of_the_library_is_part_of_the_package():
    assert (Path(hatch_build.__file__).parent / hatch_build.FOLDER / "loops.c").samefile(loops.SOURCE)
