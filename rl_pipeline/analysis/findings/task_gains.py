"""Which tasks the gain of a run comes from, and how concentrated it would look by chance.

With few attempts per task some tasks gain a lot by luck, so the largest gains always hold a large share. What
an equal gain of all tasks would show is simulated: the mean gain plus normal noise of each task's own size.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import DEFAULT_SEED, FloatArray

DRAWS = 1000
QUANTILE = 0.99


def task_gains(first: pd.DataFrame, last: pd.DataFrame, *, attempts: int) -> pd.DataFrame:
    """Tasks with enough attempts in both parts: `gain` of the mean reward, and its standard `error`."""
    before, after = (part.groupby("task")["reward"].agg(["mean", "size", "var"]) for part in (first, last))
    both = before.add_suffix("_before").join(after.add_suffix("_after"), how="inner")
    both = both[(both["size_before"] >= attempts) & (both["size_after"] >= attempts)]
    return pd.DataFrame({"gain": both["mean_after"] - both["mean_before"], "error": _errors(both)})


def _errors(both: pd.DataFrame) -> pd.Series[float]:
    """From the variance of both parts together, so that luck without any spread in one part still counts."""
    n_before, n_after = both["size_before"], both["size_after"]
    n = n_before + n_after
    inside = both["var_before"] * (n_before - 1) + both["var_after"] * (n_after - 1)
    between = n_before * n_after / n * (both["mean_after"] - both["mean_before"]) ** 2
    return ((inside + between) / (n - 1) * (1 / n_before + 1 / n_after)) ** 0.5


def top_share(gains: FloatArray, top: int) -> float:
    """The `top` largest gains ÷ all positive gains, of gains of shape (tasks,); 0 without any."""
    rises = np.sort(gains[gains > 0])[::-1]
    return float(rises[:top].sum() / rises.sum()) if rises.size else 0.0


def chance_of_top_share(gains: pd.DataFrame, top: int) -> float:
    """99 % quantile of the top share if every task had gained the same; result of `task_gains`."""
    rng = np.random.default_rng(DEFAULT_SEED)
    noise = rng.normal(size=(DRAWS, len(gains))) * gains["error"].to_numpy()
    shares = [top_share(row, top) for row in float(gains["gain"].mean()) + noise]
    return float(np.quantile(shares, QUANTILE))
