"""What is believed of the suffix of lines that Ray folded."""

from __future__ import annotations

import pytest

from rl_pipeline.reader.lines import repeat_count
from rl_pipeline_tests.reader.reading import read_bytes


@pytest.mark.parametrize(
    ("told", "believed"), [("4", 4), ("0", 1), ("1000000", 1_000_000), ("999999999", 1_000_000), ("9999999999", 1)]
)
def test_a_number_that_ray_cannot_have_meant_is_bounded(told, believed):
    assert repeat_count(f"(A pid=7) words [repeated {told}x across cluster]".encode()) == believed


@pytest.mark.parametrize("chunk_bytes", [50, 1_000_000])
def test_lines_behind_the_first_record_of_a_container_are_counted_once(chunk_bytes):
    folded = b"(A pid=7) words [repeated 4x across cluster]\n"
    record = b"2026-01-09T11:22:33.123456789Z stdout F Step 7: \n"

    _, report = read_bytes(b"words\n" * 60 + folded + record + folded, chunk_bytes=chunk_bytes)

    assert report.folded_lines == 6
