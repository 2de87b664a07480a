"""One round of the sensor `finished_jobs`: look, register what is new, decide what to ask for, remember.

What it does and in which order, so that a process may die anywhere: the index is written first (a
partition that exists can be materialized), then the memory; partitions and runs are handed to Dagster
last, and a round that died is simply a round that did not happen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from rl_pipeline.defs.job_index import JobIndex
from rl_pipeline.defs.job_watch import Known, Round, Wanted, watch
from rl_pipeline.defs.memory import Memory, Standing
from rl_pipeline.defs.run_records import Sorted, sort_wanted
from rl_pipeline.defs.runs import READ_LOG
from rl_pipeline.defs.versions import complete_jobs
from rl_pipeline.discovery import Changes, Discovery, SacctState, changes, group, scan
from rl_pipeline.discovery.discover import examined
from rl_pipeline.discovery.file_names import LogPattern

MOST_EXPERIMENTS = 40  # new experiments that one look registers; the others follow in the next ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Where to look, what counts as finished, and where things are kept."""

    roots: tuple[Path, ...]
    patterns: tuple[LogPattern, ...]
    quiet_period_s: float
    index: JobIndex
    memory: Memory
    most_runs: int
    sacct: Callable[[Sequence[str]], Mapping[str, SacctState]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a round asks Dagster for."""

    wanted: tuple[tuple[str, Wanted], ...]  # run key, and the job
    job_keys: tuple[str, ...]
    experiment_keys: tuple[str, ...]
    standing: Standing
    calls: int
    left: int


def finished_jobs_round(watched: Watched, instance: dg.DagsterInstance, *, now: float | None = None) -> Asked:
    """Look once; see the module's description.

    Args:
        watched: where to look.
        instance: knows what was made, and which runs are on their way.
        now: seconds since 1970 UTC; the clock's by default.
    """
    moment = time.time() if now is None else now
    before, standing = watched.memory.inventory(), watched.memory.standing()
    inventory = scan(watched.roots, before, now=moment, patterns=watched.patterns)
    grouped, changed = group(inventory, patterns=watched.patterns), changes(before, inventory)
    known = Known(
        complete=complete_jobs(instance),
        since={path: file.since for path, file in inventory.files().items()},
        before=standing,
        now=moment,
        quiet_period_s=watched.quiet_period_s,
        sacct=watched.sacct,
        changed_folders=frozenset(
            path.rpartition("/")[0] for path in (*changed.new, *changed.rewritten, *changed.gone)
        ),
    )
    seen = watch(grouped.experiments, known)
    seen.finished = _latest_first(seen.finished)
    wanted = {want.log.job_key: want.run_key for want in seen.finished}
    runs = sort_wanted(instance, READ_LOG, wanted, most=watched.most_runs, failed_before=standing.failed)
    pending = _to_register(grouped, changed, standing.unregistered)
    chosen = _chosen(seen, runs, pending)
    found = examined(grouped, chosen)
    _leave_out(seen, grouped, found, chosen)
    registration = watched.index.register(found.experiments)
    remembered = _standing(
        seen, runs, standing, moment, unregistered=tuple(key for key in pending if key not in chosen)
    )
    watched.memory.remember_inventory(inventory.settle(str(job.path) for job in seen.settled))
    watched.memory.remember_standing(remembered)
    return Asked(
        wanted=tuple((runs.ask[want.log.job_key], want) for want in seen.finished if want.log.job_key in runs.ask),
        job_keys=registration.job_keys,
        experiment_keys=registration.experiment_keys,
        standing=remembered,
        calls=inventory.calls + seen.looked,
        left=len(seen.left) + inventory.waiting,
    )


def _to_register(grouped: Discovery, changed: Changes, left_before: Sequence[str]) -> tuple[str, ...]:
    """Experiments with a log that is new or at a new place, those left over from the look before first."""
    paths = {*changed.new, *changed.rewritten}
    fresh = [item.key for item in grouped.experiments if any(str(job.path) in paths for job in item.jobs)]
    on_disk = {item.key for item in grouped.experiments}
    return tuple(key for key in dict.fromkeys((*left_before, *fresh)) if key in on_disk)


def _chosen(seen: Round, runs: Sorted, pending: Sequence[str]) -> frozenset[str]:
    """Experiments whose folders are looked into now: those with runs to ask for, and some that are new."""
    asked = {want.log.experiment_key for want in seen.finished if want.log.job_key in runs.ask}
    return frozenset({*asked, *pending[:MOST_EXPERIMENTS]})


def _leave_out(seen: Round, grouped: Discovery, found: Discovery, chosen: frozenset[str]) -> None:
    """Forget the files that are no logs, or second copies of one, until they change."""
    good = {job.job_key for experiment in found.experiments for job in experiment.jobs}
    looked_into = (job for experiment in grouped.experiments if experiment.key in chosen for job in experiment.jobs)
    unfit = {job.job_key: (job.size_bytes, job.mtime_ns) for job in looked_into if job.job_key not in good}
    seen.left_out.update(unfit)
    seen.finished = [want for want in seen.finished if want.log.job_key not in unfit]
    seen.running = [want for want in seen.running if want.log.job_key not in unfit]


def _latest_first(wanted: Sequence[Wanted]) -> list[Wanted]:
    """The logs written last come first, an archive after them."""
    return sorted(wanted, key=lambda want: -want.log.mtime_ns)


def _standing(seen: Round, runs: Sorted, before: Standing, now: float, *, unregistered: tuple[str, ...]) -> Standing:
    failed = frozenset(runs.failed)
    waiting: dict[str, list[str]] = {}
    for log in (*(want.log for want in seen.finished), *seen.left):
        if log.job_key not in failed:
            waiting.setdefault(log.experiment_key, []).append(log.job_key)
    return Standing(
        at=now,
        turn=before.turn + seen.looked if seen.left else 0,
        waiting={key: tuple(jobs) for key, jobs in waiting.items()},
        running={want.log.job_key: want.log.mtime_ns for want in seen.running},
        unchanged=seen.unchanged,
        left_out=seen.left_out,
        unregistered=unregistered,
        failed=tuple(sorted(failed)),
    )
