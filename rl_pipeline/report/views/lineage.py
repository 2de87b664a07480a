"""How the links chain: starts, ends, steps thrown away, holes, replayed prompts."""

from __future__ import annotations

from rl_pipeline.analysis.lineage import Lineage
from rl_pipeline.analysis.replayed_prompts import ReplayCheck
from rl_pipeline.report.formatting import ABSENT, count, duration, fixed, moment, span, thousands
from rl_pipeline.report.views.section import Block, SectionView, section, sentence
from rl_pipeline.report.views.table import table
from rl_pipeline.wording import plural


def lineage_section(lineage: Lineage, replays: ReplayCheck) -> SectionView | None:
    """None without a job."""
    if not lineage.links:
        return None
    blocks = (_links(lineage), _endings(lineage), _thrown_away(lineage), _missing(lineage), _replays(replays))
    return section("How the Jobs Chain", blocks)


def _links(lineage: Lineage) -> Block:
    rows = (
        (
            link.name,
            link.start,
            count(link.restored_step),
            f"{link.first_step}–{link.last_step}" if link.first_step is not None else "none",
            count(link.rows),
            moment(link.started_at, link.zone),
            span(link.started_at, link.ended_at),
            link.start_evidence,
        )
        for link in lineage.links
    )
    steps = (
        f"{plural(lineage.rows, 'row')}, {plural(lineage.distinct_steps, 'distinct step')} "
        f"({count(lineage.first_step)}–{count(lineage.last_step)}); order by {lineage.order_evidence}."
    )
    return Block(
        table=table(
            "Link | Start | Restored Step | Steps | Rows | First Line at | Log Spans | Evidence", rows, words=2
        ),
        notes=(steps, *(sentence(note) for note in lineage.notes)),
    )


def _endings(lineage: Lineage) -> Block | None:
    if not lineage.endings:
        return None
    rows = (
        (end.job, end.state.replace("_", " "), count(end.line), end.evidence or ABSENT, end.crash or ABSENT)
        for end in lineage.endings
    )
    deaths = tuple(
        f"The same death in {', '.join(death.jobs)}: {sentence(death.signature)}" for death in lineage.repeated_deaths
    )
    return Block(
        heading="How Each Link Ended", table=table("Link | End | Line | Evidence | Crash", rows, words=2), notes=deaths
    )


def _thrown_away(lineage: Lineage) -> Block | None:
    if not lineage.thrown_away:
        return None
    rows = (
        (
            count(step.global_step),
            step.job,
            fixed(step.reward, 4),
            fixed(step.seconds, 1),
            step.kept_job or ABSENT,
            fixed(step.kept_reward, 4),
            fixed(step.kept_seconds, 1),
        )
        for step in lineage.thrown_away
    )
    lost = (
        f"{plural(len(lineage.thrown_away), 'step')} trained and thrown away: "
        f"{duration(lineage.thrown_away_seconds)} of step time, "
        f"{thousands(_whole(lineage.thrown_away_samples))} samples. "
        "The link that went on counts; both values are shown."
    )
    titles = "Step | Thrown Away in | Reward | Step Time (s) | Kept in | Kept Reward | Kept Step Time (s)"
    return Block(heading="Steps Thrown Away", table=table(titles, rows, words=0), notes=(lost,))


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _missing(lineage: Lineage) -> Block | None:
    notes = [
        f"Steps {gap.first_step}–{gap.last_step} have no block: {sentence(gap.explanation)}" for gap in lineage.gaps
    ]
    notes += [
        f"Step {lost.global_step} of {lost.job} ({'lost block' if lost.finished else 'cut off with the job'}): "
        f"{sentence(lost.evidence)}"
        for lost in lineage.lost_blocks
    ]
    notes += [f"{link.name} trained no step." for link in lineage.stepless]
    notes += [
        f"{pair.first} and {pair.second} ran at once for {duration(pair.seconds)}"
        + (", and both trained." if pair.both_trained else ".")
        for pair in lineage.concurrent
    ]
    notes += [f"{job}: step {step} stands after a later one." for job, step in lineage.disordered]
    return Block(heading="Holes and Overlaps", notes=tuple(notes)) if notes else None


def _replays(check: ReplayCheck) -> Block | None:
    if not check.replayed:
        return None
    rows = (
        (
            count(step.global_step),
            step.job,
            fixed(step.pass_at_k, 4),
            count(step.groups),
            ", ".join(f"{solved}/{distinct}" for solved, distinct in step.fits),
            count(step.repeats_at_least),
            "yes" if step.first_after_start else "no",
        )
        for step in check.replayed
    )
    note = (
        f"{check.fitting} of {check.checked} rows fit their number of groups; the rows above fit only a smaller one, "
        "so their batch held repeated prompts."
    )
    titles = "Step | Link | pass@k | Groups | Fits | Repeats at Least | First after a Start"
    return Block(heading="Replayed Prompts", table=table(titles, rows, words=0), notes=(note,))
