"""What a library logs when Ctrl-C meets it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from rl_pipeline.commands.interrupted import ended_in_order

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


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_through_its_clearing_up(number: signal.Signals):
    cleared = []

    def work() -> None:
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)  # once more, while it is cleared up
            cleared.append(number)

    with pytest.raises(SystemExit) as ended, ended_in_order():
        work()

    assert ended.value.code == 128 + number
    assert cleared == [number]
    assert signal.getsignal(number) == signal.SIG_DFL


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_what_was_ignored_stays_ignored():
    earlier = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_in_order():
            signal.raise_signal(signal.SIGHUP)  # as a closed terminal does to `nohup rl-pipeline report`
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, earlier)
