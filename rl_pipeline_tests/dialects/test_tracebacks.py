"""Python tracebacks."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import tracebacks
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline.reader.message import Source
from rl_pipeline_tests.dialects.feeding import feed, message

HEAD = "Traceback (most recent call last):\n"
OWN = '  File "/home/x/app/skyrl_train/trainer.py", line 12, in train\n    self.step()\n'
FOREIGN = (
    '  File "/venv/lib/python3.12/site-packages/ray/worker.py", line 99, in get\n    raise value\n    ^^^^^^^^^^^\n'
)


def test_the_last_own_frame_and_the_exception_are_the_signature():
    (row,) = feed(tracebacks, f"{HEAD}{OWN}{FOREIGN}ray.exceptions.RayTaskError(ValueError): no batch")

    assert row.name == "ray.exceptions.RayTaskError(ValueError)"
    assert row.detail == "app/skyrl_train/trainer.py:12 in train — no batch"


def test_without_own_code_the_last_frame_counts():
    (row,) = feed(tracebacks, f"{HEAD}{FOREIGN}KeyError: 'a'")

    assert row.detail == "site-packages/ray/worker.py:99 in get — 'a'"


@pytest.mark.parametrize(
    ("source", "kind"),
    [(Source(), "driver_traceback"), (Source(label="0"), "driver_traceback"), (Source(actor="W", pid=1), "traceback")],
)
def test_the_drivers_traceback_is_told_from_a_workers(source, kind):
    (row,) = feed(tracebacks, message(f"{HEAD}{OWN}KeyboardInterrupt", source=source, logger=None))

    assert (row.kind, row.name) == (kind, "KeyboardInterrupt")


@pytest.mark.parametrize("payload", [HEAD.strip(), HEAD + OWN, HEAD + OWN + "  File"])
def test_a_traceback_without_its_exception_is_broken(payload):
    assert isinstance(tracebacks.parser(JobContext("job_1")).parse(message(payload)), Broken)
