"""What is known of trials hides nothing: whatever is done to their folders, reading again is reading anew."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from rl_pipeline.commands.report_state import KnownLeaves, trials_now
from rl_pipeline.reader import folder_calls
from rl_pipeline.tables.trial_entries import EntryParts
from rl_pipeline.trial_files.seen import Seen
from rl_pipeline.trial_ledger import read_trials, reading_version


def put(folder: Path, name: str | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    told = {"trial_name": name or folder.name, "id": f"id of {folder.name}", "task_name": "t"}
    (folder / "result.json").write_text(json.dumps(told))


def put_job(folder: Path) -> None:
    """The result of a job, which is no trial, above its trials."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps({"n_total_trials": 1, "stats": {}}))
    (folder / "job.log").touch()


def read(roots: list[Path], ledger: Path | None) -> tuple[pa.Table, pa.Table, str]:
    seen = Seen()
    trials, skipped = read_trials(roots, None if ledger is None else str(ledger), workers=1, seen=seen)
    return trials, skipped, seen.digest()


@pytest.fixture(params=["compiled", "python"], autouse=True)
def calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(folder_calls, "load", lambda: None)


def add_trial(folder: Path) -> None:
    put(folder / "retry")


def add_archive(folder: Path) -> None:
    (folder / "x.tar.gz").touch()


def add_link(folder: Path) -> None:
    (folder / "other").symlink_to(folder.parent)


def add_sign_of_a_job(folder: Path) -> None:
    (folder / "job.log").touch()


def add_folder_above_a_trial(folder: Path) -> None:
    put(folder / "runs" / "one")


CHANGES = [add_trial, add_archive, add_link, add_sign_of_a_job, add_folder_above_a_trial]


@pytest.mark.parametrize("trials", [1, 300])  # few, and so many that they are asked together
@pytest.mark.parametrize("change", CHANGES)
def test_what_comes_into_the_folder_of_a_known_trial_is_seen(
    change: Callable[[Path], None], trials: int, tmp_path: Path
):
    root, ledger = tmp_path / "trace_jobs", tmp_path / "ledger"
    for number in range(trials):
        put(root / f"t{number:03}")
    _, _, before = read([root], ledger)
    change(root / "t000")

    after = read([root], ledger)

    assert after == read([root], None)
    assert after[2] != before
    assert read([root], ledger) == after


@pytest.mark.parametrize("trials", [3, 300])
@pytest.mark.parametrize("change", CHANGES)
def test_who_asks_whether_anything_changed_sees_it_too(change: Callable[[Path], None], trials: int, tmp_path: Path):
    root, leaves, seen = tmp_path / "trace_jobs", KnownLeaves(tmp_path / "leaves"), Seen()
    for number in range(trials):
        put(root / f"t{number:03}")
    read_trials([root], None, workers=1, seen=seen)
    leaves.write(seen.leaves)
    assert trials_now([root], leaves) == seen.digest()

    change(root / "t000")

    assert trials_now([root], leaves) != seen.digest()
    assert trials_now([root], KnownLeaves()) == read([root], None)[2]


def test_a_folder_that_was_seen_before_is_read_once_and_then_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root, ledger = tmp_path / "trace_jobs", tmp_path / "ledger"
    put(root / "t")
    read([root], ledger)
    (root / "t" / "note.txt").touch()
    after = read([root], ledger)
    mtime = (root / "t" / "result.json").stat().st_mtime_ns
    (root / "t" / "result.json").write_text("x" * (root / "t" / "result.json").stat().st_size)  # as long, and no trial
    os.utime(root / "t" / "result.json", ns=(mtime, mtime))

    assert read([root], ledger) == after


@pytest.mark.parametrize("job_is_first", [True, False])
def test_a_folder_of_one_root_says_nothing_of_the_same_one_of_another(job_is_first: bool, tmp_path: Path):
    roots, ledger = [tmp_path / "a", tmp_path / "b"], tmp_path / "ledger"
    for root, is_job in zip(roots, (job_is_first, not job_is_first), strict=True):
        put_job(root / "2026-01-01") if is_job else put(root / "2026-01-01", "alone")
    put(roots[not job_is_first] / "2026-01-01" / "inner")

    first = read(roots, ledger)

    assert first[0].num_rows == 2
    assert [read(roots, ledger) for _ in range(2)] == [first] * 2 == [read(roots, None)] * 2


def test_a_name_that_is_used_again_for_a_job_hides_none_of_its_trials(tmp_path: Path):
    for attempt in range(12):  # which of two entries is met first is up to their digests
        root, ledger = tmp_path / f"trace_jobs_{attempt}", tmp_path / f"ledger_{attempt}"
        put(root / "t1", f"first of {attempt}")
        read([root], ledger)
        shutil.rmtree(root / "t1")
        put_job(root / "t1")
        put(root / "t1" / "inner")

        assert [read([root], ledger) for _ in range(3)] == [read([root], None)] * 3


@pytest.mark.parametrize("damage", ["pipe", "loop", "folder"])
def test_what_stands_in_the_place_of_a_part_of_the_ledger_is_not_waited_for(damage: str, tmp_path: Path):
    root, ledger = tmp_path / "trace_jobs", tmp_path / "ledger"
    put(root / "t")
    before = read([root], ledger)
    (part,) = (ledger / EntryParts(str(ledger), reading_version())._folder).iterdir()
    part.unlink()
    if damage == "pipe":
        os.mkfifo(part)
    elif damage == "loop":
        part.symlink_to(part)
    else:
        part.mkdir()

    assert read([root], ledger) == before
