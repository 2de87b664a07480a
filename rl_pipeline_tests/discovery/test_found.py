"""What discovery hands on explains itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.discovery import Discovery, Problem
from rl_pipeline.discovery.found import printable
from rl_pipeline.errors import DataError


def test_nothing_found_says_every_reason_and_what_to_do():
    problems = (Problem(Path("/a"), "the folder is empty", "point elsewhere"), Problem(Path("/b"), "empty file"))

    with pytest.raises(DataError) as caught:
        Discovery((), problems).some()

    assert str(caught.value) == (
        "no job log to read: the folder is empty; empty file\n"
        "  where: /a, /b\n"
        "  expected: files named <name>_<job id>.out (also -, .log, .err, .gz, .zst) or slurm-<job id>.out\n"
        "  do: point elsewhere\n"
        "  see: rl-pipeline explain no-job-logs"
    )


def test_nothing_given_is_nothing_found():
    with pytest.raises(DataError, match="nothing was given"):
        Discovery().only()


def test_a_problem_reads_as_what_where_and_what_to_do():
    assert str(Problem(Path("/a/b_1.out"), "empty file", "wait")) == "empty file\n  where: /a/b_1.out\n  do: wait"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain-1.out", "plain-1.out"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("caf\udce9", "caf\ufffd"),
        ("é 学", "é 学"),
        ("a\nb", "a\ufffdb"),
    ],
)
def test_a_name_from_a_disk_is_made_fit_to_print(name, shown):
    assert printable(name) == shown
