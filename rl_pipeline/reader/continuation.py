"""Does a line continue a Python literal? The lines of one source are offered; only those that fit are taken.

A metrics dict is written in one go but reaches the log line by line, and other lines of the same process (its other
stream) may stand in between. A line belongs to the literal only if the literal's grammar goes on with it *and* it
stands where `pprint` puts it: an entry one column right of its bracket and with its key, the next piece of a long
string under the first. Closing brackets never begin a line. Two other layouts are recognised: lines without any
indentation (copies) and a lone opening bracket (indented printers), whose lines may begin with closing brackets.

Collectors cut lines anywhere: a string, number or word at a line's end may go on at the start of the next line. A
line without a key that ends like that is taken with doubt: it is dropped when the next one fits better without it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from rl_pipeline.reader.literal_grammar import Bracket, Cut, NotGrammatical, State, advance

MAX_CUT = 64 * 1024  # characters of a token that goes on in the next line; it is read anew with each line offered

# Nearly all lines of a metrics dict: one entry with a short value, between two others.
PLAIN_ENTRY = re.compile(
    r" '[^'\\]{1,300}': (?:'[^'\\]{0,300}'|-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:e[+-]?[0-9]{1,4})?|True|False|None),$"
)
BETWEEN_ENTRIES = State((Bracket("d", 0, "after"),), "key")


QUOTED = r"""[bBrRuU]{0,2}(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")"""
KEY = re.compile(QUOTED + " {0,4}:")
OTHER_KEY = re.compile(r"(?:[+-]?[\w.]{1,80}(?:\([^()]{0,300}\))?|\([^:]{0,300}\)|<[^<>]{1,300}>) {0,4}:")
CUT_KEY = re.compile(r"""[bBrRuU]{0,2}(?:'[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?)$|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?)$)""")
ONLY_CLOSERS = re.compile(r"[\s\])}]*[\])}][\s\])},]*")
CLOSING = ("}", "]", ")")


class Offer(Enum):
    """What became of a line that was offered."""

    TAKEN = "taken"
    CLOSED = "closed"  # taken, and the literal is whole
    FOREIGN = "foreign"  # not part of it; nothing changed
    FULL = "full"  # taken, and no more may be
    CUT = "cut"  # not part of it, and nothing more can be


class _Place(NamedTuple):
    """What is known after a line."""

    state: State = State()
    cut: Cut | None = None
    taken: int = 0
    flush: bool = False  # indentation was lost
    indented: bool = False  # the opening bracket stood alone: not pprint's layout


class LiteralLines:
    """Takes the lines of one dict, its opening bracket first."""

    def __init__(self) -> None:
        self._place = _Place()
        self._doubtful: _Place | None = None  # before the last line, if that may not have been part of it
        self._anywhere = False  # what follows may stand anywhere
        self.dropped = False  # the line taken last stands instead of the one before it

    @classmethod
    def after(cls, text: str) -> LiteralLines | None:
        """The rest of a dict whose line a collector cut behind `text`; None if `text` is no unclosed dict."""
        literal = cls()
        literal._anywhere = True
        try:
            state, cut = advance(State(), text)
        except NotGrammatical:
            return None
        literal._place = _Place(state, cut, taken=2, indented=True)
        return literal if state.stack else None

    @property
    def opened(self) -> bool:
        """Whether the first line has been taken."""
        return self._place.taken > 0

    @property
    def is_cut(self) -> bool:
        """Whether the last line ended where a collector may have cut it."""
        return _ends_oddly(self._place.state, self._place.cut)

    @property
    def takes_only_quoted(self) -> bool:
        """Whether no line goes on with it that begins with a letter or digit at the left edge."""
        place = self._place
        return place.state == BETWEEN_ENTRIES and self._doubtful is None and not (place.indented or self._anywhere)

    @property
    def column(self) -> int:
        """Where `pprint` would begin the next line."""
        state = self._place.state
        if state.expect in ("key", "item"):
            return state.stack[-1].column + 1 if state.stack else 0
        return state.string_column or 0

    def offer(self, line: str, *, is_rest: bool = False) -> Offer:
        """Take the line if it continues the literal; a refused line leaves no trace.

        `is_rest`: a collector is known to have cut the line before it.
        """
        self.dropped = False
        place = self._place
        if place.state == BETWEEN_ENTRIES and PLAIN_ENTRY.match(line):
            self._place, self._doubtful = place._replace(taken=place.taken + 1), None  # the state stays as it is
            return Offer.TAKEN
        try:
            state, cut = self._run(place, line, is_rest=is_rest)
        except NotGrammatical:
            return self._offer_instead(line)
        return self._take(place, line, state, cut)

    @property
    def takes_plain(self) -> bool:
        """Whether an entry between two others may stand here."""
        return self._place.state == BETWEEN_ENTRIES

    def take_plain(self, count: int = 1) -> bool:
        """Take lines known to be one entry each between two others, if one may stand here."""
        place = self._place
        if place.state != BETWEEN_ENTRIES:
            return False
        self._place, self._doubtful, self.dropped = place._replace(taken=place.taken + count), None, False
        return True

    def _offer_instead(self, line: str) -> Offer:
        """Take a line instead of the doubtful one before it."""
        before = self._doubtful
        if before is None:
            return Offer.FOREIGN
        try:
            state, cut = self._run(before, line, is_rest=False)
        except NotGrammatical:
            return Offer.FOREIGN
        if _ends_oddly(state, cut) and not KEY.match(line.lstrip(" ")):
            return Offer.FOREIGN  # no better
        self.dropped = True
        return self._take(before, line, state, cut)

    def _take(self, place: _Place, line: str, state: State, cut: Cut | None) -> Offer:
        flush, indented = place.flush, place.indented
        if place.taken == 0:
            indented = line.strip() == "{"
        elif place.taken == 1 and place.cut is None and KEY.match(line):
            flush = True
        doubtful = place.taken > 0 and _ends_oddly(state, cut) and not KEY.match(line.lstrip(" "))
        self._doubtful = place if doubtful else None
        self._place = _Place(state, cut, place.taken + 1, flush, indented)
        return Offer.TAKEN if state.stack else Offer.CLOSED

    def _run(self, place: _Place, line: str, *, is_rest: bool) -> tuple[State, Cut | None]:
        if place.taken == 0:
            if not line.startswith("{"):
                raise NotGrammatical
            return advance(State(), line)
        cut = place.cut
        if cut is not None and (cut.must or line[:1].isalnum() or line[:1] in ("_", ".", "+", "-")):
            return _go_on(cut, line)
        column = len(line) - len(line.lstrip(" "))
        if not self._fits(place, line, column, is_rest=is_rest):
            raise NotGrammatical
        return advance(place.state, line, start=column)

    def _fits(self, place: _Place, line: str, column: int, *, is_rest: bool) -> bool:
        """Whether the line's first token stands where a printer would have put it."""
        state, first = place.state, line[column : column + 1]
        in_call = any(bracket.kind == "c" for bracket in state.stack)
        if not first:
            return in_call  # arrays lay out their own lines, empty ones among them
        if ONLY_CLOSERS.fullmatch(line):
            return is_rest or place.indented or (in_call and column > 0)
        if self._anywhere or in_call or state.expect == "value":
            return True
        if state.expect == "colon":  # the rest of a cut line
            return column == 0 and first == ":"
        flush = column == 0 and (place.flush or place.taken == 1)
        if state.expect == "after":  # the next piece of a long string, or the rest of a cut line
            if state.string_column is not None and first in "'\"bBrRuU":
                return place.indented or flush or column == state.string_column
            return place.indented or column == 0
        printed = place.indented or column == state.stack[-1].column + 1
        if state.expect == "key" or len(state.stack) == 1:
            return _is_entry(line, column, printed=printed, flush=flush)
        return (place.indented or first not in CLOSING) and (printed or flush)


def _is_entry(line: str, column: int, *, printed: bool, flush: bool) -> bool:
    """Whether a key begins the line; one cut inside or behind its key counts where `pprint` prints keys."""
    if KEY.match(line, column):
        return printed or flush
    return printed and (OTHER_KEY.match(line, column) or CUT_KEY.match(line, column)) is not None


def _ends_oddly(state: State, cut: Cut | None) -> bool:
    """Whether a line ends where no printer ends one, but for the pieces of long strings."""
    return bool(state.stack) and (cut is not None or state.expect not in ("key", "item"))


def _go_on(cut: Cut, line: str) -> tuple[State, Cut | None]:
    """Put a token together that was cut at the end of the line before; one line must bring its end."""
    quote = cut.text.lstrip("bBrRuU")[:1]
    if len(cut.text) > MAX_CUT or (quote in ("'", '"') and quote not in line):
        raise NotGrammatical
    state, again = advance(cut.before, cut.text + line, shift=cut.column)
    if again is not None and again.must and len(again.text) == len(cut.text) + len(line):
        raise NotGrammatical
    return state, again
