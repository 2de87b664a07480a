"""Where step time went: the closed tree of the published run, synchronous runs, odd timers."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.series import REWARD, all_rows
from rl_pipeline.analysis.time_accounting import step_time
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def _tree(*steps):
    """The tree of steps given as {timer: seconds}."""
    cells = []
    for block, timers in enumerate(steps):
        cells += block_rows(
            "job_1", block, block + 1, {f"timing/{name}": s for name, s in timers.items()} | {REWARD: 0.1}
        )
    return step_time(all_rows(experiment_frames(jobs=[job_row("job_1")], step_metrics=cells)))


@pytest.fixture(scope="module")
def published():
    return step_time(all_rows(reference_frames()))


def test_the_parts_of_the_published_steps_add_up_to_the_whole(published):
    shares = {span.name: round(100 * (span.share or 0), 2) for span in published.parts}

    # source: analysis of the published run: 58.18 + 38.98 + 2.30 + 0.54 = 100.00 %
    assert shares == {
        "wait_for_generation_buffer": 58.18,
        "run_training": 38.98,
        "sync_weights": 2.30,
        "convert_to_training_input": 0.54,
    }
    assert sum(span.seconds for span in published.parts) + published.unattributed_seconds == pytest.approx(
        70678.5, abs=0.05
    )
    assert published.unattributed_per_step == pytest.approx(0.0037, abs=5e-5)


def test_training_holds_its_own_parts(published):
    training = present(published.part("run_training"))

    assert {child.name for child in training.children} == {
        "fwd_logprobs_values_reward",
        "compute_advantages_and_returns",
        "train_critic_and_policy",
    }
    assert [child.name for child in present(published.part("train_critic_and_policy")).children] == ["policy_train"]


def test_saves_of_the_published_run_lie_beside_the_step(published):
    save, export = published.beside

    # source: published report, timing breakdown: 927.3 s and 102.1 s, longest save 396.8 s
    assert (save.name, save.rows, save.max_step) == ("save_checkpoints", 40, 4)
    assert (save.seconds, save.max_seconds, save.mean_seconds) == pytest.approx((927.3, 396.8, 23.18), abs=0.05)
    assert present(save.share) == pytest.approx(0.0129, abs=5e-5)
    assert (export.name, export.rows) == ("save_hf_model", 16)
    assert export.seconds == pytest.approx(102.1, abs=0.05)
    assert [child.name for child in save.children] == ["cleanup_old_checkpoints"]
    assert published.accounted_seconds == pytest.approx(71_707.9, abs=0.05)


def test_the_wait_of_the_published_run_is_58_percent_of_its_steps(published):
    wait = present(published.wait)

    # source: analysis of the published run
    assert (wait.share, wait.mean_share, wait.median_share) == pytest.approx((0.5818, 0.536, 0.543), abs=5e-4)
    assert (wait.correlation, wait.rank_correlation, wait.ceiling) == pytest.approx((0.996, 0.978, 2.39), abs=2e-3)
    assert (wait.other_mean, wait.other_spread, wait.other_median) == pytest.approx((365, 36, 370), abs=0.5)
    assert (wait.reward_rank_correlation, wait.reward_p_value) == pytest.approx((0.13, 0.24), abs=5e-3)


def test_generation_of_a_synchronous_run_is_on_the_path_by_design():
    tree = _tree({"step": 100, "generate": 60, "policy_train": 30, "sync_weights": 5})

    assert (tree.synchronous, tree.wait, tree.generate_share) == (True, None, 0.6)
    assert [span.name for span in tree.parts] == ["generate", "policy_train", "sync_weights"]
    assert tree.unattributed_seconds == pytest.approx(5)


def test_a_save_that_the_step_can_hold_lies_inside_it():
    steps = [{"step": 130, "generate": 60, "policy_train": 30, "save_checkpoints": 38}] * 3

    tree = _tree(*steps)

    assert [span.name for span in tree.parts] == ["generate", "save_checkpoints", "policy_train"]
    assert (tree.beside, tree.accounted_seconds) == ((), 390)


def test_a_save_that_the_step_can_not_hold_lies_beside_it():
    tree = _tree(*[{"step": 91, "generate": 60, "policy_train": 30, "save_checkpoints": 38}] * 3)

    assert [span.name for span in tree.beside] == ["save_checkpoints"]
    assert tree.accounted_seconds == 3 * (91 + 38)


def test_timers_that_overlap_leave_a_negative_rest_and_are_not_hidden():
    tree = _tree({"step": 100, "wait_for_generation_buffer": 80, "run_training": 40})

    assert tree.unattributed_seconds == -20


def test_steps_without_their_time_are_counted_apart():
    tree = _tree({"step": 100, "wait_for_generation_buffer": 10}, {"wait_for_generation_buffer": 10}, {"step": 100})

    assert (tree.rows, tree.rows_without, tree.step_seconds) == (2, 1, 200)
    assert present(tree.wait).n == 1


@pytest.mark.parametrize(("steps", "reason"), [([], "no steps"), ([{}], "no step has timing/step")])
def test_without_step_times_nothing_is_measurable(steps, reason):
    tree = _tree(*steps)

    assert (tree.step_seconds, tree.parts, tree.wait, tree.reason) == (None, (), None, reason)


def test_a_wait_of_zero_has_a_ceiling_of_one_and_no_correlation():
    wait = present(_tree(*[{"step": 100 + i, "wait_for_generation_buffer": 0} for i in range(4)]).wait)

    assert (wait.share, wait.ceiling, wait.correlation) == (0.0, 1.0, None)


def test_a_step_that_is_all_wait_has_no_ceiling():
    assert present(_tree({"step": 100, "wait_for_generation_buffer": 100}).wait).ceiling is None
