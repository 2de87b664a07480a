"""Which values a resample or a relabelling takes, as places in a sorted sample.

They depend on the seed and on the number of values alone, so samples of one size can share them. Drawing
costs more than all that is computed from what was drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.integer[Any]]
CHUNK = 100_000  # numbers drawn at once: memory stays flat, and they stay in the cache of a core
RELABELLED_AT_ONCE = 1_000
MOST_REMEMBERED = 4_000_000  # places of one kind; bytes, up to 256 values


def resamples_of(size: int, *, resamples: int, seed: int) -> Iterator[Places]:
    """Places of bootstrap samples out of `size` values, in parts of shape (rows, size)."""
    generator = np.random.default_rng(seed)
    at_once = max(1, CHUNK // size)
    for start in range(0, resamples, at_once):
        yield generator.integers(0, size, size=(min(at_once, resamples - start), size))


def relabellings_of(size: int, *, permutations: int, seed: int) -> Iterator[Places]:
    """The places of `size` values in random orders, in parts of shape (rows, size)."""
    generator = np.random.default_rng(seed)
    for start in range(0, permutations, RELABELLED_AT_ONCE):
        rows = min(RELABELLED_AT_ONCE, permutations - start)
        yield generator.permuted(np.broadcast_to(np.arange(size), (rows, size)), axis=1)


class Draws:
    """What was drawn, for comparisons of several samples with the same seeds; large draws are made anew."""

    def __init__(self) -> None:
        self._resamples: dict[tuple[int, int, int], _Remembered] = {}
        self._relabellings: dict[tuple[int, int, int], _Remembered] = {}

    def resamples(self, size: int, *, resamples: int, seed: int) -> Iterable[Places]:
        """As `resamples_of`."""
        drawn = resamples_of(size, resamples=resamples, seed=seed)
        if size * resamples > MOST_REMEMBERED:
            return drawn
        return self._resamples.setdefault((size, resamples, seed), _Remembered(drawn, size))

    def relabellings(self, size: int, *, permutations: int, seed: int) -> Iterable[Places]:
        """As `relabellings_of`."""
        drawn = relabellings_of(size, permutations=permutations, seed=seed)
        if size * permutations > MOST_REMEMBERED:
            return drawn
        return self._relabellings.setdefault((size, permutations, seed), _Remembered(drawn, size))


class _Remembered:
    """Parts that are drawn when they are first asked for, in the smallest type that holds a place."""

    def __init__(self, drawn: Iterator[Places], size: int) -> None:
        self._drawn, self._kept, self._type = drawn, list[Places](), np.min_scalar_type(size - 1)

    def __iter__(self) -> Iterator[Places]:
        yield from self._kept
        for part in self._drawn:
            self._kept.append(part.astype(self._type))
            yield part
