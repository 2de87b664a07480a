"""Trials read together are told as each by itself, whatever their files hold and whoever looks into the folders."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rl_pipeline.dialects.harbor_columns import TrialColumns
from rl_pipeline.dialects.harbor_secrets import SecretCounter
from rl_pipeline.dialects.harbor_trial import parse_trial
from rl_pipeline.dialects.parsed_trial import NAMES, ParsedTrial
from rl_pipeline.dialects.stored_values import stored_name
from rl_pipeline.reader import folder_calls
from rl_pipeline.reader.trial_folders import Folder, NotRead, TrialFile, find_trials
from rl_pipeline.redaction import redact
from rl_pipeline.trial_files.visiting import Branch, Task, Visited, answer, question, visit, visited
from rl_pipeline_tests.dialects.test_harbor_usual import DOCUMENTS
from rl_pipeline_tests.dialects.trial_files import trial_file

SECRET = "abcd1234efgh5678ijkl"
WORDS = st.sampled_from(["plain", "12", "t__aB3dE9x", "task-1", f"api_key={SECRET}", '"api_key":', f'"{SECRET}"', "\1"])
LINES = st.lists(WORDS, max_size=6).map(lambda words: "\n".join(words).encode())
# A file as it is, cut, with a byte changed, with something before it, or with a member twice.
DAMAGE = st.sampled_from([None, None, None, "cut", "byte", "mark", "twice", "empty"])


def damaged(data: bytes, damage: str | None, place: int) -> bytes:
    place %= len(data)
    if damage == "cut":
        return data[:place]
    if damage == "byte":
        return data[:place] + b"\xff" + data[place + 1 :]
    if damage == "mark":
        return b"\xef\xbb\xbf" + data
    if damage == "twice":
        return b'{"trial_name": "another", "id": 5, "started_at": "2026-01-09T11:22:33",' + data[1:]
    return b"" if damage == "empty" else data


def by_itself(data: bytes) -> tuple[Any, ...] | str:
    told = parse_trial(data)
    return told if isinstance(told, str) else tuple(told)


def together(files: list[bytes]) -> list[tuple[Any, ...] | str]:
    trials = TrialColumns()
    for data in files:
        trials.add(data)
    columns, reasons = trials.told()
    times = slice(ParsedTrial._fields.index("started_at"), ParsedTrial._fields.index("zone"))
    columns[:NAMES] = [[name and stored_name(name) for name in column] for column in columns[:NAMES]]
    columns[times] = [[time and time.replace(tzinfo=None) for time in column] for column in columns[times]]
    rows = zip(*columns, strict=True) if files else ()
    return [reasons.get(number, row) for number, row in enumerate(rows)]


@given(st.lists(st.tuples(DOCUMENTS, DAMAGE, st.integers(0, 10_000), st.sampled_from([None, 4])), max_size=6))
def test_facts_of_many_files_are_those_of_each(told: list[tuple[dict[str, Any], str | None, int, int | None]]):
    files = [
        damaged(json.dumps(json.loads(trial_file(**changes)), indent=indent).encode(), damage, place)
        for changes, damage, place, indent in told
    ]

    assert repr(together(files)) == repr([by_itself(data) for data in files])


@given(st.lists(st.lists(LINES, max_size=5), max_size=4))
def test_credentials_of_many_texts_are_those_of_each(rounds: list[list[bytes]]):
    counter = SecretCounter()

    for texts in rounds:
        counts = counter.count_all(texts)
        assert counts == [sum(redact(text.decode()).found.values()) for text in texts]


NODES = st.sampled_from(
    [
        "result.json", "job.log", "trial.log", "agent/", "verifier/result.json", "logs/", "x.tar.gz", "agent",
        "inner/t__aB3dE9x/result.json", "eval_sessions/run/t/result.json", "result.json/", "link", "loop", "a\udcff/",
    ]
)  # fmt: skip
FOLDERS = st.lists(st.lists(NODES, max_size=5, unique=True), min_size=1, max_size=4)


def build(root: Path, folders: list[list[str]]) -> None:
    for number, nodes in enumerate(folders):
        folder = root / f"t{number}__abcdefg"
        folder.mkdir()
        for node in nodes:
            make(folder, node)


def make(folder: Path, node: str) -> None:
    path = folder / node.rstrip("/")
    if os.path.lexists(path) or any(above.is_file() for above in path.parents):
        return
    if node in {"link", "loop"}:
        path.symlink_to({"link": "nowhere", "loop": ".."}[node])
    elif node.endswith("/"):
        path.mkdir(parents=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(trial_file(trial_name="t") if node.endswith(".json") else b"x")


def everything_below(root: str) -> list[Visited]:
    """Visits until nothing is left; every other one as if by another process."""
    top = Folder(root, "", 0, is_eval=False)
    line = [Branch(top, sorted(path.name for path in Path(root).iterdir()))]
    found: list[Visited] = []
    while line:
        task = Task(root, [line.pop()])
        found.append(visited(answer(question(task))) if len(found) % 2 else visit(task))
        line += found[-1].inner
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FOLDERS)
def test_visits_find_what_a_walk_finds(folders: list[list[str]]):
    with TemporaryDirectory() as place:
        root = os.path.realpath(place)
        build(Path(root), folders)
        visits = everything_below(root)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(folder_calls, "load", lambda: None)
            assert everything_below(root) == visits
        walked = list(find_trials(Path(root)))

    files = sorted(
        row for one in visits for row in zip(one.folders, one.is_eval, one.leaf_mtime_ns, one.columns[0], strict=True)
    )
    assert files == sorted(
        (one.folder, one.is_eval, one.leaf_mtime_ns, one.size) for one in walked if isinstance(one, TrialFile)
    )
    assert sorted(none for one in visits for none in one.not_read) == sorted(
        one for one in walked if isinstance(one, NotRead)
    )
