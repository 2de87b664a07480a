"""Helper processes, real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rl_pipeline.processes import Helper

ECHO = "rl_pipeline_tests.helpers.echo"


@pytest.fixture
def helper() -> Iterator[Helper]:
    some = Helper(ECHO)
    yield some
    some.close()


def process_of(helper: Helper) -> subprocess.Popen[bytes]:
    assert helper.process is not None
    return helper.process


@pytest.mark.parametrize("message", [b"", b"\0\n", b"x" * 300_000])
def test_any_bytes_come_back(helper: Helper, message: bytes):
    assert [helper.ask(message) for _ in range(2)] == [message[::-1]] * 2


def test_what_the_helper_prints_comes_not_between_the_answers(helper: Helper):
    assert helper.ask(b"print") == b"tnirp"
    assert helper.ask(b"print in C") == b"C ni tnirp"


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="a system without such files")
def test_a_helper_that_reads_standard_input_takes_no_message(helper: Helper):
    assert helper.ask(b"read") == b""
    assert helper.ask(b"more") == b"erom"


def test_a_dead_helper_gives_no_answer(helper: Helper):
    process_of(helper).kill()
    process_of(helper).wait()

    assert helper.ask(b"x") is None


def test_a_helper_that_dies_of_a_message_gives_no_answer(helper: Helper):
    assert helper.ask(b"die") is None


def test_an_interrupt_at_the_terminal_is_left_to_the_parent(helper: Helper):
    assert helper.ask(b"up") == b"pu"

    os.kill(process_of(helper).pid, signal.SIGINT)

    assert helper.ask(b"still") == b"llits"


def test_a_helper_ends_when_it_is_closed(helper: Helper):
    helper.ask(b"x")

    helper.close()

    assert process_of(helper).returncode == 0


@pytest.mark.parametrize("program", ["", "/nowhere/python"])
def test_a_program_that_is_not_there_gives_no_answer(program: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", program)
    some = Helper(ECHO)

    assert some.ask(b"x") is None
    some.close()


def test_the_working_folder_and_the_environment_decide_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "rl_pipeline").mkdir()
    (tmp_path / "rl_pipeline" / "__init__.py").write_text("raise SystemExit('the wrong package')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    some = Helper(ECHO)

    assert some.ask(b"ok") == b"ko"
    some.close()


def test_a_helper_is_given_variables_that_are_not_set_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RL_TEST_SET", "here")
    helper = Helper(ECHO, environment={"RL_TEST_SET": "there", "RL_TEST_UNSET": "there"})

    told = [helper.ask(f"variable {name}".encode()) for name in ("RL_TEST_SET", "RL_TEST_UNSET", "RL_TEST_NEITHER")]
    helper.close()

    assert told == [b"here", b"there", b""]
    assert "RL_TEST_UNSET" not in os.environ


def test_a_dismissed_helper_ends_by_itself(helper: Helper):
    helper.dismiss()

    assert process_of(helper).wait(10) == 0
    assert helper.ask(b"more") is None
