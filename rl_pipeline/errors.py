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


class PipelineError(Exception):
    """Base of both families; `str()` gives the whole message over several lines."""

    def __init__(self, what: str, *, where: str = "", expected: str = "", do: str = "", slug: str) -> None:
        self.what, self.where, self.expected, self.do, self.slug = what, where, expected, do, slug
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
