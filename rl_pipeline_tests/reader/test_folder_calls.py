"""Reading many trials in one call: what is usual is read whole, all else is left to be looked at."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import NamedTuple

import pytest

import hatch_build
from rl_pipeline.reader import folder_calls
from rl_pipeline.reader.compiled import digest_file
from rl_pipeline.reader.folder_calls import (
    CONTENT_BYTES,
    IS_FILE,
    IS_FOLDER,
    NOT_READ,
    UNUSUAL,
    WHOLE,
    FolderCalls,
)
from rl_pipeline.trial_files.visiting import USUAL


@pytest.fixture(name="calls")
def compiled() -> FolderCalls:
    calls = folder_calls.load()
    assert calls is not None
    return calls


def put(root: Path, name: str, content: bytes = b"{}") -> Path:
    (root / name).mkdir(parents=True)
    (root / name / "result.json").write_bytes(content)
    return root / name


class Reading(NamedTuple):
    """A row of what is read."""

    how: int
    size: int
    mtime_ns: int
    inode: int
    folder_mtime_ns: int
    content: bytes


def read(calls: FolderCalls, root: Path, *names: str) -> list[Reading]:
    told = calls.read(str(root), names, USUAL)
    assert told is not None
    assert told.are_whole == all(how == WHOLE for how in told.how)
    rows = list(map(Reading, *told))
    assert len(rows) == len(names)
    assert [list(map(Reading, *told.one(place))) for place in range(len(names))] == [[row] for row in rows]
    return rows


def test_usual_trials_are_read_with_the_state_of_their_files(calls: FolderCalls, tmp_path: Path):
    contents = {"a": b"{}", "b c": b"", "é\n": b"x" * 5000, os.fsdecode(b"\xff"): b"\0y"}
    for name, content in contents.items():
        folder = put(tmp_path, name, content)
        (folder / "agent").mkdir()
        (folder / "config.json").touch()

    for name, told in zip(contents, read(calls, tmp_path, *contents), strict=True):
        info = (tmp_path / name / "result.json").stat()
        above = (tmp_path / name).stat()
        assert told == (WHOLE, info.st_size, info.st_mtime_ns, info.st_ino, above.st_mtime_ns, contents[name])


@pytest.mark.parametrize("name", ["job.log", "x.tar", ".tar", "old.tar.gz", "old.tgz"])
def test_a_folder_with_something_to_tell_is_left(calls: FolderCalls, tmp_path: Path, name: str):
    (put(tmp_path, "a") / name).touch()
    assert [told.how for told in read(calls, tmp_path, "a")] == [UNUSUAL]


@pytest.mark.parametrize("name", ["job.logs", "xtar", "tar", "x.tar.old", "agent.txt", "..result.json"])
def test_other_files_are_of_no_interest(calls: FolderCalls, tmp_path: Path, name: str):
    (put(tmp_path, "a") / name).touch()
    assert [told.how for told in read(calls, tmp_path, "a")] == [WHOLE]


@pytest.mark.parametrize(("name", "how"), [("agent", WHOLE), ("agents", UNUSUAL), ("agen", UNUSUAL), ("...", UNUSUAL)])
def test_folders_in_a_trial_are_left_but_for_its_own(calls: FolderCalls, tmp_path: Path, name: str, how: int):
    (put(tmp_path, "a") / name).mkdir()
    assert [told.how for told in read(calls, tmp_path, "a")] == [how]


def test_what_is_no_plain_file_is_never_opened(calls: FolderCalls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("fifo", "folder", "link", "socket", "none", "beside"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "fifo" / "result.json")
    (tmp_path / "folder" / "result.json").mkdir()
    (tmp_path / "link" / "result.json").symlink_to(put(tmp_path, "usual") / "result.json")
    (put(tmp_path / "beside", "inner") / "x").symlink_to("/")
    (tmp_path / "to_usual").symlink_to("usual")
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path / "socket")
    socket.socket(socket.AF_UNIX).bind("result.json")
    names = ("fifo", "folder", "link", "socket", "none", "beside", "to_usual", "file", "pipe", "gone", "usual")

    assert [told.how for told in read(calls, tmp_path, *names)] == [UNUSUAL] * 10 + [WHOLE]
    assert [told.how for told in read(calls, tmp_path / "beside", "inner")] == [UNUSUAL]


def test_files_that_do_not_fit_are_left_and_later_ones_are_read(calls: FolderCalls, tmp_path: Path):
    half = CONTENT_BYTES // 2
    for name, size in {"a": half, "b": half, "c": half - 1, "d": 1, "e": 0, "f": CONTENT_BYTES}.items():
        put(tmp_path, name, name.encode() * size)

    told = read(calls, tmp_path, *"abcdef")

    assert [one.how for one in told] == [WHOLE, NOT_READ, WHOLE, NOT_READ, WHOLE, NOT_READ]
    assert [one.content for one in told] == [b"a" * half, b"", b"c" * (half - 1), b"", b"", b""]


def test_a_time_beyond_what_a_table_holds_is_left(calls: FolderCalls, tmp_path: Path):
    file = put(tmp_path, "a") / "result.json"
    os.utime(file, (2**33 + 2**32, 2**33 + 2**32))
    later = file.stat().st_mtime_ns
    assert [told.how for told in read(calls, tmp_path, "a")] == [NOT_READ if later >= 2**63 else WHOLE]


def test_a_large_folder_is_looked_at_to_its_end(calls: FolderCalls, tmp_path: Path):
    folder = put(tmp_path, "a")
    for number in range(3000):
        (folder / f"{number:0>200}").touch()
    assert [told.how for told in read(calls, tmp_path, "a")] == [WHOLE]
    (folder / "inner").mkdir()
    assert [told.how for told in read(calls, tmp_path, "a")] == [UNUSUAL]


def test_a_folder_that_cannot_be_opened_gives_nothing(calls: FolderCalls, tmp_path: Path):
    assert calls.read(str(tmp_path / "gone"), ["a"], USUAL) is None
    assert calls.read("/" + "x/" * 3000, ["a"], USUAL) is None


def test_no_descriptor_is_left_open(calls: FolderCalls, tmp_path: Path):
    put(tmp_path, "a")
    (tmp_path / "b").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    read(calls, tmp_path, *["a", "b", "gone"] * 20)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_library_from_another_source_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for file in (folder_calls.SOURCE, folder_calls.COMPILED, digest_file(folder_calls.COMPILED)):
        shutil.copy(file, tmp_path)
    for name in ("SOURCE", "COMPILED"):
        monkeypatch.setattr(folder_calls, name, tmp_path / getattr(folder_calls, name).name)
    folder_calls.load.cache_clear()
    try:
        assert folder_calls.load() is not None
        (tmp_path / "folder_calls.c").write_text("another")
        folder_calls.load.cache_clear()
        assert folder_calls.load() is None
    finally:
        folder_calls.load.cache_clear()


def test_the_build_compiles_it():
    folder = Path(hatch_build.__file__).parent / hatch_build.CALLS_FOLDER
    assert (folder / "folder_calls.c").samefile(folder_calls.SOURCE)


def test_names_of_a_folder_are_listed_with_their_kinds_in_as_many_calls_as_needed(calls: FolderCalls, tmp_path: Path):
    odd = os.fsdecode(b"\xff\n")
    for number in range(5000):  # more bytes than one call lists
        (tmp_path / f"{number:0240d}").touch()
    (tmp_path / odd).mkdir()
    (tmp_path / "link").symlink_to(odd)
    (tmp_path / "...").mkdir()
    os.mkfifo(tmp_path / "fifo")

    listed = calls.listed(str(tmp_path))

    assert listed is not None
    names, kinds = listed
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    told = dict(zip(names, kinds, strict=True))
    assert {name for name, kind in told.items() if kind == IS_FOLDER} == {odd, "..."}
    assert {name for name, kind in told.items() if kind not in {IS_FOLDER, IS_FILE}} == {"link", "fifo"}


def test_nothing_is_listed_of_what_is_no_folder_or_empty(calls: FolderCalls, tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()

    assert calls.listed(str(tmp_path / "none")) is None
    assert calls.listed(str(tmp_path / "file")) is None
    assert calls.listed(str(tmp_path / "empty")) == ([], b"")


@pytest.mark.parametrize("share", [1, 4096])
def test_states_are_those_of_regular_files_alone(
    calls: FolderCalls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: int
):
    monkeypatch.setattr(folder_calls, "SHARE", share)
    names = ["a", "b\n", os.fsdecode(b"\xff"), "gone", "linked", "é" * 100, "z"]
    for name in names[:3] + names[5:]:
        put(tmp_path, name, name.encode("utf-8", "surrogateescape"))
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "result.json").symlink_to(tmp_path / "a" / "result.json")

    states = calls.states(str(tmp_path), names, "result.json")

    assert states is not None
    told = []
    for some in states:
        numbers = memoryview(some.columns).cast("q").tolist()
        count = len(some.is_file)
        told += [numbers[row::count] if some.is_file[row] else None for row in range(count)]
    files = [None if name in {"gone", "linked"} else tmp_path / name / "result.json" for name in names]
    infos = [file and (file.stat(), file.parent.stat()) for file in files]
    assert told == [
        info and [info[0].st_size, info[0].st_mtime_ns, info[0].st_ino, info[1].st_mtime_ns] for info in infos
    ]
    assert calls.states(str(tmp_path / "gone"), names, "result.json") is None
