"""Trends of the published run, and of runs too short to have one."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.series import canonical_steps
from rl_pipeline.analysis.training_trends import training_trends
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def test_the_published_run_shows_what_it_could_and_could_not_show():
    trends = training_trends(canonical_steps(reference_frames(with_trials=False)))

    reward = trends.reward
    assert reward is not None
    # source: recomputed from the published step table, later link wins on step 9
    assert reward.all_steps.test.s == 324
    assert reward.all_steps.test.p_value == pytest.approx(0.1795, abs=5e-5)
    assert reward.settled.slope.n == 74
    assert reward.settled.slope.value == pytest.approx(0.00060, abs=5e-6)
    assert reward.settled.test.corrected_p_value == pytest.approx(0.033, abs=5e-4)
    assert reward.detectable.over_run == pytest.approx(0.056, abs=5e-4)
    assert reward.detectable.between_windows[10] == pytest.approx(0.064, abs=5e-4)
    assert reward.recent.value == pytest.approx(0.3774, abs=5e-5)
    assert [link.trend.slope.n for link in reward.links] == [6, 40, 28]
    assert trends.pass_at_k is not None
    assert trends.pass_at_k.metric == "reward/avg_pass_at_8"


def test_a_metric_that_is_not_logged_has_no_trend():
    frames = reference_frames(with_trials=False)
    rows = canonical_steps(frames).drop(columns=["reward/avg_raw_reward", "reward/avg_pass_at_8"])

    trends = training_trends(rows)

    assert (trends.reward, trends.pass_at_k) == (None, None)


def test_two_steps_are_no_trend_and_say_so():
    rows = canonical_steps(reference_frames(with_trials=False)).head(2)

    reward = training_trends(rows).reward

    assert reward is not None
    assert reward.settled.slope.value is None
    assert reward.settled.slope.reason
    assert reward.detectable.reason
