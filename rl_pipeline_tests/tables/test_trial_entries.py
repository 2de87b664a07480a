"""Entries are found by folder and state, and parts add up."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from rl_pipeline.tables.columns import FITTING_TYPES, column_array
from rl_pipeline.tables.trial_entries import ENTRY_SCHEMA, MANY_ASKED, MANY_PARTS, EntryIndex, EntryParts, _array


def entry(folder: str, size: int = 1, *, leaf: int | None = 9, reason: str | None = None) -> pa.Table:
    state = {"folder": folder, "size": size, "mtime_ns": 5, "inode": 7, "leaf_mtime_ns": leaf, "reason": reason}
    return pa.Table.from_pylist([{**state, "trial": folder}], schema=ENTRY_SCHEMA)


def test_an_entry_is_found_by_folder_and_state():
    index = EntryIndex(pa.concat_tables([entry("a", 1), entry("b", 1), entry("a", 2)]))

    assert [index.find("a", size, 5, 7, 9) for size in (1, 2, 3)] == [0, 2, None]
    assert index.find("a", 1, 6, 7, 9) is None
    assert index.find("a", 1, 5, 8, 9) is None
    assert index.find("a", 1, 5, 7, 8) is None
    assert index.find("a", 1, 5, 7, None) is None
    assert index.find("c", 1, 5, 7, 9) is None


def test_only_trials_with_nothing_below_are_known_as_such():
    index = EntryIndex(
        pa.concat_tables([entry("trial"), entry("job", reason="result of a job"), entry("above", leaf=None)])
    )

    assert [folder in index for folder in ("trial", "job", "above", "other", 7)] == [True, False, False, False, False]


def test_the_newest_entries_of_few_folders_and_of_many_are_the_same():
    folders = ["a", "b", "c/é", "a", "d", "b", "e", *(f"more{number}" for number in range(3 * MANY_ASKED))]
    leaves = [folder not in {"d", "more0"} for folder in folders]
    told = zip(folders, leaves, strict=True)
    index = EntryIndex(
        pa.concat_tables([entry(folder, row, leaf=9 if leaf else None) for row, (folder, leaf) in enumerate(told)])
    )
    asked = ["none", "a", "d", "c/é", "", "b", "e", "more0", "more1", "a"]

    assert len(asked) * MANY_ASKED >= len(folders) > MANY_ASKED
    at_once = index.newest_rows(asked)
    one_by_one = [index.newest_rows([folder]).tolist() for folder in asked]

    assert at_once.tolist() == [-1, 3, -1, 2, -1, 5, 6, -1, 8, 3]
    assert one_by_one == [[row] for row in at_once.tolist()]
    assert [folder for folder in asked if folder in index] == ["a", "c/é", "b", "e", "more1", "a"]
    assert [folder for folder in asked if folder not in index.folders] == ["none", ""]


def test_nothing_is_found_where_nothing_is_known():
    index = EntryIndex(ENTRY_SCHEMA.empty_table())
    assert index.newest_rows(["a", "b"]).tolist() == [-1, -1]
    assert "a" not in index.folders
    assert "a" not in index
    assert index.find("a", 1, 1, 1, 1) is None


def test_parts_add_up_and_equal_ones_are_one(tmp_path: Path):
    EntryParts(str(tmp_path), "1").add(entry("a"))
    EntryParts(str(tmp_path), "1").add(entry("a"))
    EntryParts(str(tmp_path), "1").add(entry("b"))

    assert sorted(EntryParts(str(tmp_path), "1").load()["folder"].to_pylist()) == ["a", "b"]
    assert EntryParts(str(tmp_path), "2").load().num_rows == 0


def test_merging_deletes_only_what_was_seen(tmp_path: Path):
    for number in range(MANY_PARTS + 1):
        EntryParts(str(tmp_path), "1").add(entry(f"t{number}"))
    parts = EntryParts(str(tmp_path), "1")
    known = parts.load()
    EntryParts(str(tmp_path), "1").add(entry("of another run"))

    parts.merge_if_many(lambda: known)

    assert len(list(tmp_path.rglob("*.arrow"))) == 2
    assert EntryParts(str(tmp_path), "1").load().num_rows == MANY_PARTS + 2


def test_without_a_place_nothing_is_remembered():
    parts = EntryParts(None, "1")

    parts.add(entry("a"))
    parts.merge_if_many(ENTRY_SCHEMA.empty_table)
    parts.sweep()

    assert parts.load().num_rows == 0


COLUMNS = st.one_of(
    *(st.lists(st.none() | values, max_size=4) for values in (st.integers(-5, 5), st.text(max_size=3), st.booleans())),
    st.lists(st.sampled_from([None, "a", "a", "\ud800"]), max_size=4),
    st.lists(st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")]), max_size=4),
)


@given(COLUMNS, st.sampled_from([field for field in ENTRY_SCHEMA if not pa.types.is_timestamp(field.type)]))
@example([0.0, -0.0], ENTRY_SCHEMA.field("reward"))
@example(["\ud800", "\ud800"], ENTRY_SCHEMA.field("reason"))
def test_a_column_is_made_as_any_other_of_its_type(values, field):
    kinds = FITTING_TYPES.get(field.type, frozenset())
    if not kinds.issuperset(map(type, values)) or (float in kinds and int in map(type, values)):
        values = [None] * len(values)

    made, expected = _array(values, field.with_nullable(True)), column_array(values, field.with_nullable(True))[0]

    assert made.type == expected.type
    assert repr(made.to_pylist()) == repr(expected.to_pylist())
