"""Processes of a report are started before its inputs are looked at, unless there may be nothing to make."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.commands.report_processes import ReportProcesses, started_ahead
from rl_pipeline.commands.state_names import STATE_FILE, STATE_FOLDER


def are_alive(processes: ReportProcesses) -> list[bool]:
    children = [prepared.process._helper.process for prepared in (processes.reader, processes.analyst)]
    return [child is not None and child.poll() is None for child in children]


def test_they_wait_for_a_report_that_is_new_and_end_with_it(tmp_path: Path):
    with started_ahead(tmp_path / "out", force=False) as processes:
        assert processes is not None
        assert are_alive(processes) == [True, True]

    assert are_alive(processes) == [False, False]


def test_they_end_when_there_is_nothing_to_report(tmp_path: Path):
    with pytest.raises(ValueError, match="no log"), started_ahead(tmp_path, force=False) as processes:
        raise ValueError("no log")

    assert processes is not None
    assert are_alive(processes) == [False, False]


@pytest.mark.parametrize("force", [False, True])
def test_none_is_started_where_an_earlier_report_may_be_current(tmp_path: Path, force: bool):
    (tmp_path / STATE_FOLDER).mkdir()
    (tmp_path / STATE_FOLDER / STATE_FILE).touch()

    with started_ahead(tmp_path, force=force) as processes:
        assert (processes is not None) == force
