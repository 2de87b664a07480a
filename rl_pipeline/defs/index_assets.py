"""Assets without partitions: what is on disk, registered."""

import dagster as dg

from rl_pipeline.defs.descriptions import DESCRIPTIONS
from rl_pipeline.defs.failures import told_to_dagster
from rl_pipeline.defs.metadata import markdown_table
from rl_pipeline.defs.partitions import INPUTS_GROUP, LOG_FILES
from rl_pipeline.defs.registration import register
from rl_pipeline.defs.resources import Inputs, Store
from rl_pipeline.discovery import Discovery

PROBLEMS_SHOWN = 5


@dg.asset(
    group_name=INPUTS_GROUP,
    kinds={"python", "json"},
    deps=[LOG_FILES],
    check_specs=[
        dg.AssetCheckSpec(
            "everything_on_disk_was_understood",
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
        data_version=dg.DataVersion("registered"),  # constant: finding one more job makes no other one stale
        metadata={
            "experiments": len(registration.experiment_keys),
            "jobs": len(registration.job_keys),
            "newly_written": len(registration.written_jobs),
            "roots": dg.MetadataValue.json(list(inputs.roots)),
            "found": dg.MetadataValue.md(found_table(found)),
        },
        check_results=[problems_check(found)],
    )


def found_table(found: Discovery, rows: int = 12) -> str:
    """The experiments that were found, as Markdown."""
    lines = [[item.key, len(item.jobs), len(item.trial_roots)] for item in found.experiments[:rows]]
    more = len(found.experiments) - len(lines)
    table = markdown_table(["experiment", "jobs", "trial folders"], lines)
    return table + (f"\n\nand {more} more" if more > 0 else "")


def problems_check(found: Discovery) -> dg.AssetCheckResult:
    """Whether anything on disk was left aside."""
    shown = [[problem.path, problem.what, problem.do] for problem in found.problems[:PROBLEMS_SHOWN]]
    return dg.AssetCheckResult(
        check_name="everything_on_disk_was_understood",
        passed=not found.problems,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "problems": len(found.problems),
            "first": dg.MetadataValue.md(markdown_table(["where", "what", "what to do"], shown)),
        },
    )
