"""What the pages of an experiment's results show: the comparison, the findings, the report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa

from rl_pipeline.analysis.findings.finding import FIRED, SEVERITIES
from rl_pipeline.defs.key_numbers import REWARD
from rl_pipeline.defs.members import Members
from rl_pipeline.defs.metadata import markdown_table, numbers_metadata, preview, sparkline, without_missing
from rl_pipeline.defs.pictures import OF_COMPARISON, OF_FINDINGS, OF_REPORT, pictures, severity_bar, time_bar
from rl_pipeline.pipeline import Bundle, ExperimentResult
from rl_pipeline.report.markdown_escape import markdown_escape
from rl_pipeline.report.views.learning import learning_view

FINDINGS_SHOWN = 6


def fired_by_severity(result: ExperimentResult) -> dict[str, int]:
    """How many findings fired, severity by severity; 0 where none did, so that the UI plots it."""
    fired = [finding.severity for finding in result.findings if finding.status == FIRED]
    return {f"findings_{severity}": fired.count(severity) for severity in SEVERITIES}


def canonical_rewards(bundle: Bundle) -> list[float | None]:
    """Mean reward of every step that counts, as the report's chart draws them."""
    chart = next((picture.chart for picture in bundle.pictures if picture.chart.name == "reward"), None)
    if chart is None:
        return []
    reward, counts = chart.columns.index("reward"), chart.columns.index("is_canonical")
    return [value if isinstance(value := row[reward], float) else None for row in chart.rows if row[counts]]


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
        **without_missing({"chart": _rewards_of_jobs(compared)}),
        **pictures(bundle.pictures, OF_COMPARISON),
    }


def _rewards_of_jobs(compared: pa.Table) -> dg.MetadataValue | None:
    rewards = compared["avg_reward"].to_pylist() if "avg_reward" in compared.column_names else []
    return sparkline(rewards, "mean reward, job by job")


def findings_metadata(result: ExperimentResult, bundle: Bundle) -> dict[str, dg.MetadataValue]:
    """The verdict, counts by status, and what fired."""
    fired = sorted(
        (finding for finding in result.findings if finding.status == FIRED),
        key=lambda finding: SEVERITIES.index(finding.severity),
    )
    rows = [[finding.id, finding.severity, finding.title] for finding in fired[:FINDINGS_SHOWN]]
    statuses = [finding.status for finding in result.findings]
    return {
        "verdict": dg.MetadataValue.text(result.verdict.status),
        "reasons": dg.MetadataValue.md(
            "\n".join(f"- {markdown_escape(reason)}" for reason in result.verdict.reasons) or "none"
        ),
        **numbers_metadata({status: statuses.count(status) for status in ("fired", "clear", "not_measurable")}),
        **numbers_metadata(fired_by_severity(result)),
        **without_missing({"by_severity": severity_bar(fired_by_severity(result))}),
        "what_fired": dg.MetadataValue.md(markdown_table(["rule", "severity", "what"], rows)),
        **pictures(bundle.pictures, OF_FINDINGS),
    }


def report_metadata(
    result: ExperimentResult, bundle: Bundle, folder: Path, members: Members
) -> dict[str, dg.MetadataValue]:
    """Where the report lies, what it is about, and its main numbers over experiments."""
    rewards = canonical_rewards(bundle)
    known = [reward for reward in rewards if reward is not None]
    learning = learning_view(result.findings, result.trend.reward)
    return without_missing(
        {
            "verdict": dg.MetadataValue.text(result.verdict.status),
            "is_it_learning": dg.MetadataValue.text(f"{learning.answer}. {learning.text}"),
            **numbers_metadata(fired_by_severity(result)),
            "page": dg.MetadataValue.path(str(folder / "report.html")),
            "numbers": dg.MetadataValue.path(str(folder / "report.json")),
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
    # Over the steps that count, each once: what the report says first, and not the mean over all rows of the logs.
    return {
        "log_files": result.published.log_files,
        "distinct_steps": result.published.distinct_steps,
        "mean_reward_canonical": sum(rewards) / len(rewards) if rewards else None,
        "last_reward_canonical": rewards[-1] if rewards else None,
    }
