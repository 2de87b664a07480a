"""What is not as it should be, right now: runs that failed, jobs that stall, findings that weigh.

Each source says what holds at this moment; `notifications` compares that with what was told. A run
that Dagster will start again by itself is not told: the last attempt is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.tags import PARTITION_NAME_TAG, WILL_RETRY_TAG

from rl_pipeline.defs.memory import Stall
from rl_pipeline.defs.partitions import EXPERIMENT_TAG
from rl_pipeline.defs.run_records import failure_words
from rl_pipeline.notifications import Notice

RUN_FAILED, STALLED, FINDING = "run_failed", "stalled", "finding"
FIRST_LOOK_BACK = timedelta(days=7)
OVERLAP = timedelta(minutes=2)  # runs of two looks overlap, since clocks and commits are not exact
MOST_RUNS = 500
TOLD_SEVERITIES = frozenset({"critical", "high"})


def failing_runs(
    instance: dg.DagsterInstance, before: Mapping[str, Notice], since: datetime | None, *, ui_url: str
) -> tuple[dict[str, Notice], datetime | None]:
    """What fails now, from what failed before and the runs that ended since.

    Returns:
        Notices by subject, and the time up to which runs were looked at.
    """
    failing = dict(before)
    start = since - OVERLAP if since else datetime.now(timezone.utc) - FIRST_LOOK_BACK
    statuses = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    records = instance.get_run_records(
        dg.RunsFilter(statuses=statuses, updated_after=start),
        limit=MOST_RUNS,
        order_by="update_timestamp",
        ascending=True,
    )
    latest = since
    for record in records:
        run, latest = record.dagster_run, record.update_timestamp
        subject = f"run {run.tags.get(PARTITION_NAME_TAG) or run.job_name}"
        if run.status == dg.DagsterRunStatus.SUCCESS:
            failing.pop(subject, None)
        elif run.tags.get(WILL_RETRY_TAG) != "true" and _state(run) != _state_of(failing.get(subject)):
            failing[subject] = _failed(instance, run, subject, ui_url)
    return failing, latest


def _state(run: dg.DagsterRun) -> str:
    """Equal for attempts at the same content: several failures of one content are one state."""
    return f"failed {run.tags.get('dagster/run_key', run.root_run_id or run.run_id)}"


def _state_of(notice: Notice | None) -> str | None:
    return notice.state if notice else None


def _failed(instance: dg.DagsterInstance, run: dg.DagsterRun, subject: str, ui_url: str) -> Notice:
    logs = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    words = failure_words(entry.dagster_event for entry in logs if entry.dagster_event)
    return Notice.of(
        kind=RUN_FAILED,
        subject=subject,
        state=_state(run),
        title=f"{subject} failed",
        text=words,
        severity="high",
        experiment=run.tags.get(EXPERIMENT_TAG),
        link=f"{ui_url.rstrip('/')}/runs/{run.run_id}",
    )


def stalled_jobs(stalls: Sequence[Stall], *, ui_url: str) -> dict[str, Notice]:
    """One notice for each stalled job; it stays the same state however long the silence lasts."""
    return {
        f"job {stall.job_key}": Notice.of(
            kind=STALLED,
            subject=f"job {stall.job_key}",
            state="stalled",
            title=f"job {stall.job_key} does not move",
            text=stall.text,
            severity="critical",
            job=stall.job_key,
            link=f"{ui_url.rstrip('/')}/assets/raw_log?view=partitions&partition={stall.job_key}",
        )
        for stall in stalls
    }


def weighty_findings(experiment_key: str, report: Path, *, ui_url: str) -> dict[str, Notice]:
    """Notices for the findings of a report that weigh enough to be told.

    Raises:
        OSError: the report cannot be read.
        ValueError: it is no report.
    """
    document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    fired = [found for found in document["findings"] if found["status"] == "fired"]
    notices = [_finding(experiment_key, found, ui_url) for found in fired if found["severity"] in TOLD_SEVERITIES]
    return {notice.subject: notice for notice in notices}


def _finding(experiment_key: str, found: Mapping[str, Any], ui_url: str) -> Notice:
    return Notice.of(
        kind=FINDING,
        subject=f"experiment {experiment_key}: {found['id']}",
        state=f"fired {found['severity']}",
        title=f"{experiment_key}: {found['title']} ({found['severity']})",
        text=f"{found['summary']}\nDo: {found['action']}",
        severity=str(found["severity"]),
        experiment=experiment_key,
        link=f"{ui_url.rstrip('/')}/assets/metrics_report?view=partitions&partition={experiment_key}",
    )
