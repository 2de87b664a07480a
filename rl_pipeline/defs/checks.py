"""Asset checks: may the tables be believed, is anything missing, is the run well.

Three kinds, and their consequences differ on purpose. A table that would lie (`rows_can_be_believed`) is
an error and blocks what is made from it. A table with something odd (`rows_are_plausible`) and a
member that is missing only warn. Findings about the run warn as well: a sick run is not a broken
pipeline, and its report is what everybody needs to see.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING

import dagster as dg

from rl_pipeline.defs.log_files import SeenLog
from rl_pipeline.defs.members import Members
from rl_pipeline.defs.metadata import markdown_table
from rl_pipeline.defs.partitions import EXPERIMENTS, JOBS
from rl_pipeline.schema import JOB_TABLES, StepMetric
from rl_pipeline.tables.quality import Violation

if TYPE_CHECKING:
    from rl_pipeline.pipeline import ExperimentResult, JobTables

BELIEVED, PLAUSIBLE = "rows_can_be_believed", "rows_are_plausible"
READABLE, FINISHED = "log_has_content", "job_has_finished"
RECOGNISED, TRAINED = "log_is_of_a_known_format", "log_has_metric_blocks"
COMPLETE = "every_job_is_read"
SEVERITIES = ("critical", "high", "medium")
SHOWN = 8
ASSETS_OF = {"jobs": "job_events", "skipped_trials": "trials"}  # tables without an asset of their own

CheckNames = Set[dg.AssetCheckKey]


def check(
    name: str, asset: str, description: str, partitions: dg.PartitionsDefinition[str], *, blocking: bool = False
) -> dg.AssetCheckSpec:
    """A check with a result per partition; Dagster calls that feature a preview, which is known here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Specifying a partitions_def on an AssetCheckSpec")
        return dg.AssetCheckSpec(
            name, asset=asset, description=description, partitions_def=partitions, blocking=blocking
        )


def quality_checks(asset: str, partitions: dg.PartitionsDefinition[str]) -> list[dg.AssetCheckSpec]:
    """The two checks of a table: one that blocks, one that warns."""
    believed = "Rules whose violation means that the table would mislead; nothing is made from it then."
    plausible = "Rules whose violation is odd and worth a look; nothing stops."
    return [
        check(BELIEVED, asset, believed, partitions, blocking=True),
        check(PLAUSIBLE, asset, plausible, partitions),
    ]


LOG_CHECKS = [
    check(READABLE, "raw_log", "The file holds something.", JOBS, blocking=True),
    check(FINISHED, "raw_log", "Warns while the job runs: its tables are those of the part written so far.", JOBS),
]
TABLE_CHECKS = [
    *(spec for row in JOB_TABLES for spec in quality_checks(row.TABLE, JOBS)),
    check(RECOGNISED, "step_metrics", "Some line of the log belongs to a known format.", JOBS, blocking=True),
    check(
        TRAINED, "step_metrics", "Warns when the log has no metric block: the job died early, or logs elsewhere.", JOBS
    ),
]
TRIALS_OF_JOB_CHECKS = quality_checks("job_trials", JOBS)
TRIALS_CHECKS = [
    *quality_checks("trials", EXPERIMENTS),
    check(COMPLETE, "trials", "Warns when a registered job has no tables (yet).", EXPERIMENTS),
]
RESULT_CHECKS = [
    check(f"no_{severity}_finding", "findings", f"Warns when a rule of {severity} severity fired.", EXPERIMENTS)
    for severity in SEVERITIES
]


def log_checks(seen: SeenLog) -> list[dg.AssetCheckResult]:
    """Whether the log holds something, and whether its job has finished."""
    state = {"state": seen.state.state, "by": seen.state.by, "evidence": seen.state.evidence}
    return [
        dg.AssetCheckResult(
            check_name=READABLE, passed=seen.log.size_bytes > 0, metadata={"size_bytes": seen.log.size_bytes}
        ),
        dg.AssetCheckResult(
            check_name=FINISHED, passed=seen.state.finished, severity=dg.AssetCheckSeverity.WARN, metadata=state
        ),
    ]


