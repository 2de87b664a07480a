"""The scheduler is asked where it can be; its absence changes nothing. The `sacct` here is a script that answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.defs.scheduler import ask_nobody, ask_sacct


def script(folder: Path, body: str) -> str:
    path = folder / "sacct"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_states_are_read_from_its_answer(tmp_path: Path):
    command = script(tmp_path, "echo '101|TIMEOUT'; echo '102|RUNNING'; echo \"$@\" > " + str(tmp_path / "asked"))

    states = ask_sacct(["101", "102", "not an id; rm -rf"], command=command)

    assert {job_id: found.state for job_id, found in states.items()} == {"101": "time_limit", "102": "running"}
    assert (tmp_path / "asked").read_text().split()[-1] == "101,102"


@pytest.mark.parametrize("body", ["exit 1", "echo 'sacct: error: slurmdbd is away' >&2; exit 1", "echo nonsense"])
def test_a_scheduler_that_fails_knows_nothing(tmp_path: Path, body: str):
    assert ask_sacct(["101"], command=script(tmp_path, body)) == {}


def test_a_machine_without_it_knows_nothing(tmp_path: Path):
    assert ask_sacct(["101"], command=str(tmp_path / "missing")) == {}
    assert ask_nobody(["101"]) == {}


def test_nothing_is_asked_about_nothing(tmp_path: Path):
    assert ask_sacct([], command=script(tmp_path, f"touch {tmp_path}/asked")) == {}
    assert not (tmp_path / "asked").exists()
