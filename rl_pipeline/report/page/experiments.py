"""The reports below one folder, read back for the index: cards of those that can be read, reasons for the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rl_pipeline.analysis.experiment_card import ExperimentCard
from rl_pipeline.analysis.findings.finding import SEVERITIES
from rl_pipeline.analysis.populations import Populations
from rl_pipeline.report.from_json import built
from rl_pipeline.report.json_document import SCHEMA_VERSION

REPORT_FILE = "report.json"
DEEPEST = 3  # folders between the index and a report
READING_LIMIT = 256_000_000  # bytes of one report; a larger one is not ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One experiment of the index.

    Attributes:
        key: its folder relative to the index, with `/`.
        experiment: its name.
        verdict: status of its verdict.
        findings: fired ones by severity.
        card: what the report tells about it.
        populations: of its rewards.
        has_page: whether `report.html` lies beside the report.
    """

    key: str
    experiment: str
    verdict: str
    findings: dict[str, int]
    card: ExperimentCard
    populations: Populations
    has_page: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlisted:
    """A report that could not be read, and why."""

    key: str
    reason: str


def reports_below(folder: Path) -> tuple[tuple[Listed, ...], tuple[Unlisted, ...]]:
    """All reports, by experiment name; the most recent first where names are equal."""
    found: list[Listed] = []
    unread: list[Unlisted] = []
    for path in report_files(folder):
        key = path.parent.relative_to(folder).as_posix()
        try:
            found.append(read_report(path, key))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            unread.append(Unlisted(key=key, reason=_reason(error)))
    found.sort(key=lambda entry: (entry.experiment, entry.key))
    return tuple(found), tuple(unread)


def report_files(folder: Path) -> Iterator[Path]:
    """Reports in folders below, none in hidden ones, in order of their paths."""
    patterns = ("/".join(["*"] * depth + [REPORT_FILE]) for depth in range(1, DEEPEST + 1))
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def read_report(path: Path, key: str) -> Listed:
    """One report.

    Raises:
        ValueError: it is damaged, or of another version.
        OSError: it cannot be opened.
    """
    if path.stat().st_size > READING_LIMIT:
        raise ValueError("larger than any report")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"not a report of schema version {SCHEMA_VERSION}")
    if "card" not in document:
        raise ValueError("written by an earlier program: make the report again")
    fired = [str(f["severity"]) for f in document["findings"] or () if f["status"] == "fired"]
    return Listed(
        key=key,
        experiment=str(document["experiment"]),
        verdict=str((document["verdict"] or {}).get("status", "no verdict")),
        findings={severity: fired.count(severity) for severity in SEVERITIES if severity in fired},
        card=built(ExperimentCard, document["card"]),
        populations=built(Populations, document["populations"]["rewards"]),
        has_page=(path.parent / "report.html").is_file(),
    )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or "cannot be opened"
    if isinstance(error, KeyError):
        return f"lacks {error.args[0]!r}"
    return str(error)[:200] or type(error).__name__
