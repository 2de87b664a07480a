"""Progress for long work: bars on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Progress:
    """Where progress goes; `stream` is standard error in the program."""

    quiet: bool = False
    stream: TextIO | None = None

    def say(self, text: str) -> None:
        """One plain line."""
        if not self.quiet:
            print(text, file=self.stream or sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """A line that even a quiet run shows."""
        print(text, file=self.stream or sys.stderr, flush=True)

    @contextmanager
    def bar(self, label: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        """A function that takes how much more is done.

        On a terminal a bar; elsewhere one line at the start, so that a log file stays readable.
        """
        stream = self.stream or sys.stderr
        if self.quiet or not stream.isatty():
            self.say(label)
            yield lambda _: None
            return
        from tqdm import tqdm

        with tqdm(total=total, desc=label, unit=unit, unit_scale=True, file=stream, leave=False) as bar:
            yield lambda amount: ignore(bar.update(amount))
        self.say(label)


def ignore(_: object) -> None:
    """Drop a value whose caller wants none."""
