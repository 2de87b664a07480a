"""Assets without partitions: what is on disk, registered."""

from collections.abc import Sequence
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from rl_pipeline.defs.descriptions import DESCRIPTIONS
from rl_pipeline.defs.failures import told_to_dagster
from rl_pipeline.defs.metadata import markdown_table
from rl_pipeline.defs.partitions import INPUTS_GROUP, LOG_FILES
from rl_pipeline.defs.registration import Registered, register
from rl_pipeline.defs.resources import Inputs, Store
from rl_pipeline.discovery import Discovery
from rl_pipeline.discovery.found import printable

PROBLEMS_SHOWN = 5
PROBLEMS_CHECK = "everything_on_disk_was_understood"
REGISTERED = "registered"  # a constant data version: finding one more job makes no other one stale


@dg.asset(
    group_name=INPUTS_GROUP,
    kinds={"python", "json"},
    deps=[LOG_FILES],
    check_specs=[
        dg.AssetCheckSpec(
            PROBLEMS_CHECK,
            asset="job_index",
            description="Warns about folders that look like an experiment and cannot be used as one.",
        )
    ],
    description=DESCRIPTIONS["job_index"],
)
def job_index(context: dg.AssetExecutionContext, store: Store, inputs: Inputs) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Find experiments and jobs, and register them."""
    with told_to_dagster(context):
        found = inputs.discover()
        registration = register(found.experiments, store_url=store.url, instance=context.instance)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(REGISTERED),
        metadata=index_metadata(found, registration, inputs.roots),
        check_results=[problems_check(found)],
    )


def record_index(
    instance: dg.DagsterInstance, found: Discovery, registration: Registered, roots: Sequence[str]
) -> None:
    """Say in the history what a command registered, as if the asset had done it: it has done the same."""
    key, check = dg.AssetKey("job_index"), problems_check(found)
    instance.report_runless_asset_event(
        dg.AssetMaterialization(
            key, metadata=index_metadata(found, registration, roots), tags={DATA_VERSION_TAG: REGISTERED}
        )
    )
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=key,
            check_name=PROBLEMS_CHECK,
            passed=check.passed,
            severity=check.severity,
            metadata=dict(check.metadata),
        )
    )


def index_metadata(found: Discovery, registration: Registered, roots: Sequence[str]) -> dict[str, Any]:
    """What the page of the asset shows."""
    return {
        "experiments": len(registration.experiment_keys),
        "jobs": len(registration.job_keys),
        "new_jobs": len(registration.new_jobs),
        "new_experiments": len(registration.new_experiments),
        "roots": dg.MetadataValue.json(list(roots)),
        "found": dg.MetadataValue.md(found_table(found)),
    }


def found_table(found: Discovery, rows: int = 12) -> str:
    """The experiments that were found, as Markdown."""
    lines = [[item.key, len(item.jobs), len(item.trial_roots)] for item in found.experiments[:rows]]
    more = len(found.experiments) - len(lines)
    table = markdown_table(["experiment", "jobs", "trial folders"], lines)
    return table + (f"\n\nand {more} more" if more > 0 else "")


def problems_check(found: Discovery) -> dg.AssetCheckResult:
    """Whether anything on disk was left aside."""
    shown = [[printable(problem.path), problem.what, problem.do] for problem in found.problems[:PROBLEMS_SHOWN]]
    return dg.AssetCheckResult(
        check_name=PROBLEMS_CHECK,
        passed=not found.problems,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "problems": len(found.problems),
            "first": dg.MetadataValue.md(markdown_table(["where", "what", "what to do"], shown)),
        },
    )
