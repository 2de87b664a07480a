"""A set of files replaces an earlier one, or nothing changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.report import output_folder
from rl_pipeline.report.output_folder import (
    LIST_NAME,
    STAGING_PREFIX,
    _turn,
    file_state,
    replace_files,
    require_writable,
    work_folder,
)


def write(folder: Path, **files: str) -> tuple[str, ...]:
    def fill(staging: Path) -> None:
        for name, text in files.items():
            path = staging / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return tuple(replace_files(folder, fill))


def tree(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != LIST_NAME)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_the_new_set_stands_there_and_is_listed(tmp_path: Path):
    names = write(tmp_path / "out", a="1", charts__b="2")

    assert names == ("a", "charts/b")
    assert tree(tmp_path / "out") == {"a": "1", "charts/b": "2"}
    assert json.loads((tmp_path / "out" / LIST_NAME).read_text())["files"] == ["a", "charts/b"]


def test_files_that_only_the_earlier_set_had_are_removed_and_foreign_ones_stay(tmp_path: Path):
    write(tmp_path, a="1", charts__old="2")
    (tmp_path / "mine").write_text("keep", encoding="utf-8")

    write(tmp_path, a="3")

    assert tree(tmp_path) == {"a": "3", "mine": "keep"}
    assert not (tmp_path / "charts").exists()


def test_a_failure_leaves_the_earlier_set_untouched(tmp_path: Path):
    write(tmp_path, a="1", b="2")

    def fail(staging: Path) -> None:
        (staging / "a").write_text("new", encoding="utf-8")
        raise OSError(28, "No space left on device")

    with pytest.raises(ConfigurationError, match="No space left"):
        replace_files(tmp_path, fail)

    assert tree(tmp_path) == {"a": "1", "b": "2"}
    assert not list(tmp_path.glob(f"{STAGING_PREFIX}*"))


def test_a_mistake_of_the_program_leaves_the_earlier_set_untouched_too(tmp_path: Path):
    write(tmp_path, a="1")

    def fail(staging: Path) -> None:
        (staging / "a").write_text("new", encoding="utf-8")
        raise ValueError("bug")

    with pytest.raises(ValueError, match="bug"):
        replace_files(tmp_path, fail)

    assert tree(tmp_path) == {"a": "1"}


def test_a_folder_that_did_not_exist_is_not_left_behind_by_a_failure(tmp_path: Path):
    def fail(_: Path) -> None:
        raise OSError("no")

    with pytest.raises(ConfigurationError):
        replace_files(tmp_path / "new", fail)

    assert not (tmp_path / "new").exists()


def test_a_folder_where_a_file_belongs_is_told_before_anything_moves(tmp_path: Path):
    write(tmp_path, a="1")
    (tmp_path / "b").mkdir()

    with pytest.raises(ConfigurationError, match="folder where a file"):
        write(tmp_path, a="2", b="2")

    assert tree(tmp_path) == {"a": "1"}


@pytest.mark.parametrize("name", ["../victim", "/etc/victim", "a/../../victim", "..\\victim", ""])
def test_a_forged_list_removes_nothing_outside_the_folder(tmp_path: Path, name: str):
    out = tmp_path / "out"
    write(out, a="1")
    (tmp_path / "victim").write_text("keep", encoding="utf-8")
    (out / LIST_NAME).write_text(json.dumps({"version": 1, "files": [name, "a"]}), encoding="utf-8")

    write(out, b="2")

    assert (tmp_path / "victim").read_text(encoding="utf-8") == "keep"
    assert tree(out) == {"b": "2"}


def test_a_listed_file_behind_a_link_is_not_removed(tmp_path: Path):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    write(out, a="1", sub__b="2")
    elsewhere.mkdir()
    (elsewhere / "b").write_text("keep", encoding="utf-8")
    (out / "sub" / "b").unlink()
    (out / "sub").rmdir()
    (out / "sub").symlink_to(elsewhere, target_is_directory=True)

    write(out, a="3")

    assert (elsewhere / "b").read_text(encoding="utf-8") == "keep"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3}', '{"files": [1, null]}'])
def test_a_damaged_list_is_no_list(tmp_path: Path, text: str):
    write(tmp_path, a="1")
    (tmp_path / LIST_NAME).write_text(text, encoding="utf-8")

    write(tmp_path, b="2")

    assert tree(tmp_path) == {"a": "1", "b": "2"}


def test_what_a_killed_writer_left_long_ago_is_swept_and_a_fresh_one_is_not(tmp_path: Path):
    old, fresh = tmp_path / f"{STAGING_PREFIX}old", tmp_path / f"{STAGING_PREFIX}fresh"
    old.mkdir()
    fresh.mkdir()
    os.utime(old, (0, 0))

    write(tmp_path, a="1")

    assert not old.exists()
    assert fresh.exists()


def test_what_a_dead_process_of_this_machine_left_is_swept_at_once(tmp_path: Path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with work_folder(tmp_path) as own:
        _, machine = own.name.removesuffix(own.name[-8:]).split("@")
        of_the_dead = tmp_path / own.name.replace(f"{os.getpid()}@", f"{ended.pid}@")
        of_another_machine = tmp_path / of_the_dead.name.replace(machine[:8], "0" * 8)
        of_the_dead.mkdir()
        of_another_machine.mkdir()

        write(tmp_path, a="1")

        assert not of_the_dead.exists()
        assert of_another_machine.exists()
        assert own.exists()


def test_writability_is_seen_without_leaving_anything(tmp_path: Path):
    require_writable(tmp_path / "a" / "b")

    assert list(tmp_path.iterdir()) == []


def test_a_path_below_a_file_is_not_writable(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(ConfigurationError, match="is a file"):
        require_writable(tmp_path / "file" / "out")


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a file system that takes no files")
def test_a_file_system_that_takes_no_files_is_not_writable():
    with pytest.raises(ConfigurationError, match="cannot be written"):
        require_writable(Path("/proc/out"))


def test_a_file_that_can_not_be_moved_brings_the_moved_ones_back(tmp_path: Path):
    write_set(tmp_path, {"charts/a.csv": "old", "page.md": "old"})
    (tmp_path / "tables").write_text("a file where a folder belongs", encoding="utf-8")

    with pytest.raises(ConfigurationError, match="can"):
        write_set(tmp_path, {"charts/a.csv": "new", "charts/b.csv": "new", "tables/t.csv": "new", "page.md": "new"})

    assert (tmp_path / "charts" / "a.csv").read_text(encoding="utf-8") == "old"
    assert not (tmp_path / "charts" / "b.csv").exists()
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == "old"


def write_set(folder: Path, files: dict[str, str]) -> None:
    def write(staging: Path) -> None:
        for name, text in files.items():
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).write_text(text, encoding="utf-8")

    replace_files(folder, write)


def test_states_are_those_of_the_files_that_were_written(tmp_path: Path):
    states = replace_files(tmp_path, lambda staging: ignore((staging / "a").write_text("mine", encoding="utf-8")))
    assert states == {"a": file_state(tmp_path / "a")}

    (tmp_path / "other").write_text("mine", encoding="utf-8")
    (tmp_path / "other").replace(tmp_path / "a")

    assert states != {"a": file_state(tmp_path / "a")}


def test_states_are_taken_before_another_writer_may_replace_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def move_and_be_overtaken(staging: Path, folder: Path, names: Iterable[str]) -> None:
        moved(staging, folder, names)
        (folder / "new").write_text("another one's", encoding="utf-8")
        (folder / "new").replace(folder / "a")

    moved = output_folder._move_or_restore
    monkeypatch.setattr(output_folder, "_move_or_restore", move_and_be_overtaken)

    states = replace_files(tmp_path, lambda staging: ignore((staging / "a").write_text("mine", encoding="utf-8")))

    assert states["a"].size_bytes == len("mine")
    assert states["a"] != file_state(tmp_path / "a")


def test_writers_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def look_later(_: float) -> None:
        waits.set()
        may_look.wait(30)

    waits, may_look = Event(), Event()
    monkeypatch.setattr("rl_pipeline.report.output_folder.time.sleep", look_later)
    monkeypatch.setattr(output_folder, "TURN_S", 30.0)
    with ThreadPoolExecutor(1) as other:
        with _turn(tmp_path):
            theirs = other.submit(write, tmp_path, a="theirs")
            assert waits.wait(30)
            assert tree_of_shown(tmp_path) == {}
        may_look.set()
        assert theirs.result(30) == ("a",)

    assert tree_of_shown(tmp_path) == {"a": "theirs"}


def test_a_writer_that_stopped_in_its_turn_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(output_folder, "TURN_S", 0.0)
    with _turn(tmp_path):
        write(tmp_path, a="1")

    assert tree(tmp_path) == {"a": "1"}


@pytest.mark.parametrize("error", [OSError(37, "No locks available"), PermissionError(13, "Permission denied")])
def test_a_file_system_without_locks_takes_files(tmp_path: Path, error: OSError, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr("rl_pipeline.report.output_folder.fcntl.flock", refuse)
    write(tmp_path, a="1")

    monkeypatch.setattr(output_folder, "fcntl", None)
    write(tmp_path, a="2")

    assert tree(tmp_path) == {"a": "2"}


def tree_of_shown(folder: Path) -> dict[str, str]:
    return {name: text for name, text in tree(folder).items() if not name.startswith(".")}


def ignore(_: object) -> None:
    """What was written says how much it was."""


@pytest.mark.parametrize(("target", "words"), [("nowhere", "leads nowhere"), ("out", "leads to itself")])
@pytest.mark.parametrize("below", ["", "inner"])
def test_a_link_to_nothing_is_told_as_one(tmp_path: Path, target: str, words: str, below: str):
    (tmp_path / "out").symlink_to(tmp_path / target)

    with pytest.raises(ConfigurationError, match=words):
        require_writable(tmp_path / "out" / below)


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + "/b"])
def test_a_name_that_no_folder_may_have_is_told(tmp_path: Path, name: str):
    with pytest.raises(ConfigurationError, match="File name too long"):
        require_writable(tmp_path / name)
