"""`report.html`: one self-contained file per experiment, from the same results as `report.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import Provenance
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.metric_catalog import recognised_form
from rl_pipeline.report.page.findings import FindingGroups, finding_groups
from rl_pipeline.report.page.first_screen import TileView, VerdictView, facts, tiles, verdict_view
from rl_pipeline.report.page.metrics import NUMBER_TITLES, MetricRow, metric_rows
from rl_pipeline.report.page.pictures import Picture
from rl_pipeline.report.page.provenance import ProvenanceView, provenance_view
from rl_pipeline.report.page.render import render_page
from rl_pipeline.report.page.sections import PageSection, page_sections
from rl_pipeline.report.views.learning import LearningView, learning_view

SCRIPTS = ("theme.js", "tables.js", "pictures.js", "page.js")
STYLES = ("base.css", "report.css")
# Sections after those with pictures.
LAST_SECTIONS = (("metrics", "All metrics"), ("provenance", "Provenance"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Everything the template prints."""

    experiment: str
    facts: tuple[str, ...]
    verdict: VerdictView
    learning: LearningView
    tiles: tuple[TileView, ...]
    findings: FindingGroups
    sections: tuple[PageSection, ...]
    metrics: tuple[MetricRow, ...]
    metric_numbers: tuple[str, ...]
    provenance: ProvenanceView
    navigation: tuple[tuple[str, str], ...]


def report_page(
    result: ExperimentResult,
    frames: ExperimentFrames,
    provenance: Provenance,
    data: ChartData,
    pictures: Sequence[Picture],
) -> str:
    """The page as text; the same inputs give the same bytes."""
    return render_page("report.html", STYLES, SCRIPTS, page=page_view(result, frames, provenance, data, pictures))


def page_view(
    result: ExperimentResult,
    frames: ExperimentFrames,
    provenance: Provenance,
    data: ChartData,
    pictures: Sequence[Picture],
) -> PageView:
    """The view of the whole page."""
    metrics = [entry.metric for entry in data.metrics]
    sections = page_sections(result, data, {picture.chart.name: picture for picture in pictures})
    anchors = [anchor for anchor, _ in navigation(sections)]
    return PageView(
        experiment=frames.experiment,
        facts=facts(result, provenance.trials, _form(metrics)),
        verdict=verdict_view(result.verdict, result.findings),
        learning=learning_view(result.findings, result.trend.reward, _ends(data)),
        tiles=tiles(data.numbers),
        findings=finding_groups(result.findings, set(metrics), anchors),
        sections=sections,
        metrics=metric_rows(data.metrics),
        metric_numbers=NUMBER_TITLES,
        provenance=provenance_view(provenance, frames),
        navigation=navigation(sections),
    )


def _ends(data: ChartData) -> tuple[float | None, float | None, int]:
    return data.reward.early_mean, data.reward.late_mean, data.reward.window


def navigation(sections: Sequence[PageSection]) -> tuple[tuple[str, str], ...]:
    """(anchor, name) of every section."""
    return (("findings", "Findings"), *((section.id, section.label) for section in sections), *LAST_SECTIONS)


def _form(metrics: list[str]) -> str | None:
    form = recognised_form(metrics)
    return f"{form} trainer" if form else None