def table_checks(
    asset: str, broken: Sequence[Violation], *, selected: CheckNames | None = None
) -> list[dg.AssetCheckResult]:
    """The results of both checks of an asset, of those that were selected.

    Args:
        asset: the asset; it answers for its own table and for those that have no asset.
        broken: every violation found in the tables that were made together.
        selected: the checks that this run evaluates; None for all.
    """
    own = [violation for violation in broken if ASSETS_OF.get(violation.table, violation.table) == asset]
    results = [
        _quality_result(asset, BELIEVED, [violation for violation in own if violation.blocking]),
        _quality_result(asset, PLAUSIBLE, [violation for violation in own if not violation.blocking]),
    ]
    key = dg.AssetKey(asset)
    return [found for found in results if selected is None or dg.AssetCheckKey(key, str(found.check_name)) in selected]


def content_checks(parsed: JobTables, *, selected: CheckNames) -> list[dg.AssetCheckResult]:
    """Whether the log was a job's log at all, and whether it has metrics."""
    lines, rows = parsed.recognised, parsed.tables[StepMetric.TABLE].num_rows
    wrong_file = "check that this is a job log and no other file; `rl-pipeline discover` shows what was seen"
    no_metrics = "switch on the console tracker (trainer.logger includes console), or wait for the first step"
    results = [
        dg.AssetCheckResult(
            asset_key=StepMetric.TABLE,
            check_name=RECOGNISED,
            passed=lines > 0,
            metadata={"recognised_messages": lines, **({} if lines else {"do": wrong_file})},
        ),
        dg.AssetCheckResult(
            asset_key=StepMetric.TABLE,
            check_name=TRAINED,
            passed=rows > 0,
            severity=dg.AssetCheckSeverity.WARN,
            metadata={"rows": rows, **({} if rows else {"do": no_metrics})},
        ),
    ]
    key = dg.AssetKey(StepMetric.TABLE)
    return [found for found in results if dg.AssetCheckKey(key, str(found.check_name)) in selected]


def _quality_result(asset: str, name: str, broken: Sequence[Violation]) -> dg.AssetCheckResult:
    rows = [[violation.rule, violation.count, violation.message] for violation in broken[:SHOWN]]
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=name,
        passed=not broken,
        severity=dg.AssetCheckSeverity.ERROR if name == BELIEVED else dg.AssetCheckSeverity.WARN,
        metadata={
            "violations": sum(violation.count for violation in broken),
            **({"rules": dg.MetadataValue.md(markdown_table(["rule", "rows", "what"], rows))} if rows else {}),
        },
    )


def members_check(members: Members) -> dg.AssetCheckResult:
    """Whether every registered job of the experiment has tables."""
    return dg.AssetCheckResult(
        check_name=COMPLETE,
        asset_key="trials",
        passed=not members.missing,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"read": len(members.present), "missing": dg.MetadataValue.json(list(members.missing))},
    )


def findings_checks(result: ExperimentResult) -> list[dg.AssetCheckResult]:
    """One result per severity: which rules fired."""
    return [_severity_result(severity, result) for severity in SEVERITIES]


def _severity_result(severity: str, result: ExperimentResult) -> dg.AssetCheckResult:
    fired = [finding for finding in result.findings if finding.status == "fired" and finding.severity == severity]
    rows: Iterable[Sequence[object]] = [[finding.id, finding.title, finding.action] for finding in fired[:SHOWN]]
    return dg.AssetCheckResult(
        asset_key="findings",
        check_name=f"no_{severity}_finding",
        passed=not fired,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "fired": len(fired),
            **({"rules": dg.MetadataValue.md(markdown_table(["rule", "what", "do"], list(rows)))} if fired else {}),
        },
    )
