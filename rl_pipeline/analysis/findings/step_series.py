"""Steps as rules read them: one row per step, with its link, its warm-up mark and its window.

Input are rows of `series.all_rows`. The *window* of a step is the preceding steps of the same link without
warm-up: what the run itself was like just before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.series import metric_names, states_of
from rl_pipeline.schema import NOT_FINITE


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSeries:
    """Rows of `series.all_rows` or `series.canonical_of` with a fresh index, and the length of windows."""

    rows: pd.DataFrame
    window_steps: int
    window_minimum: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def steps(self) -> pd.Series[int]:
        """Global step of every row."""
        return self.rows["global_step"]

    @property
    def warmup(self) -> pd.Series[bool]:
        """True in the first steps of each link."""
        return self.rows["is_warm_up"].astype(bool)

    @property
    def names(self) -> list[str]:
        """Metrics in the order of their first appearance."""
        return metric_names(self.rows)

    def name_of(self, *names: str) -> str | None:
        """The first of several names of one metric that was logged with a number."""
        for name in names:
            if name in self.rows.columns and self.rows[name].notna().any():
                return name
        return None

    def column(self, *names: str) -> pd.Series[float]:
        """Values of a metric by its first logged name; all NaN when there is none."""
        name = self.name_of(*names)
        return pd.Series(np.nan, index=self.rows.index, dtype="float64") if name is None else self.rows[name]

    def prefixed(self, *prefixes: str) -> tuple[str, ...]:
        """Logged metric names that begin with one of the prefixes."""
        return tuple(name for name in self.names if name.startswith(prefixes))

    def not_finite(self, *names: str) -> list[int]:
        """Rows in which one of the metrics was printed as nan or inf."""
        flags = np.zeros(len(self.rows), dtype=bool)
        for name in names:
            flags |= np.array([state == NOT_FINITE for state in states_of(self.rows, name)], dtype=bool)
        return [int(row) for row in np.flatnonzero(flags)]

    def is_structural_zero(self, values: pd.Series[float]) -> bool:
        """Whether every value that is there is 0 or was printed as 0.0000."""
        known = values.dropna()
        return bool(len(known)) and bool((known == 0).all())

    def window_median(self, values: pd.Series[float]) -> pd.Series[float]:
        """Median of each row's window; NaN where it holds too few values, and in warm-up.

        Where a link has too few settled steps yet, those of the links before stand in, since the weights went on;
        else a job that dies in its first steps would never be judged.
        """
        settled = values.where(~self.warmup)
        medians = pd.Series(np.nan, index=values.index, dtype="float64")
        for _, _, rows in self.links():
            medians.loc[rows] = self._rolling(settled.loc[rows])
        before = self._rolling(settled.dropna()).reindex(values.index).where(~self.warmup)
        return medians.where(~self.warmup).fillna(before)

    def _rolling(self, values: pd.Series[float]) -> pd.Series[float]:
        return values.rolling(self.window_steps, min_periods=self.window_minimum).median().shift(1)

    def runs(self, flags: pd.Series[bool], *, at_least: int) -> Iterator[pd.Index]:
        """Stretches of at least so many consecutive flagged rows of one link."""
        for _, _, rows in self.links():
            here = flags.loc[rows].to_numpy(dtype=bool)
            edges = np.flatnonzero(np.diff(np.concatenate(([False], here, [False])).astype(int)))
            for start, end in zip(edges[::2], edges[1::2], strict=True):
                if end - start >= at_least:
                    yield rows[start:end]

    def links(self) -> Iterator[tuple[int, str, pd.Index]]:
        """(place in the chain, job, rows) of every link with a step."""
        for _, part in self.rows.groupby("link", sort=True):
            yield int(part["link"].iloc[0]), str(part["job"].iloc[0]), part.index
