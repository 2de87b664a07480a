"""Credentials in the configuration and the exceptions of trials: how many, at little cost for those without.

The configurations of an experiment's trials are alike: most lines are equal, and the others differ in names and
numbers. So a line that was searched once and held nothing is known, with any name and any number in its place, and only
unknown ones are searched; where one of those holds something, the whole text is searched.
"""

from __future__ import annotations

import re

from rl_pipeline.redaction import may_hold_any, redact

SEARCHED = 1 << 20  # bytes of a text that are searched
KNOWN_LIMIT = 4096  # lines that are remembered
LINE_END, SPACED_END, BARE_END = b"\n", b', "', b',"'
# No credential begins with these, and none is known by them unless its line says that it is one.
NUMBER = re.compile(rb"[0-9a-f-]{12,}")
ANYTHING = b"\0"  # stands in no JSON text


class SecretCounter:
    """Counts credentials in JSON texts that are much alike."""

    def __init__(self) -> None:
        self._lines: set[bytes] = set()
        self._shapes: set[bytes] = set()

    def count(self, text: bytes, *names: bytes) -> int:
        """How many credentials the JSON text holds.

        Args:
            text: the configuration or the exception's record, as it stands in the file.
            names: of trial and task, which are told anyway and are no credentials.
        """
        text = text[:SEARCHED]
        unknown = set(text.split(_separator(text))).difference(self._lines)
        if not unknown:
            return 0
        shapes = _shape(b"\n".join(unknown), names).split(b"\n")
        if self._shapes.issuperset(shapes):
            return 0
        # A name whose value stands in the next line is searched together with it.
        if b":\n" in text or redact(b"\n".join(unknown).decode("utf-8", "replace")).found:
            return sum(redact(text.decode("utf-8", "replace")).found.values())
        self._remember(unknown, names)
        return 0

    def _remember(self, lines: set[bytes], names: tuple[bytes, ...]) -> None:
        if len(self._lines) >= KNOWN_LIMIT:
            self._lines.clear()
            self._shapes.clear()
        self._lines |= lines
        # A line that announces a credential is harmless as it is, not with any other value.
        self._shapes.update(_shape(line, names) for line in lines if not may_hold_any(line.decode("utf-8", "replace")))


def _shape(text: bytes, names: tuple[bytes, ...]) -> bytes:
    """The text with anything in the place of names and numbers."""
    for name in names:
        if name:
            text = text.replace(name, ANYTHING)
    return NUMBER.sub(ANYTHING, text)


def _separator(text: bytes) -> bytes:
    """What stands between two members; quotes inside a text are escaped, so none of these can."""
    if LINE_END in text:
        return LINE_END
    return SPACED_END if SPACED_END in text else BARE_END
