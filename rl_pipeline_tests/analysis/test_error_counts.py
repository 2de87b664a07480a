"""Failed trials by step: rare types together, long runs in bins."""

from __future__ import annotations

from rl_pipeline.analysis.error_counts import MAX_BARS, OTHER_TYPES, error_counts
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.series import all_rows
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def frames_with(steps: int, exceptions: dict[str, int]) -> ExperimentFrames:
    metrics = [row for step in range(1, steps + 1) for row in block_rows("job_1", step, step, {"a/b": 1.0})]
    batches = [
        {
            "job": "job_1",
            "line": step,
            "mode": "training",
            "successful": 6,
            "total": 8,
            "failed_groups": 1,
            "masked": 0,
            "exceptions": exceptions,
            "since_step_marker": step,
            "repeat_count": 1,
        }
        for step in range(1, steps + 1)
    ]
    return experiment_frames(jobs=[job_row("job_1")], step_metrics=metrics, rollout_batches=batches)


def test_a_share_is_of_the_trials_in_the_lines_of_the_step():
    frames = frames_with(1, {"OSError": 2})

    assert [(c.step, c.exception_type, c.count, c.share) for c in error_counts(frames, all_rows(frames))] == [
        (1, "OSError", 2, 0.25)
    ]


def test_the_rarest_types_are_put_together():
    frames = frames_with(1, {f"E{number}": 1 for number in range(9)})
    counts = error_counts(frames, all_rows(frames))

    assert [c.exception_type for c in counts] == [*(f"E{number}" for number in range(7)), OTHER_TYPES]
    assert counts[-1].count == 2


def test_a_long_run_is_put_into_bins_that_lose_no_failure():
    frames = frames_with(MAX_BARS + 1, {"OSError": 2})
    counts = error_counts(frames, all_rows(frames))

    assert len(counts) <= MAX_BARS
    assert sum(c.count for c in counts) == 2 * (MAX_BARS + 1)
    assert sum(c.steps for c in counts) == MAX_BARS + 1
    assert {c.share for c in counts} == {0.25}


def test_all_failures_of_the_published_run_are_there():
    # source: 7,189 exceptions in batches.csv
    frames = reference_frames()
    counts = error_counts(frames, all_rows(frames))

    assert sum(c.count for c in counts) == 7189
    assert {c.step for c in counts if not c.is_canonical} == {9}
