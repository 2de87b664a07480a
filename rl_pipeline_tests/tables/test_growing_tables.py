"""Rows put behind those of the current set: what is written, read, swept, damaged; and when all are written again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from rl_pipeline.errors import DataError
from rl_pipeline.schema import JOB_TABLES, VllmStat
from rl_pipeline.tables import shelf as shelves
from rl_pipeline.tables.row_tables import CollectedTables, EarlierRows, RowSink, Settled
from rl_pipeline.tables.shelf import LITTER_GRACE, RETIRED_GRACE, Shelf
from rl_pipeline.tables.store_files import StoreFiles
from rl_pipeline_tests.tables.test_shelf import FakeClock, folders

ROWS = 5000
NAME = VllmStat.TABLE


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def shelf(tmp_path: Path, clock: FakeClock) -> Shelf:
    return Shelf(StoreFiles(str(tmp_path)), "jobs", clock=clock)


def engine_rows(first: int, count: int) -> list[VllmStat]:
    return [
        VllmStat(
            job="job_1", line=line, running=line * 7919 % 61, waiting=line % 3, prompt_throughput=line * 1.7 % 97,
            generation_throughput=line * 0.31 % 13, kv_cache_usage=line * 0.017 % 1.0,
        )
        for line in range(first, first + count)
    ]  # fmt: skip


def written(shelf: Shelf, count: int = ROWS) -> None:
    """A first set."""
    sink = RowSink(JOB_TABLES)
    sink.append(engine_rows(1, count))
    shelf.write("key", sink.tables(), {}, {}, {"state": b"1"})


def grown(shelf: Shelf, more: int, *, kept: int | None = None, begin: int | None = None) -> CollectedTables:
    """The rows of the current set, or the first of them, and some more, perhaps of earlier lines."""
    earlier = shelf.earlier("key", "state")
    assert earlier is not None
    _, table, base = earlier
    rows = table(NAME).num_rows if kept is None else kept
    settled = {row.TABLE: Settled(0, 0) for row in JOB_TABLES} | {NAME: Settled(rows, rows)}

    def reader(name: str) -> Callable[[], pa.Table]:
        return lambda: table(name)

    sink = RowSink(JOB_TABLES)
    sink.begin_with({name: EarlierRows(first, reader(name)) for name, first in settled.items()}, base)
    sink.append(engine_rows(rows + 1 if begin is None else begin, more))
    return sink.tables()


def grow(shelf: Shelf, more: int, *, kept: int | None = None) -> None:
    shelf.write("key", grown(shelf, more, kept=kept), {}, {}, {"state": b"1"})


def lines(shelf: Shelf) -> list[int]:
    found: list[int] = shelf.read_table("key", NAME)["line"].to_pylist()
    return found


def sizes(shelf: Shelf) -> list[int]:
    """Bytes of the table's files, by age of their folders."""
    return [shelf._files.sizes(f"jobs/key/{folder}").get(f"{NAME}.parquet", 0) for folder in folders(shelf)]


def later(clock: FakeClock, shelf: Shelf) -> None:
    """So much later that whatever can be swept is swept with the next write."""
    clock.now += RETIRED_GRACE + LITTER_GRACE * 2


def test_only_new_rows_are_written(shelf: Shelf, clock: FakeClock):
    written(shelf)
    later(clock, shelf)
    grow(shelf, 100)

    first, second = sizes(shelf)
    assert second < first / 4
    assert lines(shelf) == list(range(1, ROWS + 101))
    assert shelf.read_table("key", NAME, ["running"]).num_rows == ROWS + 100


def test_rows_that_were_not_final_are_replaced(shelf: Shelf, clock: FakeClock):
    written(shelf)
    grow(shelf, 100)
    grow(shelf, 40, kept=ROWS + 60)
    assert lines(shelf) == list(range(1, ROWS + 101))

    grow(shelf, 5, kept=ROWS - 10)
    assert lines(shelf) == list(range(1, ROWS - 4))


def test_folders_with_parts_of_the_tables_are_kept_for_as_long_as_they_are_needed(shelf: Shelf, clock: FakeClock):
    written(shelf)
    for _ in range(4):
        later(clock, shelf)
        grow(shelf, 10)
    assert lines(shelf) == list(range(1, ROWS + 41))

    later(clock, shelf)
    written(shelf)  # all anew
    later(clock, shelf)
    written(shelf)
    later(clock, shelf)
    written(shelf)
    assert len(folders(shelf)) == 2  # the current one, and the last that was replaced


def test_many_steps_end_in_one_file_again(shelf: Shelf, clock: FakeClock):
    written(shelf)
    for _ in range(shelves.MOST_PARTS + 1):
        later(clock, shelf)
        grow(shelf, 10)
        assert len(sizes(shelf)) <= shelves.MOST_PARTS + 3

    assert max(sizes(shelf)[-2:]) > sizes(shelf)[0] / 2
    assert lines(shelf) == list(range(1, ROWS + 10 * (shelves.MOST_PARTS + 1) + 1))


@pytest.mark.parametrize("more", [1001, 4000])
def test_many_new_rows_are_written_with_all_others(shelf: Shelf, more: int):
    written(shelf)
    grow(shelf, more)

    assert min(sizes(shelf)) > 0.5 * max(sizes(shelf))
    assert lines(shelf) == list(range(1, ROWS + more + 1))


def test_another_writer_in_between_makes_all_be_written(shelf: Shelf):
    written(shelf)
    mine = grown(shelf, 10)
    written(shelf, ROWS + 7)

    shelf.write("key", mine, {}, {})

    assert lines(shelf) == list(range(1, ROWS + 11))
    assert min(sizes(shelf)) > 0.9 * max(sizes(shelf))


def test_a_damaged_part_is_told_and_not_gone_on_with(shelf: Shelf, tmp_path: Path):
    written(shelf)
    grow(shelf, 10)
    first = next(path for path in tmp_path.rglob(f"{NAME}.parquet") if path.stat().st_size == max(sizes(shelf)))
    content = bytearray(first.read_bytes())
    content[100] ^= 1
    first.write_bytes(content)

    assert shelf.earlier("key", "state") is None
    with pytest.raises(DataError, match="damaged"):
        lines(shelf)


def test_rows_that_come_late_and_stand_earlier_make_all_be_written(shelf: Shelf):
    written(shelf)

    shelf.write("key", grown(shelf, 1, begin=17), {}, {})

    assert lines(shelf) == sorted([*range(1, ROWS + 1), 17])
