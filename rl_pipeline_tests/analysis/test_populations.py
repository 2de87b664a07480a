"""Whose reward it is."""

from __future__ import annotations

import numpy as np
import pytest

from rl_pipeline.analysis.populations import (
    find_coverage,
    find_populations,
    masked_share,
    share_variation_p,
    training_batches,
)
from rl_pipeline.analysis.series import REWARD, all_rows
from rl_pipeline.schema import RolloutBatch, Trial
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


@pytest.fixture(scope="module")
def published():
    return find_populations(reference_frames(), all_rows(reference_frames()))


def _batch(**columns):
    values = {"job": "job_1", "line": 1, "successful": 8, "total": 8, "failed_groups": 0, "exceptions": {}}
    return RolloutBatch(**{**values, **columns})


def _trial(name, reward, **columns):
    outcome = "unscored" if reward is None else "solved" if reward > 0 else "unsolved"
    return Trial(trial=name, task=None, path=name, reward=reward, outcome=outcome, **columns)


def _frames(*, batches=(), trials=(), rewards=(0.4, 0.5), samples=16):
    cells = []
    for block, reward in enumerate(rewards):
        cells += block_rows("job_1", block, block + 1, {REWARD: reward, "async/effective_batch_samples": samples})
    return experiment_frames(jobs=[job_row("job_1")], step_metrics=cells, rollout_batches=batches, trials=trials)


def test_the_two_rewards_of_the_published_run_are_both_right(published):
    # source: published report and its analysis: .367 trained, .437 scored, .363–.532 over all trials
    assert published.trained.value == pytest.approx(0.36687, abs=5e-6)
    assert published.canonical.value == pytest.approx(0.3679, abs=5e-5)
    assert published.scored.value == pytest.approx(16_178 / 36_998)
    assert published.scored_from_log == pytest.approx(0.4381, abs=5e-5)
    assert (published.solved_of_all.value, published.upper_bound) == pytest.approx((0.363, 0.532), abs=5e-4)
    assert published.unscored.value == pytest.approx(7528 / 44_526)
    assert published.partial_credit is False


def test_every_rate_names_its_population(published):
    assert published.trained.population == "all trained samples, unscored as 0 (steps in the logs)"
    assert (published.scored.population, published.scored.n) == ("scored trials", 36_998)
    assert (published.solved_of_all.population, published.solved_of_all.n) == (
        "all trials, unscored as not solved",
        44_526,
    )


def test_the_masked_share_of_the_published_run_varies_by_step(published):
    masked = published.masked

    # source: published report and its analysis: 6,421 of 39,472; 25–134 per step; 5–26 %
    assert (masked.masked, masked.instances, masked.step_min, masked.step_max) == (6421, 39_472, 25, 134)
    assert masked.share == pytest.approx(0.1627, abs=5e-5)
    assert (masked.step_share_min, masked.step_share_max) == pytest.approx((0.05, 0.26), abs=5e-3)
    assert masked.chi_square_p is not None
    assert masked.chi_square_p < 1e-50


def test_the_coverage_of_the_published_run_is_counted(published):
    coverage = published.coverage

    # source: published report and its analysis
    assert (coverage.batches, coverage.logged, coverage.completed, coverage.failed) == (4934, 39_472, 32_702, 6770)
    assert (coverage.exceptions, coverage.failed_groups) == (7189, 1609)
    assert (coverage.trained, coverage.trials) == (41_472, 44_526)
    assert (coverage.logged_of_trained, coverage.logged_of_trials) == pytest.approx((0.952, 0.886), abs=5e-4)
    assert (coverage.unbooked, coverage.all_lines_of_trials) == (0, coverage.logged_of_trials)
    assert (coverage.beyond_trained, coverage.beyond_canonical) == (3054, 3566)
    assert (coverage.beyond_trained_share, coverage.beyond_canonical_share) == pytest.approx((0.069, 0.080), abs=5e-4)


def test_a_folded_line_counts_once_and_its_hidden_ones_apart():
    frames = _frames(batches=[_batch(repeat_count=4, masked=0), _batch(masked=0)])

    coverage = find_coverage(frames, all_rows(frames))

    assert (coverage.logged, coverage.hidden) == (16, 24)


def test_lines_that_belong_to_no_step_are_counted_apart():
    trials = [_trial(str(i), 1.0) for i in range(32)]
    frames = _frames(
        batches=[_batch(since_step_marker=2, masked=1), _batch(since_step_marker=9, masked=8)], trials=trials
    )

    coverage, masked = find_coverage(frames, all_rows(frames)), masked_share(frames.rollout_batches, all_rows(frames))

    assert (coverage.logged, coverage.unbooked, coverage.logged_of_trials, coverage.all_lines_of_trials) == (
        8,
        8,
        0.25,
        0.5,
    )
    assert (masked.masked, masked.instances, masked.steps) == (1, 8, 1)


def test_where_no_line_belongs_to_a_step_all_lines_give_the_share():
    frames = _frames(batches=[_batch(since_step_marker=9, masked=2)])

    masked = masked_share(frames.rollout_batches, all_rows(frames))

    assert (masked.share, masked.steps, masked.step_min, masked.chi_square_p) == (0.25, 0, None, None)


def test_batches_of_evaluations_are_left_out():
    frames = _frames(
        batches=[_batch(mode="eval (main)", masked=8), _batch(mode="training", masked=2), _batch(masked=1)]
    )

    masked = masked_share(frames.rollout_batches, all_rows(frames))

    assert (masked.masked, masked.instances) == (3, 16)
    assert len(training_batches(frames.rollout_batches)) == 2


def test_lines_that_do_not_print_masked_trials_leave_the_share_unknown():
    frames = _frames(batches=[_batch()])

    masked = masked_share(frames.rollout_batches, all_rows(frames))

    assert (masked.share, masked.reason) == (None, "no batch line prints masked trials")


def test_evaluation_trials_are_not_of_training():
    found = find_populations(
        *_with_rows(_frames(trials=[_trial("a", 1.0), _trial("b", 0.0), _trial("c", 1.0, is_eval=True)]))
    )

    assert (found.scored.value, found.scored.n) == (0.5, 2)


def test_partial_credit_is_seen():
    assert find_populations(*_with_rows(_frames(trials=[_trial("a", 0.5)]))).partial_credit is True


def test_without_trials_and_batches_only_the_log_speaks():
    found = find_populations(*_with_rows(_frames()))

    assert found.trained.value == pytest.approx(0.45)
    assert (found.scored.value, found.solved_of_all.value, found.upper_bound, found.partial_credit) == (None,) * 4
    assert (found.masked.reason, found.scored_from_log) == ("no batch lines", None)
    assert (found.coverage.trials, found.coverage.beyond_trained) == (0, None)


def test_equal_shares_do_not_vary_and_unequal_ones_do():
    even, uneven = np.array([10.0, 11, 9, 10]), np.array([1.0, 20, 2, 17])
    totals = np.full(4, 100.0)

    assert (share_variation_p(even, totals) or 0) > 0.9
    assert (share_variation_p(uneven, totals) or 1) < 1e-5
    assert share_variation_p(np.array([3.0]), np.array([5.0])) is None
    assert share_variation_p(np.zeros(4), totals) is None


def _with_rows(frames):
    return frames, all_rows(frames)
