"""What a library logs when Ctrl-C meets it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

CODE = """
import logging
from rl_pipeline.commands.interrupted import tell_interruptions_once
tell_interruptions_once()
tell_interruptions_once()
for error in (KeyboardInterrupt, ValueError):
    try:
        raise error("met here")
    except BaseException:
        logging.getLogger("library.pool").error("while closing", exc_info=True)
"""


def test_an_interruption_is_not_told_with_a_traceback_and_other_errors_are():
    told = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stderr

    assert "KeyboardInterrupt" not in told
    assert told.count("Traceback") == 1
    assert "ValueError: met here" in told


SIGNALLED = """
import signal, sys
from rl_pipeline.commands.interrupted import ended_in_order
number, before = int(sys.argv[1]), getattr(signal, sys.argv[2])
signal.signal(number, before)  # whatever whoever started the tests ignores
with ended_in_order():
    try:
        signal.raise_signal(number)
    finally:
        signal.raise_signal(number)  # once more, while it is cleared up
        print("cleared", flush=True)
print("not ended", signal.getsignal(number) == before)
"""


def signalled(number: signal.Signals, before: str) -> tuple[int, str]:
    command = [sys.executable, "-c", SIGNALLED, str(int(number)), before]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_through_its_clearing_up(number: signal.Signals):
    assert signalled(number, "SIG_DFL") == (128 + number, "cleared\n")


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_ignored_stays_ignored(number: signal.Signals):
    # as `nohup rl-pipeline report` has it when its terminal is closed
    assert signalled(number, "SIG_IGN") == (0, "cleared\nnot ended True\n")
