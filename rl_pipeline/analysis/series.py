"""The run as one series of steps, stitched from its links.

`all_rows` has every step of every link; `canonical_steps` has one row per global_step: the one that the
final weights descend from. A link that restored step r throws away everything its ancestors trained after
r, so a repeated step belongs to the later link, and steps beyond the restored one that nobody trained again
are gone as well. So are links from which no later one went on. Links without a training block change nothing.

Both give a wide frame: the columns `KEYS`, then one float column per metric (NaN where the step does not
have it; units as in the metric catalogue), then one text column `state:<metric>` each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from rl_pipeline.analysis.blocks import TrainingRows, training_rows
from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.links import Chain, Link, find_chain
from rl_pipeline.analysis.remembering import remembered
from rl_pipeline.schema import BELOW_RESOLUTION, CONSOLE, EVAL, MEASURED, NOT_FINITE, TEXT

# position: place of the row in its link, from 0.
KEYS = (
    "job", "attempt", "link", "global_step", "block", "line", "logged_at", "position", "is_warm_up", "canonical",
)  # fmt: skip
STATE_PREFIX = "state:"
WARM_UP_STEPS = 2
STEP_SECONDS = "timing/step"
WAIT_SECONDS = "timing/wait_for_generation_buffer"
REWARD = "reward/avg_raw_reward"


def all_rows(
    frames: ExperimentFrames, chain: Chain | None = None, *, warm_up_steps: int = WARM_UP_STEPS
) -> pd.DataFrame:
    """Every (link, step) row in chain order; `canonical` marks the ones whose weights went on."""
    jobs = tuple(str(job) for job in frames.jobs["job"])
    chain = chain or find_chain(frames, training_rows(frames.step_metrics, jobs))
    return _rows_of_links(frames.step_metrics, jobs, chain, warm_up_steps)


@remembered
def _rows_of_links(step_metrics: pd.DataFrame, jobs: tuple[str, ...], chain: Chain, warm_up_steps: int) -> pd.DataFrame:
    rows = training_rows(step_metrics, jobs)
    keys = _keys(rows, step_metrics, chain, warm_up_steps)
    states = _states(rows, step_metrics)
    wide = pd.concat([keys, rows.values, states], axis=1)
    return wide.sort_values(["link", "line", "global_step"], kind="stable").reset_index(drop=True)


def canonical_steps(
    frames: ExperimentFrames, chain: Chain | None = None, *, warm_up_steps: int = WARM_UP_STEPS
) -> pd.DataFrame:
    """One row per global_step, ascending: the link whose weights went on."""
    return canonical_of(all_rows(frames, chain, warm_up_steps=warm_up_steps))


@remembered
def canonical_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The canonical ones among `all_rows`, by ascending step."""
    kept = rows[rows["canonical"].astype(bool)]
    return kept.sort_values("global_step", kind="stable").reset_index(drop=True)


