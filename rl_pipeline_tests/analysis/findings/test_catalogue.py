"""The page of the rules is made from the rules."""

from __future__ import annotations

from rl_pipeline.analysis.findings.catalogue import catalogue_markdown


def test_every_rule_has_a_section_with_its_slug_and_its_numbers():
    page = catalogue_markdown()

    assert [f"R{number}" for number in range(1, 41) if f"\n## R{number} " not in page] == []
    assert "`generation-bound` · severity high" in page
    assert "| wait_share_high | 40 % | proposal |" in page
