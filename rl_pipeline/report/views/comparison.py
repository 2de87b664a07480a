"""Differences between the jobs of the chain, and why they are not a contest."""

from __future__ import annotations

from collections.abc import Sequence

from rl_pipeline.analysis.comparison import Difference
from rl_pipeline.analysis.estimates import Estimate
from rl_pipeline.analysis.job_comparison import JobMeans
from rl_pipeline.report.formatting import ABSENT, count, fixed, interval, p_value, signed
from rl_pipeline.report.views.section import Block, SectionView, section, sentence
from rl_pipeline.report.views.table import table


def comparison_section(compared_quantities: Sequence[JobMeans]) -> SectionView | None:
    """None with fewer than two jobs to compare."""
    compared = [entry for entry in compared_quantities if entry.differences]
    if not compared:
        return None
    caveats = tuple(dict.fromkeys(sentence(entry.caveat) for entry in compared))
    note = (
        "Intervals of differences by bootstrap, p by permutation, corrected after Holm within each quantity. "
        "δ is Cliff's delta: how much more often one job's value lies above the other's than below."
    )
    return section(
        "Differences between the Jobs", (*(_quantity(entry) for entry in compared), Block(notes=(note, *caveats)))
    )


def _quantity(entry: JobMeans) -> Block:
    digits = 1 if entry.unit in {"s", "tokens"} else 4
    rows = [_difference(difference, digits) for difference in entry.differences]
    means = tuple(f"{job}: {_mean(mean, digits)}" for job, mean in entry.means.items())
    titles = "Pair | Difference of Means | 95 % Interval | p | p (Holm) | δ | n"
    return Block(
        heading=f"{entry.quantity.capitalize()} ({_unit(entry.unit)}), {entry.population}",
        table=table(titles, rows),
        notes=means,
    )


def _unit(unit: str) -> str:
    return "no unit" if unit == "1" else unit


def _difference(difference: Difference, digits: int) -> tuple[str, ...]:
    mean = difference.mean_difference
    return (
        f"{difference.a} − {difference.b}",
        signed(mean.value, digits),
        interval(mean.lower, mean.upper, digits),
        p_value(difference.permutation_p),
        p_value(difference.holm_p),
        signed(difference.cliffs_delta, 2),
        f"{count(difference.n_a)} / {count(difference.n_b)}",
    )


def _mean(mean: Estimate, digits: int) -> str:
    if mean.value is None:
        return f"{ABSENT} ({mean.reason or 'not measurable'})"
    bounds = interval(mean.lower, mean.upper, digits)
    return f"{fixed(mean.value, digits)} {'' if bounds == ABSENT else bounds} (n = {mean.n})"
