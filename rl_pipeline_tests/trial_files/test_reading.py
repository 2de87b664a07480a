"""Files to columns: every file is one row, whatever it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rl_pipeline.trial_files.reading import COLUMNS, LARGEST_FILE, read_columns
from rl_pipeline_tests.dialects.trial_files import trial_file


def rows(*paths: Path) -> list[dict[str, Any]]:
    columns = read_columns([str(path) for path in paths])
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]


def test_a_trial_is_a_row_with_the_state_of_its_file(tmp_path: Path):
    path = tmp_path / "result.json"
    path.write_bytes(trial_file())
    info = path.stat()

    (row,) = rows(path)

    assert (row["size"], row["mtime_ns"], row["inode"]) == (info.st_size, info.st_mtime_ns, info.st_ino)
    assert (row["trial"], row["reason"], row["is_lasting"]) == ("fix-bug__aB3dE9x", None, True)


def test_what_is_no_trial_has_a_reason_and_no_facts(tmp_path: Path):
    cut, folder, pipe, huge = (tmp_path / name for name in ("cut", "folder", "pipe", "huge"))
    cut.write_bytes(trial_file()[:-9])
    folder.mkdir()
    os.mkfifo(pipe)
    huge.touch()
    os.truncate(huge, LARGEST_FILE + 1)

    told = rows(cut, folder, pipe, huge, tmp_path / "gone")

    assert [row["reason"] for row in told] == [
        "JSON cut before its end",
        "not a regular file",
        "not a regular file",
        "larger than 256 MiB; not read",
        "No such file or directory",
    ]
    assert [row["is_lasting"] for row in told] == [True, False, False, True, False]
    assert all(row["trial"] is None for row in told)


def test_no_credential_in_a_name_is_kept(tmp_path: Path):
    for name, trial in (("a", "plain"), ("b", "key-sk-ant-api03-a1B2c3D4e5F6g7H8i9J0k1L2")):
        (tmp_path / name).write_bytes(trial_file(trial_name=trial))

    assert [row["trial"] for row in rows(tmp_path / "a", tmp_path / "b")] == ["plain", "key-[redacted anthropic_key]"]


def test_a_name_that_is_no_text_is_opened(tmp_path: Path):
    path = os.fsencode(tmp_path) + b"/t\xff"
    with open(path, "wb") as file:  # noqa: PTH123 - a name that no Path would print
        file.write(trial_file())

    assert read_columns([path, os.fsdecode(path)])[COLUMNS.index("trial")] == ["fix-bug__aB3dE9x"] * 2


def test_no_file_gives_empty_columns():
    assert read_columns([]) == [[] for _ in COLUMNS]
