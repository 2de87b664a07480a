"""Which jobs have finished and are not made yet: one look at the disk against what the instance recorded.

Pure in its decisions, careful in its looking. For each log on disk the recorded version says what was
read; only a log that is new, grown, rewritten or touched is opened, and only its end (or, when it was
touched and has the size it had, its whole content, to see that nothing changed). A round ends at its
deadline and goes on in the next look where it stopped, so a first look at a large archive takes
several rounds and never one long one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.defs.memory import Standing
from rl_pipeline.discovery import ExperimentOnDisk, JobLog, JobState, Look, SacctState, first_printed_time, job_state
from rl_pipeline.pipeline import PARSER_VERSION
from rl_pipeline.places import on_disk
from rl_pipeline.reader import fingerprint

ROUND_SECONDS = 20.0  # of the 60 that Dagster gives a sensor
FINISHED_TAG, RUNNING_TAG = "final", "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A job whose assets have to be made (again), and how it stands."""

    log: JobLog
    state: JobState

    @property
    def run_key(self) -> str:
        """Names the run by the content that it reads, so that one content gets one run."""
        return run_key(self.log, finished=self.state.finished)


def run_key(log: JobLog, *, finished: bool) -> str:
    """The key of the run that makes a job's assets from its log as it is on disk."""
    kind = FINISHED_TAG if finished else RUNNING_TAG
    return f"{log.job_key}:{log.size_bytes}:{log.mtime_ns}:{kind}:p{PARSER_VERSION}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known before a round.

    `complete`: versions of jobs whose assets were all made from one content, by key. `since`: when this
    content was first seen, by path (seconds since 1970). `before`: the round before. `sacct`: asks the
    scheduler for the states of job ids; called at most once a round. `changed_folders`: folders in which
    a log came, went or was replaced; what was left out there is looked at again (the original of a
    second copy may be gone).
    """

    complete: Mapping[str, LogVersion]
    since: Mapping[str, float]
    before: Standing
    now: float
    quiet_period_s: float
    sacct: Callable[[Sequence[str]], Mapping[str, SacctState]] = field(default=lambda _: {})
    changed_folders: frozenset[str] = frozenset()


@dataclass(slots=True)
class Round:
    """What a round found.

    `left`: jobs that it did not come to. `left_out`: files that were found to be no job's log, with the
    size and time of writing that they had.
    """

    finished: list[Wanted] = field(default_factory=list)
    running: list[Wanted] = field(default_factory=list)
    settled: list[JobLog] = field(default_factory=list)
    unchanged: dict[str, tuple[int, int]] = field(default_factory=dict)
    left: list[JobLog] = field(default_factory=list)
    left_out: dict[str, tuple[int, int]] = field(default_factory=dict)
    looked: int = 0


def watch(
    experiments: Sequence[ExperimentOnDisk], known: Known, *, clock: Callable[[], float] = time.monotonic
) -> Round:
    """Go through all logs once.

    Args:
        experiments: what lies on disk, jobs in chain order.
        known: what was recorded and seen before.
        clock: seconds of any origin, for the deadline.
    """
    done, deadline = Round(), clock() + ROUND_SECONDS
    open_jobs = list(_unsettled(experiments, known, done))
    states = known.sacct([job.job_id for job, _ in open_jobs if job.job_id is not None]) if open_jobs else {}
    for job, chain in _from(open_jobs, known.before.turn):
        if clock() > deadline:
            done.left.append(job)
            continue
        done.looked += 1
        _decide(job, chain, known, states, done)
    return done


Chain = tuple[JobLog, ...]


def _from(jobs: list[tuple[JobLog, Chain]], turn: int) -> Iterator[tuple[JobLog, Chain]]:
    """The jobs from where the round before stopped."""
    start = turn % len(jobs) if jobs else 0
    yield from jobs[start:]
    yield from jobs[:start]


def _unsettled(experiments: Sequence[ExperimentOnDisk], known: Known, done: Round) -> Iterator[tuple[JobLog, Chain]]:
    """Jobs that must be looked at, each with the later jobs of its chain; the others are settled."""
    for experiment in experiments:
        for position, job in enumerate(experiment.jobs):
            facts = (job.size_bytes, job.mtime_ns)
            version = known.complete.get(job.job_key)
            touched = known.before.unchanged.get(job.job_key)
            is_left_out = known.before.left_out.get(job.job_key) == facts
            if is_left_out and str(job.path.parent) not in known.changed_folders:
                done.left_out[job.job_key] = facts
            elif version is not None and version.is_final and _is_same(version, touched, job):
                done.settled.append(job)
                if touched is not None:
                    done.unchanged[job.job_key] = touched
            else:
                yield job, experiment.jobs[position + 1 :]


def _is_same(version: LogVersion, touched: tuple[int, int] | None, job: JobLog) -> bool:
    return version.same_file(job.size_bytes, job.mtime_ns) or touched == (job.size_bytes, job.mtime_ns)


def _decide(job: JobLog, chain: Chain, known: Known, states: Mapping[str, SacctState], done: Round) -> None:
    version = known.complete.get(job.job_key)
    if version is not None and version.is_final and version.size_bytes == job.size_bytes and _holds(version, job):
        done.settled.append(job)
        done.unchanged[job.job_key] = (job.size_bytes, job.mtime_ns)
        return
    state = job_state(job, _look(job, chain, known, states))
    (done.finished if state.finished else done.running).append(Wanted(log=job, state=state))


def _holds(version: LogVersion, job: JobLog) -> bool:
    """Whether a log that was written to holds what it held; one that cannot be read does not count as changed."""
    try:
        with on_disk(job.path) as file:
            return fingerprint(file) == version.fingerprint
    except OSError:
        return True


def _look(job: JobLog, chain: Chain, known: Known, states: Mapping[str, SacctState]) -> Look:
    starts = (first_printed_time(later.path) for later in chain[:1])
    return Look(
        now=known.now,
        quiet_period_s=known.quiet_period_s,
        unchanged_since=known.since.get(str(job.path)),
        successor_starts=tuple(start for start in starts if start is not None),
        sacct=states or None,
    )
