"""What runs the instance knows: which are on their way, and what became of the ones asked for before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

import dagster as dg
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES, NOT_FINISHED_STATUSES
from dagster._core.storage.tags import PARTITION_NAME_TAG, RUN_KEY_TAG

from rl_pipeline.defs.failures import SURROUNDINGS_TAG

MOST_REPEATS = 5
AGAIN_AFTER = timedelta(hours=1)  # a run that its surroundings made fail is asked for again
FAILED_STATUSES = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
PARTITIONS_AT_ONCE = 40  # asked about in one query, five run keys each
MOST_LOOKED_UP = 1200  # partitions asked about in one look
QUEUE_FACTOR = 4  # times as many runs on their way as may be asked for at once

# What Dagster makes of an interrupt inside a step, and Python outside of one.
INTERRUPTIONS = frozenset({"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


def runs_on_their_way(instance: dg.DagsterInstance, job_name: str) -> Sequence[dg.DagsterRun]:
    """Runs of this Dagster job that are queued, starting or running."""
    statuses = sorted({*NOT_FINISHED_STATUSES, *IN_PROGRESS_RUN_STATUSES}, key=lambda status: status.value)
    return instance.get_runs(dg.RunsFilter(job_name=job_name, statuses=statuses))


def is_on_its_way(instance: dg.DagsterInstance, job_name: str) -> bool:
    """Whether there is such a run."""
    return bool(runs_on_their_way(instance, job_name))


def partitions_on_their_way(instance: dg.DagsterInstance, job_name: str) -> frozenset[str]:
    """Partitions with such a run."""
    runs = runs_on_their_way(instance, job_name)
    return frozenset(run.tags[PARTITION_NAME_TAG] for run in runs if PARTITION_NAME_TAG in run.tags)


@dataclass(frozen=True, slots=True)
class Past:
    """The runs of one run key.

    `repeatable`: they succeeded, or failed by their surroundings a while ago; `failed`: by the content.
    """

    repeatable: int = 0
    failed: int = 0
    on_their_way: int = 0


def past_runs(instance: dg.DagsterInstance, run_keys: Sequence[str]) -> dict[str, Past]:
    """What became of the runs with these keys (and of their repetitions, `<key>#2`)."""
    asked = [name for key in run_keys for name in repetitions(key)]
    found: dict[str, Past] = {}
    for record in instance.get_run_records(dg.RunsFilter(tags={RUN_KEY_TAG: asked})) if asked else ():
        key = record.dagster_run.tags[RUN_KEY_TAG].split("#", 1)[0]
        found[key] = _counted(found.get(key, Past()), record)
    return found


def _counted(past: Past, record: dg.RunRecord) -> Past:
    run = record.dagster_run
    if run.status == dg.DagsterRunStatus.SUCCESS:
        return replace(past, repeatable=past.repeatable + 1)
    if run.status not in FAILED_STATUSES:
        return replace(past, on_their_way=past.on_their_way + 1)
    if SURROUNDINGS_TAG not in run.tags:
        return replace(past, failed=past.failed + 1)
    age = datetime.now(timezone.utc) - record.update_timestamp.replace(tzinfo=timezone.utc)
    if age < AGAIN_AFTER:
        return replace(past, on_their_way=past.on_their_way + 1)
    return replace(past, repeatable=past.repeatable + 1)


def repetitions(run_key: str) -> list[str]:
    """The key and its repetitions."""
    return [run_key, *(f"{run_key}#{number}" for number in range(2, MOST_REPEATS + 1))]


@dataclass(slots=True)
class Sorted:
    """Wanted runs by what can be done: ask for them (run key by partition), wait, or leave them as failed."""

    ask: dict[str, str] = field(default_factory=dict)
    wait: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def sort_wanted(
    instance: dg.DagsterInstance,
    job_name: str,
    wanted: Mapping[str, str],
    *,
    most: int,
    failed_before: Collection[str] = (),
) -> Sorted:
    """Decide which of the wanted runs to ask for.

    A run that failed is not repeated by itself for the same content: what failed once in a step fails
    again, and a crashed process is started again by Dagster. Two are repeated, a few times at most: one
    whose surroundings failed, after an hour; one that succeeded and whose result is gone (its assets
    were wiped).

    Args:
        instance: knows the runs.
        job_name: the Dagster job of these runs.
        wanted: run key by partition key, the most urgent first.
        most: runs to ask for at once; nothing is asked for while several times as many are on their way.
        failed_before: partitions that had failed at the look before; they are asked about last, so that
            they cannot keep others from being looked at.
    """
    result = Sorted()
    if not wanted:
        return result
    on_their_way = partitions_on_their_way(instance, job_name)
    result.wait = [name for name in wanted if name in on_their_way]
    room = min(most, max(most * QUEUE_FACTOR - len(on_their_way), 0))
    names = sorted((name for name in wanted if name not in on_their_way), key=lambda name: name in failed_before)
    for start in range(0, len(names), PARTITIONS_AT_ONCE):
        part = names[start : start + PARTITIONS_AT_ONCE]
        if len(result.ask) >= room or start >= MOST_LOOKED_UP:
            result.wait += [name for name in part if name not in failed_before]
            result.failed += [name for name in part if name in failed_before]
        else:
            _sort(part, wanted, past_runs(instance, [wanted[name] for name in part]), room, result)
    return result


def _sort(names: Sequence[str], wanted: Mapping[str, str], past: Mapping[str, Past], room: int, result: Sorted) -> None:
    for name in names:
        runs = past.get(wanted[name], Past())
        if not runs.on_their_way and (runs.failed or runs.repeatable >= MOST_REPEATS):
            result.failed.append(name)
        elif runs.on_their_way or len(result.ask) >= room:
            result.wait.append(name)
        else:
            result.ask[name] = repetitions(wanted[name])[runs.repeatable]


def was_interrupted(events: Iterable[dg.DagsterEvent]) -> bool:
    """Whether a run ended because somebody interrupted its process (Ctrl-C)."""
    for event in events:
        error = event.step_failure_data.error if event.is_step_failure else None
        while error is not None:
            if error.cls_name in INTERRUPTIONS:
                return True
            error = error.cause
    return False


def failure_words(events: Iterable[dg.DagsterEvent]) -> str:
    """Why a run failed: the words of its first failed step."""
    for event in events:
        if event.is_step_failure:
            data = event.step_failure_data
            error = data.error.cause or data.error if data.error else None
            told = data.user_failure_data.description if data.user_failure_data else None
            return told or (error.message.strip() if error else "a step failed")
    return "the process of the run ended before its time"
