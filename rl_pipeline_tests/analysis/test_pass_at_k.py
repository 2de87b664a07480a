"""pass@k from trials."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.pass_at_k import ALL_AS_FAILURES, attempts_by_task, pass_at_k, unbiased_pass_at_k
from rl_pipeline.schema import Trial
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.present import present


def _trials(tasks):
    """Trials of {task: outcomes}, an outcome being s(olved), u(nsolved) or - (unscored)."""
    words = {"s": "solved", "u": "unsolved", "-": "unscored"}
    rows = [
        Trial(trial=f"{task}-{i}", task=task, path="", outcome=words[letter])
        for task, outcomes in tasks.items()
        for i, letter in enumerate(outcomes)
    ]
    return frame_of(Trial, rows)


@given(st.integers(1, 9), st.data())
def test_it_is_the_share_of_k_subsets_with_a_success(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    subsets = list(itertools.combinations([1] * c + [0] * (n - c), k))

    assert unbiased_pass_at_k(np.array([n]), np.array([c]), k)[0] == pytest.approx(np.mean([any(s) for s in subsets]))


def test_pass_at_1_is_the_mean_solve_rate_of_tasks():
    (one,) = pass_at_k(_trials({"a": "suuu", "b": "ssss", "c": "uu"}), (1,))

    assert one.estimate.value == pytest.approx((0.25 + 1 + 0) / 3)
    assert (one.tasks, one.trials, one.estimate.n) == (3, 10, 3)


def test_tasks_with_too_few_attempts_are_left_out_and_counted():
    (four,) = pass_at_k(_trials({"a": "suuu", "b": "s"}), (4,))

    assert (four.estimate.value, four.tasks, four.tasks_left_out) == (1.0, 1, 1)
    assert four.estimate.lower is None


def test_unscored_trials_count_as_failures_only_when_asked():
    trials = _trials({"a": "s-", "b": "u-"})

    assert pass_at_k(trials, (1,))[0].estimate.value == 0.5
    assert pass_at_k(trials, (1,), population=ALL_AS_FAILURES)[0].estimate.value == 0.25


def test_large_counts_do_not_overflow():
    assert unbiased_pass_at_k(np.array([5000.0]), np.array([1.0]), 2500)[0] == pytest.approx(0.5)


@given(st.lists(st.text("su", min_size=8, max_size=8), min_size=2, max_size=10))
def test_it_grows_with_k_and_stays_between_zero_and_one(outcomes):
    found = pass_at_k(_trials({str(i): o for i, o in enumerate(outcomes)}), (1, 2, 4, 8), resamples=50)
    values = [present(one.estimate.value) for one in found]

    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(values))
    assert all(0 <= v <= 1 for v in values)
    assert all(one.estimate.contains(present(one.estimate.value)) for one in found)


def test_without_task_names_there_is_no_pass_at_k():
    trials = frame_of(Trial, [Trial(trial="a", task=None, path="", outcome="solved")])

    (one,) = pass_at_k(trials, (1,))

    assert (one.estimate.value, one.estimate.reason) == (None, "no task has 1 scored trials")
    assert attempts_by_task(trials)[0].size == 0
    assert pass_at_k(trials, (0,))[0].estimate.reason == "k must be positive"
