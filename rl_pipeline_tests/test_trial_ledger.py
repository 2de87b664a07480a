"""All trials, each file opened once in its life; what is no trial says why."""

from __future__ import annotations

import json
import os
import shutil
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rl_pipeline import trial_ledger
from rl_pipeline.reader import folder_calls
from rl_pipeline.schema import SkippedTrial, Trial
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.frames import to_rows
from rl_pipeline.trial_files import survey
from rl_pipeline.trial_files.elsewhere import distinct_roots
from rl_pipeline.trial_ledger import read_trials


def document(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"id-of-{name}",
        "trial_name": name,
        "task_name": "fix-bug",
        "verifier_result": {"rewards": {"reward": 1.0}},
        "started_at": "2026-01-09T11:22:33.444555Z",
        "finished_at": "2026-01-09T11:31:02.000100Z",
        **changes,
    }


def put(root: Path, folder: str, content: dict[str, Any] | bytes | None = None) -> Path:
    path = root / folder / "result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    told = document(path.parent.name) if content is None else content
    path.write_bytes(told if isinstance(told, bytes) else json.dumps(told).encode())
    return path


def put_unnoticed(path: Path, content: dict[str, Any]) -> None:
    """Other content of the same size, with the same time and inode: seen only by opening the file."""
    before = path.stat()
    text = json.dumps(content).encode()
    assert len(text) <= before.st_size
    with path.open("r+b") as file:
        file.write(text.ljust(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def names(roots: list[Path], ledger: Path | None = None, **options: Any) -> list[str]:
    trials, _ = read_trials(roots, None if ledger is None else str(ledger), **options)
    found: list[str] = trials.column("trial").to_pylist()
    return found


def reasons(root: Path) -> dict[str, str]:
    _, skipped = read_trials([root])
    return {row.path: row.reason for row in to_rows(skipped, SkippedTrial)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "trace_jobs"
    folder.mkdir()
    return folder


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "store" / "trial_ledgers" / "exp"


def test_a_trial_is_a_row_with_its_folder(root: Path):
    put(root, "eval_sessions/run_eval_step20/t1")

    trials, skipped = read_trials([root])

    assert to_rows(trials, Trial) == [
        Trial(
            trial="t1", task="fix-bug", trial_id="id-of-t1", path="eval_sessions/run_eval_step20/t1", is_eval=True,
            started_at=datetime(2026, 1, 9, 11, 22, 33, 444555), finished_at=datetime(2026, 1, 9, 11, 31, 2, 100),
            zone="UTC", reward=1.0, rewards={"reward": 1.0}, outcome="solved",
        )
    ]  # fmt: skip
    assert trials.schema.equals(arrow_schema(Trial), check_metadata=True)
    assert skipped.schema.equals(arrow_schema(SkippedTrial), check_metadata=True)
    assert skipped.num_rows == 0


def test_rows_are_sorted_by_path_whatever_the_number_of_workers(root: Path):
    for folder in ("b/t2", "a/t9", "a-b/t3", "t1"):
        put(root, folder)

    for workers in (1, 3):
        assert names([root], workers=workers) == ["t3", "t9", "t2", "t1"]


def test_other_processes_give_the_same_tables(root: Path, monkeypatch: pytest.MonkeyPatch):
    for number in range(40):
        put(root, f"t{number:02}", b"{" if number % 9 == 0 else None)
    here = read_trials([root], workers=1)

    monkeypatch.setattr(survey, "ALONE_S", 0.0)
    monkeypatch.setattr(survey, "CHUNK_FILES", 7)
    there = read_trials([root], workers=2)

    assert there[0].equals(here[0])
    assert there[1].equals(here[1])


def test_without_compiled_calls_the_tables_are_the_same(root: Path, monkeypatch: pytest.MonkeyPatch):
    for number in range(20):
        put(root, f"t{number:02}", b"{" if number % 9 == 0 else None)
    compiled = read_trials([root])

    monkeypatch.setattr(folder_calls, "load", lambda: None)

    assert folder_calls.load() is None
    for table, same in zip(read_trials([root]), compiled, strict=True):
        assert table.equals(same)


@pytest.mark.parametrize("is_compiled", [True, False])
def test_every_change_in_a_large_folder_is_noticed(
    root: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch, is_compiled: bool
):
    monkeypatch.setattr(trial_ledger, "TOGETHER", 2)
    for number in range(20):
        put(root, f"t{number:02}", b"{" if number % 9 == 0 else None)
    read_trials([root], str(ledger))
    changed = root / "t01" / "result.json"
    info, content = changed.stat(), changed.read_bytes()
    changed.write_bytes(content.replace(b"t01", b"tXX"))
    os.utime(changed, ns=(info.st_atime_ns, info.st_mtime_ns + 1))
    (root / "t02" / "result.json").unlink()
    (root / "t03").rename(root / "t93")
    (root / "t04" / "result.json").rename(root / "t04" / "kept.json")
    (root / "t04" / "result.json").symlink_to("kept.json")
    (root / "t05" / "result.json").unlink()
    os.mkfifo(root / "t05" / "result.json")
    put(root, "t06/inner/new")
    if not is_compiled:
        monkeypatch.setattr(folder_calls, "load", lambda: None)

    remembered = read_trials([root], str(ledger))

    monkeypatch.setattr(folder_calls, "load", lambda: None)
    assert remembered[0]["trial"].to_pylist().count("tXX") == 1
    assert list(remembered) == list(read_trials([root]))


def test_nothing_to_read_gives_empty_tables(root: Path):
    trials, skipped = read_trials([])

    assert (trials.num_rows, skipped.num_rows) == (0, 0)
    assert trials.schema.equals(arrow_schema(Trial))
    assert reasons(root / "nowhere") == {".": "No such file or directory"}


def test_every_file_that_is_no_trial_is_told_with_a_reason(root: Path):
    put(root, "job", {"n_total_trials": 2, "stats": {}})
    put(root, "empty", b"")
    put(root, "list", b"[1]")
    put(root, "cut", json.dumps(document("cut")).encode()[:50])
    put(root, "latin", json.dumps(document("x"), ensure_ascii=False).encode().replace(b"fix", b"f\xefx"))
    (root / "t__abcdefg").mkdir()
    put(root, "whole")

    told = reasons(root)

    files = {f"{name}/result.json" for name in ("job", "empty", "list", "cut", "latin")}
    assert set(told) == {*files, "t__abcdefg"}
    assert told["job/result.json"] == "result of a job, not of a trial"
    assert all(told.values())
    assert names([root]) == ["whole"]


def test_a_file_too_large_to_be_a_trial_is_not_read(root: Path):
    path = put(root, "huge")
    os.truncate(path, 256 * 2**20 + 1)

    assert reasons(root) == {"huge/result.json": "larger than 256 MiB; not read"}


def test_a_known_file_is_not_opened_again(root: Path, ledger: Path):
    path = put(root, "t1")
    assert names([root], ledger) == ["t1"]

    put_unnoticed(path, document("t1", trial_name="xx"))

    assert names([root], ledger) == ["t1"]
    assert names([root]) == ["xx"]


def test_a_file_that_is_no_trial_is_not_opened_again_either(root: Path, ledger: Path):
    path = put(root, "t1", b" " * 400)
    assert names([root], ledger) == []

    put_unnoticed(path, document("t1"))

    assert names([root], ledger) == []


def test_a_changed_file_is_read_again(root: Path, ledger: Path):
    path = put(root, "t1", b"{")
    assert names([root], ledger) == []

    path.write_text(json.dumps(document("t1")))
    assert names([root], ledger) == ["t1"]

    path.write_text(json.dumps(document("t2")))
    assert names([root], ledger) == ["t2"]


def test_new_files_come_in_and_gone_ones_leave(root: Path, ledger: Path):
    put(root, "t1")
    put(root, "t2")
    assert names([root], ledger) == ["t1", "t2"]

    shutil.rmtree(root / "t1")
    put(root, "t3")

    assert names([root], ledger) == ["t2", "t3"]


def test_a_ledger_gives_the_same_tables_as_reading(root: Path, ledger: Path):
    for number in range(300):
        put(root, f"job_{number % 3}/t{number}", b"" if number % 50 == 0 else None)
    cold = read_trials([root], str(ledger))

    warm = read_trials([root], str(ledger))

    assert warm[0].equals(cold[0])
    assert warm[1].equals(cold[1])
    assert read_trials([root])[0].equals(cold[0])


def test_a_ledger_can_lie_in_a_bucket(root: Path):
    path = put(root, "t1")
    read_trials([root], "memory://bucket-of-ledgers/exp")

    put_unnoticed(path, document("t1", trial_name="xx"))

    assert read_trials([root], "memory://bucket-of-ledgers/exp")[0].column("trial").to_pylist() == ["t1"]


def test_moved_roots_need_no_reading(root: Path, ledger: Path, tmp_path: Path):
    path = put(root, "t1")
    assert names([root], ledger) == ["t1"]

    put_unnoticed(path, document("t1", trial_name="xx"))
    root.rename(tmp_path / "moved")

    assert names([tmp_path / "moved"], ledger) == ["t1"]


def test_another_version_of_the_reading_code_reads_anew(root: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch):
    path = put(root, "t1")
    assert names([root], ledger) == ["t1"]
    put_unnoticed(path, document("t1", trial_name="xx"))

    monkeypatch.setattr(trial_ledger, "reading_version", lambda: "another")

    assert names([root], ledger) == ["xx"]
    assert len(list(ledger.iterdir())) == 1


def test_a_damaged_ledger_is_read_past(root: Path, ledger: Path):
    put(root, "t1")
    names([root], ledger)
    for part in ledger.rglob("*.arrow"):
        part.write_bytes(part.read_bytes()[:-10])

    assert names([root], ledger) == ["t1"]


def test_many_parts_are_merged(root: Path, ledger: Path):
    for number in range(20):
        put(root, f"t{number:02}")
        names([root], ledger)

    assert len(list(ledger.rglob("*.arrow"))) < 16
    for number in range(20):
        put_unnoticed(root / f"t{number:02}" / "result.json", document("t", trial_name="x"))
    assert names([root], ledger) == [f"t{number:02}" for number in range(20)]


def test_runs_at_once_do_not_disturb_each_other(root: Path, ledger: Path):
    for number in range(40):
        put(root, f"t{number:02}")
    results: list[list[str]] = []

    def run() -> None:
        for _ in range(5):
            results.append(names([root], ledger))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [[f"t{number:02}" for number in range(40)]] * 20


def test_roots_in_each_other_are_read_once(root: Path):
    put(root, "a/t1")
    (root.parent / "link").symlink_to(root)

    assert distinct_roots([root / "a", root, root.parent / "link"]) == [root.resolve()]
    assert names([root / "a", root, root.parent / "link"]) == ["t1"]


def test_equal_folders_of_several_roots_are_several_trials(tmp_path: Path, ledger: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    put(one, "t", document("first"))
    put(two, "t", document("second"))

    for _ in range(2):
        assert names([one, two], ledger) == ["first", "second"]


def test_a_copied_trial_counts_once(root: Path, ledger: Path):
    put(root, "b/t1", document("t1"))
    shutil.copytree(root / "b", root / "copy")
    put(root, "other/t2", document("t2", id="id-of-t1"))

    for _ in range(2):
        trials, skipped = read_trials([root], str(ledger))
        assert trials.column("path").to_pylist() == ["b/t1", "other/t2"]
        assert to_rows(skipped, SkippedTrial) == [
            SkippedTrial(path="copy/t1/result.json", reason="duplicate of b/t1/result.json")
        ]


def test_without_ids_a_copy_has_the_same_name_times_and_size(root: Path):
    told = document("t1", id=None)
    put(root, "a/t1", told)
    put(root, "b/t1", told)
    put(root, "c/t1", {**told, "started_at": "2026-01-10T00:00:00Z"})

    assert reasons(root) == {"b/t1/result.json": "duplicate of a/t1/result.json"}


def test_progress_tells_every_file_once(root: Path, ledger: Path):
    for number in range(5):
        put(root, f"t{number}")
    names([root], ledger)
    put(root, "t9")
    told: list[int] = []

    names([root], ledger, on_progress=told.append)

    assert sum(told) == 6


WHOLE = json.dumps(document("t1")).encode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=40)
    | st.integers(0, len(WHOLE)).map(lambda end: WHOLE[:end])
    | st.tuples(st.integers(0, len(WHOLE)), st.binary(max_size=3)).map(
        lambda cut: WHOLE[: cut[0]] + cut[1] + WHOLE[cut[0] :]
    )
)
def test_any_bytes_are_a_trial_or_told(root: Path, content: bytes):
    put(root, "t1", content)

    trials, skipped = read_trials([root])

    assert trials.num_rows + skipped.num_rows == 1
    assert all(skipped.column("reason").to_pylist())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_tried_again(root: Path, ledger: Path):
    path = put(root, "t1")
    path.chmod(0)
    assert names([root], ledger) == []
    assert reasons(root) == {"t1/result.json": "no permission to read it"}

    path.chmod(0o600)

    assert names([root], ledger) == ["t1"]
