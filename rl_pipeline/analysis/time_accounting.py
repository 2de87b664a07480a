"""Where the time of the steps went: a closed tree of timers, ratios of sums.

Timers are nested (`run_training` holds the forward passes, the advantages and the training), so adding
all of them counts time twice; the tree gives each span its parent and every parent a remainder, so that
parts + unattributed = whole. Saves, exports and evaluations lie outside the step in some trainers and
inside in others; the numbers decide: a span is inside when the step's remainder can hold it.

Rows without `timing/step` are left out. Shares are ratios of sums; the mean of per-step ratios, which
long steps hardly move, is given for comparison only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import FloatArray, plain, ratio
from rl_pipeline.analysis.rank_statistics import spearman
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, WAIT_SECONDS, has_metric, paired, values_of

PREFIX = "timing/"
# Span → the one it lies in, nearest first; a span whose parents are all absent lies in the step itself.
PARENTS: dict[str, tuple[str, ...]] = {
    "wait_for_generation_buffer": (),
    "generate": (),
    "postprocess_generator_output": (),
    "convert_to_training_input": (),
    "run_training": (),
    "sync_weights": (),
    "sync_weights_only_transfer": ("sync_weights",),
    "fwd_logprobs_values_reward": ("run_training",),
    "apply_reward_kl_penalty": ("run_training",),
    "compute_advantages_and_returns": ("run_training",),
    "train_critic_and_policy": ("run_training",),
    "policy_train": ("train_critic_and_policy", "run_training"),
    "critic_train": ("train_critic_and_policy", "run_training"),
}
# Spans that may lie beside the step, and what lies inside them.
BESIDE: dict[str, tuple[str, ...]] = {
    "save_checkpoints": (),
    "cleanup_old_checkpoints": ("save_checkpoints",),
    "save_hf_model": (),
    "eval": (),
    "eval_generate": ("eval",),
    "update_ref_with_policy": (),
}
FITS = 0.9  # share of a span that the step's remainder must hold in nine rows of ten for it to be inside


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One timer over the rows.

    Attributes:
        name: suffix of its `timing/` metric.
        seconds: sum.
        share: seconds ÷ step time (for spans beside the step: ÷ accounted time).
        rows: rows that have it.
        mean_seconds: over those rows.
        max_seconds: longest.
        max_step: global step of the longest.
        children: spans inside it.
        unattributed_seconds: seconds − children; None without children. Negative where children overlap.
    """

    name: str
    seconds: float
    share: float | None
    rows: int
    mean_seconds: float
    max_seconds: float
    max_step: int
    children: tuple[Span, ...] = ()
    unattributed_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The trainer waiting for rollouts.

    Attributes:
        seconds: sum.
        share: ratio of sums, the headline.
        mean_share: mean of per-step ratios.
        median_share: median of per-step ratios.
        ceiling: step ÷ (step − wait): how many times faster the run could be at most without any wait.
        correlation: Pearson, wait against step time.
        rank_correlation: Spearman.
        other_mean: mean step time without the wait, seconds.
        other_spread: its sample SD.
        other_median: its median.
        reward_rank_correlation: Spearman, reward against wait.
        reward_p_value: of that.
        n: rows with both timers.
    """

    seconds: float
    share: float | None
    mean_share: float | None
    median_share: float | None
    ceiling: float | None
    correlation: float | None
    rank_correlation: float | None
    other_mean: float | None
    other_spread: float | None
    other_median: float | None
    reward_rank_correlation: float | None
    reward_p_value: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Time of the given rows.

    Attributes:
        population: which rows.
        rows: rows with a step time.
        rows_without: rows without one.
        step_seconds: Σ `timing/step`; None when no row has it.
        parts: spans directly inside the step, largest first.
        unattributed_seconds: step − parts.
        unattributed_per_step: mean |step − parts| of a row: how well the tree closes.
        beside: spans outside the step, largest first.
        accounted_seconds: step + beside.
        wait: the wait for rollouts; None in synchronous runs and where it is not logged.
        generate_share: share of `generate` in synchronous runs, where generation is on the path by design.
        synchronous: generation inside the step and no wait timer; None when neither is logged.
        median_step_seconds: of a row.
        reason: why nothing is measurable.
    """

    population: str
    rows: int
    rows_without: int
    step_seconds: float | None
    parts: tuple[Span, ...]
    unattributed_seconds: float | None
    unattributed_per_step: float | None
    beside: tuple[Span, ...]
    accounted_seconds: float | None
    wait: Wait | None
    generate_share: float | None
    synchronous: bool | None
    median_step_seconds: float | None
    reason: str | None = None

    def part(self, name: str) -> Span | None:
        """A span by name, at any depth, inside or beside the step."""
        stack = [*self.parts, *self.beside]
        while stack:
            span = stack.pop()
            if span.name == name:
                return span
            stack.extend(span.children)
        return None


def step_time(rows: pd.DataFrame, *, population: str = "all steps in the logs") -> StepTime:
    """The time tree of rows of `all_rows` or `canonical_steps`."""
    timed = rows[np.isfinite(values_of(rows, STEP_SECONDS))].reset_index(drop=True)
    if timed.empty:
        return _nothing(rows, population)
    step = values_of(timed, STEP_SECONDS)
    total = float(step.sum())
    inside, beside = _places(timed)
    parts = _children(timed, None, inside, total)
    direct = sum((_zero_filled(timed, span.name) for span in parts), np.zeros(len(timed)))
    outside_seconds = sum(float(_zero_filled(timed, name).sum()) for name, parent in beside.items() if parent is None)
    accounted = total + outside_seconds
    return StepTime(
        population=population,
        rows=len(timed),
        rows_without=len(rows) - len(timed),
        step_seconds=total,
        parts=parts,
        unattributed_seconds=total - float(direct.sum()),
        unattributed_per_step=float(np.abs(step - direct).mean()),
        beside=_children(timed, None, beside, accounted),
        accounted_seconds=accounted,
        wait=_wait(timed),
        generate_share=_generate_share(timed, total),
        synchronous=_synchronous(timed),
        median_step_seconds=float(np.median(step)),
    )


