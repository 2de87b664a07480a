"""One row per metric block; a mirror line and its console block are one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from rl_pipeline.schema import StepMetric
from rl_pipeline.tables.frames import to_arrow
from rl_pipeline.tables.wide_metrics import wide_metrics

AT = datetime(2026, 1, 9, 11, 22, 33, 444000)
CONSOLE = StepMetric(
    job="job_7", block=1, line=3, kind="train", global_step=1, metric="loss", value=0.5123, state="measured",
    source="console", logged_at=AT,
)  # fmt: skip
MIRROR = replace(CONSOLE, block=0, line=2, value=0.51234567, source="mirror")


def wide(*rows: StepMetric, jobs: tuple[str, ...] = ("job_7",)) -> list[dict[str, Any]]:
    table = wide_metrics(to_arrow(rows, StepMetric), jobs, lambda text: f"<{text}>")
    told: list[dict[str, Any]] = table.to_pylist()
    return told


def test_a_row_has_labels_and_then_every_metric_by_name():
    rows = wide(replace(CONSOLE, metric="reward/x", value=1.0), CONSOLE)

    assert rows == [
        {
            "job": "<job_7>", "block": 1, "global_step": 1, "kind": "<train>", "line": 3, "logged_at": AT,
            "loss": 0.5123, "reward/x": 1.0,
        }
    ]  # fmt: skip
    assert list(rows[0])[-2:] == ["loss", "reward/x"]


def test_a_metric_that_a_block_lacks_is_empty():
    rows = wide(CONSOLE, replace(CONSOLE, block=2, global_step=2, metric="kl", value=0.0))

    assert [(row["loss"], row["kl"]) for row in rows] == [(0.5123, None), (None, 0.0)]


def test_a_mirror_line_and_its_console_block_are_one_row_with_all_digits():
    rows = wide(MIRROR, CONSOLE, replace(CONSOLE, metric="only/console", value=2.0))

    assert [(row["block"], row["line"], row["loss"], row["only/console"]) for row in rows] == [(1, 3, 0.51234567, 2.0)]


def test_a_mirror_line_alone_is_a_row_of_its_own():
    other = replace(CONSOLE, block=2, line=9, global_step=2)

    assert [(row["block"], row["loss"]) for row in wide(MIRROR, other)] == [(0, 0.51234567), (2, 0.5123)]


def test_a_step_trained_twice_in_one_log_has_two_rows():
    again = [replace(MIRROR, block=2, line=8, value=0.7), replace(CONSOLE, block=3, line=9, value=0.7)]

    assert [(row["block"], row["loss"]) for row in wide(MIRROR, CONSOLE, *again)] == [(1, 0.51234567), (3, 0.7)]
    assert [row["block"] for row in wide(MIRROR, *again)] == [0, 3]


def test_a_timing_block_is_not_joined_to_the_mirror_of_its_step():
    timing = replace(CONSOLE, kind="timing", metric="timing/step", value=9.0)

    assert [row["kind"] for row in wide(MIRROR, timing)] == ["<train>", "<timing>"]


def test_a_column_with_a_text_keeps_its_numbers_as_printed():
    text = replace(CONSOLE, block=2, global_step=2, value=None, text="=note", state="text")

    assert [row["loss"] for row in wide(replace(CONSOLE, value=-0.5), text)] == ["-0.5", "<=note>"]


def test_a_value_that_is_not_finite_is_told_as_such():
    values = [
        replace(CONSOLE, block=n, value=None, text=text, state="not_finite") for n, text in enumerate(["nan", "-inf"])
    ]

    assert [str(row["loss"]) for row in wide(*values)] == ["nan", "-inf"]


def test_jobs_stand_in_the_order_given():
    rows = wide(CONSOLE, replace(CONSOLE, job="job_10"), replace(CONSOLE, job="job_8"), jobs=("job_10", "job_7"))

    assert [row["job"] for row in rows] == ["<job_10>", "<job_7>", "<job_8>"]


def test_nothing_gives_the_labels():
    assert wide() == []
