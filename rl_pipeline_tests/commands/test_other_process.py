"""Functions in another process: values and errors come back, and a process that is not there costs only time."""

from __future__ import annotations

import os
import sys
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest

from rl_pipeline.commands.other_process import OtherProcess, PreparedProcess
from rl_pipeline.errors import ConfigurationError, DataError

HERE = "rl_pipeline_tests.commands.test_other_process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    path: Path
    numbers: tuple[float, ...] = ()


def pid() -> int:
    return os.getpid()


def returned(case: Case, table: pa.Table) -> tuple[Case, dict[str, pa.Table]]:
    return case, {"a": table}


def has_pandas() -> bool:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def numbers() -> pa.Table:
    return pa.table({"n": [1, None]})


def refuse() -> None:
    raise ConfigurationError("No", where="w", expected="e", do="d", slug="s")


def find_nothing() -> None:
    raise DataError("Nothing", slug="n")


def fill_the_disk() -> None:
    raise OSError(28, "No space left on device")


def wait_for_ever() -> None:
    Event().wait()


def die_there(parent: int) -> str:
    if os.getpid() != parent:
        os._exit(3)
    return "done here"


def test_a_function_runs_there_and_gives_its_value():
    with OtherProcess() as other:
        assert other.call(f"{HERE}:pid", gives=int) != os.getpid()


def test_a_module_can_count_as_not_installed_there():
    with OtherProcess(without=("pandas",)) as other:
        assert not other.call(f"{HERE}:has_pandas", gives=bool)
        assert other.call(
            f"{HERE}:returned", Case(path=Path()), pa.table({"n": [1]}), gives=tuple[Case, dict[str, pa.Table]]
        )
    with OtherProcess() as other:
        assert other.call(f"{HERE}:has_pandas", gives=bool)


def test_paths_dataclasses_and_tables_travel():
    case = Case(path=Path("/a/\udcff b"), numbers=(1.5, float("inf")))
    table = pa.table({"n": [1, None], "t": ["a", "ä"]}, schema=pa.schema([("n", pa.int64()), ("t", pa.string())]))

    with OtherProcess() as other:
        assert other.call(f"{HERE}:returned", case, table, gives=tuple[Case, dict[str, pa.Table]]) == (
            case,
            {"a": table},
        )


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        ("refuse", ConfigurationError, "No\n  where: w\n  expected: e\n  do: d\n  see: rl-pipeline explain s"),
        ("find_nothing", DataError, "Nothing\n  see: rl-pipeline explain n"),
        ("fill_the_disk", OSError, "[Errno 28] No space left on device"),
    ],
)
def test_errors_come_back_as_they_were(function: str, kind: type[Exception], words: str):
    with OtherProcess() as other:
        with pytest.raises(kind) as raised:
            other.call(f"{HERE}:{function}", gives=type(None))

        assert str(raised.value) == words
        assert other.call(f"{HERE}:pid", gives=int) != os.getpid()


def test_what_a_process_dies_of_is_done_here():
    with OtherProcess() as other:
        assert other.call(f"{HERE}:die_there", os.getpid(), gives=str) == "done here"
        assert other.call(f"{HERE}:pid", gives=int) == os.getpid()


def test_without_a_process_it_is_done_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "")
    with OtherProcess() as other:
        assert other.call(f"{HERE}:pid", gives=int) == os.getpid()


def test_a_closed_process_does_no_more_work_here():
    other = OtherProcess()
    other.close()

    with pytest.raises(CancelledError):
        other.call(f"{HERE}:pid", gives=int)


def test_a_prepared_process_is_one_that_has_been_asked_before():
    with PreparedProcess(f"{HERE}:pid") as prepared:
        first = prepared.thread.submit(prepared.process.call, f"{HERE}:pid", gives=int).result()

        assert prepared.process.call(f"{HERE}:pid", gives=int) == first != os.getpid()


def test_preparing_that_fails_harms_nothing():
    with PreparedProcess(f"{HERE}:refuse") as prepared:
        assert prepared.process.call(f"{HERE}:pid", gives=int) != os.getpid()


def test_a_prepared_process_ends_in_the_middle_of_its_work():
    prepared = PreparedProcess(f"{HERE}:wait_for_ever")
    child = prepared.process._helper.process
    assert child is not None

    prepared.close(at_once=True)

    assert child.wait() is not None
