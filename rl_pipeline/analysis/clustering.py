"""Samples of one prompt resemble each other: how many independent ones a step is worth, and which groups learn.

In: mean reward, pass@k, residual spread, mean |advantage|. The beta-binomial model gives every prompt its
own success probability, drawn from Beta(a, b); mean reward and pass@k fix a and b. All of it holds for
rewards of 0 or 1; with partial credit only the design effect is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from rl_pipeline.analysis.estimates import plain, ratio

SIZES = -20.0, 20.0  # logarithms between which a + b is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignEffect:
    """Noise of a step against that of independent samples.

    Attributes:
        binomial_error: SE of a step's mean if its samples were independent.
        observed_spread: residual SD of the steps.
        design_effect: their ratio, squared.
        effective_n: samples ÷ design effect.
        correlation: within-prompt correlation that would explain it, (deff − 1) ÷ (k − 1).
        samples: per step.
        group_size: samples per prompt; None when unknown.
        reason: why it is missing.
    """

    binomial_error: float | None
    observed_spread: float | None
    design_effect: float | None
    effective_n: float | None
    correlation: float | None
    samples: float | None
    group_size: int | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaBinomial:
    """Beta(a, b) over prompts, from a mean and a pass@k.

    Attributes:
        a: of the Beta distribution.
        b: of it.
        correlation: within-prompt, 1 ÷ (a + b + 1).
        none_solved: P(0 of k).
        all_solved: P(k of k).
        mixed: share of groups with both outcomes, which carry gradient under a group baseline.
        predicted_error: SE of a step's mean under the model; None without the number of samples.
        group_size: k.
        reason: why it is missing.
    """

    a: float | None
    b: float | None
    correlation: float | None
    none_solved: float | None
    all_solved: float | None
    mixed: float | None
    predicted_error: float | None
    group_size: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientGroups:
    """Which share of the groups carries gradient.

    Attributes:
        all_fail: certain lower bound of groups without any success: 1 − pass@k.
        mixed_at_most: certain upper bound of mixed groups: pass@k.
        model: beta-binomial estimate.
        mixed_per_step: model's mixed groups of a step; None without the number of groups.
        groups: per step.
        solved_within_solved: mean reward ÷ pass@k: how much of a group is solved once any of it is.
        correlation_from_advantages: 1 − mean|A| ÷ (2 p (1 − p)), leave-one-out baseline, rough.
        mean_reward: that went in.
        pass_at_k: that went in.
        reason: why it is missing.
    """

    all_fail: float | None
    mixed_at_most: float | None
    model: BetaBinomial
    mixed_per_step: float | None
    groups: float | None
    solved_within_solved: float | None
    correlation_from_advantages: float | None
    mean_reward: float | None
    pass_at_k: float | None
    reason: str | None = None


def design_effect(
    mean: float | None, residual_spread: float | None, samples: float | None, *, group_size: int | None = None
) -> DesignEffect:
    """Design effect of a step's mean reward (rewards 0 or 1) with `samples` samples."""
    mean, residual_spread = plain(mean), plain(residual_spread)
    if mean is None or residual_spread is None or not samples or not 0 < mean < 1:
        reason = "needs a mean between 0 and 1, a residual spread and the samples of a step"
        return DesignEffect(
            binomial_error=None,
            observed_spread=residual_spread,
            design_effect=None,
            effective_n=None,
            correlation=None,
            samples=samples,
            group_size=group_size,
            reason=reason,
        )
    error = math.sqrt(mean * (1 - mean) / samples)
    effect = (residual_spread / error) ** 2
    correlation = (effect - 1) / (group_size - 1) if group_size and group_size > 1 else None
    return DesignEffect(
        binomial_error=error,
        observed_spread=residual_spread,
        design_effect=effect,
        effective_n=ratio(samples, effect),
        correlation=correlation,
        samples=samples,
        group_size=group_size,
    )


def beta_binomial(mean: float | None, pass_at_k: float | None, k: int, *, samples: float | None = None) -> BetaBinomial:
    """Beta(a, b) with the given mean whose groups of k have at least one success with probability pass@k."""
    mean, pass_at_k = plain(mean), plain(pass_at_k)
    reason = _impossible(mean, pass_at_k, k)
    if reason is not None or mean is None or pass_at_k is None:
        return BetaBinomial(
            a=None,
            b=None,
            correlation=None,
            none_solved=None,
            all_solved=None,
            mixed=None,
            predicted_error=None,
            group_size=k,
            reason=reason,
        )
    size = _size_with(mean, 1 - pass_at_k, k)
    a, b = mean * size, (1 - mean) * size
    correlation = 1 / (size + 1)
    none, every = _none_solved(mean, size, k), _none_solved(1 - mean, size, k)
    error = math.sqrt(mean * (1 - mean) * (1 + (k - 1) * correlation) / samples) if samples else None
    return BetaBinomial(
        a=a,
        b=b,
        correlation=correlation,
        none_solved=none,
        all_solved=every,
        mixed=max(0.0, 1 - none - every),
        predicted_error=error,
        group_size=k,
    )


def gradient_groups(
    mean: float | None,
    pass_at_k: float | None,
    k: int,
    *,
    groups: float | None = None,
    mean_absolute_advantage: float | None = None,
) -> GradientGroups:
    """Bounds and model from a mean reward and a pass@k; k samples per prompt, `groups` prompts per step."""
    samples = None if groups is None else groups * k
    mean, pass_at_k = plain(mean), plain(pass_at_k)
    model = beta_binomial(mean, pass_at_k, k, samples=samples)
    known = mean is not None and pass_at_k is not None
    spread = None if mean is None else 2 * mean * (1 - mean)
    share = ratio(mean_absolute_advantage, spread)
    return GradientGroups(
        all_fail=None if pass_at_k is None else 1 - pass_at_k,
        mixed_at_most=pass_at_k,
        model=model,
        mixed_per_step=None if groups is None or model.mixed is None else groups * model.mixed,
        groups=groups,
        solved_within_solved=ratio(mean, pass_at_k),
        correlation_from_advantages=None if share is None else 1 - share,
        mean_reward=mean,
        pass_at_k=pass_at_k,
        reason=None if known else "no mean reward or no pass@k is logged",
    )


def _impossible(mean: float | None, pass_at_k: float | None, k: int) -> str | None:
    if mean is None or pass_at_k is None:
        return "no mean reward or no pass@k is logged"
    if k < 2:
        return "one sample per prompt says nothing about prompts"
    if not 0 < mean < 1:
        return "the mean reward is 0 or 1"
    # One group is solved at least as often as one sample, and at most as often as k independent ones.
    if not mean < pass_at_k < 1 - (1 - mean) ** k:
        return f"no distribution over prompts has mean {mean:.4g} and pass@{k} {pass_at_k:.4g}"
    return None


def _size_with(mean: float, none_solved: float, k: int) -> float:
    """The a + b at which a share of the groups has no success; the larger it is, the fewer they are."""
    low, high = SIZES
    while low < (middle := (low + high) / 2) < high:
        is_smaller = _none_solved(mean, math.exp(middle), k) > none_solved
        low, high = (middle, high) if is_smaller else (low, middle)
    return math.exp(low)


def _none_solved(mean: float, size: float, k: int) -> float:
    """P(0 of k) for Beta(mean × size, (1 − mean) × size), by log-gamma functions."""
    a, b = mean * size, (1 - mean) * size
    return math.exp(float(special.betaln(a, b + k) - special.betaln(a, b)))
