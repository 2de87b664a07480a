"""Room for texts in a wider font than the one that was measured: on every side, and only where it is needed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.report.page.text_room import WIDTHS, text_width, with_room


def box(inside: str) -> list[float]:
    """Left, top, width and height of what a drawing of 100 × 50 shows."""
    svg = f'<svg viewBox="0 0 100 50"><g font-size="10">{inside}</g></svg>'
    made = with_room(svg)

    assert made.partition(">")[2] == svg.partition(">")[2]
    return [float(size) for size in made.split('"')[1].split()]


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        # source: widths of DejaVu Sans, 0.636 em a digit, rounded up to 0.64
        ('<text x="10" y="20">0000</text>', [0, 0, 100, 50]),
        ('<text x="90" y="20">0000</text>', [0, 0, 116, 50]),
        ('<text x="10" y="20" text-anchor="end">0000</text>', [-16, 0, 116, 50]),
        ('<g text-anchor="end"><text transform="translate(10,20)">0000</text></g>', [-16, 0, 116, 50]),
        ('<text x="10" y="20" text-anchor="middle">0000</text>', [-3, 0, 103, 50]),
        ('<text x="10" y="20" text-anchor="end" font-weight="bold">0000</text>', [-21, 0, 121, 50]),
        ('<text x="10" y="20" text-anchor="end" font-size="20">0000</text>', [-42, 0, 142, 50]),
        ('<text x="10" y="5">0000</text>', [0, -5, 100, 55]),
        ('<text x="10" y="49">0000</text>', [0, 0, 100, 52]),
        ('<g transform="translate(10,20)"><text transform="rotate(-90)">0000</text></g>', [0, -6, 100, 56]),
        ('<text x="10" y="20"><tspan>0</tspan><tspan x="95">0000</tspan></text>', [0, 0, 131, 50]),
        ('<text transform="translate(1e1,2.0e1)" text-anchor="end">0000</text>', [-16, 0, 116, 50]),
        ('<rect x="-50" width="500" y="-9"/>', [0, 0, 100, 50]),
    ],
)
def test_sides_are_moved_out_as_far_as_texts_may_reach(inside: str, shown: list[float]):
    assert box(inside) == shown


@given(st.text(min_size=1))
def test_any_text_has_a_width(text: str):
    assert 0 < text_width(text, 11) <= len(text) * 1.3 * 11 + 1e-9


def test_no_letter_is_narrower_than_in_arial():
    # source: hmtx of Liberation Sans, which has the widths of Arial, in ems
    arial = {"i": 0.222, "f": 0.278, "r": 0.333, "s": 0.5, "a": 0.556, "0": 0.556, "w": 0.722, "m": 0.833, "M": 0.833}

    assert all(WIDTHS[letter] >= width for letter, width in arial.items())


def test_what_is_no_drawing_is_left_as_it_is():
    assert with_room("<svg>[0123abcd 1 wide]</svg>") == "<svg>[0123abcd 1 wide]</svg>"
