"""The grammar of a Python literal, one token at a time, without building its value.

A state is immutable, so trying a line costs nothing when it does not fit. Brackets remember their column and what
their parent expects once they close.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rl_pipeline.reader.literals import CONSTANTS, MAX_DEPTH, NOT_FINITE, TOKEN

WORDS = {*CONSTANTS, *NOT_FINITE, "true", "false", "null"}  # values by themselves, of Python and JSON
CLOSERS = {"{": "}", "d": "}", "[": "]", "(": ")", "c": ")"}


class Bracket(NamedTuple):
    """An open bracket: `{` (dict or set, not known yet), `d` dict, `[`, `(`, `c` call."""

    kind: str
    column: int
    then: str  # what is expected once it is closed: colon (it was a key) or after


@dataclass(frozen=True, slots=True)
class State:
    """Where the text stands.

    `expect`: "item" (a value or a closing bracket), "key" (likewise, in a dict), "colon", "value", or "after" (a
    comma or a closing bracket). `named`: a word was just read, a bracket would make it a call; `unsure`: it is no
    value unless that happens. `string_column`: a string was just read that began there; another may follow, which makes
    it `joined`: then it is no key, since printers never split those.
    """

    stack: tuple[Bracket, ...] = ()
    expect: str = "item"
    string_column: int | None = None
    named: bool = False
    unsure: bool = False
    joined: bool = False


class Cut(NamedTuple):
    """A token at the end of a line that may go on in the next one."""

    before: State
    text: str
    column: int
    must: bool  # it has to go on for the text to make sense


class NotGrammatical(Exception):  # noqa: N818 - control flow between two modules only
    """The tokens cannot stand where they stand."""


def advance(state: State, text: str, *, start: int = 0, shift: int = 0) -> tuple[State, Cut | None]:
    """The state after the tokens of `text[start:]`, and the token that may go on; `shift` is the column of text[0].

    Raises:
        NotGrammatical: the text does not go on with the literal, or goes on after its end.
    """
    at, end, cut = start, len(text.rstrip()), None
    while at < end:
        found = TOKEN.match(text, at)
        if found is None:
            raise NotGrammatical
        kind, token, column, at = found.lastgroup or "", found.group(), shift + at, found.end()
        if kind == "space":
            continue
        if kind == "cut":
            return _string(state, column), Cut(state, text[found.start() :], column, must=True)
        before, state = state, _step(state, kind, token, column)
        if not state.stack:
            if text[at:].strip():
                raise NotGrammatical
            return state, None
        if at == len(text) and kind in ("number", "name"):
            cut = Cut(before, token, column, must=state.unsure)
    if state.unsure and cut is None:
        raise NotGrammatical
    return state, cut


def _step(state: State, kind: str, token: str, column: int) -> State:
    if kind == "mark":
        return _mark(state, token, column)
    if kind == "string":
        return _string(state, column)
    in_call = bool(state.stack) and state.stack[-1].kind == "c"
    if kind == "dots" and not (state.stack and state.stack[-1].kind in "c[("):
        raise NotGrammatical
    after = _value(state)
    if kind != "name":
        return after
    known = token in WORDS or in_call or state.expect == "value"
    return State(after.stack, after.expect, None, named=True, unsure=not known)


def _string(state: State, column: int) -> State:
    """A string, or one more piece of the string before it."""
    if state.string_column is not None and state.expect == "after":
        return State(state.stack, state.expect, state.string_column, joined=True)
    after = _value(state)
    return State(after.stack, after.expect, column)


def _value(state: State) -> State:
    """A value was read: a colon comes if it is a key, else a comma or a closing bracket."""
    if not state.stack or state.unsure or state.expect in ("after", "colon"):
        raise NotGrammatical
    return State(state.stack, "colon" if state.expect == "key" else "after")


def _mark(state: State, token: str, column: int) -> State:
    if token in "([{":
        return _open(state, token, column)
    if state.unsure or not state.stack:
        raise NotGrammatical
    if token in ")]}":
        return _close(state, token)
    top = state.stack[-1]
    if token == "," and state.expect == "after":
        return State(state.stack, "key" if top.kind == "d" else "item")
    if token == ":" and state.expect == "colon":
        return State(state.stack, "value")
    if token == ":" and state.expect == "after" and top.kind == "{" and not state.joined:  # the first key of a dict
        return State((*state.stack[:-1], top._replace(kind="d")), "value")
    if token == "=" and state.named and top.kind == "c":
        return State(state.stack, "value")
    raise NotGrammatical


def _open(state: State, token: str, column: int) -> State:
    if len(state.stack) >= MAX_DEPTH:
        raise NotGrammatical
    if token == "(" and state.named:
        return State((*state.stack, Bracket("c", column, state.expect)))
    if not state.stack:
        return State((Bracket(token, column, "after"),))
    if token != "(" and state.expect == "key":  # no key is a list or dict
        raise NotGrammatical
    return State((*state.stack, Bracket(token, column, _value(state).expect)))


def _close(state: State, token: str) -> State:
    top = state.stack[-1]
    if CLOSERS[top.kind] != token or state.expect in ("colon", "value"):
        raise NotGrammatical
    return State(state.stack[:-1], top.then)
