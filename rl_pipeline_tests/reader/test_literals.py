"""Values of literals, and what hostile ones cost."""

from __future__ import annotations

import math
import pprint
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.reader.literals import Call, Malformed, Partial, parse_literal, parse_partial_literal

scalars = st.one_of(st.integers(), st.booleans(), st.none(), st.text(), st.floats(allow_nan=False))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.integers(), st.none()), inner),
    ),
    max_leaves=30,
)


@given(values)
def test_whatever_python_prints_is_read_back(value):
    assert parse_literal(repr(value)) == value
    assert parse_literal(pprint.pformat(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.float32(0.5)", 0.5),
        ("np.int64(-4)", -4),
        ("np.bool_(True)", True),
        ("tensor(0.5, device='cuda:0')", 0.5),
        ("tensor([1., 2.], grad_fn=<X>)", [1.0, 2.0]),
        ("array([1, 2], dtype=int32)", [1, 2]),
        ("array([1, ..., 9])", Call("array", "[1, ..., 9]")),
        ("PosixPath('/x')", Call("PosixPath", "'/x'")),
        ("<Colour.RED: 1>", Call("<>", "<Colour.RED: 1>")),
        ("torch.float32", Call("torch.float32", "")),
        ("-inf", -math.inf),
        ("'a' \"b\" r'\\n'", "ab\\n"),
        (r"'\x41\u0042\U00000043\103\n\q'", "ABCC\n\\q"),
        (r"'\ud800'", "\ufffd"),
        ("('a')", "a"),
        ("{1, 2}", [1, 2]),
        ("1_000", 1000),
        ("0x1F", 31),
        ("'cut\n here'", "cut here"),
        ("[12\n34, Tr\nue]", [1234, True]),
        ("9" * 1000, Call("number", "9" * 1000)),
        ("2j", Call("number", "2j")),
    ],
)
def test_values(text, value):
    assert parse_literal(text) == value


def test_the_bare_word_nan_is_the_number():
    value = parse_literal("np.float32(nan)")

    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("text", "malformed"),
    [
        ("", Malformed(0, "expected a value")),
        ("{'a': 1", Malformed(7, "expected a comma or }")),
        ("{'a' 1}", Malformed(5, "expected a comma or }")),
        ("{'a': 1} x", Malformed(9, "text after the literal")),
        ("{[1]: 2}", Malformed(6, "a key cannot be a list or dict")),
        ("__import__('os').system('x')", Malformed(16, "text after the literal")),
        ("f(1", Malformed(3, "call without end")),
        ("[" * 100, Malformed(61, "more than 60 brackets deep")),
    ],
)
def test_what_is_no_literal_says_where_it_stops(text, malformed):
    assert parse_literal(text) == malformed


@pytest.mark.parametrize(
    ("text", "partial"),
    [
        ("{'a': 1,\n 'b': {'c': 2,\n 'd", Partial({"a": 1}, complete=False)),
        ("{'a': 1, 'b': 12", Partial({"a": 1}, complete=False)),
        ("{'a': 1, 'b': 2}", Partial({"a": 1, "b": 2}, complete=True)),
        ("{'a", Partial({}, complete=False)),
        ("[1, [2], 3", Partial([1, [2]], complete=False)),
        ("nothing here", Malformed(8, "text after the literal")),
    ],
)
def test_a_cut_literal_keeps_what_a_comma_had_closed(text, partial):
    assert parse_partial_literal(text) == partial


@pytest.mark.parametrize(
    "text",
    [
        "{" * 500_000,
        "array(" * 50_000,
        "array([...," * 30_000,
        "'" * 300_001,
        "'\\\n" * 100_000,
        "1\n" * 100_000,
        "x(<" + "<>" * 30_000,
        "{'a': 1, " * 50_000,
        "9" * 1_000_000,
    ],
    ids=lambda text: text[:10].replace("\n", " "),
)
def test_hostile_text_costs_no_more_than_its_length(text):
    began = time.process_time()

    parse_literal(text)
    parse_partial_literal(text)

    assert time.process_time() - began < 20  # not a speed test: quadratic work would need minutes


def test_two_keys_are_never_one():
    # source: printers never split keys, so the value of the first was lost between the lines
    assert isinstance(parse_literal("{'a/b'\n 'c/d': 1}"), Malformed)
    assert isinstance(parse_literal("{'x': 0, 'a/b'\n 'c/d': 1}"), Malformed)
    assert parse_literal("{'x': 'a '\n 'b', 'c': 1}") == {"x": "a b", "c": 1}
