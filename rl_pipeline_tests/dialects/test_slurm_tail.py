"""SLURM's last words."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import slurm_tail
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline.reader.message import Source
from rl_pipeline.schema import END_STATES
from rl_pipeline_tests.dialects.feeding import feed, message

BARE = Source()
TAIL = "slurmstepd: error: *** {} ON node0412 {} ***"
AT = "CANCELLED AT 2026-01-10T03:00:12"


def bare(payload: str, **more):
    return message(payload, source=BARE, logger=None, **more)


@pytest.mark.parametrize(
    ("what", "state"),
    [
        (f"{AT} DUE TO TIME LIMIT", "time_limit"),
        (f"{AT} DUE TO PREEMPTION", "preempted"),
        (f"{AT} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", "node_failure"),
        (f"{AT} DUE TO JOB REQUEUE", "requeued"),
        (AT, "cancelled"),
        ("CANCELLED", "cancelled"),
        (f"{AT} DUE to SIGNAL Terminated", "cancelled"),
        (f"{AT} DUE TO TASK FAILURE", "failed"),
        ("FAILED (non-zero exit code or other failure mode)", "failed"),
    ],
)
@pytest.mark.parametrize(("scope", "kind"), [("JOB 918273", "slurm_job"), ("STEP 918273.0", "slurm_step")])
def test_a_tail_tells_the_end_state_and_its_scope(scope, kind, what, state):
    (row,) = feed(slurm_tail, bare(TAIL.format(scope, what)))

    assert (row.kind, row.name) == (kind, state)
    assert row.name in END_STATES


def test_a_tail_glued_to_a_progress_bar_is_found():
    (row,) = feed(slurm_tail, bare(f"Training:  22%|██▏  | 13/60 [2:10<7:52, 6.1s/it]{TAIL.format('JOB 1', AT)}"))

    assert (row.kind, row.detail) == ("slurm_job", TAIL.format("JOB 1", AT))


@pytest.mark.parametrize(
    ("payload", "kind", "name", "value"),
    [
        (
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.batch cgroup.",
            "slurm_task",
            "out_of_memory",
            1.0,
        ),
        ("srun: error: node[1-3]: tasks 0,4-7: Out Of Memory", "slurm_task", "out_of_memory", None),
        ("srun: error: node1: task 0: Exited with exit code 1", "slurm_task", "failed", 1.0),
        ("srun: error: node1: task 0: Exited with exit code 137", "slurm_consequence", None, 137.0),
        ("srun: error: node1: tasks 0-3: Killed", "slurm_consequence", None, None),
        ("srun: Job step aborted: Waiting up to 32 seconds for job step to finish.", "slurm_consequence", None, None),
        ("srun: error: Node failure on node0413", "slurm_task", "node_failure", None),
        ("slurmstepd: error: StepId=1.0 hit memory limit at least once during execution.", "slurm_notice", None, None),
        ("srun: job 918273 queued and waiting for resources", "slurm_notice", None, None),
    ],
)
def test_other_words_are_told_from_ends(payload, kind, name, value):
    (row,) = feed(slurm_tail, bare(payload))

    assert (row.kind, row.name, row.value) == (kind, name, value)


def test_a_transcript_that_quotes_a_tail_ends_nothing():
    quoted = f"the log says {TAIL.format('JOB 1', AT)}"

    assert slurm_tail.parser(JobContext("job_1")).parse(message(quoted, logger=None)) is None
    assert slurm_tail.parser(JobContext("job_1")).parse(message(quoted, logger=None, after_bar=True)) is None
    assert slurm_tail.parser(JobContext("job_1")).parse(message(TAIL.format("JOB 1", AT), logger=None)) is None


def test_a_tail_behind_the_bar_of_a_worker_is_the_schedulers():
    (row,) = feed(slurm_tail, message(TAIL.format("JOB 1", AT), logger=None, after_bar=True))

    assert (row.kind, row.name) == ("slurm_job", "cancelled")


def test_a_cut_tail_is_broken_but_one_that_lacks_only_its_line_end_is_not():
    parser = slurm_tail.parser(JobContext("job_1"))

    assert isinstance(parser.parse(bare(TAIL.format("JOB 1", AT)[:60], complete=False)), Broken)
    assert not isinstance(parser.parse(bare(TAIL.format("JOB 1", AT), complete=False)), Broken)
