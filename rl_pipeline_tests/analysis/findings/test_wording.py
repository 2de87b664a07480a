"""Numbers in sentences, three-valued logic, and the documentation of the rules."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.findings.logic import all_of, any_of
from rl_pipeline.analysis.findings.wording import number, percent, signed, steps_text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.5817, "58.2 %"), (0.0, "0.0 %"), (1.0, "100.0 %"), (0.00001, "< 0.1 %"), (0.99999, "> 99.9 %"),
        (1.2, "120.0 %"), (None, "–"), (float("nan"), "–"),
    ],
)  # fmt: skip
def test_percent_is_zero_or_a_hundred_only_when_exact(fraction: float | None, text: str):
    assert percent(fraction) == text


def test_missing_numbers_are_dashes_and_infinite_ones_say_so():
    assert (number(None), number(float("inf")), number(1234.5, 1)) == ("–", "∞", "1,234.5")
    assert (signed(-0.5, 1), signed(0.5, 1)) == ("−0.5", "+0.5")


def test_steps_are_written_as_ranges():
    assert steps_text([51, 9, 10, 9, 52]) == "9–10, 51–52"
    assert steps_text([]) == ""


def test_an_unknown_part_decides_nothing_that_a_known_one_does():
    assert [all_of(True, None), all_of(False, None), all_of(True, True)] == [None, False, True]
    assert [any_of(True, None), any_of(False, None), any_of(False, False)] == [True, None, False]
