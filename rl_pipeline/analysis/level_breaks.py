"""Changes of level with the restarts as known breaks.

A change that coincides with a restart has two possible causes, so restarts are tested as such, and other
change points are looked for inside each link only. Warm-up steps are left out throughout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.comparison import Difference, compare, with_holm
from rl_pipeline.analysis.resampling import Draws
from rl_pipeline.analysis.series import REWARD, settled, steps_of, values_of
from rl_pipeline.analysis.trends import LevelChange, pettitt

WINDOW = 10
SETTLED = "settled steps that count"


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelBreaks:
    """Levels of one metric.

    Attributes:
        metric: name as logged.
        at_restarts: all settled steps from a restart on against all before it, Holm over the restarts; the
            cause of a difference stays open, since the run went on training.
        within_links: Pettitt's test inside each link, by job.
        last_against_first: last ten settled steps against the first ten; None for fewer than twenty.
    """

    metric: str
    at_restarts: tuple[Difference, ...]
    within_links: dict[str, LevelChange]
    last_against_first: Difference | None


def level_breaks(rows: pd.DataFrame, metric: str = REWARD) -> LevelBreaks:
    """Breaks over the rows of `canonical_steps`."""
    steady = settled(rows)
    steady = steady[np.isfinite(values_of(steady, metric))]
    starts = rows.groupby("link", sort=True)["global_step"].min().iloc[1:]
    draws = Draws()
    return LevelBreaks(
        metric=metric,
        at_restarts=with_holm([_at_restart(steady, metric, int(start), draws) for start in starts]),
        within_links={
            str(part["job"].iloc[0]): pettitt(values_of(part, metric), steps_of(part))
            for _, part in steady.groupby("link", sort=True)
        },
        last_against_first=_last_against_first(steady, metric),
    )


def _at_restart(steady: pd.DataFrame, metric: str, start: int, draws: Draws) -> Difference:
    values, steps = values_of(steady, metric), steps_of(steady)
    names = (f"from step {start}", f"before step {start}")
    return compare(values[steps >= start], values[steps < start], names=names, population=SETTLED, draws=draws)


def _last_against_first(steady: pd.DataFrame, metric: str) -> Difference | None:
    values = values_of(steady, metric)
    if values.size < 2 * WINDOW:
        return None
    names = (f"last {WINDOW} settled steps", f"first {WINDOW} settled steps")
    return compare(values[-WINDOW:], values[:WINDOW], names=names, population=SETTLED)
