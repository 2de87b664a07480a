"""Readers of a store in a bucket, or on an SSH server, while its writers are killed again and again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from rl_pipeline.errors import DataError
from rl_pipeline.tables.shelf import Shelf
from rl_pipeline.tables.store_files import StoreFiles
from rl_pipeline_tests.helpers.object_store import object_store
from rl_pipeline_tests.helpers.ssh_server import ssh_server

KILLS, TABLES, ROWS = 8, ("alpha", "beta", "gamma"), 5_000
# For each number that it is told, a new process that writes sets whose every cell is one number, counting on from
# there, and tells each that is written. Forked, so that a kill costs no import.
WRITERS = """
import os, signal, sys
import pyarrow as pa
import s3fs
from rl_pipeline.tables.shelf import Shelf
from rl_pipeline.tables.store_files import StoreFiles

url, rows, *tables = sys.argv[1:]
signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def write(number):
    shelf = Shelf(StoreFiles(url), "jobs")
    while True:
        table = pa.table({"value": pa.array([number] * int(rows), pa.int64())})
        shelf.write("demo_1", {name: table for name in tables}, {"version": str(number)}, {})
        os.write(1, b"%d %d\\n" % (os.getpid(), number))
        number += 1


for line in sys.stdin:
    if os.fork() == 0:
        write(int(line))
"""


@pytest.fixture(params=["s3", "sftp"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "s3":
        with object_store():
            yield "s3://lab/store"
    else:
        with ssh_server(tmp_path) as server:
            (tmp_path / "store").mkdir()
            yield server.url(tmp_path / "store")


class Writers:
    """Writers of one store, to be killed one by one."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-c", WRITERS, url, str(ROWS), *TABLES]
        self.parent = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def start(self, first: int) -> int:
        """A writer that counts from a number; gives its process id once its first set is written."""
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        print(first, file=self.parent.stdin, flush=True)
        for line in self.parent.stdout:
            process, number = map(int, line.split())
            if number == first:
                return process
        raise AssertionError("the writers died by themselves")

    def stop(self) -> None:
        """End all of them."""
        os.killpg(self.parent.pid, signal.SIGKILL)
        self.parent.communicate()


def number_of(shelf: Shelf) -> int:
    """The one number in all cells of all tables of the set that a reader sees."""
    tables = shelf.read("demo_1")
    values = {int(value) for table in tables.values() for value in table["value"].unique().to_pylist()}
    assert set(tables) == set(TABLES)
    assert {table.num_rows for table in tables.values()} == {ROWS}
    assert len(values) == 1, f"a mixture of sets: {values}"
    return values.pop()


def test_readers_see_whole_sets_while_writers_are_killed(url: str):
    shelf, seed = Shelf(StoreFiles(url), "jobs"), random.Random(1)
    with pytest.raises(DataError):
        shelf.read("demo_1")
    writers, seen = Writers(url), set[int]()
    try:
        running = writers.start(0)
        for kill in range(1, KILLS + 1):
            following = writers.start(1_000_000 * kill)  # two at once, for a while
            seen |= {number_of(shelf) for _ in range(seed.randrange(1, 5))}
            os.kill(running, signal.SIGKILL)  # wherever it is: in a table, before the manifest, while it sweeps
            seen.add(number_of(shelf))
            running = following
    finally:
        writers.stop()

    assert len(seen) > KILLS
    assert shelf.keys() == ["demo_1"]
    assert shelf.provenance("demo_1") == {"version": str(number_of(shelf))}


def test_a_later_writer_sweeps_what_killed_ones_left(url: str):
    files = StoreFiles(url)
    with files.writing("jobs/demo_1/20200101T000000-0123456789ab/alpha.parquet") as file:
        file.write(b"half of a table")
    now = datetime(2026, 1, 1)
    shelf = Shelf(files, "jobs", clock=lambda: now)

    shelf.write("demo_1", {"alpha": pa.table({"value": [1]})}, {}, {})
    first = [name for name in files.names("jobs/demo_1") if name != "manifest.json"]
    now += timedelta(days=1)
    shelf.write("demo_1", {"alpha": pa.table({"value": [2]})}, {}, {})
    now += timedelta(days=1)
    shelf.write("demo_1", {"alpha": pa.table({"value": [3]})}, {}, {})

    assert len(first) == 1, "the half set is gone"
    assert len(files.names("jobs/demo_1")) == 3, "the manifest, the current set and the one before"
    assert shelf.read("demo_1")["alpha"]["value"].to_pylist() == [3]
