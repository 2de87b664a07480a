"""The assets of one job log: the log itself, its tables, its trials.

Each is a sentence: look the partition up in the index, call one function of `pipeline`, store, tell.
The tables come from one pass over the file and are written as one set, so a run that dies leaves the
earlier set whole. (No `from __future__ import annotations` here: Dagster reads the annotations.)
"""

from collections.abc import Iterator
from dataclasses import replace

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline import pipeline
from rl_pipeline.defs.checks import (
    LOG_CHECKS,
    TABLE_CHECKS,
    TRIALS_OF_JOB_CHECKS,
    content_checks,
    log_checks,
    table_checks,
)
from rl_pipeline.defs.descriptions import DESCRIPTIONS
from rl_pipeline.defs.failures import told_to_dagster
from rl_pipeline.defs.key_numbers import NUMBERS, SERIES, outcome_counts
from rl_pipeline.defs.log_files import job_log, log_metadata, look_at
from rl_pipeline.defs.members import experiment_trials, members_of, with_verdict
from rl_pipeline.defs.metadata import numbers_metadata, sparkline, spec_metadata, table_metadata, without_missing
from rl_pipeline.defs.partitions import JOBS, JOBS_GROUP, LOG_FILES, TRIAL_FOLDERS
from rl_pipeline.defs.pictures import kinds_bar, outcome_bar
from rl_pipeline.defs.resources import Inputs, Store
from rl_pipeline.defs.versions import job_trials_version
from rl_pipeline.schema import JOB_TABLES, JobEvent, JobRow, StepMetric, Trial
from rl_pipeline.tables.quality import violations

TABLE_KINDS = {"python", "parquet"}


@dg.asset(
    partitions_def=JOBS,
    group_name=JOBS_GROUP,
    kinds={"file"},
    deps=[LOG_FILES],
    check_specs=LOG_CHECKS,
    description=DESCRIPTIONS["raw_log"],
)
def raw_log(context: dg.AssetExecutionContext, store: Store, inputs: Inputs) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """The log as it is on disk now: size, content and whether its job has finished."""
    with told_to_dagster(context):
        job = store.index().job(context.partition_key)
        experiment = store.index().experiment(job.experiment_key)
        seen = look_at(job, experiment, context.run.tags, quiet_minutes=inputs.quiet_minutes)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(str(seen.version)),
        metadata=log_metadata(seen),
        check_results=log_checks(seen),
    )


def table_spec(row: type[JobRow]) -> dg.AssetSpec:
    """The asset of one table of a job."""
    return dg.AssetSpec(
        row.TABLE,
        group_name=JOBS_GROUP,
        kinds=TABLE_KINDS,
        deps=["raw_log"],
        description=DESCRIPTIONS[row.TABLE],
        metadata=spec_metadata(row),
    )


@dg.multi_asset(
    name="job_tables",
    specs=[table_spec(row) for row in JOB_TABLES],
    check_specs=TABLE_CHECKS,
    partitions_def=JOBS,
    can_subset=True,
)
def job_tables(context: dg.AssetExecutionContext, store: Store) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Read the log once and write all its tables, also when only one of them was asked for."""
    with told_to_dagster(context):
        key, tables = context.partition_key, store.tables()
        parsed = pipeline.parse_job(job_log(store.index().job(key)), earlier=pipeline.earlier_reading(tables, key))
        broken = violations(parsed.tables)
        tables.write_job(key, parsed.tables, with_verdict(parsed, broken), state=parsed.state)
    for row in JOB_TABLES:
        key = dg.AssetKey(row.TABLE)
        checks = context.selected_asset_check_keys
        if key in context.selected_asset_keys:
            yield dg.MaterializeResult(
                asset_key=key,
                data_version=dg.DataVersion(parsed.provenance["version"]),
                metadata=job_table_metadata(parsed.tables[row.TABLE], row, store.path("jobs", context.partition_key)),
                check_results=[
                    *table_checks(row.TABLE, broken, selected=checks),
                    *(content_checks(parsed, selected=checks) if row is StepMetric else ()),
                ],
            )


def job_table_metadata(table: pa.Table, row: type[JobRow], path: str) -> dict[str, dg.MetadataValue]:
    """Counts, columns, preview, key numbers and a chart of one table."""
    name = row.TABLE
    series = SERIES[name](table) if name in SERIES else None
    return without_missing(
        {
            **table_metadata(table, row, path=path),
            **(numbers_metadata(NUMBERS[name](table)) if name in NUMBERS else {}),
            "chart": sparkline(series.values, series.title) if series else None,
            "kinds": kinds_bar(table["kind"].to_pylist()) if row is JobEvent else None,
        }
    )


@dg.asset(
    partitions_def=JOBS,
    group_name=JOBS_GROUP,
    kinds=TABLE_KINDS,
    deps=[TRIAL_FOLDERS, "job_events"],
    check_specs=TRIALS_OF_JOB_CHECKS,
    description=DESCRIPTIONS["job_trials"],
    metadata=spec_metadata(Trial),
)
def job_trials(context: dg.AssetExecutionContext, store: Store) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Read the trial folders that are new and keep those that ran in this job."""
    key = context.partition_key
    with told_to_dagster(context):
        job = store.index().job(key)
        found = experiment_trials(store, members_of(store, job.experiment_key)).trials
        trials = found.filter(pc.equal(found["job"], job.job))
        version = job_trials_version(store.tables().job_provenance(key), trials)
        store.tables().write_job_trials(key, trials, {"version": version})
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version),
        metadata={
            **table_metadata(trials, Trial, path=store.path("job_trials", key)),
            **numbers_metadata(NUMBERS[Trial.TABLE](trials)),
            **without_missing({"outcomes": outcome_bar(outcome_counts(trials))}),
        },
        check_results=table_checks(
            "job_trials", [replace(v, table="job_trials") for v in violations({Trial.TABLE: trials})]
        ),
    )
