"""The asset over all experiments: one page that lists them, one that compares them.

It has no partition: every report below the reports' folder is on it, whoever made it. (No `from __future__
import annotations` here: Dagster reads the annotations.)
"""

import dagster as dg

from rl_pipeline import pipeline
from rl_pipeline.defs.descriptions import DESCRIPTIONS
from rl_pipeline.defs.failures import told_to_dagster
from rl_pipeline.defs.metadata import markdown_table
from rl_pipeline.defs.partitions import EXPERIMENTS_GROUP, from_every_job
from rl_pipeline.defs.resources import Reports
from rl_pipeline.defs.versions import REPORT_ASSET, index_version, recorded_versions

ROWS_SHOWN = 8


@dg.asset(
    group_name=EXPERIMENTS_GROUP,
    kinds={"html"},
    deps=from_every_job("metrics_report"),
    description=DESCRIPTIONS["experiment_index"],
)
def experiment_index(context: dg.AssetExecutionContext, reports: Reports) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Read the report of every experiment and write the index and the comparison."""
    version = index_version(recorded_versions(context.instance, REPORT_ASSET))
    with told_to_dagster(context):
        index = pipeline.write_index(reports.root())
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version),
        metadata={
            "index": dg.MetadataValue.path(str(index.folder / "index.html")),
            "comparison": dg.MetadataValue.path(str(index.folder / "compare.html")),
            "experiments": len(index.experiments),
            "unreadable_reports": len(index.unread),
            "latest": dg.MetadataValue.md(index_table(index)),
        },
    )


def index_table(index: "pipeline.Index") -> str:
    """The experiments with the latest logs, as Markdown."""
    latest = sorted(index.experiments, key=lambda entry: str(entry.card.last_logged_at or ""), reverse=True)
    rows = [
        [entry.experiment, entry.verdict, entry.card.state.replace("_", " "), entry.card.last_step]
        for entry in latest[:ROWS_SHOWN]
    ]
    more = len(index.experiments) - len(rows)
    table = markdown_table(["experiment", "verdict", "state", "last step"], rows)
    return table + (f"\n\nand {more} more" if more > 0 else "")