@remembered
def settled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without the warm-up steps of each link."""
    return rows[~rows["is_warm_up"].astype(bool)].reset_index(drop=True)


def values_of(rows: pd.DataFrame, metric: str) -> FloatArray:
    """Values of one metric, shape (rows,), NaN where missing; all NaN when it was never logged."""
    if metric not in rows.columns:
        return np.full(len(rows), np.nan)
    column = rows[metric]
    if column.dtype == np.float64:
        return column.to_numpy(copy=True)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def states_of(rows: pd.DataFrame, metric: str) -> list[str | None]:
    """State of the metric in each row (measured, below_resolution, not_finite, text); None where absent."""
    column = STATE_PREFIX + metric
    if column not in rows.columns:
        return [None] * len(rows)
    return [state if isinstance(state, str) else None for state in rows[column]]


def steps_of(rows: pd.DataFrame) -> npt.NDArray[np.int64]:
    """The global steps, shape (rows,)."""
    return rows["global_step"].to_numpy(dtype=np.int64)


def metric_names(rows: pd.DataFrame) -> list[str]:
    """Metrics of the frame in the order of their first appearance."""
    return [name for name in rows.columns if name not in KEYS and not name.startswith(STATE_PREFIX)]


def has_metric(rows: pd.DataFrame, metric: str) -> bool:
    """Whether any row holds a finite value of it."""
    return bool(np.isfinite(values_of(rows, metric)).any())


def first_logged(rows: pd.DataFrame, metrics: Sequence[str]) -> str | None:
    """The first of several names (an alias list) that the rows hold; None when none."""
    return next((metric for metric in metrics if has_metric(rows, metric)), None)


def sum_of(rows: pd.DataFrame, metric: str) -> float | None:
    """Sum of the finite values; None when there is none."""
    values = values_of(rows, metric)
    finite = values[np.isfinite(values)]
    return float(finite.sum()) if finite.size else None


def paired(rows: pd.DataFrame, x: str, y: str) -> tuple[FloatArray, FloatArray]:
    """Values of two metrics over the rows that have both."""
    first, second = values_of(rows, x), values_of(rows, y)
    both = np.isfinite(first) & np.isfinite(second)
    return first[both], second[both]


def eval_rows(frames: ExperimentFrames) -> pd.DataFrame:
    """Evaluation metrics, long: job, block, line, global_step (label of the block), metric, value, logged_at.

    They come from evaluation blocks and from `eval/` keys inside training blocks. Some trainer versions
    print an evaluation one step late; the label is what the block says.
    """
    cells = frames.step_metrics
    wanted = cells["metric"].astype(str).str.startswith("eval/") | (cells["kind"] == EVAL)
    precise = cells[wanted & cells["value"].notna()].assign(console=cells["source"] == CONSOLE)
    precise = precise.sort_values(["job", "global_step", "metric", "console", "block"], kind="stable")
    kept = precise.drop_duplicates(["job", "global_step", "metric"])
    columns = ["job", "block", "line", "global_step", "metric", "value", "logged_at"]
    return kept.sort_values(["job", "line"], kind="stable")[columns].reset_index(drop=True)


def _keys(rows: TrainingRows, cells: pd.DataFrame, chain: Chain, warm_up_steps: int) -> pd.DataFrame:
    keys = rows.keys[["job", "attempt", "step", "line"]].rename(columns={"step": "global_step"})
    place = {(link.job, link.attempt): link.index for link in chain.links}
    pairs = zip(keys["job"], keys["attempt"], strict=True)
    keys = keys.assign(link=np.array([place[str(job), int(attempt)] for job, attempt in pairs], dtype=np.int64))
    heads = cells.drop_duplicates(["job", "line"])[["job", "line", "block", "logged_at"]]
    heads = heads.astype({"line": "int64", "block": "int64"})
    keys = keys.astype({"line": "int64"}).merge(heads, on=["job", "line"], how="left")
    order = keys.sort_values(["line", "global_step"], kind="stable").groupby("link").cumcount()
    keys["position"] = order.reindex(keys.index).astype("int64")
    keys["is_warm_up"] = _warm_up(keys, chain.links, warm_up_steps)
    keys["canonical"] = _canonical(keys, chain)
    return keys[list(KEYS)]


def _warm_up(keys: pd.DataFrame, links: Sequence[Link], warm_up_steps: int) -> npt.NDArray[np.bool_]:
    """First steps after each start: counted from the restored step where it is known, so a lost block counts."""
    start = {link.index: link.went_on_from for link in links}
    starts = [start[int(i)] for i in keys["link"]]
    done = keys["global_step"].to_numpy(dtype=np.int64) - np.array(starts, dtype=np.int64)
    return np.asarray(done <= warm_up_steps)


def _canonical(keys: pd.DataFrame, chain: Chain) -> npt.NDArray[np.bool_]:
    """Rows of the ancestors of the last link, each up to the step from which the next one went on."""
    step, link_of = keys["global_step"].to_numpy(dtype=np.int64), keys["link"].to_numpy(dtype=np.int64)
    canonical = np.zeros(len(keys), dtype=bool)
    for link in chain.ancestry:
        canonical &= step <= link.went_on_from
        canonical |= link_of == link.index
    return canonical


def _states(rows: TrainingRows, cells: pd.DataFrame) -> pd.DataFrame:
    """State columns; where no number is left, the block's own word for why."""
    words = _states_without_number(rows, cells)
    columns = {}
    for metric in rows.values.columns:
        state = np.full(len(rows.values), None, dtype=object)
        state[rows.values[metric].notna().to_numpy(dtype=bool)] = MEASURED
        state[rows.below_resolution[metric].to_numpy(dtype=bool)] = BELOW_RESOLUTION
        for row, word in words.get(metric, ()):
            state[row] = word
        columns[STATE_PREFIX + metric] = state
    # One block of objects: as strings every column would be copied on its own.
    return pd.DataFrame(columns, index=rows.keys.index, dtype=object)


def _states_without_number(rows: TrainingRows, cells: pd.DataFrame) -> dict[str, list[tuple[int, str]]]:
    silent = cells[cells["value"].isna() & cells["global_step"].notna() & cells["state"].isin([NOT_FINITE, TEXT])]
    by_step: dict[tuple[str, int], list[int]] = {}
    for place, (job, step) in enumerate(zip(rows.keys["job"], rows.keys["step"], strict=True)):
        by_step.setdefault((str(job), int(step)), []).append(place)
    found: dict[str, list[tuple[int, str]]] = {}
    columns = zip(silent["job"], silent["global_step"], silent["metric"], silent["state"], strict=True)
    for job, step, metric, state in columns:
        for place in by_step.get((str(job), int(step)), ()):
            if metric in rows.values.columns and pd.isna(rows.values[metric].iat[place]):
                found.setdefault(str(metric), []).append((place, str(state)))
    return found
