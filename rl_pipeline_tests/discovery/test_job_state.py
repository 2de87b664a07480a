"""Whether a job has finished, by which evidence, and that silence never tells how."""

from __future__ import annotations

import gzip
import os
from datetime import datetime
from pathlib import Path

import pytest

from rl_pipeline.discovery import JobLog, JobState, Look, discover, first_printed_time, job_state, parse_sacct
from rl_pipeline.discovery.job_state import last_printed_time, successor_starts
from rl_pipeline_tests.helpers.log_writer import LogWriter

NOW = 2_000_000_000.0
RUNNING = LogWriter().fresh_start().step(1, {"a": 1.0}, seconds={"generate": 30.0})


def log_of(path: Path, text: str, *, written: float = NOW - 10) -> JobLog:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (written, written))
    return discover([path]).only().jobs[0]


def look(**known) -> Look:
    return Look(now=NOW, quiet_period_s=3600.0, **known)


def test_an_end_line_finishes_a_job_at_once(tmp_path):
    job = log_of(tmp_path / "demo_1.out", LogWriter().training_done().text())

    state = job_state(job, look())

    assert (state.state, state.finished, state.by, state.line, state.byte) == ("completed", True, "end_line", 1, 0)
    assert state.evidence.endswith("Training done!")


def test_a_scheduler_tail_finishes_a_job_at_once(tmp_path):
    job = log_of(tmp_path / "demo_1.out", RUNNING.text() + LogWriter().slurm_tail("1").text())

    state = job_state(job, look())

    assert (state.state, state.finished, state.by) == ("time_limit", True, "scheduler_tail")


def test_a_log_that_was_just_written_is_running(tmp_path):
    job = log_of(tmp_path / "demo_1.out", RUNNING.text())

    assert job_state(job, look()) == JobState(
        state="running", finished=False, by="growing", evidence="last written 10 s ago, no end line"
    )


def test_a_silent_log_is_finished_with_its_end_unknown(tmp_path):
    job = log_of(tmp_path / "demo_1.out", RUNNING.text(), written=NOW - 3600)

    assert job_state(job, look()) == JobState(
        state="unknown", finished=True, by="quiet", evidence="nothing written for 3600 s (quiet period 3600 s)"
    )


@pytest.mark.parametrize(
    ("written", "unchanged_since", "by"),
    [
        (NOW + 86_400, None, "growing"),  # the file system's clock is ahead: no silence to be seen yet
        (NOW + 86_400, NOW - 3_599, "growing"),
        (NOW + 86_400, NOW - 3_600, "quiet"),  # but our own looks have seen one
        (NOW - 10, NOW - 7_200, "quiet"),  # touched without a change
        (NOW - 10, NOW + 500, "growing"),  # our own clock was put back
    ],
)
def test_a_wrong_clock_makes_no_job_finished_early_or_run_for_ever(tmp_path, written, unchanged_since, by):
    job = log_of(tmp_path / "demo_1.out", RUNNING.text(), written=written)

    assert job_state(job, look(unchanged_since=unchanged_since)).by == by


def test_a_successor_that_started_afterwards_finishes_a_job(tmp_path):
    job = log_of(tmp_path / "demo_1.out", RUNNING.text())

    after = job_state(job, look(successor_starts=(datetime(2026, 1, 9, 11, 5),)))
    before = job_state(job, look(successor_starts=(datetime(2026, 1, 9, 10, 55),)))

    assert (after.state, after.finished, after.by) == ("unknown", True, "successor")
    assert after.evidence == "the next job started at 2026-01-09 11:05:00, after this one's last line"
    assert (before.state, before.by) == ("running", "growing")  # two links that run at the same time


def test_a_log_without_a_time_is_not_compared_with_its_successor(tmp_path):
    job = log_of(tmp_path / "demo_1.out", "loading modules\n")

    assert job_state(job, look(successor_starts=(datetime(2026, 1, 9, 11, 5),))).by == "growing"


