"""Credentials in the configuration and the exceptions of trials: how many, at little cost for those without.

The configurations of an experiment's trials are alike: most lines are equal. So a line that was searched once and held
nothing is known, and only unknown ones are looked at; where one of those may hold something, the whole text is
searched. Which lines differ is learned from the texts, so that the equal stretches between them are compared, not taken
apart. What is known never stands for anything but the same bytes, so the count is that of a search of the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rl_pipeline.reader import text_marks
from rl_pipeline.reader.text_marks import NO_FRAME, Frame, Marks
from rl_pipeline.redaction import SK_STEM, STEMS, URL_SIGN, URL_STEM, holds_mark, may_hold_any, redact

SEARCHED = 1 << 20
KNOWN_LIMIT = 4096  # lines that are remembered
MOST_DIFFERENT = 16  # lines that may differ from text to text
LINE_END, SPACED_END, BARE_END = b"\n", b', "', b',"'
TOGETHER = 16  # texts of which one may hold a credential: they are looked at one by one
# What `may_hold_any` looks for.
MARKS = Marks(anywhere=STEMS, at_edge=(SK_STEM,), with_sign=(URL_STEM,), sign=URL_SIGN.encode())
# Lines with a credential that is none by itself.
NEXT_LINES = tuple(f"{before}aB3dE9fG5hJ7kL2m" for before in ("", '"', ": ", '": "', "= ", ": token ", "token "))
NAME_AT_END = re.compile(rb":\s*\n")


class SecretCounter:
    """Counts credentials in texts that are much alike: JSON, or text of several lines.

    Args:
        searched: bytes of a text that are searched.
    """

    def __init__(self, searched: int = SEARCHED) -> None:
        self._searched = searched
        self._lines: set[bytes] = set()
        self._frame = NO_FRAME
        self._last: list[bytes] = []
        self._different: set[int] = set()

    def count(self, text: bytes) -> int:
        """How many credentials the text holds.

        Args:
            text: the configuration as it stands in the file, or the words of an exception.
        """
        text = text[: self._searched]
        unknown = self._lines_that_differ(text)
        is_framed = unknown is not None
        if unknown is None:
            line_end = _line_end(text)
            lines = text.split(line_end)
            self._learn(lines, line_end)
            unknown = [line for line in lines if line not in self._lines]
        told = b"\n".join(unknown).decode("utf-8", "replace")
        if may_hold_any(told) and holds_mark(told):
            # Lines that stand apart in the text may hide each other's credentials when they are searched together.
            found = sum(redact(text.decode("utf-8", "replace")).found.values())
            if found or NAME_AT_END.search(text):
                return found
            unknown = [line for line in unknown if not _goes_on(line)]
        if not is_framed:
            self._remember(unknown)
        return 0

    def count_all(self, texts: Sequence[bytes]) -> list[int]:
        """`count` of each text; those in which nothing that differs may be a credential cost a fraction of it."""
        compiled = text_marks.load()
        if compiled is None:
            return [self.count(text) for text in texts]
        may_hold = compiled.which_hold([text[: self._searched] for text in texts], MARKS, self._frame)
        return [self.count(text) if may else 0 for text, may in zip(texts, may_hold, strict=True)]

    def _lines_that_differ(self, text: bytes) -> list[bytes] | None:
        """What stands between the equal stretches; None when the text is built differently."""
        lines, place, line_end = [], 0, self._frame.line_end
        begins, find = text.startswith, text.find
        for stretch in self._frame.stretches:
            if not begins(stretch, place):
                return None
            place += len(stretch)
            end = find(line_end, place)
            if end < 0:
                end = len(text)
            lines.append(text[place:end])
            place = end
        return lines if lines and place == len(text) else None

    def _learn(self, lines: list[bytes], line_end: bytes) -> None:
        """Which lines differ between this text and earlier ones; the equal ones must be known to be harmless."""
        last, self._last = self._last, lines
        if len(lines) != len(last):
            self._different.clear()
            return
        self._different.update(number for number, line in enumerate(lines) if line != last[number])
        if not 0 < len(self._different) <= MOST_DIFFERENT:
            self._different.clear()
            return
        stretches = [b""]
        for number, line in enumerate(lines):
            stretches[-1] += line_end if number else b""
            if number in self._different:
                stretches.append(b"")
            elif line in self._lines:
                stretches[-1] += line
            else:
                return
        # What stands behind the last stretch is a line too, of no length.
        self._frame = Frame(line_end, tuple(stretches))

    def _remember(self, lines: Iterable[bytes]) -> None:
        if len(self._lines) >= KNOWN_LIMIT:
            self._lines.clear()
            self._frame = NO_FRAME
        self._lines.update(lines)


def suspects(texts: Sequence[str]) -> list[str]:
    """The texts that may hold a credential: one look at many of them together costs a fraction of a look at each."""
    compiled = text_marks.load()
    if compiled is not None:
        may_hold = compiled.which_hold([text.encode("utf-8", "replace") for text in texts], MARKS)
        return [text for text, may in zip(texts, may_hold, strict=True) if may and may_hold_any(text)]
    if not may_hold_any("\n".join(texts)):
        return []
    groups = [texts[start : start + TOGETHER] for start in range(0, len(texts), TOGETHER)]
    return [text for group in groups if may_hold_any("\n".join(group)) for text in group]


def _goes_on(line: bytes) -> bool:
    """Whether the next line may hold the credential that this one announces: then it is never known to be harmless."""
    told = line.decode("utf-8", "replace")
    return may_hold_any(told) and any(redact(f"{told}\n{value}").found for value in NEXT_LINES)


def _line_end(text: bytes) -> bytes:
    """What stands between two members; quotes inside a text are escaped, so none of these can."""
    if LINE_END in text:
        return LINE_END
    return SPACED_END if SPACED_END in text else BARE_END
