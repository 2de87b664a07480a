"""Which texts hold a mark, as Python finds them."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hatch_build
from rl_pipeline.dialects.harbor_secrets import MARKS
from rl_pipeline.reader import text_marks
from rl_pipeline.reader.compiled import digest_file
from rl_pipeline.reader.text_marks import Frame
from rl_pipeline.redaction import may_hold_any

CASES = [
    "", "a", "K", "k", "ke", "EY", "key", "sEcret", "akia", "sg", ".", "://", ":", "/", "@", "token", "é", "\u212a",
    "\0", "sk-", "SK-", "task-", "1", "m", "\\n", "\\", "%3D", "%", "n", " ", "\n", ', "', "same",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(CASES), max_size=8).map("".join)
LINE_ENDS = st.sampled_from([b"\n", b', "', b',"'])


def compiled() -> text_marks.TextMarks:
    made = text_marks.load()
    assert made is not None
    return made


def may_hold_in_python(text: bytes) -> bool:
    return not text.isascii() or may_hold_any(text.decode())


@settings(max_examples=500)
@given(st.lists(TEXT, max_size=6))
@example(["k", "ey"])
@example(["disk-1", "1sk-", "2msk-", "\\nsk-", "\\xsk-", "%3dsk-", "%3gsk-", "sk-", "-sk-"])
@example(["https://x", "a@b", "https://a@b", "@", "://"])
def test_marks_are_found_as_python_finds_them(texts):
    told = [text.encode() for text in texts]

    assert list(compiled().which_hold(told, MARKS)) == [may_hold_in_python(text) for text in told]


@settings(max_examples=500)
@given(st.lists(TEXT, max_size=5), LINE_ENDS, TEXT)
def test_of_a_text_that_is_built_as_the_frame_says_only_what_differs_is_looked_at(lines, line_end, before):
    end = line_end.decode()
    lines = [line for line in lines if end not in f"a{line}{end[:-1]}"]
    first, last = f"{before}{end}a".encode(), f"{end}key: a".encode()
    texts = [first + line.encode() + last for line in lines]

    found = compiled().which_hold(texts, MARKS, Frame(line_end, (first, last)))

    assert [bool(held) for held in found] == [may_hold_in_python(line.encode()) for line in lines]


@given(st.lists(TEXT, min_size=1, max_size=5), LINE_ENDS)
def test_a_text_that_is_built_differently_is_looked_at_as_a_whole(texts, line_end):
    told = [text.encode() for text in texts]
    frame = Frame(line_end, (b"nothing begins so", b""))

    assert compiled().which_hold(told, MARKS, frame) == compiled().which_hold(told, MARKS)


def test_what_follows_the_last_line_makes_another_text():
    frame = Frame(b"\n", (b"key: ", b"\nend: "))

    texts = [b"key: 1\nend: 2", b"key: 1\nend: 2\n", b"key: 1\nend:", b"key: 1\nmore: 3\nend: 2", b"key: key\nend: 2"]
    assert list(compiled().which_hold(texts, MARKS, frame)) == [0, 1, 1, 1, 1]


def test_marks_are_such_as_can_be_looked_for():
    words = [word for of_kind in MARKS[:3] for word in of_kind]

    assert len(words) <= text_marks.MOST_WORDS
    assert all(word.isascii() and word == word.lower() and len(word) >= 2 and "\0" not in word for word in words)
    assert len(MARKS.sign) == 1


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """What was compiled, in a folder of its own."""
    for file in (text_marks.SOURCE, text_marks.COMPILED, digest_file(text_marks.COMPILED)):
        shutil.copy(file, tmp_path)
    for name in ("SOURCE", "COMPILED"):
        monkeypatch.setattr(text_marks, name, tmp_path / getattr(text_marks, name).name)
    text_marks.load.cache_clear()
    yield tmp_path
    text_marks.load.cache_clear()


def test_what_was_compiled_from_another_source_is_not_used(elsewhere):
    assert text_marks.load() is not None
    text_marks.load.cache_clear()
    (elsewhere / "text_marks.c").write_text("another")

    assert text_marks.load() is None


def test_the_build_compiles_it():
    assert hatch_build.MARKS_FOLDER in hatch_build.folders()
    assert (hatch_build.MARKS_FOLDER / "text_marks.c").name == text_marks.SOURCE.name