def test_starts_of_later_jobs_come_from_their_logs(tmp_path):
    starts = {}
    for number, minute in ((1, 0), (2, 30), (3, 50)):
        path = tmp_path / "demo" / "logs" / f"demo_{number}.out"
        LogWriter(start=datetime(2026, 1, 9, 11, minute)).raw("=== job").tick(2).fresh_start().write(path)
        starts[f"demo_{number}"] = first_printed_time(path) or datetime(1970, 1, 1)
    jobs = discover([tmp_path / "demo"]).only().jobs

    assert successor_starts(jobs[0], jobs, starts) == (datetime(2026, 1, 9, 11, 30, 2), datetime(2026, 1, 9, 11, 50, 2))
    assert successor_starts(jobs[2], jobs, starts) == ()


def test_a_requeued_job_waits_for_its_next_attempt(tmp_path):
    text = RUNNING.text() + LogWriter().slurm_tail("1", " DUE TO JOB REQUEUE").text()

    fresh = job_state(log_of(tmp_path / "demo_1.out", text), look())
    old = job_state(log_of(tmp_path / "demo_1.out", text, written=NOW - 4000), look())

    assert (fresh.state, fresh.finished) == ("requeued", False)
    assert (old.state, old.finished) == ("requeued", True)


SACCT = "JobID|State|Elapsed\n1|TIMEOUT|1\n1.batch|CANCELLED|1\n2|RUNNING|1\n3|CANCELLED by 1000|1\n4_2|OUT_OF_ME+|1\n"


@pytest.mark.parametrize(
    ("number", "tail", "written", "state", "finished", "by"),
    [
        (1, "", NOW - 10, "time_limit", True, "sacct"),
        (2, "", NOW - 9000, "running", False, "sacct"),  # silent, but its scheduler says that it runs
        (3, "", NOW - 10, "cancelled", True, "sacct"),
        (9, "", NOW - 10, "running", False, "growing"),  # not in the export
        (1, "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-01-10T03:00:12 ***", NOW, "time_limit", True, "sacct"),
        (2, "slurmstepd: error: *** JOB 2 ON n CANCELLED AT 2026-01-10T03:00:12 ***", NOW, "cancelled", True,
         "scheduler_tail"),  # the export is older than the log
        (3, "Job 'x' succeeded", NOW, "completed", True, "scheduler_tail"),
    ],
)  # fmt: skip
def test_sacct_decides_where_the_log_is_silent_or_vague(tmp_path, number, tail, written, state, finished, by):
    job = log_of(tmp_path / f"demo_{number}.out", RUNNING.text() + tail, written=written)

    found = job_state(job, look(sacct=parse_sacct(SACCT)))

    assert (found.state, found.finished, found.by) == (state, finished, by)


def test_a_packed_log_tells_the_same(tmp_path):
    text = RUNNING.text() + LogWriter().slurm_tail("1").text()
    path = tmp_path / "demo_1.out.gz"
    path.write_bytes(gzip.compress(text.encode()))

    state = job_state(discover([path]).only().jobs[0], look())

    assert (state.state, state.byte) == ("time_limit", len(RUNNING.text().encode()))


def test_a_log_that_is_gone_is_unknown_and_not_finished(tmp_path):
    job = log_of(tmp_path / "demo_1.out", RUNNING.text())
    job.path.unlink()

    state = job_state(job, look())

    assert (state.state, state.finished) == ("unknown", False)
    assert state.evidence == "cannot be read: No such file or directory"


def test_printed_times_are_those_at_the_heads_of_lines():
    text = (
        "no time\n"
        "(Actor pid=1) 2026-01-09 11:00:00.000 | INFO     | a:b:1 - said at 2027-01-01 00:00:00\n"
        "\x1b[36m(Actor pid=1)\x1b[0m \x1b[32m2026-01-09 12:30:00.000\x1b[0m | x\n"
        "2026-99-99 11:00:00 is no date\n"
        "(Engine pid=2) INFO 01-09 13:00:00 [loggers.py:1] no year\n"
    )

    assert last_printed_time(text.encode()) == datetime(2026, 1, 9, 12, 30)
    assert last_printed_time(b"") is None
