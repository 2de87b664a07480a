"""`docs/report_schema.md`, written from the classes that `report.json` is made of.

Names and types come from the fields, meanings from the `Attributes:` part of each class's docstring, so
the page cannot disagree with the program. `python docs/make_docs.py` writes it anew.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Union, get_args, get_origin, get_type_hints

from rl_pipeline.analysis.experiment_card import ExperimentCard
from rl_pipeline.analysis.provenance import Provenance
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.report.json_document import GENERATOR, PARTS, SCHEMA_VERSION
from rl_pipeline.schema import Job, columns_of

PLAIN = {str: "text", int: "integer", float: "number", bool: "true/false", datetime: "time"}
NOTHING = re.compile(r"\bNone\b")
ATTRIBUTE = re.compile(r"^(\w+(?:, \w+)*): (.*)$")
HEAD = f"""# The schema of report.json

Written from the program's classes by `docs/make_docs.py`; do not edit.

`report.json` holds every number and finding of the report. It is strict JSON in UTF-8: what is absent or not
finite is `null`, never 0 and never NaN. Units are seconds, tokens, tokens per second, bytes and fractions
between 0 and 1, unless a meaning says otherwise; times are ISO 8601, UTC where the zone is known.

Version {SCHEMA_VERSION}. It is raised when a name goes away or changes its meaning, not when one is added.

## The document

| Field | Type | Meaning |
|---|---|---|
| schema_version | integer | {SCHEMA_VERSION} |
| experiment | text | name of the experiment |
| generator | object | `name` ("{GENERATOR}") and `version` of the program |
| jobs | list of [job](#job) | one object per job log, in chain order |
"""


def schema_markdown() -> str:
    """The whole page."""
    hints = get_type_hints(ExperimentResult)
    meanings = {
        "verdict": "one line over the experiment",
        "findings": "one entry per rule, fired or not",
        "published": "every number of the published tables",
        "lineage": "links, endings, steps thrown away, holes",
        "replays": "repeated prompts, seen in pass@k",
        "populations": "rewards by population, coverage of the logs, tokens, pass@k",
        "time": "where the time went",
        "trend": "trends of reward and pass@k",
        "levels": "levels of the reward: at restarts, inside links, last against first steps",
        "noise": "noise of one step, groups that carry gradient",
        "trials": "trials by outcome, exception and task",
        "tasks": "change of the tasks over the run",
        "comparison": "differences between jobs",
        "engines": "engine load and its class",
        "checkpoints": "which checkpoint to keep",
        "thresholds": "what the findings were judged by",
        "as_of": "time of looking, when a job was still running",
    }
    rows = [f"| {name} | {type_text(hints[name])} | {meanings[name]} |" for name in PARTS]
    rows.append(f"| provenance | {type_text(Provenance)} | what was read, and what could not be |")
    rows.append(f"| card | {type_text(ExperimentCard)} | what an index of experiments reads |")
    roots = [*(hints[name] for name in PARTS), Provenance, ExperimentCard]
    parts = [HEAD + "\n".join(rows), _job()]
    parts += [class_markdown(kind) for kind in sorted(set(reachable(roots)), key=lambda kind: kind.__name__.lower())]
    return "\n\n".join(parts) + "\n"


def _job() -> str:
    hints = get_type_hints(Job)
    rows = [
        f"| {column.name} | {type_text(hints[column.name])} | {_escaped(column.metadata['doc'])} |"
        for column in columns_of(Job)
    ]
    return "\n".join(["## job", "", "One job log (the columns of the table `jobs`).", "", *TABLE_HEAD, *rows])


TABLE_HEAD = ("| Field | Type | Meaning |", "|---|---|---|")


def class_markdown(kind: type[Any]) -> str:
    """One class: what it is, then its fields."""
    summary, meanings = docstring_parts(kind.__doc__ or "")
    hints = get_type_hints(kind)
    rows = [
        f"| {field.name} | {type_text(hints[field.name])} | {_escaped(meanings.get(field.name, ''))} |"
        for field in dataclasses.fields(kind)
    ]
    return "\n".join([f"## {anchor(kind)}", "", summary, "", *TABLE_HEAD, *rows])


def docstring_parts(text: str) -> tuple[str, dict[str, str]]:
    """The first sentence, and the meaning of each attribute."""
    head, _, listed = text.partition("Attributes:")
    meanings: dict[str, str] = {}
    names: tuple[str, ...] = ()
    for line in listed.splitlines():
        found = ATTRIBUTE.match(line.strip())
        if found and line.startswith(" " * 8) and not line.startswith(" " * 9):
            names = tuple(found.group(1).split(", "))
            meanings.update(dict.fromkeys(names, found.group(2)))
        elif line.strip():
            meanings.update({name: f"{meanings[name]} {line.strip()}" for name in names})
    return NOTHING.sub("null", _escaped(" ".join(head.split()))), {
        name: NOTHING.sub("null", text) for name, text in meanings.items()
    }


def reachable(kinds: Sequence[Any]) -> Iterator[type[Any]]:
    """Every dataclass inside some types."""
    seen: set[type[Any]] = set()
    open_kinds = list(kinds)
    while open_kinds:
        kind = open_kinds.pop()
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            if kind in seen:
                continue
            seen.add(kind)
            yield kind
            open_kinds.extend(get_type_hints(kind).values())
        else:
            open_kinds.extend(get_args(kind))


def anchor(kind: type[Any]) -> str:
    """The heading of a class, in words: `MetricTrend` is `metric trend`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", kind.__name__).lower()


def type_text(kind: Any) -> str:  # noqa: ANN401 - any annotation
    """An annotation as a reader of JSON sees it."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return f"[{anchor(kind)}](#{anchor(kind).replace(' ', '-')})"
    if origin in {Union, types.UnionType}:
        named = [type_text(part) for part in inner if part is not type(None)]
        return " or ".join([*named, "null"] if type(None) in inner else named)
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return f"list: {', '.join(type_text(part) for part in inner)}"
    if origin in {tuple, list, Sequence}:
        return f"list of {type_text(inner[0])}"
    if origin in {dict, Mapping}:
        return f"object: {type_text(inner[1])} by name"
    return getattr(kind, "__name__", str(kind)).lower()


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
