"""Token averages without placeholders."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.populations import MaskedShare, masked_share
from rl_pipeline.analysis.series import REWARD, all_rows
from rl_pipeline.analysis.token_means import ALL, SHORTEST, SOLVED_TOKENS, ZERO_TOKENS, token_means
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def _means(values, share=0.25):
    rows = all_rows(experiment_frames(jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 0, 1, values)))
    return token_means(
        rows, MaskedShare(masked=2, instances=8, share=share, reason=None if share else "no batch lines")
    )


def test_failures_of_the_published_run_are_longer_than_successes():
    rows = all_rows(reference_frames())

    means = token_means(rows, masked_share(reference_frames().rollout_batches, rows))

    # source: published report (6,220 / 6,724 / 5,945) and its analysis (≈ 7,430 / ≈ 8,000)
    assert (means.logged, means.logged_non_zero, means.logged_zero) == pytest.approx(
        (6219.84, 6723.53, 5945.13), abs=5e-3
    )
    assert (means.corrected, means.corrected_zero) == pytest.approx((7430, 8000), rel=1e-3)
    assert means.failures_longer is True
    assert (means.placeholder_rows, means.rows) == (81, 81)


def test_the_correction_undoes_the_placeholders_exactly():
    # Eight samples: two placeholders, two solved of 300 tokens, four unsolved of 500.
    logged = {ALL: (2 * 1 + 2 * 300 + 4 * 500) / 8, SOLVED_TOKENS: 300, ZERO_TOKENS: (2 * 1 + 4 * 500) / 6, SHORTEST: 1}

    means = _means({**logged, REWARD: 0.25})

    assert (means.corrected, means.corrected_zero) == (pytest.approx((600 + 2000) / 6), pytest.approx(500))


@pytest.mark.parametrize(
    ("values", "share", "reason"),
    [
        ({REWARD: 0.5}, 0.2, "generate/avg_num_tokens is not logged"),
        ({ALL: 500, SHORTEST: 40}, 0.2, "no response of one token is seen, so nothing needs correction"),
        ({ALL: 500, SHORTEST: 1}, None, "no batch lines"),
    ],
)
def test_without_placeholders_or_their_share_nothing_is_corrected(values, share, reason):
    means = _means(values, share)

    assert (means.corrected, means.corrected_zero, means.failures_longer, means.reason) == (None, None, None, reason)
