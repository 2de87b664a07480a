"""The assets of one experiment: its trials; its jobs side by side, the findings and the report.

An experiment reads its own members through the index and the store; the dependencies on all jobs
are there for the picture of lineage. (No `from __future__ import annotations` here: Dagster reads
the annotations.)
"""

from collections.abc import Iterator

import dagster as dg

from rl_pipeline import pipeline
from rl_pipeline.defs.checks import RESULT_CHECKS, TRIALS_CHECKS, findings_checks, members_check, table_checks
from rl_pipeline.defs.descriptions import DESCRIPTIONS
from rl_pipeline.defs.failures import told_to_dagster
from rl_pipeline.defs.key_numbers import NUMBERS, outcome_counts
from rl_pipeline.defs.members import experiment_trials, members_of
from rl_pipeline.defs.metadata import numbers_metadata, preview, spec_metadata, table_metadata, without_missing
from rl_pipeline.defs.partitions import EXPERIMENTS, EXPERIMENTS_GROUP, TRIAL_FOLDERS, from_every_job
from rl_pipeline.defs.pictures import outcome_bar
from rl_pipeline.defs.resources import Reports, Store
from rl_pipeline.defs.versions import current_experiment_version
from rl_pipeline.schema import JOB_TABLES, SkippedTrial, Trial
from rl_pipeline.tables.quality import violations


@dg.asset(
    partitions_def=EXPERIMENTS,
    group_name=EXPERIMENTS_GROUP,
    kinds={"python", "parquet"},
    deps=[TRIAL_FOLDERS, *from_every_job("job_events")],
    check_specs=TRIALS_CHECKS,
    description=DESCRIPTIONS["trials"],
    metadata=spec_metadata(Trial),
)
def trials(context: dg.AssetExecutionContext, store: Store) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Read the trial folders that are new, say in which job each trial ran, and store them all."""
    key = context.partition_key
    with told_to_dagster(context):
        members = members_of(store, key)
        version = current_experiment_version(context.instance, members.present)
        found = experiment_trials(store, members)
        tables = {Trial.TABLE: found.trials, SkippedTrial.TABLE: found.skipped}
        store.tables().write_experiment(key, tables, {"version": version, "jobs": list(members.present)})
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version),
        metadata={
            **table_metadata(found.trials, Trial, path=store.path("experiments", key)),
            **numbers_metadata({**NUMBERS[Trial.TABLE](found.trials), "skipped_folders": found.skipped.num_rows}),
            **without_missing({"outcomes": outcome_bar(outcome_counts(found.trials))}),
            "without_job": found.trials["job"].null_count,
            "skipped": dg.MetadataValue.md(preview(found.skipped)),
        },
        check_results=[*table_checks("trials", violations(tables)), members_check(members)],
    )


def result_spec(name: str, kinds: set[str], deps: list[dg.AssetDep]) -> dg.AssetSpec:
    """The asset of one result of the analysis."""
    return dg.AssetSpec(name, group_name=EXPERIMENTS_GROUP, kinds=kinds, deps=deps, description=DESCRIPTIONS[name])


INPUT_TABLES = [dg.AssetDep("trials"), *from_every_job(*(row.TABLE for row in JOB_TABLES))]


@dg.multi_asset(
    name="experiment_results",
    specs=[
        result_spec("cross_log_comparison", {"python", "parquet"}, INPUT_TABLES),
        result_spec("findings", {"python"}, INPUT_TABLES),
        result_spec("metrics_report", {"markdown"}, [dg.AssetDep("cross_log_comparison"), dg.AssetDep("findings")]),
    ],
    check_specs=RESULT_CHECKS,
    partitions_def=EXPERIMENTS,
)
def experiment_results(
    context: dg.AssetExecutionContext, store: Store, reports: Reports
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Analyse the experiment once, and tell the result three ways."""
    # Analysis and pages are imported here: runs and servers that make no report do without.
    from rl_pipeline.defs.result_metadata import (  # noqa: PLC0415
        comparison_metadata,
        comparison_table,
        findings_metadata,
        report_metadata,
    )

    key = context.partition_key
    with told_to_dagster(context):
        members = members_of(store, key)
        version = dg.DataVersion(current_experiment_version(context.instance, members.present))
        frames = pipeline.experiment_frames_from_store(store.tables(), key, members.some())
        on_disk = pipeline.checkpoint_steps(members.logs())
        result = pipeline.analyse_experiment(frames, reports.thresholds(), checkpoints_on_disk=on_disk)
        compared = comparison_table(result)
        store.tables().write_comparison(key, compared, {"version": version.value, "jobs": list(members.present)})
        bundle = pipeline.render_report(result, frames, reports.of(key))
    yield dg.MaterializeResult(
        asset_key="cross_log_comparison",
        data_version=version,
        metadata=comparison_metadata(compared, bundle, store.path("comparisons", key)),
    )
    yield dg.MaterializeResult(
        asset_key="findings",
        data_version=version,
        metadata=findings_metadata(result, bundle),
        check_results=findings_checks(result),
    )
    yield dg.MaterializeResult(
        asset_key="metrics_report",
        data_version=version,
        metadata=report_metadata(result, bundle, reports.of(key), members),
    )
