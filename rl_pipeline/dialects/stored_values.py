"""What a table can hold: text and names without credentials and half surrogate pairs, integers of 64 bits.

All text of a log or a trial enters a row through `stored_text` or `stored_name`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rl_pipeline.redaction import redact, redacted_start

LARGEST_INTEGER = 2**63 - 1
DETAIL_LIMIT = 500  # characters kept of a message
NAME_LIMIT = 300  # characters kept of a name
NAME_LOOKED_AT = 1 << 16  # characters of a name that are searched for credentials; a longer one is text, no name
HALF_PAIR = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text without half surrogate pairs, which no file format can hold."""
    return text if text.isascii() else HALF_PAIR.sub("\ufffd", text)


def stored_text(text: str, limit: int = DETAIL_LIMIT) -> str:
    """The beginning of a text, without credentials."""
    return storable(redacted_start(text, limit))


def stored_name(name: str, limit: int = NAME_LIMIT) -> str:
    """A name without credentials; what is cut off a long one is told apart by a short digest in its place."""
    if len(name) > NAME_LOOKED_AT:
        shown = stored_text(name, limit)
    else:
        shown = storable(redact(name).text)
        if len(shown) <= limit:
            return shown
    # Of what may be stored: of a credential nothing is told, not even a digest.
    digest = hashlib.blake2b((shown if len(shown) > limit else "").encode(), digest_size=4).hexdigest()
    return f"{shown[: limit - len(digest) - 1]}~{digest}"


def repeated_name(name: str, limit: int = NAME_LIMIT) -> str:
    """The same for names that come again and again."""
    return _remembered(name, limit) if len(name) <= limit else stored_name(name, limit)


_remembered = lru_cache(maxsize=4096)(stored_name)


def stored_names(names: Iterable[str], limit: int = NAME_LIMIT) -> Iterator[str]:
    """Each name as it is stored; those that became alike by that are numbered."""
    given: set[str] = set()
    for name in names:
        shown = stored = repeated_name(name, limit)
        number = 2
        while stored != name and stored in given:
            ending = f"#{number}"
            stored = shown[: limit - len(ending)] + ending
            number += 1
        given.add(stored)
        yield stored
