"""The sample's report is, word for word, the one that was reviewed."""

from __future__ import annotations

import pytest

from rl_pipeline_tests.helpers.golden import GOLDEN, PARTS, cut, sample_report

LINES = 400
REFRESH = "python -m rl_pipeline_tests.helpers.golden"


@pytest.fixture(scope="module")
def parts() -> dict[str, str]:
    return cut(sample_report())


@pytest.mark.parametrize("name", PARTS)
def test_the_report_of_the_sample_has_not_moved(parts: dict[str, str], name: str):
    golden = (GOLDEN / name).read_text(encoding="utf-8").splitlines()

    assert parts[name].splitlines() == golden, f"read the difference; if it is meant: {REFRESH}"


@pytest.mark.parametrize("name", PARTS)
def test_a_golden_file_is_short_enough_to_be_read(name: str):
    assert len((GOLDEN / name).read_text(encoding="utf-8").splitlines()) <= LINES
