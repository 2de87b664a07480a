"""Walking the usual layouts costs one listing per folder, and stops where no logs can be."""

from __future__ import annotations

from pathlib import Path

from rl_pipeline.discovery import parse_log_pattern
from rl_pipeline.discovery.disk import Disk
from rl_pipeline.discovery.folders import find_log_folders


def put(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a line\n")


def test_an_experiments_folder_is_not_searched_beyond_its_logs(tmp_path):
    put(tmp_path / "logs" / "demo_1.out", tmp_path / "run1" / "logs" / "infra_7.out", tmp_path / "run2" / "x")
    disk = Disk()

    found = list(find_log_folders(disk, str(tmp_path), ()))

    assert [listed.folder.path for listed in found] == [f"{tmp_path}/logs"]
    assert disk.calls == 2


def test_a_root_with_a_logs_folder_of_its_own_is_still_a_root(tmp_path):
    put(tmp_path / "logs" / "daemon.log", tmp_path / "demo" / "logs" / "demo_1.out")

    found = {listed.folder.path: sorted(listed.inodes) for listed in find_log_folders(Disk(), str(tmp_path), ())}

    assert found == {f"{tmp_path}/logs": ["daemon.log"], f"{tmp_path}/demo/logs": ["demo_1.out"]}


def test_trials_checkpoints_and_hidden_folders_are_never_opened(tmp_path):
    for name in ("trace_jobs", "checkpoints", "exports", "wandb", ".git"):
        put(tmp_path / name / "logs" / "demo_1.out")
    disk = Disk()

    assert list(find_log_folders(disk, str(tmp_path), ())) == []
    assert disk.calls == 1


def test_a_glob_opens_only_folders_that_can_match(tmp_path):
    put(tmp_path / "a" / "slurm" / "7.txt", tmp_path / "a" / "other" / "8.txt", tmp_path / "b" / "slurm" / "9.txt")
    pattern = parse_log_pattern("{experiment}/slurm/{job}.txt")
    disk = Disk()

    found = list(find_log_folders(disk, str(tmp_path), [pattern]))

    assert [listed.folder.path for listed in found] == [f"{tmp_path}/a/slurm", f"{tmp_path}/b/slurm"]
    assert disk.calls == 1 + 2 * 2 + 2 + 2  # root; `logs` and itself of a, b; a, b again; both `slurm`


def test_a_folder_with_too_many_children_is_told_and_left(tmp_path, monkeypatch):
    monkeypatch.setattr("rl_pipeline.discovery.folders.MOST_CHILDREN", 3)
    put(*(tmp_path / f"trial{number}" / "logs" / "x_1.out" for number in range(4)))
    disk = Disk()

    assert list(find_log_folders(disk, str(tmp_path), ())) == []
    assert disk.errors == {str(tmp_path): "more than 3 folders inside; only its own files were looked at"}
