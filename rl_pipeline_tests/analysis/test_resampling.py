"""Draws: the same places whether they are made anew, remembered, or asked for in between."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from rl_pipeline.analysis import resampling
from rl_pipeline.analysis.comparison import compare
from rl_pipeline.analysis.intervals import bootstrap_interval, bootstrap_means
from rl_pipeline.analysis.resampling import Draws, relabellings_of, resamples_of

SEED = 7


@pytest.mark.parametrize("size", [2, 12, 256, 257])
def test_remembered_places_are_those_that_were_drawn(size):
    draws = Draws()
    kinds = [
        (resamples_of(size, resamples=1_500, seed=SEED), lambda: draws.resamples(size, resamples=1_500, seed=SEED)),
        (
            relabellings_of(size, permutations=2_500, seed=SEED),
            lambda: draws.relabellings(size, permutations=2_500, seed=SEED),
        ),
    ]

    for fresh, again in kinds:
        expected = np.concatenate(list(fresh))
        assert (np.concatenate(list(again())) == expected).all()
        assert (np.concatenate(list(again())) == expected).all()


def test_who_stops_early_leaves_the_rest_to_the_next():
    draws = Draws()
    expected = np.concatenate(list(relabellings_of(9, permutations=3_000, seed=SEED)))

    few = list(islice(draws.relabellings(9, permutations=3_000, seed=SEED), 1))

    assert (np.concatenate(few) == expected[: resampling.RELABELLED_AT_ONCE]).all()
    assert (np.concatenate(list(draws.relabellings(9, permutations=3_000, seed=SEED))) == expected).all()


def test_large_draws_are_not_kept(monkeypatch):
    monkeypatch.setattr(resampling, "MOST_REMEMBERED", 100)
    draws = Draws()

    parts = [np.concatenate(list(draws.resamples(11, resamples=10, seed=SEED))) for _ in range(2)]

    assert (parts[0] == parts[1]).all()
    assert not draws._resamples


def test_a_relabelling_has_each_place_once():
    rows = np.concatenate(list(relabellings_of(6, permutations=50, seed=SEED)))

    assert rows.shape == (50, 6)
    assert (np.sort(rows, axis=1) == np.arange(6)).all()


def test_comparisons_that_share_draws_say_what_they_say_alone():
    generator, draws = np.random.default_rng(SEED), Draws()
    samples = [generator.normal(shift, 1, size) for shift, size in ((0, 9), (0.1, 14), (0.8, 9), (2, 14))]
    pairs = [(a, b) for a in samples for b in samples]

    assert [compare(a, b, draws=draws) for a, b in pairs] == [compare(a, b) for a, b in pairs]


def test_means_bootstrapped_together_have_the_intervals_that_each_has_alone():
    generator = np.random.default_rng(SEED)
    samples = [generator.random(size) for size in (40, 7, 40, 1, 0, 7)]
    names = list("abcdef")

    together = bootstrap_means(samples, names, resamples=300)

    assert list(together) == [
        bootstrap_interval(values, resamples=300, population=name)
        for values, name in zip(samples, names, strict=True)
    ]  # fmt: skip
