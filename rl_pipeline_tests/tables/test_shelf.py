"""Old set or new set: killed writers, writers at once, readers in between, and what is swept."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from rl_pipeline.errors import DataError
from rl_pipeline.schema import SkippedTrial
from rl_pipeline.tables.frames import to_arrow
from rl_pipeline.tables.shelf import LITTER_GRACE, RETIRED_GRACE, Shelf
from rl_pipeline.tables.store_files import StoreFiles
from rl_pipeline_tests.helpers.dying_disk import DyingDisk, Killed


def tables(content: str, count: int = 3) -> dict[str, pa.Table]:
    """Several tables that all say the same, so that a mixture of two sets is seen."""
    return {f"part_{number}": pa.table({"content": [content] * 5}) for number in range(count)}


def contents(shelf: Shelf, key: str = "key") -> set[str]:
    return {text for table in shelf.read(key).values() for text in table.column("content").to_pylist()}


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["disk", "bucket"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Shelf:
    url = str(tmp_path) if request.param == "disk" else f"memory://{uuid4().hex}"
    return Shelf(StoreFiles(url), "jobs", clock=clock)


@pytest.fixture
def dying() -> Iterator[Shelf]:
    DyingDisk.wipe()
    yield Shelf(StoreFiles("dying://store"), "jobs")
    DyingDisk.wipe()


def folders(shelf: Shelf) -> list[str]:
    return [name for name in shelf._files.names("jobs/key") if name != "manifest.json"]


@pytest.mark.parametrize("change", range(6))
def test_a_writer_killed_at_any_point_leaves_the_old_set_or_the_new(dying: Shelf, change: int):
    dying.write("key", tables("old"), {}, {})
    DyingDisk.die_after(change)

    killed = False
    try:
        dying.write("key", tables("new"), {}, {})
    except Killed:
        killed = True
    DyingDisk.revive()

    assert killed == (change < 4)  # three tables and the manifest
    assert contents(dying) == ({"old"} if killed else {"new"})


def test_a_writer_killed_at_its_first_set_leaves_none(dying: Shelf):
    DyingDisk.die_after(2)

    with pytest.raises(Killed):
        dying.write("key", tables("new"), {}, {})
    DyingDisk.revive()

    assert dying.keys() == []
    assert dying.provenance("key") is None


def test_litter_of_a_killed_writer_is_swept_after_its_grace(shelf: Shelf, clock: FakeClock):
    shelf.write("key", tables("old"), {}, {})
    with shelf._files.writing(f"jobs/key/{clock.now:%Y%m%dT%H%M%S}-{'0' * 12}/part_0.parquet") as file:
        file.write(b"half a")
    shelf._files.replace(f"jobs/key/manifest.json.{clock.now:%Y%m%dT%H%M%S}-{'0' * 12}.tmp", b"{")

    clock.now += LITTER_GRACE
    shelf.write("key", tables("new"), {}, {})
    assert len(folders(shelf)) == 4

    clock.now += timedelta(seconds=1)
    shelf.write("key", tables("new"), {}, {})
    assert len(folders(shelf)) == 3  # the current set and two just replaced
    assert contents(shelf) == {"new"}


def test_what_was_just_replaced_stays_for_its_readers(shelf: Shelf, clock: FakeClock):
    shelf.write("key", tables("first"), {}, {})
    clock.now += 10 * LITTER_GRACE
    for content in ("second", "third", "fourth"):
        shelf.write("key", tables(content), {}, {})
    assert len(folders(shelf)) == 4

    clock.now += LITTER_GRACE + RETIRED_GRACE
    shelf.write("key", tables("fifth"), {}, {})

    assert len(folders(shelf)) == 2
    assert contents(shelf) == {"fifth"}


def test_writers_and_readers_at_once_never_meet_a_mixture(tmp_path: Path):
    shelf = Shelf(StoreFiles(str(tmp_path)), "jobs")
    shelf.write("key", tables("start"), {}, {})
    mixtures: list[set[str]] = []
    running = threading.Event()
    running.set()

    def write(content: str) -> None:
        for _ in range(15):
            shelf.write("key", tables(content), {}, {})

    def read() -> None:
        while running.is_set():
            if len(found := contents(shelf)) != 1:
                mixtures.append(found)

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(content,)) for content in ("one", "two")]
    for thread in [*readers, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    running.clear()
    for thread in readers:
        thread.join()

    assert mixtures == []
    assert contents(shelf) in ({"one"}, {"two"})


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format": 1', b"null", b"[" * 100_000], ids=repr)
def test_a_damaged_manifest_is_told_and_its_tables_are_made_anew(shelf: Shelf, content: bytes):
    shelf.write("key", tables("old"), {"n": 1}, {"s": 1})
    shelf._files.replace("jobs/key/manifest.json", content)

    with pytest.raises(DataError) as raised:
        shelf.read("key")

    assert raised.value.slug == "manifest-damaged"
    assert shelf.provenance("key") is None
    assert shelf.summaries() == {}
    shelf.write("key", tables("new"), {"n": 2}, {})
    assert contents(shelf) == {"new"}


def edited(shelf: Shelf, **changes: object) -> None:
    told = json.loads(shelf._files.read("jobs/key/manifest.json") or b"")
    shelf._files.replace("jobs/key/manifest.json", json.dumps({**told, **changes}).encode())


def test_a_manifest_cannot_lead_out_of_the_store(shelf: Shelf):
    shelf.write("key", tables("old"), {}, {})
    edited(shelf, folder="../../etc")

    with pytest.raises(DataError) as raised:
        shelf.read("key")

    assert raised.value.slug == "manifest-damaged"


def test_tables_of_a_newer_program_are_neither_read_nor_overwritten(shelf: Shelf):
    shelf.write("key", tables("old"), {}, {})
    edited(shelf, schema_version=99)

    for use in (
        lambda: shelf.read("key"),
        lambda: shelf.provenance("key"),
        shelf.summaries,
        lambda: shelf.write("key", {}, {}, {}),
    ):
        with pytest.raises(DataError, match="schema version 99") as raised:
            use()
        assert raised.value.slug == "tables-newer"


def test_tables_with_the_columns_of_another_version_are_made_anew(shelf: Shelf):
    shelf.write("key", {"skipped_trials": to_arrow([], SkippedTrial)}, {"n": 1}, {"s": 1})
    told = json.loads(shelf._files.read("jobs/key/manifest.json") or b"")
    edited(shelf, tables={"skipped_trials": {**told["tables"]["skipped_trials"], "columns": "other"}})

    with pytest.raises(DataError) as raised:
        shelf.read("key")

    assert raised.value.slug == "tables-outdated"
    assert shelf.provenance("key") is None
    assert shelf.summaries() == {}


def test_a_damaged_table_is_told(shelf: Shelf):
    shelf.write("key", tables("old"), {}, {})
    folder = folders(shelf)[0]
    shelf._files.replace(f"jobs/key/{folder}/part_1.parquet", b"PAR1")

    with pytest.raises(DataError) as raised:
        shelf.read("key")

    assert raised.value.slug == "tables-damaged"
