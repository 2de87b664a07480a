"""Where to look for credentials: the needles of `redaction`, narrowed to what stands in few lines.

Every line about a model's work counts `prompt_tokens`, so a name that ends in `token` is only looked at when its value,
or a quote, follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rl_pipeline.redaction import secret_needles

TOKEN_NAMES = (b"_token", b"_TOKEN")
VALUE_FOLLOWS = (b"=", b":", b'"', b"'", b" =", b" :")

SECRET_MARKS: tuple[bytes, ...] = (
    *(needle for needle in secret_needles if needle not in TOKEN_NAMES),
    *(name + follows for name in TOKEN_NAMES if name in secret_needles for follows in VALUE_FOLLOWS),
)


def any_of(words: Iterable[bytes]) -> bytes:
    """A pattern that matches one of the words; common beginnings are written once, so that a search is fast."""
    by_first: dict[bytes, list[bytes]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    if b"" in by_first:  # a word ends here: nothing longer needs to match
        return b""
    branches = [re.escape(first) + any_of(rests) for first, rests in sorted(by_first.items())]
    return branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")"


# For small texts, where starting a scan per mark costs more than the scan.
ANY_SECRET_MARK = re.compile(any_of(SECRET_MARKS))
