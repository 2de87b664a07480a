"""Folders and files on real servers: an S3-compatible one and OpenSSH."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import fsspec
import pytest

from rl_pipeline.addresses import as_path
from rl_pipeline.places import (
    PlaceError,
    entries,
    exists,
    fetch_many,
    file_facts,
    is_file,
    is_folder,
    open_binary,
    walk_files,
)
from rl_pipeline_tests.helpers.ssh_server import SshServer

Put = Callable[[str, bytes], None]


@pytest.fixture(params=["s3", "sftp"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, Put]]:
    """A folder elsewhere, and how a file comes to lie in it."""
    if request.param == "s3":
        request.getfixturevalue("s3")
        bucket = fsspec.filesystem("s3")
        top = f"lab/{tmp_path.name}"
        yield as_path(f"s3://{top}"), lambda name, content: bucket.pipe_file(f"{top}/{name}", content)
        return
    server: SshServer = request.getfixturevalue("ssh")

    def put(name: str, content: bytes) -> None:
        file = tmp_path / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    yield as_path(server.url(tmp_path / "data")), put


def test_a_folder_is_listed_with_sizes_and_subfolders(place: tuple[Path, Put]):
    root, put = place
    put("logs/a_1.out", b"12345")
    put("b.txt", b"")

    assert [(entry.name, entry.is_folder, entry.size_bytes) for entry in entries(root)] == [
        ("b.txt", False, 0),
        ("logs", True, 0),
    ]
    assert [entry.name for entry in entries(root / "logs")] == ["a_1.out"]
    assert (is_folder(root), is_folder(root / "logs"), is_folder(root / "b.txt")) == (True, True, False)
    assert (is_file(root / "b.txt"), is_file(root / "logs"), exists(root / "nothing")) == (True, False, False)


def test_a_file_that_came_since_the_last_look_is_seen(place: tuple[Path, Put]):
    root, put = place
    put("a.out", b"1")
    assert len(entries(root)) == 1
    put("b.out", b"1")

    assert [entry.name for entry in entries(root)] == ["a.out", "b.out"]


def test_a_listing_and_a_question_about_one_file_tell_the_same(place: tuple[Path, Put]):
    root, put = place
    put("logs/a.out", b"12345")

    listed = entries(root / "logs")[0]

    assert file_facts(root / "logs" / "a.out") == listed


def test_ranges_of_a_file_are_read_from_where_the_reader_stands(place: tuple[Path, Put]):
    root, put = place
    content = bytes(range(256)) * 4096
    put("a.out", content)

    with open_binary(root / "a.out") as stream:
        head = stream.read(4)
        end = stream.seek(0, os.SEEK_END)
        stream.seek(end - 1000)
        tail = stream.read()
        stream.seek(300_000)
        middle = stream.read(500_000)

    assert (head, end, tail) == (content[:4], len(content), content[-1000:])
    assert middle == content[300_000:800_000]


def test_a_file_that_is_not_there_is_missing_as_on_a_disk(place: tuple[Path, Put]):
    root, put = place
    put("a.out", b"1")

    assert file_facts(root / "b.out") is None
    with pytest.raises(FileNotFoundError):
        open_binary(root / "b.out")
    with pytest.raises(FileNotFoundError):
        entries(root / "folder")


def test_many_small_files_are_copied_at_once_and_one_that_is_gone_has_no_copy(place: tuple[Path, Put], tmp_path: Path):
    root, put = place
    put("t/1/result.json", b"one")
    put("t/3/result.json", b"three")
    target = tmp_path / "copies"
    target.mkdir()

    copies = fetch_many([f"{root}/t/{number}/result.json" for number in (1, 2, 3)], target)

    assert [copy.read_bytes() if copy.exists() else None for copy in copies] == [b"one", None, b"three"]


def test_an_object_replaced_within_a_second_has_another_time(s3: Mapping[str, str]):
    bucket, path = fsspec.filesystem("s3"), as_path("s3://lab/replaced/a.out")
    bucket.pipe_file("lab/replaced/a.out", b"one")
    before = file_facts(path)
    bucket.pipe_file("lab/replaced/a.out", b"two")
    after = file_facts(path)

    assert before is not None
    assert after is not None
    assert before.mtime_ns != after.mtime_ns
    assert abs(before.mtime_ns - after.mtime_ns) < 60 * 10**9


def test_a_whole_tree_in_a_bucket_is_walked_by_folder(s3: Mapping[str, str]):
    bucket = fsspec.filesystem("s3")
    for name in ("x.txt", "a/result.json", "a/agent/log.txt"):
        bucket.pipe_file(f"lab/tree/{name}", b"1")

    found = {(folder, entry.name) for folder, entry in walk_files(as_path("s3://lab/tree"))}

    assert found == {("", "x.txt"), ("a", "result.json"), ("a/agent", "log.txt")}


def test_a_link_on_an_ssh_server_shows_what_it_leads_to(ssh: SshServer, tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.out").write_bytes(b"12345")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "file.out").symlink_to("real/a.out")
    (tmp_path / "nothing").symlink_to("gone")

    found = {entry.name: (entry.is_folder, entry.size_bytes) for entry in entries(as_path(ssh.url(tmp_path)))}

    assert found == {"real": (True, 0), "folder": (True, 0), "file.out": (False, 5), "nothing": (False, 0)}


def test_a_broken_connection_is_opened_anew(ssh: SshServer, tmp_path: Path):
    (tmp_path / "a.out").write_bytes(b"1")
    root = as_path(ssh.url(tmp_path))
    assert len(entries(root)) == 1
    for connected in fsspec.registry["sftp"]._cache.values():
        connected.client.close()

    assert len(entries(root)) == 1


def test_a_bucket_that_is_not_there_is_missing(s3: Mapping[str, str]):
    assert not exists(as_path("s3://no-such-bucket/logs"))


def test_an_unreachable_server_is_told_and_not_taken_for_an_empty_folder(s3: Mapping[str, str]):
    with pytest.raises(PlaceError) as told:
        entries(as_path("sftp://127.0.0.1:1/data"))

    assert told.value.told.slug == "place-unreachable"
