"""Processes that read trial files, real ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from threading import Thread

import pytest

from rl_pipeline.trial_files.crew import Crew
from rl_pipeline.trial_files.reading import COLUMNS
from rl_pipeline_tests.dialects.trial_files import trial_file


@pytest.fixture
def crew() -> Iterator[Crew]:
    some = Crew(2)
    yield some
    some.close()


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    for number in range(5):
        (tmp_path / f"{number}.json").write_bytes(trial_file(trial_name=f"t{number}"))
    return [str(tmp_path / f"{number}.json") for number in range(5)]


def processes_of(crew: Crew) -> list[subprocess.Popen[bytes]]:
    return [helper.process for helper in crew.helpers if helper.process is not None]


def trials(crew: Crew, paths: list[str]) -> list[str]:
    names: list[str] = crew.read(paths)[COLUMNS.index("trial")]
    return names


def test_columns_come_in_the_order_of_the_files(crew: Crew, paths: list[str]):
    for part in (paths, paths[::-1], paths[2:3]):
        assert trials(crew, part) == [f"t{Path(path).stem}" for path in part]


def test_times_come_with_their_zone(crew: Crew, paths: list[str]):
    (told,) = crew.read(paths[:1])[COLUMNS.index("started_at")]

    assert told == datetime(2026, 1, 9, 11, 22, 33, 444555, tzinfo=timezone.utc)


def test_many_threads_may_ask(crew: Crew, paths: list[str]):
    told: list[list[str]] = []
    threads = [Thread(target=lambda: told.extend(trials(crew, paths) for _ in range(5))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert told == [["t0", "t1", "t2", "t3", "t4"]] * 20


def test_a_process_that_died_costs_no_file(crew: Crew, paths: list[str]):
    for process in processes_of(crew):
        process.kill()
        process.wait()

    for _ in range(3):
        assert trials(crew, paths) == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize("program", ["", "/nowhere/python", "/bin/false"])
def test_without_processes_files_are_read_here(program: str, paths: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", program)
    alone = Crew(2)

    assert trials(alone, paths) == ["t0", "t1", "t2", "t3", "t4"]
    alone.close()


def test_processes_end_with_the_crew(paths: list[str]):
    some = Crew(2)
    trials(some, paths)

    some.close()

    assert [process.returncode for process in processes_of(some)] == [0, 0]


def test_a_process_imports_little(crew: Crew, paths: list[str]):
    trials(crew, paths)
    maps = Path(f"/proc/{processes_of(crew)[0].pid}/maps")
    if not maps.exists():
        pytest.skip("needs /proc")

    loaded = "".join(Path(f"/proc/{process.pid}/maps").read_text() for process in processes_of(crew))

    assert "msgspec" in loaded
    assert not [name for name in ("pyarrow", "pandas", "numpy") if f"/{name}/" in loaded]
