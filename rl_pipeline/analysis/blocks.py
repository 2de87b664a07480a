"""Training steps as rows: the metric blocks of one step of one job, merged.

In: `step_metrics` (long, one row per block and metric) and `rollout_batches`.
Out: `TrainingRows`, one row per step that a job trained, one column per metric.

A step can be printed more than once: upstream's fully-async trainer prints its metrics and its
timings as two blocks, and the mirror line repeats the block at full precision. Those are one row;
where values compete the most precise source wins. A step that another job trained again stays a
row of its own, and so does one that the same job trained again after a requeue: a second training
block from the same source with other values opens a new *attempt*. An exact copy (two Ray nodes on
one host print every line twice) does not. Blocks of evaluations and blocks that were cut off make
no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.remembering import remembered
from rl_pipeline.schema import BELOW_RESOLUTION, CONSOLE, JSONL, MIRROR, TIMING, TRAIN

# Full precision first; the console prints four decimals.
PRECISION = {MIRROR: 0, JSONL: 1, CONSOLE: 2}
KEYS = ["job", "attempt", "step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRows:
    """Steps in chain order; the three frames share their index, one entry per row.

    Attributes:
        keys: columns job, attempt (from 0 in each job), step, line (of the first block).
        values: one float column per metric in the order of its first appearance, NaN where the
            block does not have it or it is not a finite number; units as in the metric catalogue.
        below_resolution: same shape, true where the number was printed as 0.0000.
    """

    keys: pd.DataFrame
    values: pd.DataFrame
    below_resolution: pd.DataFrame

    def of_job(self, job: str) -> TrainingRows:
        """The rows of one job."""
        here = self.keys["job"] == job
        return TrainingRows(
            keys=self.keys[here], values=self.values[here], below_resolution=self.below_resolution[here]
        )

    def column(self, metric: str) -> pd.Series[float]:
        """Values of one metric over the rows; all NaN when it was never logged."""
        if metric in self.values.columns:
            return self.values[metric]
        return pd.Series(np.nan, index=self.values.index, dtype="float64")


def training_rows(step_metrics: pd.DataFrame, jobs: Iterable[str]) -> TrainingRows:
    """Merge blocks into steps.

    Args:
        step_metrics: the table of that name, rows of a block in printed order; not to be changed afterwards, because
            what was merged is remembered: an analysis asks for the same rows again and again.
        jobs: short names in chain order; blocks of other jobs are left out.
    """
    return _training_rows(step_metrics, tuple(jobs))


@remembered
def _training_rows(step_metrics: pd.DataFrame, jobs: tuple[str, ...]) -> TrainingRows:
    order = {job: place for place, job in enumerate(jobs)}
    wanted = step_metrics["kind"].isin([TRAIN, TIMING]) & step_metrics["global_step"].notna()
    cells = step_metrics[wanted & step_metrics["job"].isin(list(order))].copy()
    cells["step"] = cells["global_step"].astype("int64")
    cells["place"] = cells["job"].map(order).astype("int64")
    cells = cells.sort_values(["place", "block"], kind="stable")
    cells = _with_attempts(cells)
    metrics = list(dict.fromkeys(cells["metric"]))
    rows = _row_keys(cells)
    best = _most_precise(cells)
    values = _wide(best, "value", rows, metrics).astype("float64")
    below = _wide(best.assign(below=best["state"] == BELOW_RESOLUTION), "below", rows, metrics)
    keys = rows.drop(columns="place")
    return TrainingRows(keys=keys, values=values, below_resolution=below.eq(True))


def _with_attempts(cells: pd.DataFrame) -> pd.DataFrame:
    """Add the column `attempt`; drop blocks that no training block of their step and attempt backs."""
    blocks = cells.drop_duplicates(["job", "block"])
    attempts = dict(_attempts(cells, blocks))
    numbers = [attempts[key] for key in zip(cells["job"], cells["block"], strict=True)]
    cells = cells.assign(attempt=np.asarray(numbers, dtype="int64"))
    backed = cells[cells["kind"] == TRAIN].drop_duplicates(KEYS)[KEYS]
    return cells.merge(backed, on=KEYS, how="inner")


def _attempts(cells: pd.DataFrame, blocks: pd.DataFrame) -> Iterator[tuple[tuple[str, int], int]]:
    """((job, block), attempt) for every block, in the order of the blocks."""
    repeated = set(_repeated_steps(blocks))
    contents = _contents(cells, repeated)
    seen: dict[tuple[str, int, int, str], frozenset[tuple[str, float, str]]] = {}
    current: dict[str, int] = {}
    for job, block, step, kind, source in blocks[["job", "block", "step", "kind", "source"]].itertuples(index=False):
        attempt = current.setdefault(job, 0)
        if kind == TRAIN and (job, step, source) in repeated:
            content = contents[job, block]
            if seen.get((job, attempt, step, source), content) != content:
                attempt = current[job] = attempt + 1
            seen[job, attempt, step, source] = content
        yield (job, block), attempt


def _repeated_steps(blocks: pd.DataFrame) -> Iterator[tuple[str, int, str]]:
    """(job, step, source) printed by more than one training block."""
    train = blocks[blocks["kind"] == TRAIN]
    again = train[train.duplicated(["job", "step", "source"], keep=False)]
    yield from again[["job", "step", "source"]].itertuples(index=False, name=None)


def _contents(
    cells: pd.DataFrame, repeated: set[tuple[str, int, str]]
) -> dict[tuple[str, int], frozenset[tuple[str, float, str]]]:
    """What the blocks of repeated steps say, to tell a copy from a step that was trained again."""
    keys = zip(cells["job"], cells["step"], cells["source"], strict=True)
    some = cells[np.fromiter((key in repeated for key in keys), dtype="bool", count=len(cells))]
    contents: dict[tuple[str, int], set[tuple[str, float, str]]] = {}
    columns = (some["job"], some["block"], some["metric"], some["value"].fillna(np.inf), some["state"])
    for job, block, metric, value, state in zip(*columns, strict=True):
        contents.setdefault((job, block), set()).add((metric, value, state))
    return {key: frozenset(content) for key, content in contents.items()}


def _row_keys(cells: pd.DataFrame) -> pd.DataFrame:
    """One entry per step in the order in which the steps were printed."""
    rows = cells.drop_duplicates(KEYS)[["place", *KEYS, "line"]]
    return rows.sort_values(["place", "line"], kind="stable").reset_index(drop=True)


def _most_precise(cells: pd.DataFrame) -> pd.DataFrame:
    """One cell per row and metric: a number before none, then full precision, then the last printed."""
    rank = cells["source"].map(PRECISION).fillna(len(PRECISION))
    ranked = cells.assign(missing=cells["value"].isna(), rank=rank, recent=-cells["block"])
    ranked = ranked.sort_values(["missing", "rank", "recent"], kind="stable")
    return ranked.drop_duplicates([*KEYS, "metric"])


def _wide(cells: pd.DataFrame, column: str, rows: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Pivot one column of the cells to rows × metrics."""
    wide = cells.set_index([*KEYS, "metric"])[column].unstack("metric")
    index = pd.MultiIndex.from_frame(rows[KEYS])
    return wide.reindex(index=index, columns=metrics).reset_index(drop=True)
