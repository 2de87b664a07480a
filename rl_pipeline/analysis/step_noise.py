"""How noisy the reward of one step is, and how many of its groups carry gradient.

In: canonical rows. The samples of a step come in groups that share a prompt, so its mean is noisier than
that of as many independent samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.clustering import DesignEffect, GradientGroups, design_effect, gradient_groups
from rl_pipeline.analysis.lineage import SAMPLES
from rl_pipeline.analysis.replayed_prompts import GROUPS, pass_metric
from rl_pipeline.analysis.series import REWARD, first_logged, settled, steps_of, values_of
from rl_pipeline.analysis.trends import trend

ADVANTAGE = "loss/avg_raw_advantages_abs"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNoise:
    """Noise of a step's mean reward and what follows for its groups.

    Attributes:
        k: samples per prompt, from the name of the logged pass@k; None when none is logged.
        samples: of a step (median); None when not logged.
        groups_per_step: of a step (median); None when neither groups nor samples and k are logged.
        design: observed spread against that of independent samples.
        groups: share of groups with and without gradient, from means over the canonical steps.
    """

    k: int | None
    samples: float | None
    groups_per_step: float | None
    design: DesignEffect
    groups: GradientGroups


def step_noise(rows: pd.DataFrame) -> StepNoise:
    """Noise over the rows of `canonical_steps`; the spread is what the settled trend leaves."""
    named = pass_metric(rows)
    k = named[1] if named else None
    mean, samples, groups = _mean(rows, REWARD), _typical(rows, SAMPLES), _typical(rows, GROUPS)
    if groups is None and samples is not None and k:
        groups = samples / k
    steady = settled(rows)
    spread = trend(values_of(steady, REWARD), steps_of(steady)).residual_spread
    return StepNoise(
        k=k,
        samples=samples,
        groups_per_step=groups,
        design=design_effect(mean, spread, samples, group_size=k),
        groups=gradient_groups(
            mean,
            _mean(rows, named[0]) if named else None,
            k or 1,
            groups=groups,
            mean_absolute_advantage=_mean(rows, ADVANTAGE),
        ),
    )


def _mean(rows: pd.DataFrame, metric: str) -> float | None:
    values = values_of(rows, metric)
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _typical(rows: pd.DataFrame, metrics: Sequence[str]) -> float | None:
    """Median over the rows of the first of the names that is logged."""
    name = first_logged(rows, metrics)
    if name is None:
        return None
    values = values_of(rows, name)
    return float(np.median(values[np.isfinite(values)]))
