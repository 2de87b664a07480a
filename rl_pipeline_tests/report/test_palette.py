"""Colours stand out from their paper and from each other."""

from __future__ import annotations

import pytest

from rl_pipeline.report.palette import DARK, LIGHT, Theme, vega_config


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, "relative luminance")."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_the_contrast_that_reading_needs(theme: Theme):
    # source: WCAG 2.2, 1.4.3: 4.5 for text
    assert contrast(theme.ink, theme.paper) >= 7
    assert contrast(theme.quiet, theme.paper) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_stand_out_from_the_paper(theme: Theme):
    # source: WCAG 2.2, 1.4.11: 3 for graphics; sky blue and amber of Okabe and Ito miss it on white, and are
    # used for areas beside a label only
    named = (theme.accent, theme.solved, theme.unsolved, theme.unscored)
    assert all(contrast(colour, theme.paper) >= 3 for colour in named)
    assert all(contrast(colour, theme.paper) >= 2 for colour in (*theme.series, theme.wait))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_series_has_a_colour_of_its_own(theme: Theme):
    assert len(set(theme.series)) == len(theme.series) == 9


def test_the_configuration_takes_its_colours_from_the_theme():
    assert vega_config(DARK)["background"] == DARK.paper
    assert vega_config(LIGHT)["title"]["color"] == LIGHT.ink
