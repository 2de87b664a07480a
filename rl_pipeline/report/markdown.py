"""`metrics_report.md`: findings, the published tables, then the sections that the published report lacks.

Each section is a small template with a view; a section whose result was not made is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import Provenance
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.render import render_markdown
from rl_pipeline.report.views.checkpoints import checkpoint_section
from rl_pipeline.report.views.comparison import comparison_section
from rl_pipeline.report.views.engine_analysis import engine_section
from rl_pipeline.report.views.engines import engine_load_view
from rl_pipeline.report.views.findings import findings_view
from rl_pipeline.report.views.inputs import inputs_view
from rl_pipeline.report.views.learning import learning_view
from rl_pipeline.report.views.lineage import lineage_section
from rl_pipeline.report.views.noise import noise_section
from rl_pipeline.report.views.populations import populations_section
from rl_pipeline.report.views.published import published_view
from rl_pipeline.report.views.section import SectionView
from rl_pipeline.report.views.time import time_section
from rl_pipeline.report.views.trend import trend_section
from rl_pipeline.report.views.trial_groups import trial_groups_section
from rl_pipeline.report.views.trials import trials_view


def metrics_report(
    result: ExperimentResult, frames: ExperimentFrames, provenance: Provenance, charts: Sequence[Chart]
) -> str:
    """The Markdown report of one experiment."""
    published = result.published
    return render_markdown(
        "metrics_report.md",
        experiment=frames.experiment,
        published=published_view(published),
        engine_load=engine_load_view(published.engines),
        trials=trials_view(published.trials),
        findings=findings_view(result.findings, result.verdict),
        learning=learning_view(result.findings, result.trend.reward),
        sections=sections(result),
        charts=charts,
        inputs=inputs_view(provenance),
    )


def sections(result: ExperimentResult) -> tuple[SectionView, ...]:
    """The sections that the published report lacks, in their order; results that were not made are left out."""
    made = (
        lineage_section(result.lineage, result.replays),
        populations_section(result.populations),
        time_section(result.time),
        trend_section(result.trend),
        noise_section(result.noise, result.levels),
        trial_groups_section(result.trials, result.tasks),
        comparison_section(result.comparison),
        engine_section(result.engines),
        checkpoint_section(result.checkpoints),
    )
    return tuple(entry for entry in made if entry is not None)
