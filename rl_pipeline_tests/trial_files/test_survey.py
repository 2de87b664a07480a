"""When other processes are worth their start."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.reader.trial_folders import Folder
from rl_pipeline.trial_files import survey
from rl_pipeline.trial_files.survey import Survey, ToDo
from rl_pipeline.trial_files.visiting import Branch
from rl_pipeline_tests.dialects.trial_files import trial_file


def visited(root: Path, names: list[str], *, chunk_s: float, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bool]:
    """How many trials a survey finds, and whether it started processes; visiting a chunk of ten takes so long."""
    clock = iter(range(10_000))
    monkeypatch.setattr(survey, "CHUNK_FILES", 10)
    monkeypatch.setattr("rl_pipeline.trial_files.survey.time.perf_counter", lambda: next(clock) * chunk_s)
    todo, some = ToDo(), Survey(2)
    todo.add(Branch(Folder(str(root), "", 0, False), list(names)))
    try:
        found = sum(len(one.folders) for one in some.visits(str(root), todo))
        found += sum(len(one.folders) for one in some.rest())
        return found, some._crew is not None
    finally:
        some.close()


@pytest.mark.parametrize(
    ("count", "chunk_s", "is_started"),
    [
        (20, 10.0, True),  # the other half takes as long
        (100, 0.02, False),  # all of it is nothing
        (110, 0.014, False),  # long enough here, but then nothing is left
        (300, 0.014, True),
    ],
)
def test_processes_are_started_when_what_is_left_takes_long(
    count: int, chunk_s: float, is_started: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    names = [f"t{number:03d}" for number in range(count)]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_bytes(trial_file(trial_name=name))

    assert visited(tmp_path, names, chunk_s=chunk_s, monkeypatch=monkeypatch) == (count, is_started)
