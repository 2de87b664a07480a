"""Small parts of the page: sparks, the time tree, metric rows, headings, policy and data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.metric_overview import metric_overview
from rl_pipeline.analysis.series import canonical_steps
from rl_pipeline.report.page.colours import colour_styles
from rl_pipeline.report.page.headings import jobs_heading, stability_heading
from rl_pipeline.report.page.metrics import metric_rows
from rl_pipeline.report.page.render import content_policy, json_data
from rl_pipeline.report.page.spark import spark
from rl_pipeline.report.page.time_tree import time_tree, tree_note
from rl_pipeline.report.palette import DARK, LIGHT
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=60))
def test_a_spark_stays_in_its_frame(values: list[float]):
    points = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[\d.]+,[\d.]+", spark(values))]

    assert len(points) == len(values)
    assert all(0 <= x <= 120 and 0 <= y <= 26 for x, y in points)


def test_fewer_than_two_values_draw_no_spark():
    assert spark([]) == spark([1.0]) == ""


def test_the_tree_of_the_published_run_adds_up():
    rows = time_tree(reference_result().time.steps)
    top = [row for row in rows if row.depth == 1]

    # source: published analysis, 58.18 + 38.98 + 2.30 + 0.54 %
    assert [(row.name, row.share) for row in top][:2] == [
        ("wait_for_generation_buffer", "58.2\u202f%"),
        ("run_training", "39.0\u202f%"),
    ]
    beside = next(place for place, row in enumerate(rows) if place and row.depth == 0)
    assert sum(row.bar for row in rows[:beside] if row.depth == 1) == pytest.approx(100, abs=0.05)


def test_a_metric_says_what_it_means_and_where_it_is_missing():
    rows = {row.name: row for row in metric_rows(metric_overview(canonical_steps(reference_frames())))}

    assert rows["policy/policy_entropy"].meaning == "mean entropy of the policy per token"
    # source: published report, 40 saves in 81 rows; 40 of the 80 steps that count
    assert "in 40 of 80 steps" in rows["timing/save_checkpoints"].remark
    assert rows["timing/step"].numbers[0].value == pytest.approx(874.9, abs=0.1)


def test_what_was_printed_as_zero_with_four_decimals_is_only_small():
    rows = {row.name: row for row in metric_rows(metric_overview(canonical_steps(reference_frames())))}

    # source: published report, policy/policy_lr 0.0000 in all rows; discarded groups are counted and none
    assert {number.text for number in rows["policy/policy_lr"].numbers} == {"< 0.0001"}
    assert rows["async/discarded_count"].numbers[0].text == "0"


def test_headings_say_what_all_pictures_of_a_section_show():
    result = reference_result()

    assert stability_heading(result.findings).startswith("Stale data without importance correction")
    assert stability_heading(()) == "Stability cannot be judged from what was logged"
    assert jobs_heading(()) is None
    heading = jobs_heading(result.comparison)
    assert heading is not None
    assert "step time without the wait" in heading.lower()


def test_colours_are_named_for_light_dark_and_the_readers_choice():
    styles = colour_styles()

    assert styles.count(f"--ink:{DARK.ink}") == 2
    assert styles.count(f"--ink:{LIGHT.ink}") == 1
    assert "@media screen" in styles


def test_the_policy_allows_the_pages_own_script_and_nothing_from_outside():
    policy = content_policy("alert(1)")
    digest = base64.b64encode(hashlib.sha256(b"alert(1)").digest()).decode()

    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert "unsafe-eval" not in policy


@given(st.text())
def test_data_cannot_end_its_element_and_reads_back_the_same(text: str):
    written = str(json_data({"a": text}))

    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == {"a": text}


def test_the_time_tree_says_what_it_is_over():
    # source: the published run, 81 metric blocks of 80 steps
    result = reference_result()
    steps = result.time.steps

    note = tree_note(steps, rows=result.lineage.rows, that_count=result.lineage.distinct_steps)

    assert note.startswith("Over all 81 rows with a step time in the logs, those that a restart threw away included")
    assert "over the 80 steps that count" in note


def test_the_time_tree_of_a_run_without_restarts_speaks_of_none():
    note = tree_note(replace(reference_result().time.steps, rows=6), rows=6, that_count=6)

    assert note == "Over the 6 steps with a step time."


def test_shares_of_the_time_tree_have_one_number_of_decimals():
    steps = reference_result().time.steps
    shares = [row.share for row in time_tree(replace(steps, unattributed_seconds=present(steps.step_seconds) * 0.0123))]

    assert {len(share.partition(".")[2].rstrip("\u202f%")) for share in shares if share != "100\u202f%"} == {1}
    assert "1.2\u202f%" in shares


def test_a_time_below_its_last_digit_is_not_written_as_nothing():
    steps = reference_result().time.steps

    def told(seconds: float) -> set[str]:
        return {row.seconds for row in time_tree(replace(steps, unattributed_seconds=seconds)) if row.depth == 1}

    assert "< 0.1 s" in told(0.003)
    assert "> −0.1 s" in told(-0.003)
    assert "0.0 s" in told(0.0)
