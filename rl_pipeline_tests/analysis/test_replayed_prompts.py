"""Repeated prompts after a resume."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.replayed_prompts import check_replays, pass_metric
from rl_pipeline.analysis.series import REWARD, all_rows
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def _check(pass_at_8, groups=64, **metrics):
    values = {"reward/avg_pass_at_8": pass_at_8, REWARD: 0.25, **metrics}
    values |= {} if groups is None else {"async/effective_batch_groups": groups}
    return check_replays(
        all_rows(experiment_frames(jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 0, 1, values)))
    )


def test_both_resumes_of_the_published_run_replay_prompts():
    check = check_replays(all_rows(reference_frames()))

    # source: analysis of the published run: 35/63 (or 30/54, 25/45) and 33/53, the other 79 rows fit n/64
    assert (check.metric, check.checked, check.fitting, check.unexplained) == ("reward/avg_pass_at_8", 81, 79, ())
    first, second = check.replayed
    assert (first.job, first.global_step, first.fits[:3]) == ("job_567550", 9, ((35, 63), (30, 54), (25, 45)))
    assert (second.job, second.global_step, second.fits) == ("job_567551", 51, ((33, 53),))
    assert (first.repeats_at_least, second.repeats_at_least) == (1, 11)
    assert first.first_after_start
    assert second.first_after_start


def test_every_reward_of_the_published_run_counts_whole_samples():
    assert check_replays(all_rows(reference_frames())).whole_rewards == 81


@given(st.integers(2, 200), st.data())
def test_a_batch_of_distinct_prompts_always_fits(groups, data):
    solved = data.draw(st.integers(0, groups))

    check = _check(round(solved / groups, 4), groups)

    assert (check.fitting, check.replayed, check.unexplained) == (1, (), ())


def test_full_digits_leave_only_the_true_denominator():
    (replay,) = _check(33 / 53).replayed

    assert replay.fits == ((33, 53),)


def test_a_value_that_no_denominator_explains_is_told():
    check = _check(0.123456789)

    assert (check.replayed, check.unexplained) == ((), (1,))


def test_groups_follow_from_samples_where_they_are_not_logged():
    check = _check(0.5, None, **{"async/effective_batch_samples": 512})

    assert (check.checked, check.fitting) == (1, 1)


def test_without_groups_or_pass_at_k_nothing_is_checked():
    assert _check(0.5, None).reason == "the number of groups is not logged"
    assert check_replays(all_rows(experiment_frames())).reason == "no pass@k is logged"


@pytest.mark.parametrize("k", [1, 4, 16])
def test_the_k_stands_in_the_name(k):
    rows = all_rows(
        experiment_frames(
            jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 0, 1, {f"reward/avg_pass_at_{k}": 0.5})
        )
    )

    assert pass_metric(rows) == (f"reward/avg_pass_at_{k}", k)
