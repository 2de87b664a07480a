"""Differences between the jobs of the published run."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.job_comparison import CONFOUNDED, compare_jobs, quantities
from rl_pipeline.analysis.series import all_rows
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames

A, B, C = "job_567548", "job_567550", "job_567551"


@pytest.fixture(scope="module")
def compared():
    return {one.quantity: one for one in compare_jobs(all_rows(reference_frames()))}


# source: analysis of the published run; p values of a permutation test vary with its random numbers
@pytest.mark.parametrize(
    ("quantity", "pair", "difference", "holm_p", "tolerance"),
    [
        ("reward", (A, B), 0.0572, 0.012, 0.004),
        ("reward", (B, C), -0.0455, 0.0014, 0.0015),
        ("reward", (A, C), 0.0116, 0.65, 0.03),
        ("reward, without warm-up", (A, B), 0.0441, 0.072, 0.012),
        ("reward, without warm-up", (B, C), -0.0373, 0.009, 0.004),
        ("reward, without warm-up", (A, C), 0.0067, 0.78, 0.03),
        ("pass@8", (A, B), 0.0518, 0.084, 0.012),
        ("pass@8", (B, C), -0.0395, 0.063, 0.012),
        ("pass@8", (A, C), 0.0122, 0.69, 0.03),
        ("step time", (A, B), -162.7, 0.87, 0.06),
        ("step time", (A, C), -76.1, 0.87, 0.06),
        ("wait", (A, B), -135.2, 0.94, 0.06),
        ("step time without the wait", (A, B), -27.5, 0.049, 0.006),
        ("step time without the wait", (B, C), -21.6, 0.004, 0.002),
        ("step time without the wait", (A, C), -49.1, 0.004, 0.003),
    ],
)
def test_the_differences_of_the_published_run_come_out(compared, quantity, pair, difference, holm_p, tolerance):
    (found,) = [d for d in compared[quantity].differences if (d.a, d.b) == pair]

    assert found.mean_difference.value == pytest.approx(difference, abs=6e-5 if abs(difference) < 1 else 0.06)
    assert found.holm_p == pytest.approx(holm_p, abs=tolerance)


def test_the_reward_of_the_last_job_is_higher_than_that_of_the_second(compared):
    (found,) = [d for d in compared["reward"].differences if (d.a, d.b) == (B, C)]

    # source: analysis of the published run: C−B [.0197, .0722], Cliff's delta +.42
    assert (found.mean_difference.lower, found.mean_difference.upper) == pytest.approx((-0.0722, -0.0197), abs=0.001)
    assert found.cliffs_delta == pytest.approx(-0.42, abs=5e-3)


def test_every_table_says_that_jobs_are_confounded_with_training(compared):
    assert {one.caveat for one in compared.values()} == {CONFOUNDED}
    assert compared["reward"].population == "all steps in the job's log"
    assert compared["reward, without warm-up"].population == "steps that count, without warm-up"


def test_means_of_the_jobs_carry_their_n(compared):
    means = compared["reward"].means

    assert {job: mean.n for job, mean in means.items()} == {A: 9, B: 42, C: 30}
    assert present(means[A].value) == pytest.approx(0.4008, abs=5e-5)  # source: published report


def test_one_job_has_means_and_no_differences():
    rows = all_rows(
        experiment_frames(
            jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 0, 1, {"reward/avg_raw_reward": 0.4})
        )
    )

    (reward, steady) = compare_jobs(rows)

    assert reward.differences == steady.differences == ()
    assert reward.means["job_1"].value == 0.4


def test_what_is_not_logged_is_not_compared():
    assert quantities(all_rows(experiment_frames())) == ()
