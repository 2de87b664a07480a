"""Published names, safe cells, equal bytes."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.schema import ALL_TABLES, Job, RolloutBatch, Row, StepMetric, Trial, VllmStat
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.exports import file_names, write_exports, write_table_exports
from rl_pipeline.tables.frames import to_arrow, to_frame

AT = datetime(2026, 1, 9, 11, 22, 33, 444000)
JOB = Job(
    experiment="exp", job="job_7", job_key="exp_7", path="exp_7.out", size_bytes=10, fingerprint="ab", lines=100,
    printed_lines=100, blocks=1, broken_blocks=0, dialect_lines={},
)  # fmt: skip
METRIC = StepMetric(
    job="job_7", block=0, line=3, kind="train", global_step=1, metric="loss", value=-0.5, state="measured",
    source="console", logged_at=AT,
)  # fmt: skip
TRIAL = Trial(trial="t__1", task="t", path="t__1", outcome="solved", reward=1.0, rewards={"reward": 1.0, "é": None})


def frames(*rows: Row) -> ExperimentFrames:
    tables: dict[str, Any] = {
        cls.TABLE: to_frame(to_arrow([row for row in rows if type(row) is cls], cls)) for cls in ALL_TABLES
    }
    return ExperimentFrames(experiment="exp", **tables)


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_table_is_there_and_the_published_names_too(tmp_path: Path):
    names = write_exports(frames(JOB, METRIC, TRIAL), tmp_path / "tables")

    published = {"metrics_table.csv", "metrics_job_7.csv", "vllm_metrics_table.csv", "trial_results.csv"}
    assert set(names) == published | {f"{cls.TABLE}.{kind}" for cls in ALL_TABLES for kind in ("csv", "parquet")}
    assert {path.name for path in (tmp_path / "tables").iterdir()} == set(names)


def test_metrics_are_one_row_per_block(tmp_path: Path):
    other = replace(METRIC, job="job_8")

    write_exports(frames(JOB, replace(JOB, job="job_8"), METRIC, other), tmp_path)

    row = {
        "job": "job_7", "block": "0", "global_step": "1", "kind": "train", "line": "3",
        "logged_at": "2026-01-09 11:22:33.444000", "loss": "-0.5",
    }  # fmt: skip
    assert cells(tmp_path / "metrics_table.csv") == [row, {**row, "job": "job_8"}]
    assert cells(tmp_path / "metrics_job_8.csv") == [{**row, "job": "job_8"}]


def test_nothing_is_an_empty_cell_and_maps_are_json(tmp_path: Path):
    write_exports(frames(TRIAL), tmp_path)

    (row,) = cells(tmp_path / "trial_results.csv")
    assert row["trial"] == "t__1"
    assert row["reward"] == "1"
    assert row["rewards"] == '{"reward": 1.0, "é": null}'
    assert (row["n_turns"], row["started_at"], row["job"]) == ("", "", "")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"])
def test_text_from_a_log_cannot_become_a_formula(tmp_path: Path, text: str):
    metric = replace(METRIC, metric=text, value=None, text=text, state="text")

    write_exports(frames(JOB, metric, replace(TRIAL, trial=text, exception_message=text)), tmp_path)

    assert cells(tmp_path / "trial_results.csv")[0]["exception_message"] == f"'{text}"
    assert cells(tmp_path / "step_metrics.csv")[0]["text"] == f"'{text}"
    assert cells(tmp_path / "metrics_table.csv")[0][f"'{text}"] == f"'{text}"


def test_negative_numbers_stay_numbers(tmp_path: Path):
    text = replace(METRIC, block=1, value=None, text="off", state="text")

    write_exports(frames(JOB, METRIC, text), tmp_path)

    assert cells(tmp_path / "step_metrics.csv")[0]["value"] == "-0.5"
    assert [row["loss"] for row in cells(tmp_path / "metrics_table.csv")] == ["-0.5", "off"]


def test_parquet_files_tell_their_columns(tmp_path: Path):
    batch = RolloutBatch(job="job_7", line=7, successful=5, total=8, failed_groups=1, exceptions={"X": 3})

    write_exports(frames(batch), tmp_path)

    table = pq.read_table(tmp_path / "rollout_batches.parquet")
    assert table["exceptions"].to_pylist() == [[("X", 3)]]
    described = table.schema.field("masked").metadata[b"description"]
    assert described == arrow_schema(RolloutBatch).field("masked").metadata[b"description"]
    assert table.schema.metadata[b"schema_version"] == b"1"


def test_the_same_frames_give_the_same_bytes(tmp_path: Path):
    stat = VllmStat(
        job="job_7", line=9, logged_at=AT, prompt_throughput=1.0, generation_throughput=0.1, running=1, waiting=None,
        kv_cache_usage=1.0,
    )  # fmt: skip
    for folder in ("one", "two"):
        write_exports(frames(JOB, METRIC, TRIAL, stat), tmp_path / folder)

    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_tables_give_the_files_that_their_frames_give(tmp_path: Path):
    metrics = [METRIC, replace(METRIC, block=1, value=float("nan"), state="not_finite"), replace(METRIC, value=None)]
    rows: list[Any] = [JOB, *metrics, TRIAL, replace(TRIAL, trial="=t__2", reward=None, rewards={}, started_at=AT)]
    tables = {cls.TABLE: to_arrow([row for row in rows if type(row) is cls], cls) for cls in ALL_TABLES}

    write_table_exports(tables, tmp_path / "tables")
    write_exports(frames(*rows), tmp_path / "frames")

    assert {path.name: path.read_bytes() for path in (tmp_path / "tables").iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "frames").iterdir()
    }


def test_files_are_replaced_and_others_stay(tmp_path: Path):
    (tmp_path / "metrics_table.csv").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")

    write_exports(frames(JOB, METRIC), tmp_path)

    assert cells(tmp_path / "metrics_table.csv")[0]["loss"] == "-0.5"
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".*"))


def test_names_of_jobs_make_safe_and_different_file_names():
    names = file_names(["job_7", "../../etc/passwd", "table", "JOB_7", "a b", "a_b", "x" * 300, ""])

    assert names["job_7"] == "metrics_job_7.csv"
    assert names["a_b"] == "metrics_a_b.csv"
    assert len({name.lower() for name in names.values()}) == 8
    assert all("/" not in name and len(name) < 130 and name != "metrics_table.csv" for name in names.values())
