"""Credentials in the configuration and the exceptions of trials: how many, at little cost for those without.

The configurations of an experiment's trials are alike: most lines are equal, and the others differ in names and
numbers. So a line that was searched once and held nothing is known, with any name and any number in its place, and only
unknown ones are searched; where one of those holds something, the whole text is searched. Which lines differ is
learned from the texts, so that the equal stretches between them are compared, not taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rl_pipeline.reader import text_shapes
from rl_pipeline.reader.text_shapes import Frame
from rl_pipeline.redaction import may_hold_any, redact

SEARCHED = 1 << 20  # bytes of a text that are searched
KNOWN_LIMIT = 4096  # lines that are remembered
SHORT = 4096  # bytes of a text that may be known as a whole
MOST_DIFFERENT = 16  # lines that may differ from text to text
LINE_END, SPACED_END, BARE_END = b"\n", b', "', b',"'
# No credential begins with a number, and none is made of these alone unless its line says that it is one.
ANY_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)
IDENTIFIER = re.compile(rb"[0a-f-]{12,}")
QUOTED_IDENTIFIER = re.compile(rb'"[0a-f-]{12,}"')  # is found faster
ANYTHING = b"\0"  # stands in no JSON text
# Lines with a credential that is none by itself.
NEXT_LINES = tuple(before + "aB3dE9fG5hJ7kL2m" for before in ("", '"', ": ", '": "', "= "))
NO_FRAME = Frame(LINE_END, ())


class SecretCounter:
    """Counts credentials in texts that are much alike: JSON, or text of several lines."""

    def __init__(self) -> None:
        self._lines: set[bytes] = set()
        self._shapes: set[bytes] = set()
        self._frame = NO_FRAME
        self._last: list[bytes] = []
        self._different: set[int] = set()

    def count(self, text: bytes, *names: bytes) -> int:
        """How many credentials the text holds.

        Args:
            text: the configuration as it stands in the file, or the words of an exception.
            names: of trial and task, which are told anyway and are no credentials.
        """
        text = text[:SEARCHED]
        unknown = self._lines_that_differ(text)
        if unknown is None:
            line_end = _line_end(text)
            lines = text.split(line_end)
            self._learn(lines, line_end)
            unknown = [line for line in lines if line not in self._lines]
        together = b"\n".join(unknown)
        shape = _shape(together, names)
        if shape in self._shapes or not together:
            return 0
        shape = IDENTIFIER.sub(ANYTHING, shape)
        if shape in self._shapes:
            return 0
        told = together.decode("utf-8", "replace")
        # A line that announces a credential is harmless as it is, not with any other value.
        announces = may_hold_any(told)
        # A name whose value stands in the next line is searched together with it.
        if announces:
            # Lines that stand apart in the text may hide each other's credentials when they are searched together.
            found = sum(redact(text.decode("utf-8", "replace")).found.values())
            if found or b":\n" in text or redact(told).found:
                return found
        self._remember([line for line in unknown if not _goes_on(line)] if announces else unknown, [shape][announces:])
        return 0

    def count_all(self, texts: Sequence[bytes], names: Sequence[tuple[bytes, ...]]) -> list[int]:
        """`count` of each text with its names, as many of each; those whose shape is known cost a fraction of it."""
        known = self._shapes
        return [
            0 if shape in known else self._count_new(text, its, shape)
            for shape, text, its in zip(self._shapes_of(texts, names), texts, names, strict=True)
        ]

    def _shapes_of(self, texts: Sequence[bytes], names: Sequence[tuple[bytes, ...]]) -> list[bytes]:
        """The shape of what differs in each text, of a short one that is built differently its own; else nothing."""
        compiled = text_shapes.load()
        if compiled is not None:
            return compiled.shapes(texts, self._frame, names, most_looked_at=SEARCHED, most_whole=SHORT)
        shapes: list[bytes] = []
        for text, its in zip(texts, names, strict=True):
            lines = self._lines_that_differ(text[:SEARCHED])
            short = text if len(text) <= SHORT else b""
            shapes.append(_shape(short if lines is None else b"\n".join(lines), its))
        return shapes

    def _count_new(self, text: bytes, names: tuple[bytes, ...], shape: bytes) -> int:
        """`count`; the shape of a short text that holds and announces nothing is known from then on."""
        found = self.count(text, *names)
        if shape and not found and len(text) <= SHORT and not may_hold_any(text.decode("utf-8", "replace")):
            self._remember((), (shape,))
        return found

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

    def _remember(self, lines: Sequence[bytes], shapes: Iterable[bytes]) -> None:
        if max(len(self._lines), len(self._shapes)) >= KNOWN_LIMIT:
            self._lines.clear()
            self._shapes.clear()
            self._frame = NO_FRAME
        self._lines.update(lines)
        self._shapes.update(shapes)


def _goes_on(line: bytes) -> bool:
    """Whether the next line may hold the credential that this one announces: then it is never known to be harmless."""
    told = line.decode("utf-8", "replace")
    return may_hold_any(told) and any(redact(f"{told}\n{value}").found for value in NEXT_LINES)


def _shape(text: bytes, names: tuple[bytes, ...]) -> bytes:
    """The text with anything in the place of names and numbers."""
    for name in names:
        if name:
            text = text.replace(name, ANYTHING)
    return QUOTED_IDENTIFIER.sub(ANYTHING, text.translate(ANY_DIGIT))


def _line_end(text: bytes) -> bytes:
    """What stands between two members; quotes inside a text are escaped, so none of these can."""
    if LINE_END in text:
        return LINE_END
    return SPACED_END if SPACED_END in text else BARE_END
