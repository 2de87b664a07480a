"""Notices say what holds now: the last attempt of a run, a stall, a finding that weighs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.memory import Stall
from rl_pipeline.defs.notices import failing_runs, stalled_jobs, weighty_findings
from rl_pipeline_tests.helpers.recorded import record_run

UI = "http://ui.example:3000/"
FAILURE, SUCCESS = dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def tags(key: str = "demo_7:10:1:final:p1", **more: str) -> dict[str, str]:
    return {"dagster/partition": "demo_7", "dagster/run_key": key, "rl_pipeline/experiment": "demo", **more}


def failing(instance: dg.DagsterInstance) -> dict[str, str]:
    notices, _ = failing_runs(instance, {}, None, ui_url=UI)
    return {subject: notice.state for subject, notice in notices.items()}


def test_a_run_that_failed_is_told_with_a_link(instance: dg.DagsterInstance):
    run_id = record_run(instance, "read_job_log", FAILURE, tags())

    notices, since = failing_runs(instance, {}, None, ui_url=UI)

    notice = notices["run demo_7"]
    assert (notice.title, notice.experiment, notice.severity) == ("run demo_7 failed", "demo", "high")
    assert notice.link == f"http://ui.example:3000/runs/{run_id}"
    assert since is not None


def test_a_run_that_dagster_will_start_again_is_not_told(instance: dg.DagsterInstance):
    record_run(instance, "read_job_log", FAILURE, tags(**{"dagster/will_retry": "true"}))

    assert failing(instance) == {}


def test_a_later_success_ends_it(instance: dg.DagsterInstance):
    record_run(instance, "read_job_log", FAILURE, tags())
    before, since = failing_runs(instance, {}, None, ui_url=UI)
    record_run(instance, "read_job_log", SUCCESS, tags())

    after, _ = failing_runs(instance, before, since, ui_url=UI)

    assert list(before) == ["run demo_7"]
    assert after == {}


def test_several_failures_of_one_content_are_one_state_and_another_content_is_another(instance: dg.DagsterInstance):
    states = []
    for key in ("demo_7:10:1:final:p1", "demo_7:10:1:final:p1", "demo_7:99:2:final:p1"):
        record_run(instance, "read_job_log", FAILURE, tags(key))
        states.append(failing(instance)["run demo_7"])

    assert states[0] == states[1] != states[2]


def test_what_failed_before_stays_until_it_succeeds(instance: dg.DagsterInstance):
    record_run(instance, "read_job_log", FAILURE, tags())
    before, _ = failing_runs(instance, {}, None, ui_url=UI)

    later, _ = failing_runs(instance, before, datetime.now(timezone.utc) + timedelta(days=1), ui_url=UI)

    assert later == before


def test_a_stall_keeps_its_state_while_the_silence_grows():
    first = stalled_jobs([Stall(job_key="demo_7", text="300 s of silence")], ui_url=UI)["job demo_7"]
    later = stalled_jobs([Stall(job_key="demo_7", text="900 s of silence")], ui_url=UI)["job demo_7"]

    assert first.state == later.state
    assert (later.severity, later.text) == ("critical", "900 s of silence")


def test_findings_that_weigh_are_told_and_others_are_not(tmp_path: Path):
    def finding(number: int, status: str, severity: str) -> dict[str, str]:
        return {
            "id": f"R{number}", "status": status, "severity": severity, "title": "Reward collapse",
            "summary": "9 of 100 trials", "action": "read five rollouts",
        }  # fmt: skip

    findings = [finding(27, "fired", "critical"), finding(26, "clear", "high"), finding(25, "fired", "low")]
    (tmp_path / "report.json").write_text(json.dumps({"findings": findings}))

    notices = weighty_findings("demo", tmp_path / "report.json", ui_url=UI)

    [notice] = notices.values()
    assert notice.subject == "experiment demo: R27"
    assert notice.title == "demo: Reward collapse (critical)"
    assert notice.text == "9 of 100 trials\nDo: read five rollouts"
