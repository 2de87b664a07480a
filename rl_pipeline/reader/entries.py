"""Lines of an open block that look like the ones before them, told by their bytes alone."""

from __future__ import annotations

import re

from rl_pipeline.reader.continuation import LiteralLines

# Bytes that `PLAIN_ENTRY` of `continuation` matches and that no colour, bar, suffix or character set makes ambiguous.
ENTRY = re.compile(
    rb" '[ -&(-Z\]-{}~]{1,300}': (?:'[ -&(-Z\]-{}~]{0,300}'|-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:e[+-]?[0-9]{1,4})?"
    rb"|True|False|None),\Z"
)
MAY_BE_MORE = (b"\r", b"%|", b"it [", b"\0")  # a line with one of these may be several texts


class BlockEntries:
    """What stands before the entries of one open dict."""

    def __init__(self, prefix: bytes, literal: LiteralLines) -> None:
        """`prefix`: bytes of an earlier line before its entry; `literal`: took it."""
        self._prefix, self._literal = prefix, literal

    def belongs_to(self, literal: LiteralLines | None) -> bool:
        """Whether it is about that dict."""
        return literal is self._literal

    def take(self, raw: bytes) -> str | None:
        """The entry of a line, taken by the dict; None sends the line the long way."""
        if not raw.startswith(self._prefix) or ENTRY.match(raw, len(self._prefix)) is None:
            return None
        return raw[len(self._prefix) :].decode("ascii") if self._literal.take_plain() else None

    @property
    def prefix(self) -> bytes:
        """What stands before each entry."""
        return self._prefix

    @property
    def are_open(self) -> bool:
        """Whether a line with an entry between two others may come next."""
        return self._literal.takes_plain

    @property
    def are_quoted_only(self) -> bool:
        """Whether nothing else goes on with the dict that begins with a letter or digit at the left edge."""
        return self._literal.takes_only_quoted

    def take_many(self, count: int) -> None:
        """Take so many lines that are one entry each."""
        self._literal.take_plain(count)

    def is_other_text(self, raw: bytes) -> bool:
        """Whether a line of the same process begins with a letter or digit where only a quoted key goes on."""
        return (
            self._literal.takes_only_quoted
            and raw.startswith(self._prefix)
            and raw[len(self._prefix) : len(self._prefix) + 1].isalnum()
            and not any(mark in raw for mark in MAY_BE_MORE)
        )
