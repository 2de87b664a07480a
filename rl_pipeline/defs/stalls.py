"""Running jobs in which nothing moves: rule R24 on the tables made so far, and how long the log has been silent.

The rule compares the age of the last step with the job's own steps. Its clock is the log's: the time
of looking is the last time in the log plus the seconds since the file was last written, so that no time
zone has to be known. A job that has too few steps for the rule is told when its log stands still for
the configured time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pandas as pd

from rl_pipeline import pipeline
from rl_pipeline.analysis.findings.context import build_context
from rl_pipeline.analysis.findings.finding import FIRED
from rl_pipeline.analysis.findings.resources import stall
from rl_pipeline.analysis.thresholds import Thresholds
from rl_pipeline.defs.memory import Stall
from rl_pipeline.errors import DataError
from rl_pipeline.schema import Job, SkippedTrial, Trial
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.store import TableStore


def find_stalls(
    store: TableStore, silences: Mapping[str, float], thresholds: Thresholds, *, limit_seconds: float
) -> list[Stall]:
    """The stalled ones among running jobs.

    Args:
        store: has the tables made so far; a job without any is judged by its silence alone.
        silences: seconds since the log was last written, by job key.
        thresholds: of the rule.
        limit_seconds: silence that is told whatever the rule says; 0 switches it off.
    """
    found = []
    for key, silence in silences.items():
        text = _by_rule(store, key, silence, thresholds)
        if text is None and 0 < limit_seconds <= silence:
            text = f"nothing was written to the log for {silence:.0f} s"
        if text is not None:
            found.append(Stall(job_key=key, text=text))
    return found


def _by_rule(store: TableStore, job_key: str, silence: float, thresholds: Thresholds) -> str | None:
    try:
        tables = store.read_job(job_key)
    except DataError:
        return None
    job = tables[Job.TABLE].to_pylist()[0]
    if job["last_logged_at"] is None:
        return None
    none = pipeline.TrialTables(
        trials=arrow_schema(Trial).empty_table(), skipped=arrow_schema(SkippedTrial).empty_table()
    )
    frames = pipeline.load_frames(job["experiment"], [pipeline.JobTables(tables=tables, provenance={})], none)
    frames.jobs["end_state"] = pd.Series(["running"] * len(frames.jobs), dtype=object)
    now = job["last_logged_at"] + timedelta(seconds=silence)
    answer = stall(build_context(frames, thresholds, now=now))
    return answer.summary if answer.status == FIRED else None
