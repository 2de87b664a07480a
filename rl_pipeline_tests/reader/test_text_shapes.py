"""Shapes of texts, and words in them, as Python finds them."""

from __future__ import annotations

import re
import shutil

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hatch_build
from rl_pipeline.reader import text_shapes
from rl_pipeline.reader.compiled import digest_file
from rl_pipeline.reader.text_shapes import Frame
from rl_pipeline.redaction import WORDS

NO_FRAME = Frame(b"\n", ())
PIECES = [
    b"", b"a", b"ab", b"aba", b"b", b"\n", b'"', b"0", b"19", b"a-f", b'"0123456789ab"', b'"0123456789a"', b"\0", b"\1",
    b"\xff", b', "', b',"', b"a" * 12, b"same", b"trial__aB3dE9x",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join)
NAMES = st.tuples(TEXT, TEXT)


def compiled() -> text_shapes.TextShapes:
    made = text_shapes.load()
    assert made is not None
    return made


def shape_in_python(text: bytes, frame: Frame, names: tuple[bytes, ...], most_looked_at: int, most_whole: int) -> bytes:
    """The same, said with regular expressions."""
    line = b"((?:(?!%s)[\\s\\S])*)" % re.escape(frame.line_end)
    built = re.fullmatch(b"".join(re.escape(one) + line for one in frame.stretches), text[:most_looked_at])
    shape = b"\n".join(built.groups()) if built and frame.stretches else text if len(text) <= most_whole else b""
    for name in names:
        shape = shape.replace(name, b"\0") if name else shape
    return re.sub(rb'"[0a-f-]{12,}"', b"\0", re.sub(rb"[1-9]", b"0", shape))


@settings(max_examples=500)
@given(
    st.lists(st.tuples(TEXT, NAMES), max_size=6),
    st.sampled_from([b"\n", b', "', b',"']),
    st.lists(TEXT, max_size=3),
    st.sampled_from([0, 3, 20, 1000]),
    st.sampled_from([0, 3, 20, 1000]),
)
@example([(b"aabab", (b"ab", b"")), (b"", (b"", b""))], b"\n", [], 1000, 1000)
def test_shapes_are_those_that_python_makes(texts, line_end, stretches, most_looked_at, most_whole):
    frame = Frame(line_end, tuple(stretches))
    limits = {"most_looked_at": most_looked_at, "most_whole": most_whole}
    told = [text for text, _ in texts]
    names = [its for _, its in texts]

    expected = [shape_in_python(text, frame, its, **limits) for text, its in texts]
    assert compiled().shapes(told, frame, names, **limits) == expected


@given(st.lists(TEXT, min_size=2, max_size=4), st.lists(st.lists(TEXT, min_size=3, max_size=3), min_size=1, max_size=9))
def test_texts_that_are_built_as_the_frame_says_have_the_shape_of_what_differs(stretches, lines):
    frame = Frame(b"\n", tuple(stretch.replace(b"\n", b"") + b"\n" for stretch in stretches))
    between = [[line.replace(b"\n", b"").lstrip(b"a0b\0") for line in some][: len(stretches)] for some in lines]
    texts = [
        b"".join(a + b for a, b in zip(frame.stretches, [*some, b"", b""], strict=False)) + b"\n" for some in between
    ]
    limits = {"most_looked_at": 10_000, "most_whole": 0}

    made = compiled().shapes(texts, frame, [()] * len(texts), **limits)

    assert made == [shape_in_python(text, frame, (), **limits) for text in texts]


def test_a_name_is_taken_out_from_the_left_and_never_twice():
    texts = [b"aaa aaaa", b"x"]
    shapes = compiled().shapes(texts, NO_FRAME, [(b"aa", b"\0a")] * 2, most_looked_at=99, most_whole=99)
    assert shapes == [b"\0 \0\0", b"x"]


CASES = st.sampled_from([
    "", "a", "K", "k", "ke", "EY", "key", "sEcret", "akia", "sg", ".", "://", ":", "_token", "é", "\u212a", "\0",
])  # fmt: skip


@settings(max_examples=500)
@given(st.lists(st.lists(CASES, max_size=6).map("".join), max_size=6))
@example(["k", "ey"])
@example(["\ud800"])
def test_words_are_found_as_python_finds_them(texts):
    expected = [text for text in texts if not text.isascii() or any(word in text.lower() for word in WORDS)]
    assert compiled().which_hold(texts, WORDS) == expected


def test_words_are_such_as_can_be_looked_for():
    assert len(WORDS) <= 255
    assert all(word.isascii() and word == word.lower() and len(word) >= 2 and "\0" not in word for word in WORDS)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """What was compiled, in a folder of its own."""
    for file in (text_shapes.SOURCE, text_shapes.COMPILED, digest_file(text_shapes.COMPILED)):
        shutil.copy(file, tmp_path)
    for name in ("SOURCE", "COMPILED"):
        monkeypatch.setattr(text_shapes, name, tmp_path / getattr(text_shapes, name).name)
    text_shapes.load.cache_clear()
    yield tmp_path
    text_shapes.load.cache_clear()


def test_what_was_compiled_from_another_source_is_not_used(elsewhere):
    assert text_shapes.load() is not None
    text_shapes.load.cache_clear()
    (elsewhere / "text_shapes.c").write_text("another")

    assert text_shapes.load() is None


def test_the_build_compiles_it():
    assert hatch_build.SHAPES_FOLDER in hatch_build.folders()
    assert (hatch_build.SHAPES_FOLDER / "text_shapes.c").name == text_shapes.SOURCE.name
