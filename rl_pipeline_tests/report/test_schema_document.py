"""The written schema of report.json agrees with the program and with a document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.report.json_document import report_document
from rl_pipeline.report.schema_document import docstring_parts, schema_markdown, type_text
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


@dataclass(frozen=True)
class OneThing:
    """One."""

    value: int


def names_in(value: Any) -> set[str]:
    """Every key of a document that is a field and not data."""
    if isinstance(value, dict):
        return {key for key in value if re.fullmatch(r"[a-z][a-z0-9_]*", key)} | {
            name for item in value.values() for name in names_in(item)
        }
    return {name for item in value for name in names_in(item)} if isinstance(value, list) else set()


def test_every_field_of_a_real_document_is_in_the_page():
    frames = reference_frames()
    document = report_document(reference_result(), frames, provenance_of(frames))
    page = schema_markdown()
    data = {"rows", "recognised", "by_job", "by_confidence", "dialect_lines", "means"}
    fields = names_in({key: value for key, value in document.items() if key != "provenance"}) - data
    written = set(re.findall(r"(?m)^\| (\w+) \|", page))
    jobs = {f"job_{number}" for number in (567548, 567550, 567551)}

    phases = {"environment_setup_s", "agent_setup_s", "agent_execution_s", "verifier_s"}  # keys of a map
    assert fields - written - jobs - phases - {"name", "version", "none"} == set()


def test_links_lead_to_headings():
    page = schema_markdown()
    headings = {title.replace(" ", "-") for title in re.findall(r"(?m)^## (.*)$", page)}

    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= headings
    assert len(re.findall(r"(?m)^## ", page)) == len(headings)


def test_types_are_told_as_json_has_them():
    assert type_text(int | None) == "integer or null"
    assert type_text(tuple[str, ...]) == "list of text"
    assert type_text(tuple[int, str]) == "list: integer, text"
    assert type_text(dict[str, float]) == "object: number by name"
    assert type_text(OneThing) == "[one thing](#one-thing)"


def test_meanings_come_from_the_docstring():
    text = """What it is,
    in words.

    Attributes:
        a, b: two things
            on two lines.
        c: None when absent.
    """

    assert docstring_parts(text) == (
        "What it is, in words.",
        {"a": "two things on two lines.", "b": "two things on two lines.", "c": "null when absent."},
    )
