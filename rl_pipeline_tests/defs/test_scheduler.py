"""The scheduler is asked where it can be; its absence changes nothing. The commands here are scripts that answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.defs.scheduler import ask_nobody, ask_slurm
from rl_pipeline.discovery import SacctState


def script(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked_{name}\n{body}\n')
    path.chmod(0o755)
    return str(path)


def asked(folder: Path, name: str) -> list[str]:
    """The job ids of each call."""
    file = folder / f"asked_{name}"
    return [line.split()[-1] for line in file.read_text().splitlines()] if file.exists() else []


def test_states_are_read_from_the_answer_of_sacct(tmp_path: Path):
    sacct = script(tmp_path, "sacct", "echo '101|TIMEOUT'; echo '102|RUNNING'")
    squeue = script(tmp_path, "squeue", "echo '101|RUNNING'")

    states = ask_slurm(["101", "102", "not an id; rm -rf"], sacct=sacct, squeue=squeue)

    assert {job_id: found.state for job_id, found in states.items()} == {"101": "time_limit", "102": "running"}
    assert (asked(tmp_path, "sacct"), asked(tmp_path, "squeue")) == (["101,102"], [])


@pytest.mark.parametrize("body", ["exit 1", "echo 'sacct: error: slurmdbd is away' >&2; exit 1", "echo nonsense"])
def test_squeue_is_asked_about_what_sacct_does_not_know(tmp_path: Path, body: str):
    squeue = script(tmp_path, "squeue", "echo '101|CONFIGURING'; echo '103_4|TIMEOUT'")

    states = ask_slurm(["101", "102", "103_4"], sacct=script(tmp_path, "sacct", body), squeue=squeue)

    assert states == {
        "101": SacctState("running", "CONFIGURING", "squeue"), "103_4": SacctState("time_limit", "TIMEOUT", "squeue"),
    }  # fmt: skip
    assert asked(tmp_path, "squeue") == ["101,102,103_4"]


def test_a_machine_without_them_or_where_both_fail_knows_nothing(tmp_path: Path):
    missing, failing = str(tmp_path / "missing"), script(tmp_path, "squeue", "exit 1")

    assert ask_slurm(["101"], sacct=missing, squeue=missing) == {}
    assert ask_slurm(["101"], sacct=missing, squeue=failing) == {}
    assert ask_nobody(["101"]) == {}


def test_nothing_is_asked_about_nothing(tmp_path: Path):
    commands = {name: script(tmp_path, name, "exit 0") for name in ("sacct", "squeue")}

    assert ask_slurm([], **commands) == {}
    assert asked(tmp_path, "sacct") == asked(tmp_path, "squeue") == []
