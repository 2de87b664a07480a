"""Token averages without the one-token placeholders of masked samples.

A masked sample stands in the batch as a response of one token with reward 0, so the mean over all samples
and the mean over zero rewards are too low. With masked share m they are corrected as
(mean − m × 1) ÷ (1 − m), and for zero rewards, which are a share z of all samples, as
(mean × z − m × 1) ÷ (z − m). Shares are those of the whole run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.populations import MaskedShare
from rl_pipeline.analysis.series import REWARD, values_of

ALL = "generate/avg_num_tokens"
SOLVED_TOKENS = "generate/avg_tokens_non_zero_rewards"
ZERO_TOKENS = "generate/avg_tokens_zero_rewards"
SHORTEST = "generate/min_num_tokens"
PLACEHOLDER_TOKENS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMeans:
    """Tokens per response.

    Attributes:
        logged: mean of `generate/avg_num_tokens` over the rows.
        logged_non_zero: of responses with a reward.
        logged_zero: of responses without.
        corrected: logged without placeholders; None when it cannot be told.
        corrected_zero: logged_zero without placeholders.
        placeholder_rows: rows whose shortest response has one token.
        rows: rows with the shortest response.
        masked_share: that was used.
        failures_longer: corrected_zero > logged_non_zero; None when one is missing.
        reason: why there is no correction.
    """

    logged: float | None
    logged_non_zero: float | None
    logged_zero: float | None
    corrected: float | None
    corrected_zero: float | None
    placeholder_rows: int
    rows: int
    masked_share: float | None
    failures_longer: bool | None
    reason: str | None = None


def token_means(rows: pd.DataFrame, masked: MaskedShare) -> TokenMeans:
    """Means over rows of `all_rows`, corrected where placeholders are seen."""
    logged, non_zero, zero = _mean(rows, ALL), _mean(rows, SOLVED_TOKENS), _mean(rows, ZERO_TOKENS)
    shortest = values_of(rows, SHORTEST)
    shortest = shortest[np.isfinite(shortest)]
    contaminated = int((shortest == PLACEHOLDER_TOKENS).sum())
    share, reason = masked.share, None
    if logged is None:
        reason = f"{ALL} is not logged"
    elif not contaminated:
        reason = "no response of one token is seen, so nothing needs correction"
    elif share is None:
        reason = masked.reason
    usable = reason is None and share is not None
    corrected = _without(logged, 1.0, share) if usable else None
    reward = _mean(rows, REWARD)
    corrected_zero = _without(zero, None if reward is None else 1 - reward, share) if usable else None
    longer = None if corrected_zero is None or non_zero is None else corrected_zero > non_zero
    return TokenMeans(
        logged=logged,
        logged_non_zero=non_zero,
        logged_zero=zero,
        corrected=corrected,
        corrected_zero=corrected_zero,
        placeholder_rows=contaminated,
        rows=int(shortest.size),
        masked_share=share,
        failures_longer=longer,
        reason=reason,
    )


def _mean(rows: pd.DataFrame, metric: str) -> float | None:
    values = values_of(rows, metric)
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _without(mean: float | None, share_of_all: float | None, masked: float | None) -> float | None:
    """Mean of a part of the samples (a share of all) after taking the placeholders out of it."""
    if mean is None or share_of_all is None or masked is None or share_of_all <= masked:
        return None
    return (mean * share_of_all - masked * PLACEHOLDER_TOKENS) / (share_of_all - masked)
