"""Trials by exception class, by outcome and by task."""

from __future__ import annotations

from rl_pipeline.analysis.task_changes import TaskChanges
from rl_pipeline.analysis.trial_analysis import TrialAnalysis
from rl_pipeline.report.formatting import count, fixed, interval, p_equals, percent
from rl_pipeline.report.views.section import Block, SectionView, not_measurable, section
from rl_pipeline.report.views.table import table
from rl_pipeline.wording import plural


def trial_groups_section(trials: TrialAnalysis, tasks: TaskChanges) -> SectionView | None:
    """Classes, outcomes, tasks; None without trials."""
    if not trials.trials:
        return None
    return section("Trials by Class and Task", [_classes(trials), _outcomes(trials), _tasks(trials), _changes(tasks)])


def _classes(trials: TrialAnalysis) -> Block:
    rows = [
        (
            entry.exception_class.replace("_", " "),
            count(entry.trials),
            percent(entry.share.value, 2),
            f"{percent(entry.share.lower, 2)} – {percent(entry.share.upper, 2)}",
        )
        for entry in trials.classes
    ]
    rows.append(
        ("no exception", count(trials.without_exception), percent(trials.without_exception / trials.trials, 2), "")
    )
    note = f"Of {count(trials.trials)} training trials; intervals as if trials were independent (Wilson)."
    return Block(
        heading="Exception Classes", table=table("Class | Trials | Share | 95 % Interval", rows), notes=(note,)
    )


def _outcomes(trials: TrialAnalysis) -> Block:
    rows = (
        (
            entry.outcome,
            count(entry.trials),
            fixed(entry.turns.mean, 1),
            fixed(entry.output_tokens.mean, 0),
            fixed(entry.agent_seconds.mean, 1),
        )
        for entry in trials.outcomes
    )
    longer = trials.unscored_longer
    notes = (
        ()
        if longer is None
        else (
            f"Unscored trials take {fixed(longer, 2)} × the turns of scored ones; statistics over scored trials "
            "leave them out.",
        )
    )
    titles = "Outcome | Trials | Mean Turns | Mean Output Tokens | Mean Agent Time (s)"
    return Block(heading="Outcomes", table=table(titles, rows), notes=notes)


def _tasks(trials: TrialAnalysis) -> Block:
    split = trials.tasks
    if not split.tasks:
        return not_measurable("Tasks", split.reason)
    rate = split.solve_rate
    rows = (
        ("Tasks with scored trials", count(split.tasks)),
        ("Solved every time", count(split.always)),
        ("Never solved", count(split.never)),
        ("Both", count(split.mixed)),
        ("Scored trials per task, mean", fixed(split.trials_per_task, 1)),
        ("Solve rate, tasks resampled", f"{fixed(rate.value, 3)} {interval(rate.lower, rate.upper, 3)}"),
    )
    return Block(heading="Tasks", table=table("Tasks | Value", rows))


def _changes(tasks: TaskChanges) -> Block:
    heading = "Tasks over the Run"
    if tasks.reason is not None or not tasks.changes:
        return not_measurable(heading, tasks.reason)
    notes = (
        f"{plural(len(tasks.changes), 'task')} with attempts in the first and the last third: "
        f"{len(tasks.newly_solved)} newly solved, {len(tasks.no_longer_solved)} no longer solved, "
        f"mean gain {fixed(tasks.net_gain, 3)} ({p_equals(tasks.paired_p)}, signed ranks over tasks).",
    )
    return Block(heading=heading, notes=notes)
