"""The Markdown report: published layout, every number that needs no engine line, hostile names inert."""

from __future__ import annotations

import importlib.util
import json
import re
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from markdown_it import MarkdownIt

from rl_pipeline.analysis.chart_data import chart_data
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.analysis.summary import ExperimentResult, analyse_experiment
from rl_pipeline.report.charts.all_charts import all_charts
from rl_pipeline.report.markdown import metrics_report
from rl_pipeline.schema import PARTIAL
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
# Numbers of the engine tables, which need the logs: 3 × 5 in the summary and 3 × 8 in the utilization.
ENGINE_NUMBERS = 39


def page(frames: ExperimentFrames, result: ExperimentResult | None = None) -> str:
    result = result or analyse_experiment(frames)
    return metrics_report(result, frames, provenance_of(frames), all_charts(chart_data(frames, result)))


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_report", REFERENCE / "check_report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["check_report"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def published() -> str:
    return page(reference_frames(), reference_result())


def test_every_published_number_is_right(checker: Any, published: str):
    # source: expected_report.json, transcribed from the published report
    text = (REFERENCE / "expected_report.json").read_text(encoding="utf-8")
    expected = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    tally = checker.compare(checker.Report(checker.read_sections(published)), expected)

    assert (tally.total, tally.matched) == (1219, 1219 - ENGINE_NUMBERS)
    assert all("vllm" in text.lower() or "engine" in text.lower() for text in tally.mismatches)


def test_findings_come_before_the_published_tables_and_new_sections_after_them(published: str):
    titles = re.findall(r"(?m)^## (.*)$", published)

    assert titles[:2] == ["Findings", "Overview"]
    assert titles.index("Trial-Level Analysis (from result.json)") < titles.index("How the Jobs Chain")
    assert titles[-2:] == ["Charts", "Inputs"]


def test_every_chart_is_linked_with_its_words_and_numbers(published: str):
    pictures = re.findall(r"!\[(.+)\]\(charts/(\w+)\.png\)", published)
    linked = set(re.findall(r"\]\(charts/(\w+)\.png\)", published))

    assert {"reward", "errors_by_step", "step_time", "turns"} <= {name for _, name in pictures}
    assert all(len(alt) > 40 for alt, _ in pictures)
    assert {"entropy", "jobs_reward"} <= linked
    assert linked == set(re.findall(r"\]\(charts/(\w+)\.csv\)", published))


def test_nothing_absent_is_printed_as_a_word_of_the_program(published: str):
    assert not re.findall(r"(?i)\b(?:nan|none|null|undefined)\b(?! )", re.sub(r"Confidence: none", "", published))


HOSTILE = "job_1](https://evil.example) | <img src=x onerror=alert(1)>\n# owned `x` **b** www.evil.example"


@pytest.fixture(scope="module")
def hostile() -> str:
    metrics = {"reward/avg_raw_reward": 0.5, f"a/{HOSTILE}": 1.0, "timing/step": 9.0, f"timing/{HOSTILE}": 4.0}
    rows = [row for step in range(1, 4) for row in block_rows(HOSTILE, step, step, metrics)]
    rows += block_rows(HOSTILE, 9, 4, {"a/b": 1.0}, kind=PARTIAL)
    batch = {
        "job": HOSTILE,
        "line": 1,
        "mode": "training",
        "successful": 7,
        "total": 8,
        "failed_groups": 1,
        "masked": 1,
        "exceptions": {HOSTILE: 1},
        "since_step_marker": 1,
        "repeat_count": 1,
    }
    trial = {
        "trial": HOSTILE,
        "task": HOSTILE,
        "path": HOSTILE,
        "outcome": "unscored",
        "exception_type": HOSTILE,
        "exception_class": "other",
        "n_turns": 3,
    }
    broken = {"job": HOSTILE, "line": 1, "byte_offset": 0, "dialect": "d", "reason": HOSTILE, "excerpt": HOSTILE}
    return page(
        experiment_frames(
            HOSTILE,
            jobs=[job_row(HOSTILE, end_state="failed", end_evidence=HOSTILE, end_line=3, read_error=HOSTILE)],
            step_metrics=rows,
            rollout_batches=[batch],
            trials=[trial],
            unparsed=[broken],
            skipped_trials=[{"path": HOSTILE, "reason": HOSTILE}],
        )
    )


def test_a_hostile_name_makes_no_link_tag_heading_or_column(hostile: str):
    html = str(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(hostile))
    links = set(re.findall(r'(?:href|src)="([^"]*)"', html))

    assert {link.split("/")[0] for link in links} <= {"charts"}
    assert not re.findall(r"<(?:img src=x|script|b>)", html)
    assert "owned" not in " ".join(re.findall(r"<h\d>(owned.*?)</h\d>", html))
    assert not re.search(r"(?i)https?://|www\.", hostile)
    for table in re.findall(r"<table>.*?</table>", html, re.DOTALL):
        assert len({row.count("<td") for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)} - {0}) <= 1


def test_an_experiment_without_anything_is_a_page_that_says_so():
    text = page(experiment_frames("nothing"))

    assert "Generated from 0 log files" in text
    assert "## Overview" in text
    assert "## Charts" not in text
