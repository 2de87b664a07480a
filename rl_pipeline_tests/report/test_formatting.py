"""Printed numbers read back to what they were, absent ones are a dash, and 0 % or 100 % is exact."""

from __future__ import annotations

import math
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.report import formatting
from rl_pipeline.report.formatting import ABSENT, NARROW_SPACE, grouped, readable, sentence_case

numbers = st.floats(min_value=-1e9, max_value=1e9, allow_nan=False)
fractions = st.floats(min_value=0.0, max_value=1.0)


@given(numbers, st.integers(min_value=0, max_value=6))
def test_a_fixed_number_reads_back_to_within_half_its_last_digit(value: float, digits: int):
    assert abs(float(formatting.fixed(value, digits)) - value) <= 0.5 * 10.0**-digits + 1e-6


@given(numbers)
def test_six_significant_digits_read_back_to_within_half_of_the_last(value: float):
    assert math.isclose(float(formatting.significant(value)), value, rel_tol=0.5e-5, abs_tol=1e-300)


@given(fractions)
def test_a_percentage_is_0_or_100_only_when_it_is_exactly_that(fraction: float):
    text = formatting.percent(fraction)

    assert (text == f"0{NARROW_SPACE}%") == (fraction == 0.0)
    assert (text == f"100{NARROW_SPACE}%") == (fraction == 1.0)


@given(fractions)
def test_a_percentage_reads_back_to_within_half_its_last_digit(fraction: float):
    text = formatting.percent(fraction, 2)
    number = float(text.strip("<> ").removesuffix(f"{NARROW_SPACE}%"))

    assert abs(number - fraction * 100) <= (0.0101 if text[0] in "<>" else 0.005 + 1e-9)


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.0003, f"< 0.1{NARROW_SPACE}%"),
        (0.9999, f"> 99.9{NARROW_SPACE}%"),
        (0.5818, f"58.2{NARROW_SPACE}%"),
        (1.839, f"183.9{NARROW_SPACE}%"),
        (-0.25, f"-25.0{NARROW_SPACE}%"),
        (-0.0001, f"> -0.1{NARROW_SPACE}%"),
    ],
)
def test_a_small_share_is_never_rounded_away(fraction: float, text: str):
    assert formatting.percent(fraction) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_absent_is_a_dash(value: float | None):
    assert formatting.fixed(value, 4) == ABSENT
    assert formatting.significant(value) == ABSENT
    assert formatting.percent(value) == ABSENT
    assert formatting.published_percent(value) == ABSENT
    assert formatting.duration(value) == ABSENT
    assert formatting.signed(value, 2) == ABSENT
    assert formatting.p_value(value) == ABSENT
    assert formatting.interval(value, 1.0, 2) == ABSENT


def test_counts_and_times_that_are_absent_are_dashes_too():
    assert formatting.count(None) == formatting.thousands(None) == formatting.size(None) == ABSENT
    assert formatting.moment(None) == formatting.span(None, datetime(2026, 1, 1)) == ABSENT


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # source: numbers of the published report (expected_report.json)
        (-1.48148148e-05, "-1.48148e-05"),
        (6219.8412, "6219.84"),
        (857.968, "857.968"),
        (512.0, "512"),
        (0.0, "0"),
    ],
)
def test_category_tables_print_as_published(value: float, text: str):
    assert formatting.significant(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.0 s"), (41.25, "41.2 s"), (687.8, "11.5 min"), (70678.5, "19.63 h"), (-30.0, "-30.0 s")],
)
def test_durations_take_the_unit_that_reads(seconds: float, text: str):
    assert formatting.duration(seconds) == text


def test_other_forms():
    assert formatting.size(17_000_000) == "17.0 MB"
    assert formatting.size(12) == "12 B"
    assert formatting.thousands(44_526) == "44,526"
    assert formatting.moment(datetime(2026, 6, 3, 15, 21, 7, 9), "UTC") == "2026-06-03 15:21:07 UTC"
    assert formatting.moment(datetime(2026, 6, 3, 15, 21, 7)) == "2026-06-03 15:21:07"
    assert formatting.interval(0.25, 0.5, 2) == "[0.25, 0.50]"
    assert formatting.signed(0.5, 1) == "+0.5"
    assert formatting.signed(0.0, 1) == "0.0"
    assert formatting.p_value(0.03321) == "0.033"
    assert formatting.p_equals(1e-9) == "p < 0.0001"
    assert formatting.p_equals(0.5) == "p = 0.5"


@pytest.mark.parametrize(
    ("plain", "shown"),
    [("-0.5", "−0.5"), ("[-1, -2]", "[−1, −2]"), ("2026-06-03", "2026-06-03"), ("1e-05", "1e-05"), ("a-b", "a-b")],
)
def test_pages_get_the_real_minus_and_only_where_it_is_one(plain: str, shown: str):
    assert formatting.typographic(plain) == shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"), (float("nan"), "—"), (-0.0, "0"), (30_313.2, "30,313"), (3_374.0, "3,374"), (589.44, "589.4"),
        (0.01805, "0.01805"), (-1.5e-5, "-1.5 × 10⁻⁵"), (2.5e14, "2.5 × 10¹⁴"), (1.0, "1"),
    ],
)  # fmt: skip
def test_a_number_of_any_size_can_be_read(value: float | None, text: str):
    assert readable(value) == text


@pytest.mark.parametrize(
    ("text", "shown"), [("84740", "84,740"), ("80", "80"), ("0.3516", "0.3516"), ("2026-06", "2026-06")]
)
def test_long_whole_numbers_are_grouped_and_nothing_else(text: str, shown: str):
    assert grouped(text) == shown


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("How the Jobs Chain", "How the jobs chain"),
        ("Change of Level of reward/avg_pass_at_8", "Change of level of reward/avg_pass_at_8"),
        ("KV Cache", "KV cache"),
        ("Growth Inside the Links: timing/step", "Growth inside the links: timing/step"),
    ],
)
def test_headings_of_the_page_are_sentences(heading: str, shown: str):
    assert sentence_case(heading) == shown
