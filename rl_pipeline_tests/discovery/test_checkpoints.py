"""Checkpoints on disk, with what the pointer file says about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.discovery import CheckpointOnDisk, find_checkpoints


def folders(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(parents=True)


@pytest.mark.parametrize("run", ["", "run1", "run1/run1"])
def test_a_folder_above_the_pointer_was_cut_off_in_a_save(tmp_path, run):
    place = tmp_path / run / "checkpoints"
    folders(place, "global_step_5", "global_step_10", "global_step_15", "notes")
    (place / "latest_ckpt_global_step.txt").write_text("10")

    assert find_checkpoints(tmp_path) == (
        CheckpointOnDisk(step=5, checkpoint=place / "global_step_5", complete=True),
        CheckpointOnDisk(step=10, checkpoint=place / "global_step_10", complete=True, is_pointer=True),
        CheckpointOnDisk(step=15, checkpoint=place / "global_step_15", complete=False),
    )


@pytest.mark.parametrize("pointer", [None, b"", b"soon", b"\xff" * 100])
def test_without_a_pointer_nobody_can_tell(tmp_path, pointer):
    folders(tmp_path, "checkpoints/global_step_5")
    if pointer is not None:
        (tmp_path / "checkpoints" / "latest_ckpt_global_step.txt").write_bytes(pointer)

    assert [(found.step, found.complete) for found in find_checkpoints(tmp_path)] == [(5, None)]


def test_exports_stand_beside_checkpoints_by_step(tmp_path):
    folders(
        tmp_path, "run/checkpoints/global_step_20", "run/exports/global_step_10", "run/exports/global_step_20/policy"
    )

    found = find_checkpoints(tmp_path)

    assert [(item.step, item.checkpoint is not None, item.export is not None) for item in found] == [
        (10, False, True),
        (20, True, True),
    ]


def test_a_pointer_to_a_pruned_folder_is_still_the_step_of_a_resume(tmp_path):
    folders(tmp_path, "checkpoints")
    (tmp_path / "checkpoints" / "latest_ckpt_global_step.txt").write_text("40\n")

    assert find_checkpoints(tmp_path) == (CheckpointOnDisk(step=40, complete=False, is_pointer=True),)


def test_an_experiment_without_checkpoints_has_none(tmp_path):
    folders(tmp_path, "run/trace_jobs/global_step_5")

    assert find_checkpoints(tmp_path) == ()
    assert find_checkpoints(tmp_path / "missing") == ()
