"""The grammar without the values."""

from __future__ import annotations

import pprint

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.reader.literal_grammar import NotGrammatical, State, advance
from rl_pipeline.reader.literals import Malformed, parse_literal

values = st.recursive(
    st.one_of(st.integers(), st.none(), st.text(), st.floats()),
    lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), values))
def test_whatever_python_prints_is_grammatical(value):
    state, _ = advance(State(), pprint.pformat(value, width=10_000))

    assert state.stack == ()


@given(st.text("{}[](),:='ab1 .x", max_size=14).map("{{{}".format))
def test_what_the_grammar_closes_can_be_parsed(text):
    try:
        state, _ = advance(State(), text)
    except NotGrammatical:
        return
    assert state.stack or not isinstance(parse_literal(text), Malformed)


@pytest.mark.parametrize(
    "text", ["}", "{'a' 'b' 1}", "{'a': }", "{,}", "[}", "{'a': 1: 2}", "{x}", "{'a': 1}}", "{'a'=1}"]
)
def test_other_text_is_refused(text):
    with pytest.raises(NotGrammatical):
        advance(State(), text)
