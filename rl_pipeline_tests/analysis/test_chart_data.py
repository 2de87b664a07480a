"""What charts draw: every step with its mark, smoothed over the steps that count; turns in bins."""

from __future__ import annotations

from rl_pipeline.analysis.chart_data import ChartData, chart_data, turn_bins
from rl_pipeline.schema import Trial
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, frame_of, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result

REWARD = "reward/avg_raw_reward"


def two_jobs(*rewards: tuple[str, int, float]) -> ChartData:
    steps: dict[str, int] = {}
    rows = []
    for job, step, reward in rewards:
        rows += block_rows(job, steps.setdefault(job, 0), step, {REWARD: reward})
        steps[job] += 1
    return chart_data(experiment_frames(jobs=[job_row("job_1"), job_row("job_2")], step_metrics=rows))


def test_a_step_thrown_away_is_marked_and_not_smoothed():
    series = two_jobs(("job_1", 1, 0.5), ("job_1", 2, 0.9), ("job_2", 2, 0.2)).reward

    assert [(p.job, p.step, p.is_canonical, p.smoothed) for p in series.points] == [
        ("job_1", 1, True, 0.5),
        ("job_1", 2, False, None),
        ("job_2", 2, True, 0.4),  # 0.5 + (0.2 − 0.5) / 3
    ]
    assert series.starts == (("job_1", 1), ("job_2", 2))


def test_the_smoothed_line_of_the_published_run_is_the_checkpoint_rule():
    # source: exponential mean of the canonical series with weight 1/3 at step 70, .3934 (published choice)
    series = chart_data(reference_frames()).reward

    assert [round(p.smoothed or 0, 4) for p in series.points if p.step == 70] == [0.3934]
    assert (round(series.early_mean or 0, 3), round(series.late_mean or 0, 3), series.window) == (0.352, 0.377, 10)


def test_a_short_run_has_no_first_and_last_steps_to_compare():
    series = two_jobs(("job_1", 1, 0.5), ("job_1", 2, 0.4)).reward

    assert (series.early_mean, series.late_mean, series.window) == (None, None, 0)


def test_results_give_the_chosen_checkpoint_and_the_findings_that_fired():
    data = chart_data(reference_frames(), reference_result())

    assert data.chosen_step == 70
    assert "R26" in data.fired
    assert "R3" not in data.fired


def test_an_experiment_without_anything_has_nothing_to_draw():
    data = chart_data(experiment_frames())

    assert (data.reward.points, data.errors, data.step_parts, data.engine_bins, data.turns) == ((), (), (), (), ())


def trial(outcome: str, turns: int | None, **columns: object) -> dict[str, object]:
    return {"trial": "t", "path": "t", "outcome": outcome, "n_turns": turns, **columns}


def test_turns_are_counted_by_outcome_one_by_one_while_they_are_few():
    bins = turn_bins(
        frame_of(Trial, [trial("solved", 2), trial("solved", 2), trial("unsolved", 3), trial("solved", None)])
    )

    assert [(b.outcome, b.low, b.high, b.trials) for b in bins] == [("solved", 2, 2, 2), ("unsolved", 3, 3, 1)]


def test_many_turns_are_put_into_equal_bins_and_the_last_ends_at_the_longest_trial():
    bins = turn_bins(frame_of(Trial, [trial("solved", 1), trial("unscored", 130)]))

    assert [(b.outcome, b.low, b.high) for b in bins] == [("solved", 0, 2), ("unscored", 129, 130)]


def test_trials_of_evaluations_are_not_drawn():
    assert turn_bins(frame_of(Trial, [trial("solved", 1, is_eval=True)])) == ()
