"""The index: every report below a folder, and a reason for each that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.report.json_document import report_document, to_text
from rl_pipeline.report.page.experiments import reports_below
from rl_pipeline.report.page.index import experiment_row, links, write_index
from rl_pipeline.report.page.pairs import pairs_of
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    frames = reference_frames()
    made: dict[str, Any] = json.loads(to_text(report_document(reference_result(), frames, provenance_of(frames))))
    return made


def put(folder: Path, key: str, document: Any) -> None:
    path = folder / key / "report.json"
    path.parent.mkdir(parents=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")


def test_the_published_run_in_a_row(tmp_path: Path, document: dict[str, Any]):
    put(tmp_path, "run", document)
    (entry,), unread = reports_below(tmp_path)
    row = experiment_row(entry)

    assert unread == ()
    assert (row.verdict, row.tone, row.last_step.text) == ("needs attention", "warn", "80")
    assert (row.reward.text, row.reward.interval) == ("0.377", "0.337–0.418")
    assert row.solved.text == "43.7\u202f%"
    assert row.last_seen == "—"
    assert [name for _, name in row.links] == ["Markdown", "JSON"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("[1, 2]", "not a report of schema version 1"),
        ('{"schema_version": 7}', "not a report of schema version 1"),
        ('{"schema_version": 1}', "written by an earlier program"),
        ('{"schema_version": 1, "card": {}, "findings": []}', "lacks"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_report_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, text: str, reason: str):
    put(tmp_path, "broken", text)

    (entry,) = write_index(tmp_path).unread

    assert entry.key == "broken"
    assert reason.lower() in entry.reason.lower()
    assert "broken" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_folders_are_searched_to_a_depth_and_hidden_ones_are_not(tmp_path: Path, document: dict[str, Any]):
    for key in ("a", "team/b", "team/c/d", ".hidden/e", "one/two/three/four"):
        put(tmp_path, key, document)

    assert [entry.key for entry in reports_below(tmp_path)[0]] == ["a", "team/b", "team/c/d"]


def test_experiments_of_one_name_are_told_apart_by_their_folder(tmp_path: Path, document: dict[str, Any]):
    for key in ("a/run", "b/run"):
        put(tmp_path, key, document)
    put(tmp_path, "c", {**document, "experiment": "other"})

    index = write_index(tmp_path)

    name = document["experiment"]
    assert [entry.experiment for entry in index.experiments] == [f"{name} · a/run", f"{name} · b/run", "other"]


def test_addresses_are_relative_and_quoted(tmp_path: Path, document: dict[str, Any]):
    put(tmp_path, "a b#c?d%", document)
    (entry,), _ = reports_below(tmp_path)

    assert links(entry)[0] == ("a%20b%23c%3Fd%25/metrics_report.md", "Markdown")


def test_an_empty_folder_has_an_index_that_says_so(tmp_path: Path):
    index = write_index(tmp_path)

    assert (index.experiments, index.files) == ((), ("compare.html", "index.html"))
    assert "No report below this folder yet" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_is_said_early(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigurationError):
        write_index(tmp_path / "file" / "reports")


def test_the_gate_refuses_with_its_reasons_and_gives_no_difference(tmp_path: Path, document: dict[str, Any]):
    put(tmp_path, "a", document)
    put(tmp_path, "b", {**document, "experiment": "b", "card": {**document["card"], "group_size": 16}})

    (pair,) = pairs_of(reports_below(tmp_path)[0])

    assert not pair.comparable
    assert pair.reasons == ("8 samples per prompt against 16",)
    assert (pair.reward, pair.solve_rate, pair.over) == ("—", "—", "refused")


def test_a_pair_that_means_the_same_has_a_difference_with_its_interval(tmp_path: Path, document: dict[str, Any]):
    higher = json.loads(json.dumps(document))
    higher["experiment"] = "higher"
    higher["card"]["curves"]["reward"] = [value + 0.1 for value in document["card"]["curves"]["reward"]]
    put(tmp_path, "a", document)
    put(tmp_path, "b", higher)

    (pair,) = pairs_of(reports_below(tmp_path)[0])

    assert pair.comparable
    assert pair.reward.startswith("−0.100 [−0.1")
    # source: 80 steps, the first two of each of three links left out
    assert pair.over.startswith("steps 3–80")
