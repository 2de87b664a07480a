"""Holes in the series and blocks that were lost."""

from __future__ import annotations

from rl_pipeline.analysis.lineage import find_lineage
from rl_pipeline.analysis.series import REWARD
from rl_pipeline.schema import PARTIAL, JobEvent, PhaseTiming
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row


def _lineage(steps, *, events=(), timings=(), extra=()):
    rows = [row for block, step in enumerate(steps) for row in block_rows("job_1", block, step, {REWARD: 0.1})]
    return find_lineage(
        experiment_frames(
            jobs=[job_row("job_1")], step_metrics=[*rows, *extra], job_events=events, phase_timings=timings
        )
    )


def _marker(step, line):
    return JobEvent(job="job_1", line=line, byte_offset=0, kind="step_marker", step=step)


def _timer(line):
    return PhaseTiming(job="job_1", line=line, name="step", seconds=9.0, finished=True)


def test_a_hole_inside_a_job_is_a_gap():
    (gap,) = _lineage((1, 2, 5, 6)).gaps

    assert (gap.first_step, gap.last_step, gap.steps) == (3, 4, 2)
    assert gap.explanation == "inside job_1: blocks lost, or never printed"


def test_a_marker_without_a_block_explains_the_hole():
    lineage = _lineage((1, 3), events=[_marker(2, 50)])

    (block,) = lineage.lost_blocks
    assert (block.global_step, block.finished, block.evidence) == (2, True, "a step marker without a block")
    assert lineage.gaps[0].explanation == "trained in job_1, but the block is missing or cut"


def test_a_step_cut_off_with_the_job_is_not_finished():
    (block,) = _lineage((1, 2), events=[_marker(3, 500)]).lost_blocks

    assert (block.global_step, block.finished) == (3, False)


def test_a_timer_that_finished_proves_the_step():
    (block,) = _lineage((1, 2), events=[_marker(3, 500)], timings=[_timer(600)]).lost_blocks

    assert block.finished


def test_a_cut_block_is_lost():
    cut = block_rows("job_1", 2, 3, {REWARD: 0.2}, kind=PARTIAL)

    (block,) = _lineage((1, 2), extra=cut).lost_blocks

    assert (block.global_step, block.evidence) == (3, "a block that was cut off")


def test_a_missing_link_between_two_jobs_is_named():
    rows = [*block_rows("job_1", 0, 1, {REWARD: 0.1}), *block_rows("job_3", 0, 10, {REWARD: 0.1})]
    jobs = [job_row("job_1"), job_row("job_3", resumed_from_step=9)]

    (gap,) = find_lineage(experiment_frames(jobs=jobs, step_metrics=rows)).gaps

    assert (gap.first_step, gap.last_step) == (2, 9)
    assert gap.explanation == "before job_3: the log of a link is not in the inputs"
