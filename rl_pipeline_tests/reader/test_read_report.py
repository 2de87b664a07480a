"""A report before anything was read."""

from __future__ import annotations

from rl_pipeline.reader.read_report import ReadReport


def test_a_fresh_report_claims_nothing():
    report = ReadReport()

    assert (report.lines, report.folded_lines, report.read_error, report.first_logged_at) == (0, 0, None, None)
