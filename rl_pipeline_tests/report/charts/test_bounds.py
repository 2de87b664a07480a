"""Intervals end where the quantity ends, and so do axes."""

from __future__ import annotations

import pytest

from rl_pipeline.report.charts.bounds import (
    ANYWHERE,
    FRACTION,
    NOT_NEGATIVE,
    Bounds,
    cut_words,
    interval_within,
    value_scale,
)


@pytest.mark.parametrize(
    ("ends", "bounds", "cut", "words"),
    [
        ((-0.1, 0.4), FRACTION, (0.0, 0.4), ", cut at 0"),
        ((0.8, 1.2), FRACTION, (0.8, 1.0), ", cut at 1"),
        ((-0.1, 1.2), FRACTION, (0.0, 1.0), ", cut at 0 and 1"),
        ((0.8, 1.2), NOT_NEGATIVE, (0.8, 1.2), ""),
        ((-0.1, 0.4), ANYWHERE, (-0.1, 0.4), ""),
        ((None, None), FRACTION, (None, None), ""),
    ],
)
def test_an_interval_is_cut_at_a_bound_and_that_is_said(
    ends: tuple[float | None, float | None], bounds: Bounds, cut: tuple[float | None, float | None], words: str
):
    assert interval_within(*ends, bounds) == cut
    assert cut_words([ends], bounds) == words


def test_an_axis_ends_at_a_bound_that_its_room_would_pass():
    assert value_scale([0.05, 0.65], NOT_NEGATIVE, padding=12)["domain"] == pytest.approx([0.0, 0.71])
    assert value_scale([0.4, 1.0], FRACTION, padding=8)["domain"] == pytest.approx([0.34, 1.0])


@pytest.mark.parametrize("values", [[0.4, 0.5], [None, None], []])
def test_an_axis_far_from_its_bounds_is_left_to_the_drawing(values: list[float | None]):
    assert value_scale(values, FRACTION, padding=8) == {"zero": False, "padding": 8}


def test_an_axis_of_nothing_but_zeros_has_a_second_end():
    assert value_scale([0.0, 0.0], NOT_NEGATIVE, padding=8)["domain"] == [0.0, 1.0]
