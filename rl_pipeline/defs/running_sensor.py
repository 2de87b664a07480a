"""The sensor `running_jobs`: tables of jobs that still run, and stalls.

The log is read again as far as it goes; its data version says `open`, and the check `job_has_finished`
warns, so nobody takes the numbers for final. What the sensor sees stalled it leaves in the memory,
from where it is told. (No `from __future__ import annotations` here: Dagster reads the annotations.)
"""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

import dagster as dg

from rl_pipeline.defs.job_watch import run_key
from rl_pipeline.defs.log_files import AS_OF_TAG
from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.defs.memory import Stall, Standing
from rl_pipeline.defs.partitions import EXPERIMENT_TAG
from rl_pipeline.defs.resources import Inputs, Reports, Sensing, Store
from rl_pipeline.defs.run_records import sort_wanted
from rl_pipeline.defs.runs import READ_LOG, read_job_log
from rl_pipeline.defs.versions import complete_jobs
from rl_pipeline.discovery import Discovery, JobLog, group
from rl_pipeline.settings import Settings
from rl_pipeline.wording import plural

LOOKS_PER_PERIOD = 6
LONGEST_INTERVAL_SECONDS = 300


def running_jobs_sensor(settings: Settings) -> dg.SensorDefinition:
    """Asks for the tables of running jobs now and then, and finds those in which nothing moves."""
    period = 60 * settings.running_minutes
    is_on = period > 0

    @dg.sensor(
        name="running_jobs",
        job=read_job_log,
        minimum_interval_seconds=looking_interval(settings),
        default_status=dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED,
        description="Makes the tables of jobs that still run from the part of their log that is there, as of that "
        "moment, and notices jobs in which nothing moves.",
    )
    def running_jobs(
        context: dg.SensorEvaluationContext, store: Store, inputs: Inputs, sensing: Sensing, reports: Reports
    ) -> dg.SensorResult:
        now, memory = time.time(), sensing.memory()
        standing = memory.standing()
        if standing.at == 0:
            return dg.SensorResult(skip_reason="nobody has looked at the logs yet", cursor=context.cursor)
        logs = running_logs(standing.running, group(memory.inventory(), patterns=inputs.patterns()))
        asked_before = times_of(context.cursor)
        due = due_logs(logs, complete_jobs(context.instance, [log.job_key for log in logs]), asked_before, now, period)
        wanted = {log.job_key: run_key(log, finished=False) for log in due}
        runs = sort_wanted(context.instance, READ_LOG, wanted, most=sensing.runs_per_tick)
        silences = {log.job_key: max(now - log.mtime_ns / 1e9, 0.0) for log in logs}
        limit = 60 * settings.stall_minutes
        found = stalls(store, reports, silences, limit)
        memory.remember_stalls([*found, *not_looked_at(memory.stalls() or [], standing)])
        kept = {log.job_key: asked_before[log.job_key] for log in logs if log.job_key in asked_before}
        return dg.SensorResult(
            run_requests=[_request(log, runs.ask[log.job_key], now) for log in due if log.job_key in runs.ask],
            skip_reason=None if runs.ask else f"{plural(len(logs), 'job')} running, {len(runs.wait)} on their way",
            cursor=json.dumps({**kept, **dict.fromkeys(runs.ask, now)}, separators=(",", ":")),
        )

    return running_jobs


def stalls(store: Store, reports: Reports, silences: Mapping[str, float], limit_seconds: float) -> list[Stall]:
    """The stalled ones among running jobs; the rules are imported when there is a job to judge."""
    if not silences:
        return []
    from rl_pipeline.defs.stalls import find_stalls  # noqa: PLC0415

    return find_stalls(store.tables(), silences, reports.thresholds(), limit_seconds=limit_seconds)


def not_looked_at(before: Sequence[Stall], standing: Standing) -> list[Stall]:
    """Stalls of jobs that the last look did not come to: they are not over because nobody looked."""
    left = {job_key for jobs in standing.waiting.values() for job_key in jobs} if standing.turn else set()
    return [stall for stall in before if stall.job_key in left]


def looking_interval(settings: Settings) -> int:
    """Seconds between looks: several per period, at most five minutes, never below that of other sensors."""
    part = int(60 * settings.running_minutes / LOOKS_PER_PERIOD)
    return max(settings.tick_seconds, min(part, LONGEST_INTERVAL_SECONDS))


def running_logs(running: Mapping[str, int], found: Discovery) -> list[JobLog]:
    """The logs on disk that the last look saw running."""
    return [job for experiment in found.experiments for job in experiment.jobs if job.job_key in running]


def due_logs(
    logs: Sequence[JobLog],
    complete: Mapping[str, LogVersion],
    asked_before: Mapping[str, float],
    now: float,
    period_seconds: float,
) -> list[JobLog]:
    """The logs that have more than was read, and were not asked for within the period (or in the future)."""
    due = []
    for log in logs:
        version, asked_at = complete.get(log.job_key), asked_before.get(log.job_key)
        is_read = version is not None and version.same_file(log.size_bytes, log.mtime_ns)
        is_recent = asked_at is not None and 0 <= now - asked_at < period_seconds
        if not is_read and not is_recent:
            due.append(log)
    return due


def times_of(cursor: str | None) -> dict[str, float]:
    """When each running job was last asked for; a lost cursor asks once more."""
    try:
        return {str(key): float(at) for key, at in json.loads(cursor or "{}").items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _request(log: JobLog, key: str, now: float) -> dg.RunRequest:
    as_of = datetime.fromtimestamp(now, tz=timezone.utc).isoformat(timespec="seconds")
    return dg.RunRequest(
        run_key=key, partition_key=log.job_key, tags={EXPERIMENT_TAG: log.experiment_key, AS_OF_TAG: as_of}
    )
