"""Histograms on a fixed ladder, and the solve rate by context used."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.trial_spread import (
    agent_seconds,
    decade_edges,
    output_tokens,
    solve_rate_by_context,
)
from rl_pipeline.schema import Trial
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.present import present


def trials(*rows):
    base = {"outcome": "solved", "rewards": {}}
    return frame_of(Trial, [{**base, "trial": str(n), "path": str(n), **row} for n, row in enumerate(rows)])


@given(st.floats(1e-3, 1e9), st.floats(1, 1e6))
def test_the_ladder_holds_every_value_and_rises(low: float, factor: float):
    edges = decade_edges(low, low * factor)

    assert edges[0] <= low
    assert edges[-1] > low * factor
    assert edges == sorted(set(edges))


def test_a_histogram_counts_every_trial_with_a_value_and_tells_the_rest():
    spread = present(output_tokens(trials(
        {"n_output_tokens": 100}, {"n_output_tokens": 124}, {"n_output_tokens": 900, "outcome": "unscored"},
        {"n_output_tokens": None}, {"n_output_tokens": 50, "is_eval": True},
    )))  # fmt: skip

    assert [(b.outcome, b.low, b.high, b.trials) for b in spread.bins] == [
        ("solved", 100.0, 125.0, 2),
        ("unscored", 800.0, 1000.0, 1),
    ]
    assert spread.medians == {"solved": 112.0, "unscored": 900.0}
    assert spread.without == 1


def test_without_a_value_there_is_no_histogram():
    assert agent_seconds(trials({"agent_execution_s": None})) is None
    assert output_tokens(trials()) is None


def test_context_bins_hold_equally_many_scored_trials_with_the_unscored_beside():
    rows = [
        {"n_turns": 2, "n_input_tokens": 2 * 100 * (n + 1), "outcome": "solved" if n < 40 else "unsolved"}
        for n in range(80)
    ]
    rows.append({"n_turns": 1, "n_input_tokens": 150, "outcome": "unscored"})
    bins = solve_rate_by_context(trials(*rows))

    assert [entry.rate.n for entry in bins] == [20, 20, 20, 20]
    assert [entry.rate.value for entry in bins] == [1.0, 1.0, 0.0, 0.0]
    assert [entry.unscored for entry in bins] == [1, 0, 0, 0]
    assert (bins[0].low, bins[-1].high) == (100.0, 8000.0)


def test_too_few_trials_say_nothing_about_context():
    assert solve_rate_by_context(trials(*({"n_turns": 1, "n_input_tokens": 9} for _ in range(39)))) == ()
