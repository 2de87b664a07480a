"""Processes that read trial files, real ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from threading import Thread

import pytest

from rl_pipeline.reader.trial_folders import Folder
from rl_pipeline.trial_files.crew import Crew
from rl_pipeline.trial_files.reading import COLUMNS
from rl_pipeline.trial_files.visiting import Branch, Task
from rl_pipeline_tests.dialects.trial_files import trial_file


@pytest.fixture
def crew() -> Iterator[Crew]:
    some = Crew(2)
    yield some
    some.close()


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    for number in range(5):
        (tmp_path / f"t{number}").mkdir()
        (tmp_path / f"t{number}" / "result.json").write_bytes(trial_file(trial_name=f"t{number}"))
    return Branch(Folder(str(tmp_path), "", 0, is_eval=False), [f"t{number}" for number in range(5)])


def processes_of(crew: Crew) -> list[subprocess.Popen[bytes]]:
    return [helper.process for helper in crew.helpers if helper.process is not None]


def trials(crew: Crew, branch: Branch) -> list[str]:
    found = crew.visit(Task(branch.above.path, [branch]))
    assert found.folders == found.columns[COLUMNS.index("trial")]
    return found.folders


def test_trials_come_in_the_order_of_the_folders(crew: Crew, branch: Branch):
    for names in (branch.names, branch.names[::-1], branch.names[2:3]):
        assert trials(crew, Branch(branch.above, names)) == names


def test_times_come_with_their_zone(crew: Crew, branch: Branch):
    (told,) = crew.visit(Task(branch.above.path, [Branch(branch.above, ["t1"])])).columns[COLUMNS.index("started_at")]

    assert told == datetime(2026, 1, 9, 11, 22, 33, 444555, tzinfo=timezone.utc)


def test_many_threads_may_ask(crew: Crew, branch: Branch):
    told: list[list[str]] = []
    threads = [Thread(target=lambda: told.extend(trials(crew, branch) for _ in range(5))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert told == [["t0", "t1", "t2", "t3", "t4"]] * 20


def test_a_process_that_died_costs_no_file(crew: Crew, branch: Branch):
    for process in processes_of(crew):
        process.kill()
        process.wait()

    for _ in range(3):
        assert trials(crew, branch) == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize("program", ["", "/nowhere/python", "/bin/false"])
def test_without_processes_files_are_read_here(program: str, branch: Branch, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", program)
    alone = Crew(2)

    assert trials(alone, branch) == ["t0", "t1", "t2", "t3", "t4"]
    alone.close()


def test_processes_end_with_the_crew(branch: Branch):
    some = Crew(2)
    trials(some, branch)

    some.close()

    assert [process.returncode for process in processes_of(some)] == [0, 0]


def test_a_process_imports_little(crew: Crew, branch: Branch):
    trials(crew, branch)
    maps = Path(f"/proc/{processes_of(crew)[0].pid}/maps")
    if not maps.exists():
        pytest.skip("needs /proc")

    loaded = "".join(Path(f"/proc/{process.pid}/maps").read_text() for process in processes_of(crew))

    assert "msgspec" in loaded
    assert not [name for name in ("pyarrow", "pandas", "numpy") if f"/{name}/" in loaded]
