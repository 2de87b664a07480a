"""Copies on this disk: named by content, locked while used, bounded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from rl_pipeline.addresses import as_path
from rl_pipeline.places import on_disk
from rl_pipeline.places.spool import Spool


@pytest.fixture
def files() -> Iterator[fsspec.AbstractFileSystem]:
    memory = fsspec.filesystem("memory")
    yield memory
    memory.store.clear()


def names(folder: Path) -> list[str]:
    return sorted(path.name.partition("-")[2] for path in folder.iterdir())


def test_a_file_of_this_machine_is_its_own_copy(tmp_path: Path):
    (tmp_path / "a.out").write_text("x")

    with on_disk(tmp_path / "a.out") as file:
        assert file == tmp_path / "a.out"


def test_the_spool_lies_where_the_settings_say(
    tmp_path: Path, files: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RL_PIPELINE_SPOOL", str(tmp_path / "spool"))
    files.pipe_file("/logs/a.out", b"content")

    with on_disk(as_path("memory://logs/a.out")) as file:
        assert file.read_bytes() == b"content"

    assert names(tmp_path / "spool") == ["a.out"]


def test_a_file_is_copied_once_until_it_changes(tmp_path: Path, files: fsspec.AbstractFileSystem):
    spool, path = Spool(tmp_path, limit_bytes=10**6), as_path("memory://logs/a.out")
    files.pipe_file("/logs/a.out", b"one")
    with spool.holding(path) as first:
        copied = first.stat().st_ino
    with spool.holding(path) as again:
        assert again.stat().st_ino == copied
    files.pipe_file("/logs/a.out", b"longer")

    with spool.holding(path) as other:
        assert other.read_bytes() == b"longer"
        assert other != first


def test_the_longest_unused_copies_go_when_all_are_larger_than_the_limit(
    tmp_path: Path, files: fsspec.AbstractFileSystem
):
    spool = Spool(tmp_path, limit_bytes=250)
    for number, name in enumerate(("a.out", "b.out", "c.out")):
        files.pipe_file(f"/logs/{name}", bytes(100))
        with spool.holding(as_path(f"memory://logs/{name}")) as copy:
            pass
        os.utime(copy, (number, number))
    with spool.holding(as_path("memory://logs/c.out")):
        pass

    assert names(tmp_path) == ["b.out", "c.out"]


def test_a_copy_in_use_stays_whatever_the_limit(tmp_path: Path, files: fsspec.AbstractFileSystem):
    spool = Spool(tmp_path, limit_bytes=0)
    files.pipe_file("/logs/a.out", bytes(100))
    files.pipe_file("/logs/b.out", bytes(100))

    first, second = as_path("memory://logs/a.out"), as_path("memory://logs/b.out")
    with spool.holding(first) as one, spool.holding(second) as other:
        assert len(one.read_bytes()) == len(other.read_bytes()) == 100
    spool.sweep()

    assert names(tmp_path) == []


def test_what_a_killed_process_left_goes_after_a_day(tmp_path: Path, files: fsspec.AbstractFileSystem):
    old, young = tmp_path / "1-a.out.part-1", tmp_path / "2-a.out.part-2"
    old.write_bytes(b"half")
    young.write_bytes(b"half")
    os.utime(old, (1_000_000, 1_000_000))

    Spool(tmp_path, limit_bytes=10**6).sweep()

    assert not old.exists()
    assert young.exists()


def test_a_file_that_is_gone_is_missing(tmp_path: Path, files: fsspec.AbstractFileSystem):
    with (
        pytest.raises(FileNotFoundError),
        Spool(tmp_path, limit_bytes=10**6).holding(as_path("memory://logs/a.out")),
    ):
        pass


def test_a_long_name_fits_on_the_disk(tmp_path: Path, files: fsspec.AbstractFileSystem):
    name = "é" * 200 + ".out"
    files.pipe_file(f"/logs/{name}", b"x")

    with Spool(tmp_path, limit_bytes=10).holding(as_path(f"memory://logs/{name}")) as copy:
        assert copy.read_bytes() == b"x"
