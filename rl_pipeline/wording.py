"""How counts are written in sentences, wherever a sentence is: messages, findings, pages."""

from __future__ import annotations


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 job`, `3 jobs`.

    Args:
        number: how many.
        one: the word for one of them.
        many: the word for several, if that is more than an `s` at its end.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
