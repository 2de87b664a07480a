"""A card holds what the index and the comparison need, and gives the same comparison as the tables."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.experiment_card import STEP_TIME, experiment_card, profile_of
from rl_pipeline.analysis.experiment_comparison import compare_experiments, profile
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


def test_the_card_of_the_published_run():
    card = experiment_card(reference_frames(), reference_result())

    # source: published report, 80 distinct steps, eight samples per prompt
    assert (card.last_step, card.group_size, len(card.curves.steps)) == (80, 8, 80)
    # frames without clocks: hours inside steps, 69,990.7 s of those that count
    assert card.curves.hours_are == STEP_TIME
    assert card.curves.hours[-1] == pytest.approx(69_990.7 / 3600, abs=1e-3)
    assert card.goodput is not None


def test_a_profile_from_a_card_compares_as_one_from_the_tables():
    frames, result = reference_frames(), reference_result()
    rebuilt = profile_of("again", experiment_card(frames, result), result.populations.rewards)

    found = compare_experiments(profile(frames), rebuilt)

    assert found.comparability.reasons == ()
    assert found.reward is not None
    assert found.reward.mean_difference.value == pytest.approx(0.0, abs=1e-9)
