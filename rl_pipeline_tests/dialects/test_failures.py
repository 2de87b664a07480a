"""Lines about a crash."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import failures
from rl_pipeline.dialects.contract import JobContext
from rl_pipeline.reader.message import Source
from rl_pipeline_tests.dialects.feeding import TRAINER, feed, message

BARE = Source()


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ("Killed", "Killed"),
        ("Segmentation fault (core dumped)", "Segmentation fault"),
        ("/var/spool/slurm/job1/script: line 42:  4711 Terminated              srun python train.py", "Terminated"),
    ],
)
def test_a_shell_tells_of_a_dead_process(payload, name):
    (row,) = feed(failures, message(payload, source=BARE, logger=None))

    assert (row.kind, row.name) == ("killed", name)


@pytest.mark.parametrize(
    ("payload", "source", "logger"),
    [
        ("Killed", TRAINER, None),
        ("Killed", BARE, "loguru"),
        ("Killed 3 stale workers", BARE, None),
        ("Terminated the session", BARE, None),
    ],
)
def test_the_same_words_of_a_program_are_not_the_shells(payload, source, logger):
    assert failures.parser(JobContext("job_1")).parse(message(payload, source=source, logger=logger)) is None


def test_the_trainers_own_words_name_step_and_exception():
    (row,) = feed(failures, "Train loop failed at global_step 31: RuntimeError: queue closed")

    assert (row.kind, row.step, row.name) == ("failure", 31, "RuntimeError")


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "cuda"),
        ("RuntimeError: CUDA error: out of memory", "cuda"),
        ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", "host"),
        ("ray.exceptions.ObjectStoreFullError: Failed to put object", "object_store"),
    ],
)
def test_three_memories_can_be_full(payload, name):
    (row,) = feed(failures, message(payload, logger=None))

    assert (row.kind, row.name) == ("out_of_memory", name)
