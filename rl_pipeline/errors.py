"""Errors a person reads: what failed, where, what was expected, what to do, and a slug.

Two families. `ConfigurationError`: someone must change something (exit code 2 from the command
line). `DataError`: the input holds nothing to work with, or a promise of the tables is broken
(exit code 1). A bad *line* is never an exception; it becomes a row of `unparsed`.
"""

from __future__ import annotations

VALUE_LIMIT = 120


def shown(value: object) -> str:
    """`repr` of a value, cut so that one hostile value cannot fill a terminal."""
    text = repr(value)
    return text if len(text) <= VALUE_LIMIT else text[: VALUE_LIMIT - 1] + "…"


def encodable(text: str) -> str:
    r"""A text that may hold names of files; their bytes that are not UTF-8 are written as hexadecimal numbers.

    >>> encodable("run_" + chr(0xDCFF))
    'run_\\xff'
    """
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half characters that come from no name
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


class PipelineError(Exception):
    """Base of both families; `str()` gives the whole message over several lines."""

    def __init__(self, what: str, *, where: str = "", expected: str = "", do: str = "", slug: str) -> None:
        self.what, self.where, self.expected, self.do = map(encodable, (what, where, expected, do))
        self.slug = slug
        super().__init__(self.message())

    def message(self) -> str:
        """The lines a person sees; empty parts are left out."""
        parts = [self.what]
        parts += [f"  where: {self.where}"] if self.where else []
        parts += [f"  expected: {self.expected}"] if self.expected else []
        parts += [f"  do: {self.do}"] if self.do else []
        parts.append(f"  see: rl-pipeline explain {self.slug}")
        return "\n".join(parts)


class ConfigurationError(PipelineError):
    """A path, option or setting that only its author can put right."""


class DataError(PipelineError):
    """Input without anything readable, or a table that would lie."""
