"""What is believed of the suffix of lines that Ray folded."""

from __future__ import annotations

import pytest

from rl_pipeline.reader.lines import repeat_count


@pytest.mark.parametrize(
    ("told", "believed"), [("4", 4), ("0", 1), ("1000000", 1_000_000), ("999999999", 1_000_000), ("9999999999", 1)]
)
def test_a_number_that_ray_cannot_have_meant_is_bounded(told, believed):
    assert repeat_count(f"(A pid=7) words [repeated {told}x across cluster]".encode()) == believed
