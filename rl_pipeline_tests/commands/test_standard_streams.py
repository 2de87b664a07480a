"""A command whose standard streams were closed writes none of them into another file."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import chain, combinations
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
from pathlib import Path
from rl_pipeline.commands.standard_streams import settle
settle()
with open(sys.argv[1], "w") as log:
    told = [log.fileno() > 2, sys.stdin.read() == "", *(os.get_inheritable(number) for number in (0, 1, 2))]
    print("an answer of caf\\udce9", flush=True)
    print("a warning", file=sys.stderr, flush=True)
    log.write(repr(told))
"""
EVERY = [*chain.from_iterable(combinations((0, 1, 2), count) for count in range(4))]


@pytest.mark.skipif(os.name != "posix", reason="numbers of files")
@pytest.mark.parametrize("closed", EVERY, ids=str)
def test_what_is_opened_takes_the_number_of_no_stream(closed: tuple[int, ...], tmp_path: Path):
    def close() -> None:
        for number in closed:
            os.close(number)

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "log")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        preexec_fn=close,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "log").read_text() == repr([True] * 5)
    assert done.stdout == ("" if 1 in closed else "an answer of caf\\udce9\n")
    assert done.stderr == ("" if 2 in closed else "a warning\n")
