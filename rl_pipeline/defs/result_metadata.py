"""What the pages of an experiment's results show: the comparison, the findings, the report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa

from rl_pipeline.analysis.findings.finding import SEVERITIES
from rl_pipeline.defs.key_numbers import REWARD
from rl_pipeline.defs.members import Members
from rl_pipeline.defs.metadata import markdown_table, numbers_metadata, preview, sparkline, without_missing
from rl_pipeline.defs.pictures import OF_COMPARISON, OF_FINDINGS, OF_REPORT, pictures, time_bar
from rl_pipeline.pipeline import Bundle, ExperimentResult

FINDINGS_SHOWN = 6


def comparison_table(result: ExperimentResult) -> pa.Table:
    """The jobs side by side, one row a job."""
    rows = [asdict(row) for row in result.published.cross_log]
    return pa.Table.from_pylist(rows) if rows else pa.table({"job": pa.array([], pa.string())})


def comparison_metadata(compared: pa.Table, bundle: Bundle, path: str) -> dict[str, dg.MetadataValue]:
    """The comparison as a small table, and where it lies."""
    return {
        "dagster/row_count": dg.MetadataValue.int(compared.num_rows),
        "comparison": dg.MetadataValue.md(preview(compared, rows=8, columns=9)),
        "file": dg.MetadataValue.path(path),
        **pictures(bundle.pictures, OF_COMPARISON),
    }


def findings_metadata(result: ExperimentResult, bundle: Bundle) -> dict[str, dg.MetadataValue]:
    """The verdict, counts by status, and what fired."""
    fired = sorted(
        (finding for finding in result.findings if finding.status == "fired"),
        key=lambda finding: SEVERITIES.index(finding.severity),
    )
    rows = [[finding.id, finding.severity, finding.title] for finding in fired[:FINDINGS_SHOWN]]
    statuses = [finding.status for finding in result.findings]
    return {
        "verdict": dg.MetadataValue.text(result.verdict.status),
        "reasons": dg.MetadataValue.md("\n".join(f"- {reason}" for reason in result.verdict.reasons) or "none"),
        **numbers_metadata({status: statuses.count(status) for status in ("fired", "clear", "not_measurable")}),
        "what_fired": dg.MetadataValue.md(markdown_table(["rule", "severity", "what"], rows)),
        **pictures(bundle.pictures, OF_FINDINGS),
    }


def report_metadata(
    result: ExperimentResult, bundle: Bundle, folder: Path, members: Members
) -> dict[str, dg.MetadataValue]:
    """Where the report lies, what it is about, and its main numbers over experiments."""
    rewards = [row.reward for part in result.published.progression for row in part.rows]
    known = [reward for reward in rewards if reward is not None]
    return without_missing(
        {
            "page": dg.MetadataValue.path(str(folder / "report.html")),
            "report": dg.MetadataValue.path(str(folder / "metrics_report.md")),
            "files": dg.MetadataValue.int(len(bundle.files)),
            "jobs": dg.MetadataValue.json(list(members.present)),
            **numbers_metadata(_main_numbers(result, known)),
            "chart": sparkline(rewards, REWARD),
            "where_time_went": time_bar({part.name: part.seconds for part in result.time.waterfall.parts}),
            **pictures(bundle.pictures, OF_REPORT),
        }
    )


def _main_numbers(result: ExperimentResult, rewards: list[float]) -> dict[str, Any]:
    return {
        "log_files": result.published.log_files,
        "distinct_steps": result.published.distinct_steps,
        "mean_reward": sum(rewards) / len(rewards) if rewards else None,
        "last_reward": rewards[-1] if rewards else None,
    }