def _nothing(rows: pd.DataFrame, population: str) -> StepTime:
    return StepTime(
        population=population,
        rows=0,
        rows_without=len(rows),
        step_seconds=None,
        parts=(),
        unattributed_seconds=None,
        unattributed_per_step=None,
        beside=(),
        accounted_seconds=None,
        wait=None,
        generate_share=None,
        synchronous=None,
        median_step_seconds=None,
        reason="no steps" if rows.empty else f"no step has {STEP_SECONDS}",
    )


def _zero_filled(rows: pd.DataFrame, name: str) -> FloatArray:
    return np.nan_to_num(values_of(rows, PREFIX + name), nan=0.0, posinf=0.0, neginf=0.0)


def _places(rows: pd.DataFrame) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Parent of every logged span: those inside the step, and those beside it."""
    known = {name: parents for name, parents in PARENTS.items() if has_metric(rows, PREFIX + name)}
    inside = {name: next((p for p in parents if p in known), None) for name, parents in known.items()}
    others = {name: parents for name, parents in BESIDE.items() if has_metric(rows, PREFIX + name)}
    direct = [_zero_filled(rows, name) for name, parent in inside.items() if parent is None]
    remainder = values_of(rows, STEP_SECONDS) - sum(direct, np.zeros(len(rows)))
    beside: dict[str, str | None] = {}
    for name, parents in others.items():
        parent = next((p for p in parents if p in others), None)
        if parent is None and _fits(_zero_filled(rows, name), remainder):
            inside[name] = None
        elif parent in inside:
            inside[name] = parent
        else:
            beside[name] = parent
    return inside, beside


def _fits(span: FloatArray, remainder: FloatArray) -> bool:
    """Whether the steps' remainders hold the span in nine rows of ten that have it."""
    used = span > 0
    return bool(used.any()) and float((remainder[used] >= FITS * span[used]).mean()) >= FITS


def _children(rows: pd.DataFrame, parent: str | None, parents: dict[str, str | None], whole: float) -> tuple[Span, ...]:
    spans = [_span(rows, name, parents, whole) for name, above in parents.items() if above == parent]
    return tuple(sorted(spans, key=lambda span: (-span.seconds, span.name)))


def _span(rows: pd.DataFrame, name: str, parents: dict[str, str | None], whole: float) -> Span:
    values = values_of(rows, PREFIX + name)
    there = np.isfinite(values)
    longest = int(np.argmax(np.where(there, values, -np.inf)))
    seconds = float(values[there].sum())
    children = _children(rows, name, parents, whole)
    return Span(
        name=name,
        seconds=seconds,
        share=ratio(seconds, whole),
        rows=int(there.sum()),
        mean_seconds=float(values[there].mean()),
        max_seconds=float(values[longest]),
        max_step=int(rows["global_step"].iloc[longest]),
        children=children,
        unattributed_seconds=seconds - sum(child.seconds for child in children) if children else None,
    )


def _synchronous(rows: pd.DataFrame) -> bool | None:
    if has_metric(rows, WAIT_SECONDS):
        return False
    return True if has_metric(rows, PREFIX + "generate") else None


def _generate_share(rows: pd.DataFrame, total: float) -> float | None:
    if _synchronous(rows) is not True:
        return None
    return ratio(float(_zero_filled(rows, "generate").sum()), total)


def _wait(rows: pd.DataFrame) -> Wait | None:
    wait, step = paired(rows, WAIT_SECONDS, STEP_SECONDS)
    if wait.size == 0:
        return None
    other = step - wait
    shares = wait[step > 0] / step[step > 0]
    reward, reward_wait = paired(rows, REWARD, WAIT_SECONDS)
    reward_correlation, reward_p = rank_correlation(reward, reward_wait)
    return Wait(
        seconds=float(wait.sum()),
        share=ratio(float(wait.sum()), float(step.sum())),
        mean_share=float(shares.mean()) if shares.size else None,
        median_share=float(np.median(shares)) if shares.size else None,
        ceiling=ratio(float(step.sum()), float(other.sum())) if other.sum() > 0 else None,
        correlation=correlation(wait, step),
        rank_correlation=rank_correlation(wait, step)[0],
        other_mean=float(other.mean()),
        other_spread=float(other.std(ddof=1)) if other.size > 1 else None,
        other_median=float(np.median(other)),
        reward_rank_correlation=reward_correlation,
        reward_p_value=reward_p,
        n=int(wait.size),
    )


def correlation(x: FloatArray, y: FloatArray) -> float | None:
    """Pearson's r of two arrays of shape (n,); None for fewer than three pairs or a constant."""
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return plain(float(np.corrcoef(x, y)[0, 1]))


def rank_correlation(x: FloatArray, y: FloatArray) -> tuple[float | None, float | None]:
    """Spearman's ρ and its p; None for fewer than three pairs or a constant."""
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None, None
    rho, p = spearman(x, y)
    return plain(rho), plain(p)
