"""Does a line continue a Python literal? The lines of one source are offered; only those that fit are taken.

A metrics dict is written in one go but reaches the log line by line, and other lines of the same process (its other
stream) may stand in between. A line belongs to the literal only if the literal's grammar goes on with it *and* it
stands where `pprint` puts it: an entry one column right of its bracket, the next piece of a long string under the
first. Closing brackets never begin a line. Two other layouts are recognised: lines without any indentation (copies)
and a lone opening bracket (indented printers), whose lines may begin with closing brackets.

Collectors cut lines anywhere: a string, number or word at a line's end may go on at the start of the next line.
"""

from __future__ import annotations

import re
from enum import Enum

from rl_pipeline.reader.literal_grammar import Bracket, Cut, NotGrammatical, State, advance

MAX_CUT = 64 * 1024  # characters of a token that goes on in the next line; it is read anew with each line offered

# Nearly all lines of a metrics dict: one entry with a short value, between two others.
PLAIN_ENTRY = re.compile(
    r" '[^'\\]{1,300}': (?:'[^'\\]{0,300}'|-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:e[+-]?[0-9]{1,4})?|True|False|None),$"
)
BETWEEN_ENTRIES = State((Bracket("d", 0, "after"),), "key")


class Offer(Enum):
    """What became of a line that was offered."""

    TAKEN = "taken"
    CLOSED = "closed"  # taken, and the literal is whole
    FOREIGN = "foreign"  # not part of it; nothing changed
    FULL = "full"  # taken, and no more may be
    CUT = "cut"  # not part of it, and nothing more can be


class LiteralLines:
    """Takes the lines of one dict, its opening bracket first."""

    def __init__(self) -> None:
        self._state = State()
        self._cut: Cut | None = None
        self._taken = 0
        self._flush = False  # indentation was lost
        self._indented = False  # the opening bracket stood alone: not pprint's layout

    @classmethod
    def after(cls, text: str) -> LiteralLines | None:
        """The rest of a dict whose line a collector cut behind `text`; None if `text` is no unclosed dict."""
        literal = cls()
        literal._indented = True  # what follows may stand anywhere
        try:
            literal._state, literal._cut = advance(literal._state, text)
        except NotGrammatical:
            return None
        literal._taken = 2
        return literal if literal._state.stack else None

    @property
    def opened(self) -> bool:
        """Whether the first line has been taken."""
        return self._taken > 0

    def offer(self, line: str) -> Offer:
        """Take the line if it continues the literal; a refused line leaves no trace."""
        if self._state == BETWEEN_ENTRIES and PLAIN_ENTRY.match(line):
            self._taken += 1  # the state stays as it is
            return Offer.TAKEN
        try:
            state, cut = self._run(line)
        except NotGrammatical:
            return Offer.FOREIGN
        if self._taken == 0:
            self._indented = line.strip() == "{"
        elif self._taken == 1 and self._cut is None and line[:1] in ("'", '"'):
            self._flush = True
        self._state, self._cut = state, cut
        self._taken += 1
        return Offer.TAKEN if state.stack else Offer.CLOSED

    def _run(self, line: str) -> tuple[State, Cut | None]:
        if self._taken == 0:
            if not line.startswith("{"):
                raise NotGrammatical
            return advance(State(), line)
        cut = self._cut
        if cut is not None and (cut.must or line[:1].isalnum() or line[:1] in ("_", ".", "+", "-")):
            return _go_on(cut, line)
        column = len(line) - len(line.lstrip(" "))
        if not self._fits(line, column):
            raise NotGrammatical
        state, cut = advance(self._state, line, start=column)
        if state.expect == "colon" and cut is None:  # nobody ends a line between a key and its colon
            raise NotGrammatical
        return state, cut

    def _fits(self, line: str, column: int) -> bool:
        """Whether the line's first token stands where a printer would have put it."""
        state, first = self._state, line[column : column + 1]
        if any(bracket.kind == "c" for bracket in state.stack):
            return True  # arrays lay out their own lines, empty ones among them
        if not first:
            return False
        if self._indented or state.expect == "value":
            return True
        flush = column == 0 and (self._flush or self._taken == 1)
        if state.expect == "after":  # the next piece of a long string, or the rest of a cut line
            if state.string_column is not None and first in "'\"bBrRuU":
                return flush or column == state.string_column
            return column == 0
        return first not in "}])" and (flush or column == state.stack[-1].column + 1)


def _go_on(cut: Cut, line: str) -> tuple[State, Cut | None]:
    """Put a token together that was cut at the end of the line before; one line must bring its end."""
    quote = cut.text.lstrip("bBrRuU")[:1]
    if len(cut.text) > MAX_CUT or (quote in ("'", '"') and quote not in line):
        raise NotGrammatical
    state, again = advance(cut.before, cut.text + line, shift=cut.column)
    if again is not None and again.must and len(again.text) == len(cut.text) + len(line):
        raise NotGrammatical
    return state, again
