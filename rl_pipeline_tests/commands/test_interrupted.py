"""What a library logs when Ctrl-C meets it."""

from __future__ import annotations

import subprocess
import sys

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
