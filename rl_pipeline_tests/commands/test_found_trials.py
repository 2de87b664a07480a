"""What one process found is what another one reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.commands.found_trials import FoundTrials, HandedOver, encoded
from rl_pipeline.reader.trial_folders import NotRead, TrialFile
from rl_pipeline.trial_files.elsewhere import trials_below
from rl_pipeline.trial_ledger import read_trials
from rl_pipeline_tests.dialects.trial_files import trial_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("t1__abcdefg", "eval_sessions/t2__abcdefg", "ä \udcff__abcdefg"):
        (tmp_path / "jobs" / name).mkdir(parents=True)
        (tmp_path / "jobs" / name / "result.json").write_bytes(trial_file(trial_name=name[:2]))
    (tmp_path / "jobs" / "t3__abcdefg").mkdir()
    return tmp_path / "jobs"


def hand_over(folder: Path, *roots: Path) -> HandedOver:
    with FoundTrials(folder) as trials:
        for root in roots:
            trials.add(root, encoded(root, list(trials_below(root))))
    return HandedOver(folder)


def test_every_find_comes_back_in_order(root: Path, tmp_path: Path):
    walk = hand_over(tmp_path / "found", root)

    assert list(walk(root)) == list(trials_below(root))
    assert {type(found) for found in walk(root)} == {TrialFile, NotRead}


def test_many_finds_of_several_roots_come_back(tmp_path: Path):
    finds = [TrialFile(f"/elsewhere/{n}", f"{n}", n, 2 * n, 2**64 - 1 - n, False, True) for n in range(5)]
    with FoundTrials(tmp_path / "found") as trials:
        for root in (Path("/a"), Path("/b")):
            trials.add(root, encoded(root, finds[:2]))
            trials.add(root, encoded(root, finds[2:]))

    assert list(HandedOver(tmp_path / "found")(Path("/b"))) == finds
    assert list(HandedOver(tmp_path / "found")(Path("/a"))) == finds


def test_trials_are_the_same_whoever_walked(root: Path, tmp_path: Path):
    walk = hand_over(tmp_path / "found", root)

    assert read_trials([root], walk=walk) == read_trials([root])
    ledger = str(tmp_path / "ledger")
    assert (
        read_trials([root], ledger, walk=walk) == read_trials([root], ledger) == read_trials([root], ledger, walk=walk)
    )


def test_a_root_that_nobody_walked_is_walked(root: Path, tmp_path: Path):
    assert list(HandedOver(tmp_path / "nothing")(root)) == list(trials_below(root))
    assert list(hand_over(tmp_path / "found", tmp_path / "other")(root)) == list(trials_below(root))


def stop_half_way(root: Path, folder: Path) -> None:
    with FoundTrials(folder) as trials:
        trials.add(root, encoded(root, list(trials_below(root))[:1]))
        raise OSError("gone")


def test_half_a_walk_counts_as_none(root: Path, tmp_path: Path):
    with pytest.raises(OSError, match="gone"):
        stop_half_way(root, tmp_path / "found")

    assert list(HandedOver(tmp_path / "found")(root)) == list(trials_below(root))
