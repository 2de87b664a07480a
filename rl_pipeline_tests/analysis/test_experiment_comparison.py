"""Two experiments, or the reasons why not."""

from __future__ import annotations

import numpy as np
import pytest

from rl_pipeline.analysis.experiment_comparison import block_bootstrap_mean, compare_experiments, profile
from rl_pipeline.analysis.series import REWARD
from rl_pipeline.schema import RolloutBatch, Trial
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def _profile(name, level, *, steps=40, k=8, masked=2, seed=1, tasks=(), rewards=(1.0, 0.0)):
    generator = np.random.default_rng(seed)
    cells = []
    for i in range(steps):
        values = {REWARD: level + generator.normal(0, 0.03), f"reward/avg_pass_at_{k}": 0.6}
        cells += block_rows("job_1", i, i + 1, values)
    batch = RolloutBatch(job="job_1", line=1, successful=8, total=8, failed_groups=0, masked=masked, exceptions={})
    trials = [
        Trial(
            trial=f"{task}-{i}",
            task=task,
            path="",
            reward=rewards[0] if i < solved else rewards[1],
            outcome="solved" if i < solved else "unsolved",
        )
        for task, solved in tasks
        for i in range(8)
    ]
    return profile(
        experiment_frames(name, jobs=[job_row("job_1")], step_metrics=cells, rollout_batches=[batch], trials=trials)
    )


def test_a_clear_difference_is_found_over_common_settled_steps():
    found = compare_experiments(_profile("x", 0.5), _profile("y", 0.4, seed=2))

    reward = present(found.reward)
    assert found.comparability.comparable
    assert reward.mean_difference.value == pytest.approx(0.1, abs=0.02)
    assert present(reward.mean_difference.lower) > 0.05
    assert present(reward.permutation_p) < 0.001
    assert (found.common_steps, reward.mean_difference.population) == ((3, 40), "settled steps 3–40 that both have")


def test_the_same_run_does_not_differ_from_itself():
    one = profile(reference_frames())

    found = compare_experiments(one, one)

    assert present(found.reward).mean_difference.value == 0.0
    assert present(found.reward).mean_difference.contains(0.0)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"k": 4}, "8 samples per prompt against 4"),
        ({"masked": 4}, "unscored samples count as 0, and their share differs: 25.0 % against 50.0 %"),
        ({"steps": 6}, "4 common settled steps, fewer than 10"),
        ({"tasks": [(f"other{i}", 4) for i in range(30)]}, "no task is common"),
        (
            {"tasks": [(f"t{i}", 4) for i in range(30)], "rewards": (0.5, 0.0)},
            "one gives partial credit, the other 0 or 1",
        ),
    ],
)
def test_what_can_not_be_compared_is_refused_with_the_reason(other, reason):
    one = _profile("x", 0.5, tasks=[(f"t{i}", 4) for i in range(30)])

    found = compare_experiments(one, _profile("y", 0.4, **other))

    assert reason in found.comparability.reasons
    assert (found.comparability.comparable, found.reward, found.solve_rate) == (False, None, None)


def test_common_tasks_are_compared_as_pairs():
    tasks = [(f"t{i}", 2 + i % 4) for i in range(24)]
    better = [(task, solved + 1 + i % 2) for i, (task, solved) in enumerate(tasks)]

    found = compare_experiments(_profile("x", 0.5, tasks=better), _profile("y", 0.4, tasks=tasks))

    rate = present(found.solve_rate)
    assert (found.common_tasks, rate.n) == (24, 24)
    assert rate.value == pytest.approx(1.5 / 8)
    assert present(rate.lower) > 0.1
    assert present(found.solve_rate_p) < 0.001


@pytest.mark.parametrize("better", range(0, 24, 3))
def test_interval_and_p_of_solve_rates_say_the_same(better: int):
    tasks = [(f"t{i}", 3) for i in range(24)]
    moved = [(task, 4 if i < better else 2 if i > 18 else 3) for i, (task, _) in enumerate(tasks)]

    found = compare_experiments(_profile("x", 0.5, tasks=moved), _profile("y", 0.4, tasks=tasks))

    rate = present(found.solve_rate)
    holds_zero = present(rate.lower) <= 0 <= present(rate.upper)
    assert holds_zero == (present(found.solve_rate_p) >= 0.05)


def test_equal_solve_rates_have_no_p():
    tasks = [(f"t{i}", 3) for i in range(24)]

    assert compare_experiments(_profile("x", 0.5, tasks=tasks), _profile("y", 0.4, tasks=tasks)).solve_rate_p is None


def test_what_is_unknown_of_one_is_remarked():
    found = compare_experiments(_profile("x", 0.5), _profile("y", 0.5, tasks=[("t", 4)]))

    assert found.comparability.comparable
    assert "the tasks of one is not known" in found.comparability.remarks


def test_runs_without_steps_are_not_compared():
    empty = profile(experiment_frames("empty"))

    found = compare_experiments(empty, empty)

    assert (found.comparability.comparable, found.common_steps) == (False, None)


def test_blocks_keep_the_noise_of_steps_that_depend_on_each_other():
    generator = np.random.default_rng(3)
    noise = generator.normal(size=400)
    values = np.array([sum(0.7**j * noise[t - j] for j in range(min(t, 20) + 1)) for t in range(400)])

    blocks, singles = block_bootstrap_mean(values, block=20), block_bootstrap_mean(values, block=1)

    assert blocks.std() > 1.6 * singles.std()
