"""The sensors: what happens without anybody asking.

They compare what is with what was recorded and ask for the difference; a lost cursor, a restart or a
second daemon makes none of them ask twice. Each is on by default. (No `from __future__ import
annotations` here: Dagster reads the annotations.)
"""

import json
from collections.abc import Iterator, Mapping

import dagster as dg

from rl_pipeline.defs.experiment_watch import due_experiments, steady
from rl_pipeline.defs.job_watch import Wanted
from rl_pipeline.defs.log_files import FINISHED_BY_TAG
from rl_pipeline.defs.partitions import EXPERIMENT_TAG, EXPERIMENTS, JOBS
from rl_pipeline.defs.resources import Inputs, Sensing, Store
from rl_pipeline.defs.rounds import Asked, finished_jobs_round
from rl_pipeline.defs.run_records import Past, is_on_its_way, past_runs, sort_wanted
from rl_pipeline.defs.runs import INDEX, REPORT, index_experiments, read_job_log, report_experiment
from rl_pipeline.defs.versions import REPORT_ASSET, complete_jobs, index_version, recorded_index, recorded_versions
from rl_pipeline.discovery import group
from rl_pipeline.wording import plural

PRIORITY_TAG = "dagster/priority"


def finished_jobs_sensor(tick_seconds: int) -> dg.SensorDefinition:
    """Finds logs, decides which jobs have finished, and asks for their assets."""

    @dg.sensor(
        name="finished_jobs",
        job=read_job_log,
        minimum_interval_seconds=tick_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Finds new and grown logs, decides by evidence whether their jobs have finished, adds the "
        "partitions and asks for the tables. One run per content of a log.",
    )
    def finished_jobs(
        context: dg.SensorEvaluationContext, store: Store, inputs: Inputs, sensing: Sensing
    ) -> dg.SensorResult | dg.SkipReason:
        if not inputs.roots:
            return dg.SkipReason("no folder to watch: set RL_PIPELINE_ROOTS")
        asked = finished_jobs_round(sensing.watched(store, inputs), context.instance)
        additions = list(_additions(context.instance, asked))
        if not asked.wanted and not additions:
            return dg.SkipReason(_nothing_to_do(asked))
        return dg.SensorResult(
            run_requests=[_job_request(key, want) for key, want in asked.wanted],
            dynamic_partitions_requests=additions,
        )

    return finished_jobs


def _job_request(run_key: str, want: Wanted) -> dg.RunRequest:
    return dg.RunRequest(
        run_key=run_key,
        partition_key=want.log.job_key,
        tags={EXPERIMENT_TAG: want.log.experiment_key, FINISHED_BY_TAG: want.state.by},
    )


def _additions(instance: dg.DagsterInstance, asked: Asked) -> Iterator[dg.AddDynamicPartitionsRequest]:
    """Requests for the partitions that the instance does not have."""
    for partitions, keys in ((JOBS, asked.job_keys), (EXPERIMENTS, asked.experiment_keys)):
        known = set(instance.get_dynamic_partitions(str(partitions.name))) if keys else set()
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            yield partitions.build_add_request(new)


def _nothing_to_do(asked: Asked) -> str:
    standing = asked.standing
    waiting = sum(map(len, standing.waiting.values()))
    parts = [
        f"{plural(len(standing.running), 'job')} running",
        f"{waiting} on their way",
        f"{len(standing.failed)} failed",
    ]
    parts += [f"{plural(asked.left, 'log')} left for the next look"] if asked.left else []
    return ", ".join(parts)


def finished_experiments_sensor(tick_seconds: int) -> dg.SensorDefinition:
    """Asks for the assets of an experiment once its finished jobs are all made, and for the index after them."""

    @dg.sensor(
        name="finished_experiments",
        jobs=[report_experiment, index_experiments],
        minimum_interval_seconds=tick_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Asks for an experiment's trials, comparison, findings and report when all its finished jobs "
        "have their tables and something changed. Jobs that finish together give one report; the index of all "
        "experiments follows when no report is on its way any more.",
    )
    def finished_experiments(
        context: dg.SensorEvaluationContext, store: Store, inputs: Inputs, sensing: Sensing
    ) -> dg.SensorResult:
        memory, recorded = sensing.memory(), recorded_versions(context.instance, REPORT_ASSET)
        due = due_experiments(
            group(memory.inventory(), patterns=inputs.patterns()).experiments,
            standing=memory.standing(),
            complete=complete_jobs(context.instance),
            recorded=recorded,
            index=store.index(),
        )
        ready = {item.key: item.run_key for item in steady(due, wanted_before(context.cursor))}
        runs = sort_wanted(context.instance, REPORT, ready, most=sensing.runs_per_tick)
        reports = [
            dg.RunRequest(
                job_name=REPORT, run_key=run_key, partition_key=key, tags={EXPERIMENT_TAG: key, PRIORITY_TAG: "1"}
            )
            for key, run_key in runs.ask.items()
        ]
        requests = reports if due else _index_requests(context.instance, recorded)
        return dg.SensorResult(
            run_requests=requests,
            skip_reason=None if requests else f"{plural(len(due), 'experiment')} due, {len(runs.wait)} on their way",
            cursor=json.dumps({item.key: item.version for item in due}, separators=(",", ":")),
        )

    return finished_experiments


def _index_requests(instance: dg.DagsterInstance, recorded: Mapping[str, str]) -> list[dg.RunRequest]:
    """The run of the index, when reports changed since it was made and nothing of it is on its way."""
    wanted = index_version(recorded)
    if not recorded or wanted == recorded_index(instance) or is_on_its_way(instance, INDEX):
        return []
    runs = past_runs(instance, [wanted]).get(wanted, Past())
    return [] if runs != Past() else [dg.RunRequest(job_name=INDEX, run_key=wanted)]


def wanted_before(cursor: str | None) -> Mapping[str, str]:
    """Which versions the look before wanted; nothing when the cursor is lost, which costs one look."""
    try:
        told = json.loads(cursor or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
