"""The JSON report holds everything, is strict JSON, and is the same every time."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from rl_pipeline import __version__
from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.analysis.summary import analyse_experiment
from rl_pipeline.report.json_document import SCHEMA_VERSION, job_list, report_document, to_text
from rl_pipeline_tests.helpers.frames import experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    frames = reference_frames()
    return dict(report_document(reference_result(), frames, provenance_of(frames)))


def test_the_parts_stand_in_a_fixed_order(document: dict[str, Any]):
    assert list(document) == [
        "schema_version",
        "experiment",
        "generator",
        "jobs",
        "verdict",
        "findings",
        "published",
        "lineage",
        "replays",
        "populations",
        "time",
        "trend",
        "levels",
        "noise",
        "trials",
        "tasks",
        "comparison",
        "engines",
        "checkpoints",
        "thresholds",
        "as_of",
        "provenance",
        "card",
    ]
    assert document["schema_version"] == SCHEMA_VERSION
    assert document["generator"] == {"name": "rl_pipeline", "version": __version__}


def test_every_finding_has_the_agreed_fields(document: dict[str, Any]):
    agreed = {"id", "slug", "status", "severity", "title", "summary", "evidence", "n", "threshold", "action", "missing"}

    assert len(document["findings"]) == 40
    assert all(agreed <= set(finding) for finding in document["findings"])
    assert set(document["findings"][0]["threshold"]) == {"text", "source"}
    assert set(document["verdict"]) == {"status", "reasons"}


def test_published_numbers_are_there_at_full_precision(document: dict[str, Any]):
    # source: the table steps.csv of the reference run
    overview = document["published"]["overview"][0]

    assert (overview["total_steps"], overview["total_time_s"]) == (9, pytest.approx(6840.162))
    assert document["published"]["trials"]["total"] == 44526
    assert document["checkpoints"]["step"] == 70
    assert [job["job"] for job in document["jobs"]] == ["job_567548", "job_567550", "job_567551"]


def test_the_text_is_strict_json_and_the_same_every_time(document: dict[str, Any]):
    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = to_text(document)

    assert json.loads(text, parse_constant=refuse) == document
    assert to_text(document) == text


def test_an_empty_experiment_makes_a_document_too():
    frames = experiment_frames("nothing")
    document = report_document(analyse_experiment(frames), frames, provenance_of(frames))

    assert document["experiment"] == "nothing"
    assert document["jobs"] == []
    json.loads(to_text(document))


def test_jobs_have_the_columns_of_their_table_with_null_for_nothing():
    (job,) = job_list(
        experiment_frames(jobs=[job_row("job_1", first_logged_at=datetime(2026, 6, 3, 1), end_line=None)])
    )

    assert isinstance(job, dict)
    assert job["first_logged_at"] == "2026-06-03T01:00:00"
    assert (job["end_line"], job["last_logged_at"], job["zone"], job["end_state"]) == (None, None, None, "unknown")


def test_the_text_is_laid_out_as_the_standard_library_does_it():
    odd: dict[str, Any] = {
        "a": [],
        "b": {},
        "c": [{}, [1, -0.0, 1e22, 1e-7, 10**30]],
        "d": 'é\u2028"\\ \x01/',
        "": None,
        "e": [[], True],
    }

    assert to_text(odd) == json.dumps(odd, indent=1, ensure_ascii=False) + "\n"
