"""The published tables as text: titles and number formats as published, the truer number in further columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rl_pipeline.analysis.published_rows import Category, MetricSummary, OverviewRow, PublishedTables
from rl_pipeline.report.formatting import count, fixed, percent, published_percent, significant, thousands
from rl_pipeline.report.views.table import TableView, table
from rl_pipeline.wording import plural

UPDATE_STEPS = "policy/policy_update_steps"
LOG_RATIO = "policy/log_ratio_abs_"
REWARD, REWARD_ALIAS = "reward/avg_raw_reward", "loss/avg_final_rewards"
SHORTEST = "generate/min_num_tokens"
MASKED = "batch_errors/total_masked"
LOSS, KL = "policy/final_loss", "policy/policy_kl"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryView:
    """One table of metrics, with the sentences that its numbers need."""

    title: str
    table: TableView
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressionView:
    """The steps of one job."""

    job: str
    table: TableView


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedView:
    """The log part of the published layout."""

    log_files: int
    overview: TableView
    overview_notes: tuple[str, ...]
    categories: tuple[CategoryView, ...]
    progression: tuple[ProgressionView, ...]
    progression_notes: tuple[str, ...]
    timing: TableView | None
    cross_log: TableView | None


def published_view(tables: PublishedTables) -> PublishedView:
    """All tables that come from logs, engines apart."""
    summaries = {metric.metric: metric for category in tables.categories for metric in category.metrics}
    passed = pass_title(tables)
    return PublishedView(
        log_files=tables.log_files,
        overview=_overview(tables.overview),
        overview_notes=_overview_notes(tables, summaries),
        categories=tuple(_category(category, summaries, tables.rows) for category in tables.categories),
        progression=_progression(tables, passed),
        progression_notes=_progression_notes(tables, summaries),
        timing=_timing(tables) if tables.timing_breakdown else None,
        cross_log=_cross_log(tables, passed) if len(tables.cross_log) > 1 else None,
    )


def pass_title(tables: PublishedTables) -> str:
    """The column title with the k that was logged."""
    return f"Pass@{tables.pass_k or 'k'}"


def _overview(rows: tuple[OverviewRow, ...]) -> TableView:
    titles = "Log File | Total Steps | Metric Blocks | Final Reward (mean) | Final Reward (max) | Total Time (s)"
    return table(
        f"{titles} | Steps Trained Here | Reward of Last Step | Step of Best Reward",
        (
            (
                row.job,
                count(row.total_steps),
                count(row.metric_blocks),
                fixed(row.final_reward_mean, 4),
                fixed(row.final_reward_max, 4),
                fixed(row.total_time_s, 1),
                _trained(row),
                fixed(row.last_reward, 4),
                count(row.best_step),
            )
            for row in rows
        ),
    )


def _trained(row: OverviewRow) -> str:
    if row.first_step is None or row.total_steps is None:
        return "none"
    return f"{row.steps} ({row.first_step}–{row.total_steps})"


def _overview_notes(tables: PublishedTables, summaries: Mapping[str, MetricSummary]) -> tuple[str, ...]:
    notes = [
        "Total Steps is the largest global step in the log, not how many were trained there. "
        f"All logs together: {plural(tables.rows, 'metric block')} of {plural(tables.distinct_steps, 'distinct step')}"
        + (f"; {again} trained more than once." if (again := tables.rows - tables.distinct_steps) else "."),
        "Final Reward (mean) is the mean over all steps of the log and Final Reward (max) its best step; "
        "the reward at the end is Reward of Last Step.",
        "Total Time adds up the step timer. Queueing, start-up, loading and spans outside the step are not in it.",
    ]
    masked = summaries.get(MASKED)
    if masked is not None and masked.max > 0:
        notes.append(
            "In this trainer a masked sample enters the mean reward as 0, "
            "so these rewards are lower than the success rate of scored trials below."
        )
    return tuple(notes)


def _category(category: Category, summaries: Mapping[str, MetricSummary], rows: int) -> CategoryView:
    is_errors = category.name == "batch_errors"
    has_vanished = any(metric.below_resolution for metric in category.metrics)
    extra = " | Mean (absent = 0)" if is_errors else " | Printed as 0.0000" if has_vanished else ""
    cells = []
    for metric in category.metrics:
        numbers = (metric.mean, metric.std, metric.min, metric.max)
        row = [metric.metric, *(significant(number) for number in numbers), count(metric.count)]
        if is_errors:
            row.append(significant(metric.mean if metric.mean_over_all is None else metric.mean_over_all))
        elif has_vanished:
            row.append(f"{metric.below_resolution} of {metric.count}" if metric.below_resolution else "")
        cells.append(row)
    return CategoryView(
        title=f"{category.name.title()} Metrics",
        table=table(f"Metric | Mean | Std | Min | Max | Count{extra}", cells),
        notes=_category_notes(category.name, summaries, rows),
    )


def _category_notes(name: str, summaries: Mapping[str, MetricSummary], rows: int) -> tuple[str, ...]:
    makers = {
        "policy": _policy_notes,
        "loss": _loss_notes,
        "generate": _generate_notes,
        "timing": _timing_notes,
        "batch_errors": _batch_error_notes,
    }
    return makers[name](summaries, rows) if name in makers else ()


def _policy_notes(summaries: Mapping[str, MetricSummary], _: int) -> tuple[str, ...]:
    updates = summaries.get(UPDATE_STEPS)
    ratios = [metric for name, metric in summaries.items() if name.startswith(LOG_RATIO)]
    if updates and updates.min == updates.max == 1 and ratios and all(metric.max == 0 for metric in ratios):
        return (
            "With one update per batch the new and the old log-probabilities are the same by construction: "
            "the zeros of log_ratio, clip ratio and n_tokens_dp say nothing about how far off-policy the samples are. "
            "Staleness does.",
        )
    return ()


def _loss_notes(summaries: Mapping[str, MetricSummary], _: int) -> tuple[str, ...]:
    first, second = summaries.get(REWARD_ALIAS), summaries.get(REWARD)
    if (
        first
        and second
        and (first.mean, first.std, first.min, first.max)
        == (
            second.mean,
            second.std,
            second.min,
            second.max,
        )
    ):
        return (f"{REWARD_ALIAS} and {REWARD} are one series under two names.",)
    return ()


def _generate_notes(summaries: Mapping[str, MetricSummary], _: int) -> tuple[str, ...]:
    shortest = summaries.get(SHORTEST)
    if shortest and shortest.min == shortest.max == 1:
        return (
            "The shortest sample has one token in every step: placeholders of trials without a result. "
            "They are in the averages, which are too low for real samples, most of all for those without reward.",
        )
    return ()


def _timing_notes(summaries: Mapping[str, MetricSummary], rows: int) -> tuple[str, ...]:
    partial = [m.metric for name, m in summaries.items() if name.startswith("timing/") and m.count < rows]
    notes = ["Seconds. Timers are nested, so they do not add up to the step."]
    if partial:
        notes.append(f"Means over the steps that have the timer only: {', '.join(partial)}.")
    return tuple(notes)


def _batch_error_notes(_: Mapping[str, MetricSummary], rows: int) -> tuple[str, ...]:
    return (
        "Batches are booked to the last step text before them. Generation runs ahead of training, "
        "so this is when they were generated, not the step that used them.",
        "total_failed counts groups (prompts) with at least one failed trial, not trials; "
        "total_successful counts trials that ended without a counted error, whatever their reward.",
        f"Mean, Std, Min, Max of an exception type are over the blocks where it occurs (Count of {rows}); "
        "the last column counts the other blocks as 0. avg is per batch, total per block.",
        "Lines that Ray folded away are not counted, and errors whose trial still got its verifier's reward "
        "never reach these lines: the trial files below are the complete count.",
    )


def _progression(tables: PublishedTables, passed: str) -> tuple[ProgressionView, ...]:
    titles = f"Step | Reward | {passed} | KL | Loss | Step Time (s) | Gen Wait (s) | Policy Loss"
    views = []
    for job in tables.progression:
        rows = (
            (
                count(row.step),
                fixed(row.reward, 4),
                fixed(row.pass_at_k, 4),
                fixed(row.kl, 6),
                fixed(row.loss, 4),
                fixed(row.step_time_s, 1),
                fixed(row.gen_wait_s, 1),
                fixed(row.policy_loss, 4),
            )
            for row in job.rows
        )
        views.append(ProgressionView(job=job.job, table=table(titles, rows, words=0)))
    return tuple(views)


def _progression_notes(tables: PublishedTables, summaries: Mapping[str, MetricSummary]) -> tuple[str, ...]:
    notes = []
    if KL not in summaries:
        notes.append(f"KL: {KL} is not logged in this run.")
    loss = summaries.get(LOSS)
    if loss:
        vanished = sum(
            1 for job in tables.progression for row in job.rows if row.loss is not None and _vanishes(row.loss)
        )
        notes.append(
            f"Loss is {LOSS}" + (f"; it is 0 at four decimals in {vanished} of {loss.count} rows." if vanished else ".")
        )
    return tuple(notes)


def _vanishes(value: float) -> bool:
    return float(f"{value:.4f}") == 0.0


def _timing(tables: PublishedTables) -> TableView:
    return table(
        "Component | Avg % of Step Time | Share of Summed Step Time | Seconds | Steps",
        (
            (
                share.name,
                published_percent(share.mean_of_ratios),
                percent(share.ratio_of_sums),
                fixed(share.seconds, 1),
                count(share.count),
            )
            for share in tables.timing_breakdown
        ),
    )


def _cross_log(tables: PublishedTables, passed: str) -> TableView:
    return table(
        f"Log | Avg Reward | {passed} | Step Time (s) | Gen Wait Time (s) | Avg Tokens | Staleness",
        (
            (
                row.job,
                fixed(row.avg_reward, 4),
                fixed(row.pass_at_k, 4),
                fixed(row.step_time_s, 4),
                fixed(row.gen_wait_time_s, 4),
                fixed(row.avg_tokens, 4),
                fixed(row.staleness, 4),
            )
            for row in tables.cross_log
        ),
    )


def headline_share(tables: PublishedTables, name: str) -> str:
    """The share of summed step time of one timer, for sentences."""
    return next((percent(share.ratio_of_sums) for share in tables.timing_breakdown if share.name == name), "—")


def rows_in_words(tables: PublishedTables) -> str:
    """How many rows the category tables stand on."""
    return thousands(tables.rows)
