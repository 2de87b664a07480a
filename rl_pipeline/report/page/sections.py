"""The sections of the page: which pictures and which tables belong together, in which order.

Tables are the views of the Markdown report, so both say the same words about the same numbers. A section
with nothing to show is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.report.formatting import percent
from rl_pipeline.report.page.figures import FigureView, figures
from rl_pipeline.report.page.headings import jobs_heading, stability_heading
from rl_pipeline.report.page.pictures import Picture
from rl_pipeline.report.page.time_tree import TreeRow, time_tree, tree_note
from rl_pipeline.report.views.checkpoints import checkpoint_section
from rl_pipeline.report.views.comparison import comparison_section
from rl_pipeline.report.views.engine_analysis import engine_section
from rl_pipeline.report.views.lineage import lineage_section
from rl_pipeline.report.views.noise import noise_section
from rl_pipeline.report.views.populations import populations_section
from rl_pipeline.report.views.section import Block, SectionView
from rl_pipeline.report.views.table import TableView, table
from rl_pipeline.report.views.time import time_section
from rl_pipeline.report.views.trend import trend_section
from rl_pipeline.report.views.trial_groups import trial_groups_section
from rl_pipeline.report.views.trials import trials_view
from rl_pipeline.wording import plural

NAMES_SHOWN, MOST_ROWS = 60, 150
TRIAL_PICTURES = (
    "outcomes_over_time",
    "failures_over_time",
    "errors_by_step",
    "tasks",
    "solve_rate_by_context",
    "tokens",
    "durations",
    "turns",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """One section.

    Attributes:
        id: its anchor.
        label: its short name.
        heading: what is seen.
        first_is_titled: whether the first picture keeps its own title, since the heading says something else.
        figures: pictures.
        blocks: tables and sentences behind them, folded.
        tree: rows of the time tree; empty in other sections.
        tree_note: what they are over.
        missing: quantities that were not logged, in words.
    """

    id: str
    label: str
    heading: str
    figures: tuple[FigureView, ...]
    blocks: tuple[Block, ...] = ()
    tree: tuple[TreeRow, ...] = ()
    tree_note: str = ""
    missing: tuple[str, ...] = ()
    first_is_titled: bool = False


def page_sections(
    result: ExperimentResult, data: ChartData, pictures: Mapping[str, Picture]
) -> tuple[PageSection, ...]:
    """All sections that have something to show."""
    pass_at = data.pass_at_k.name.replace("@", "_at_") if data.pass_at_k else ""
    made = (
        _section("timeline", "Timeline", pictures, ["timeline"], [lineage_section(result.lineage, result.replays)]),
        _section(
            "reward",
            "Reward",
            pictures,
            ["reward", pass_at],
            [
                populations_section(result.populations),
                trend_section(result.trend),
                noise_section(result.noise, result.levels),
            ],
        ),
        _section(
            "time",
            "Time",
            pictures,
            ["step_time", "waterfall"],
            [time_section(result.time)],
            timed=result,
        ),
        _section(
            "engines",
            "Engines",
            pictures,
            ["engine_load", "engine_map"],
            [engine_section(result.engines)],
        ),
        _section(
            "trials",
            "Trials",
            pictures,
            TRIAL_PICTURES,
            [trial_groups_section(result.trials, result.tasks)],
            more=[*_trial_blocks(result), *_task_blocks(data)],
        ),
        _section(
            "stability",
            "Stability",
            pictures,
            [curve.name.lower().replace(" ", "_") for curve in data.stability],
            [],
            heading=stability_heading(result.findings),
            missing=tuple(curve.name for curve in data.stability if curve.metric is None),
        ),
        _section(
            "jobs",
            "Jobs compared",
            pictures,
            ["jobs_*"],
            [comparison_section(result.comparison)],
            heading=jobs_heading(result.comparison),
        ),
        _section("checkpoints", "Checkpoints", pictures, ["checkpoints"], [checkpoint_section(result.checkpoints)]),
    )
    return tuple(section for section in made if section is not None)


def _tree_note(result: ExperimentResult) -> str:
    return tree_note(result.time.steps, rows=result.lineage.rows, that_count=result.lineage.distinct_steps)


def _section(
    anchor: str,
    label: str,
    pictures: Mapping[str, Picture],
    names: Sequence[str],
    views: Sequence[SectionView | None],
    *,
    more: Sequence[Block | None] = (),
    heading: str | None = None,
    timed: ExperimentResult | None = None,
    missing: tuple[str, ...] = (),
) -> PageSection | None:
    shown, tree = figures(pictures, names), () if timed is None else time_tree(timed.time.steps)
    blocks = [_titled(block, view.title) for view in views if view for block in view.blocks]
    if tree:  # the tree says it already
        blocks = [block for block in blocks if not (block.heading or "").startswith("The Step")]
    blocks += [block for block in more if block is not None]
    if not shown and not blocks:
        return None
    return PageSection(
        id=anchor,
        label=label,
        heading=heading or (shown[0].title if shown else label),
        first_is_titled=heading is not None,
        figures=shown,
        blocks=tuple(blocks),
        tree=tree,
        tree_note="" if timed is None else _tree_note(timed),
        missing=missing,
    )


def _titled(block: Block, title: str) -> Block:
    return Block(heading=block.heading or title, table=_cut(block.table), notes=(*block.notes, *_rest(block.table)))


def _cut(view: TableView | None) -> TableView | None:
    """The first rows of a very long table."""
    return view and TableView(columns=view.columns, rows=view.rows[:MOST_ROWS])


def _rest(view: TableView | None) -> tuple[str, ...]:
    if view is None or len(view.rows) <= MOST_ROWS:
        return ()
    return (f"The first {MOST_ROWS} of {len(view.rows):,} rows; all of them in metrics_report.md.",)


def _trial_blocks(result: ExperimentResult) -> list[Block]:
    view = trials_view(result.published.trials)
    if view is None:
        return []
    note = (
        f"{view.solved} solved and {view.unscored} unscored of {view.all_trials} trials: {view.solved_of_all} of all "
        f"are solved, at most {view.at_most} if every unscored one had been."
    )
    return [
        Block(heading="Exceptions", table=view.exceptions, notes=(note,)),
        Block(heading="Turns by Exception", table=view.turns_by_exception),
        Block(heading="Turns by Outcome", table=view.turns_by_outcome),
    ]


def _task_blocks(data: ChartData) -> list[Block]:
    """Tasks that changed, by name."""
    changes = data.task_changes
    if changes is None or not changes.changes:
        return []
    rates = sorted(changes.changes, key=lambda change: (-abs(change.gain), change.task))[:NAMES_SHOWN]
    rows = (
        (
            change.task,
            percent(change.first_rate, 0),
            percent(change.last_rate, 0),
            f"{change.gain * 100:+.0f}",
            f"{change.first_attempts} / {change.last_attempts}",
            _became(change.first_rate, change.last_rate),
        )
        for change in rates
    )
    more = len(changes.changes) - len(rates)
    notes = [f"The {len(rates)} largest changes; {plural(more, 'further task')} in the Parquet tables."] if more else []
    titles = "Task | First Third | Last Third | Change (Points) | Scored Trials | Became"
    return [Block(heading="Tasks That Changed", table=table(titles, rows), notes=tuple(notes))]


def _became(first: float, last: float) -> str:
    if first == 0 < last:
        return "newly solved"
    return "no longer solved" if last == 0 < first else ""
