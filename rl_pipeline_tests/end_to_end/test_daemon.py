"""The real daemon, killed in the middle of what it does: each content is made once all the same.

`SIGKILL` goes to the daemon, its code server and the running step at once, as a power cut would. The test waits
for what the instance records, never for time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.runs import INDEX, READ_LOG, REPORT
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab
from rl_pipeline_tests.helpers.ledger_of_runs import (
    assert_nothing_twice_and_nothing_half,
    counts,
    made_of_what_is_on_disk,
    most_at_once,
    runs,
    several_looks_later,
    tick_list,
    unfinished,
)
from rl_pipeline_tests.helpers.services import daemon, until

pytestmark = [pytest.mark.dagster, pytest.mark.daemon]
STARTED, SUCCESS = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS
PATIENCE = 600.0
JOBS, PER_EXPERIMENT = 6, 2  # the limit of dagster.yaml for runs of one experiment


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    for number in range(JOBS):
        lab.write_job("demo", 101 + number, end=TIME_LIMIT, hours=2.0 * number)
    lab.write_trials("demo", 4)
    return lab


@pytest.fixture
def instance(lab: Lab, record_property: Callable[[str, object], None]) -> Iterator[dg.DagsterInstance]:
    """The lab's instance; how many runs and looks there were goes into the test report (`--junitxml`)."""
    with open_instance(lab.settings) as instance:
        yield instance
        for name, count in counts(instance).items():
            record_property(name, count)


def killed_when(what: str, happens: Callable[[], object], lab: Lab) -> None:
    """One life of the daemon, which ends by SIGKILL in the middle of something."""
    environment = {**lab.environment(), "HOME": str(lab.folder)}
    with daemon(environment, lab.folder) as running:
        until(what, happens, patience=PATIENCE)
        running.kill()


def in_the_middle_of_a_look(instance: dg.DagsterInstance) -> bool:
    return bool(tick_list(instance, "finished_jobs", "STARTED")) and len(instance.get_runs()) >= 1


def test_a_daemon_killed_in_a_look_in_a_job_and_in_a_report_leaves_everything_once(
    lab: Lab, instance: dg.DagsterInstance
):
    killed_when("a look that has asked for some runs", lambda: in_the_middle_of_a_look(instance), lab)
    asked = len(instance.get_runs())
    killed_when("a job run that has started", lambda: runs(instance, READ_LOG, STARTED), lab)
    cut_jobs = runs(instance, READ_LOG, STARTED)
    killed_when("a report run that has started", lambda: runs(instance, REPORT, STARTED), lab)
    cut_reports = runs(instance, REPORT, STARTED)

    with daemon({**lab.environment(), "HOME": str(lab.folder)}, lab.folder):
        until("everything is made", lambda: made_of_what_is_on_disk(instance, lab), patience=PATIENCE)
        until("more looks", several_looks_later(instance, "finished_jobs", "finished_experiments"))

    assert (asked >= 1, len(cut_jobs) >= 1, len(cut_reports)) == (True, True, 1)
    assert_nothing_twice_and_nothing_half(instance, lab, lab.discovered().experiments)
    assert not unfinished(instance)
    assert most_at_once(instance) <= PER_EXPERIMENT
    succeeded = sorted(run.tags["dagster/partition"] for run in runs(instance, READ_LOG, SUCCESS))
    assert succeeded == [f"demo_{101 + number}" for number in range(JOBS)]
    assert {run.status.value for run in runs(instance, REPORT)} == {"FAILURE", "SUCCESS"}
    assert len(runs(instance, REPORT, SUCCESS)) == len(runs(instance, INDEX, SUCCESS)) == 1
