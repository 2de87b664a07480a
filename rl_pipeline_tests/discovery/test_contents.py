"""What is no text is not taken for a log, and equal logs are found out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rl_pipeline.discovery import discover
from rl_pipeline.discovery.contents import doubles, unreadable


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x7fELF" + bytes(range(256)), "no log but a binary file (program)"),
        (b"PAR1" + b"x" * 50, "no log but a binary file (Parquet file)"),
        (b"\xfd7zXZ\x00" + b"x" * 50, "no log but a binary file (xz archive)"),
        ("Step 1".encode("utf-16"), "no log but a binary file (UTF-16 text)"),
        (bytes(range(1, 256)) * 9, "no log but a binary file"),
    ],
)
def test_a_file_that_is_no_text_is_told_with_what_it_is(tmp_path, content, what):
    path = tmp_path / "demo_1.out"
    path.write_bytes(content)

    problem = unreadable(path)

    assert problem is not None
    assert (problem.path, problem.what) == (path, what)
    assert problem.do


@pytest.mark.parametrize(
    "content",
    [
        b"\x00" * 3000 + b"text\n",
        b"\x1b[36mx\x1b[0m\r\x08\n",
        b"a \xff broken \xc3\n",
        b"\xef\xbb\xbfwith a mark in front",
        "█ наука 学\n".encode(),
        gzip.compress(b"packed", mtime=0),
        b"",
    ],
)
def test_holes_colours_broken_characters_and_packed_logs_are_text(tmp_path, content):
    path = tmp_path / "demo_1.out"
    path.write_bytes(content)

    assert unreadable(path) is None


def test_a_file_that_is_gone_is_told(tmp_path):
    problem = unreadable(tmp_path / "demo_1.out")

    assert problem is not None
    assert problem.what == "cannot be opened: No such file or directory"


def test_equal_logs_are_paired_with_the_first_and_others_of_equal_size_are_not(tmp_path: Path):
    for number, text in enumerate(["same text", "same text", "same size", "other", "same text"], 1):
        (tmp_path / f"demo_{number}.out").write_text(text)
    (tmp_path / "demo_5.out").write_text("same size and more")
    jobs = discover([tmp_path / f"demo_{number}.out" for number in (1, 3, 4, 5)]).only().jobs
    second = discover([tmp_path / "demo_2.out"]).only().jobs

    assert {job.job: first.job for job, first in doubles([*jobs, *second]).items()} == {"job_2": "job_1"}
