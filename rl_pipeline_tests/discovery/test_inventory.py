"""Looks at the roots: what changed is seen, and what is known costs next to nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.discovery import Inventory, changes, group, parse_log_pattern, scan
from rl_pipeline.discovery.folders import LogFolder
from rl_pipeline.discovery.inventory import SeenFile, SeenFolder


def put(path: Path, text: str = "one line\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for experiment in ("a", "b"):
        for job in (1, 2, 3):
            put(tmp_path / "exps" / experiment / "logs" / f"{experiment}_{job}.out")
    return tmp_path / "exps"


def test_a_first_look_sees_every_log_as_new(root):
    look = scan([root], now=100.0)

    assert changes(Inventory(), look).new == tuple(sorted(str(path) for path in root.rglob("*.out")))
    assert {file.since for file in look.files().values()} == {100.0}
    assert {item.experiment: [job.job for job in item.jobs] for item in group(look).experiments} == {
        "a": ["job_1", "job_2", "job_3"],
        "b": ["job_1", "job_2", "job_3"],
    }


def test_each_kind_of_change_is_told_apart(root):
    before = scan([root], now=100.0)
    grown, short, replaced, touched, gone = (root / name for name in (
        "a/logs/a_1.out", "a/logs/a_2.out", "a/logs/a_3.out", "b/logs/b_1.out", "b/logs/b_2.out"
    ))  # fmt: skip
    with grown.open("a") as stream:
        stream.write("more\n")
    short.write_text("x\n")
    put(root / "new name").replace(replaced)
    os.utime(touched, ns=(0, touched.stat().st_mtime_ns + 10**9))
    gone.unlink()
    new = put(root / "c" / "logs" / "c_9.out")

    after = scan([root], before, now=160.0)
    found = changes(before, after)

    assert (found.grown, found.rewritten) == ((str(grown),), (str(short), str(replaced)))
    assert (found.touched, found.gone, found.new) == ((str(touched),), (str(gone),), (str(new),))
    assert after.files()[str(grown)].since == 160.0
    assert after.files()[str(root / "b/logs/b_3.out")].since == 100.0


def test_nothing_changed_means_no_change(root):
    before = scan([root], now=100.0)

    assert changes(before, scan([root], before, now=160.0)) == changes(Inventory(), Inventory())


def test_a_moved_experiment_is_gone_there_and_new_here(root):
    before = scan([root], now=100.0)
    (root / "a").rename(root / "moved")

    found = changes(before, scan([root], before, now=160.0))

    assert [Path(path).name for path in found.gone] == ["a_1.out", "a_2.out", "a_3.out"]
    assert [str(Path(path).relative_to(root).parent) for path in found.new] == ["moved/logs"] * 3


def test_a_root_that_is_away_keeps_what_was_known_below_it(root, tmp_path):
    before = scan([root], now=100.0)
    root.rename(tmp_path / "unmounted")

    after = scan([root], before, now=160.0)

    assert changes(before, after).gone == ()
    assert after.errors == {str(root): "no such folder"}


def test_settled_logs_are_asked_about_in_turn_so_that_a_late_line_is_still_found(root):
    inventory = scan([root], now=100.0)
    inventory = inventory.settle(inventory.files())
    late = root / "b" / "logs" / "b_3.out"
    with late.open("a") as stream:
        stream.write("a late line\n")

    seen_at = []
    for look in range(6):
        following = scan([root], inventory, now=200.0 + look, recheck=2)
        seen_at += [look] if changes(inventory, following).grown == (str(late),) else []
        inventory = following

    assert seen_at == [2]
    assert not inventory.files()[str(late)].settled
    assert inventory.files()[str(root / "a/logs/a_1.out")].settled


def test_a_settled_log_that_was_replaced_is_asked_about_at_once(root):
    inventory = scan([root], now=100.0)
    inventory = inventory.settle(inventory.files())
    put(root / "scratch").replace(root / "a" / "logs" / "a_1.out")

    following = scan([root], inventory, now=200.0, recheck=0)

    assert changes(inventory, following).rewritten == (str(root / "a/logs/a_1.out"),)


def test_known_and_settled_logs_cost_one_listing_per_folder_and_no_more(tmp_path):
    for experiment in range(50):
        for job in range(20):
            put(tmp_path / f"e{experiment}" / "logs" / f"e{experiment}_{job}.out")
    inventory = scan([tmp_path], now=100.0)
    inventory = inventory.settle(inventory.files())
    for job in range(5):
        put(tmp_path / "e7" / "logs" / f"e7_{1000 + job}.out")

    following = scan([tmp_path], inventory, now=200.0, recheck=10)

    assert len(changes(inventory, following).new) == 5
    assert following.calls == 1 + 50 + 5 + 10  # root, one `logs` each, the new ones, the rotation


def test_more_new_logs_than_a_look_may_ask_about_wait_for_the_next(root):
    first = scan([root], now=100.0, most_stats=4)
    second = scan([root], first, now=160.0, most_stats=8)

    assert (len(first.files()), first.waiting) == (4, 2)
    assert (len(second.files()), second.waiting) == (6, 0)


def test_more_open_logs_than_a_look_may_ask_about_take_turns(root):
    inventory = scan([root], now=100.0)
    for path in root.rglob("*.out"):
        path.write_text("longer than before\n")

    grown: set[str] = set()
    for look in range(3):
        following = scan([root], inventory, now=200.0 + look, most_stats=2)
        grown.update(changes(inventory, following).grown)
        inventory = following

    assert len(grown) == 6


def test_overlapping_roots_see_each_log_once(root):
    look = scan([root, root / "a"], now=100.0)

    assert sum(len(seen.files) for seen in look.folders) == 6


def test_patterns_reach_logs_in_other_places(tmp_path):
    put(tmp_path / "demo" / "slurm" / "out.12.txt")
    patterns = [parse_log_pattern("{experiment}/slurm/out.{job}.txt")]

    look = scan([tmp_path], now=100.0, patterns=patterns)

    (item,) = group(look, patterns=patterns).experiments
    assert (item.experiment, [job.job_key for job in item.jobs]) == ("demo", ["demo_12"])


def test_an_inventory_comes_back_from_its_text(root):
    look = scan([root], now=100.0)
    look = look.settle([str(root / "a/logs/a_1.out")])

    back = Inventory.from_json(look.to_json())

    assert back.folders == look.folders
    assert changes(look, scan([root], back, now=160.0)) == changes(Inventory(), Inventory())


FACTS = st.builds(
    SeenFile, st.integers(0, 2**50), st.integers(0, 2**62), st.integers(0, 2**63), st.just(1.5), st.booleans()
)


@given(st.dictionaries(st.text(max_size=8), st.dictionaries(st.text(max_size=8), FACTS, max_size=3), max_size=3))
def test_any_inventory_comes_back_from_its_text(folders):
    inventory = Inventory(tuple(SeenFolder(LogFolder(path, "/r", "logs"), files) for path, files in folders.items()), 7)

    assert Inventory.from_json(inventory.to_json()) == inventory


@given(st.none() | st.text(max_size=50) | st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: (
    st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["format", "turn", "folders"]), inner, max_size=3)
)).map(json.dumps))  # fmt: skip
def test_a_damaged_text_is_an_empty_inventory_and_no_error(text):
    assert Inventory.from_json(text).files() == {}
