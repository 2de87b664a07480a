"""Is the load spread evenly over the engines of a job?

Ten-minute bins on the hour; the mean of running requests and of generated tokens/s per engine with enough
lines in the bin; the largest ÷ the smallest of them. One uneven bin is chance; consecutive bins with the same
engine at the same end are not. Where most lines were folded away, the printed ones name whichever engine
spoke last, and nothing can be said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import pandas as pd

from rl_pipeline.analysis.thresholds import Thresholds

BIN = "10min"
BIN_MINUTES = 10
BIN_KEYS = ["job", "bin"]
QUANTITIES = {"running": "running requests", "generation_throughput": "generated tokens/s"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnevenBin:
    """One bin whose engines differ by more than the threshold; `ratio` is infinite when one had nothing."""

    job: str
    started_at: datetime
    quantity: str
    lowest_engine: str
    lowest: float
    highest_engine: str
    highest: float
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance:
    """Bins that could be compared, the uneven ones, and the longest run of them with one engine at one end."""

    measurable: bool
    reason: str
    bins: int
    uneven: tuple[UnevenBin, ...]
    longest_run: tuple[UnevenBin, ...]


def imbalance_of(rows: pd.DataFrame, folded_share: float | None, thresholds: Thresholds) -> Imbalance:
    """Compare the engines of every job bin by bin; `rows` are engine lines of `vllm_stats`."""
    reason = _obstacle(rows, folded_share, thresholds)
    if reason:
        return Imbalance(measurable=False, reason=reason, bins=0, uneven=(), longest_run=())
    means = _bin_means(rows, thresholds.count("R40", "bin_lines"))
    ends = {name: _ends(means, name) for name in QUANTITIES}
    bins = {key for found in ends.values() for key in zip(found["job"], found["bin"], strict=True)}
    if not bins:
        reason = "no ten minutes with enough lines of two engines"
        return Imbalance(measurable=False, reason=reason, bins=0, uneven=(), longest_run=())
    limit = thresholds.value("R40", "imbalance")
    uneven = tuple(uneven for name, found in ends.items() for uneven in _uneven(found, name, limit))
    runs = list(_runs(uneven))
    longest = max(runs, key=len, default=())
    return Imbalance(measurable=True, reason="", bins=len(bins), uneven=uneven, longest_run=longest)


def _obstacle(rows: pd.DataFrame, folded_share: float | None, thresholds: Thresholds) -> str:
    timed = rows[rows["logged_at"].notna()]
    if timed.empty:
        return "no engine lines with a time"
    if folded_share is not None and folded_share > thresholds.value("R40", "folded_share"):
        return f"{100 * folded_share:.0f} % of the engine lines were folded away, and with them whose numbers they were"
    if (timed.groupby("job")[["pid", "ip"]].apply(lambda part: len(part.drop_duplicates())) < 2).all():
        return "no job with two engines that can be told apart"
    return ""


def _bin_means(rows: pd.DataFrame, bin_lines: int) -> pd.DataFrame:
    timed = rows[rows["logged_at"].notna()]
    label = timed["pid"].astype("string").fillna("?") + "@" + timed["ip"].fillna("driver node").astype("string")
    index = timed["engine_index"].astype("string").fillna("")
    frame = pd.DataFrame(
        {
            "job": timed["job"],
            "bin": timed["logged_at"].dt.floor(BIN),
            "engine": (label + "/" + index).str.rstrip("/"),
            **{name: timed[name].astype("float64") for name in QUANTITIES},
        }
    )
    grouped = frame.groupby(["job", "bin", "engine"], sort=True)
    means = grouped[list(QUANTITIES)].mean()
    return means[grouped.size() >= bin_lines].reset_index()


def _ends(means: pd.DataFrame, name: str) -> pd.DataFrame:
    """Lowest and highest engine of every bin with two or more: job, bin, engine_low, low, engine_high, high."""
    known = means[means[name].notna()].sort_values([*BIN_KEYS, name], kind="stable")
    columns = {"engine": "engine", name: "mean"}
    groups = known.rename(columns=columns).groupby(BIN_KEYS, sort=True)[["engine", "mean"]]
    ends = groups.first().add_suffix("_low").join(groups.last().add_suffix("_high"))
    return ends[groups.size() > 1].reset_index()


def _uneven(ends: pd.DataFrame, name: str, limit: float) -> Iterator[UnevenBin]:
    for row in ends[ends["mean_high"] > limit * ends["mean_low"]].to_dict("records"):
        low, high = float(row["mean_low"]), float(row["mean_high"])
        yield UnevenBin(
            job=str(row["job"]),
            started_at=row["bin"].to_pydatetime(),
            quantity=QUANTITIES[name],
            lowest_engine=str(row["engine_low"]),
            lowest=low,
            highest_engine=str(row["engine_high"]),
            highest=high,
            ratio=high / low if low > 0 else float("inf"),
        )


def _runs(uneven: tuple[UnevenBin, ...]) -> Iterator[tuple[UnevenBin, ...]]:
    """Consecutive uneven bins of one quantity with the same engine lowest, or the same highest."""
    for end in ("lowest_engine", "highest_engine"):

        def identity(found: UnevenBin, end: str = end) -> tuple[str, str, str]:
            return found.job, found.quantity, getattr(found, end)

        for _, same in groupby(sorted(uneven, key=lambda found: (identity(found), found.started_at)), key=identity):
            yield from _consecutive(list(same))


def _consecutive(bins: list[UnevenBin]) -> Iterator[tuple[UnevenBin, ...]]:
    run: list[UnevenBin] = []
    for found in bins:
        if run and (found.started_at - run[-1].started_at).total_seconds() > BIN_MINUTES * 60:
            yield tuple(run)
            run = []
        run.append(found)
    if run:
        yield tuple(run)
