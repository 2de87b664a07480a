"""Trial folders are found in the usual places, and never given to two experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.discovery import discover
from rl_pipeline.errors import ConfigurationError


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"line of {path}\n")
    return path


def roots_of(*inputs: Path, **options) -> dict[str, list[str]]:
    top = inputs[0] if inputs[0].is_dir() else inputs[0].parent
    return {
        item.experiment: [
            str(path.relative_to(top)) if path.is_relative_to(top) else str(path) for path in item.trial_roots
        ]
        for item in discover(inputs, **options).experiments
    }


@pytest.mark.parametrize("run", ["", "run1", "run1/run1"])
def test_trials_lie_in_the_experiment_in_a_run_or_in_a_run_inside_a_run(tmp_path, run):
    put(tmp_path / "demo" / "logs" / "demo_1.out")
    (tmp_path / "demo" / run / "trace_jobs").mkdir(parents=True)

    assert roots_of(tmp_path) == {"demo": [str(Path("demo") / run / "trace_jobs")]}
    assert discover([tmp_path / "demo/logs"]).only().trial_roots == (tmp_path / "demo" / run / "trace_jobs",)
    assert discover([tmp_path / "demo/logs/demo_1.out"]).only().trial_roots == (tmp_path / "demo" / run / "trace_jobs",)


def test_every_run_has_its_trials(tmp_path):
    put(tmp_path / "logs" / "slurm-1.out")
    for run in ("b", "a", "checkpoints"):
        (tmp_path / run / "trace_jobs").mkdir(parents=True)

    assert list(roots_of(tmp_path).values()) == [["a/trace_jobs", "b/trace_jobs"]]


@pytest.mark.parametrize("given", [".", "mine_1.out"])
def test_trials_of_a_folder_with_job_logs_are_those_of_another_experiment(tmp_path, given):
    put(tmp_path / "mine_1.out")
    put(tmp_path / "other" / "logs" / "other_2.out.gz")
    put(tmp_path / "run" / "logs" / "ray_head.log")  # no job log: the folder of a run
    for folder in ("other/trace_jobs", "other/run1/trace_jobs", "run/trace_jobs"):
        (tmp_path / folder).mkdir(parents=True)

    roots = roots_of(tmp_path / given)

    assert roots.pop("mine") == ["run/trace_jobs"]
    assert roots == ({"other": ["other/run1/trace_jobs", "other/trace_jobs"]} if given == "." else {})


def test_experiments_of_a_flat_folder_have_the_trials_below_their_own_name(tmp_path):
    put(tmp_path / "all" / "demo_1.out")
    put(tmp_path / "all" / "other_2.out")
    (tmp_path / "all" / "trace_jobs").mkdir()
    (tmp_path / "all" / "demo" / "run" / "trace_jobs").mkdir(parents=True)
    (tmp_path / "other" / "trace_jobs").mkdir(parents=True)

    assert roots_of(tmp_path / "all") == {
        "demo": ["demo/run/trace_jobs"],
        "other": [str(tmp_path / "other/trace_jobs")],
    }


def test_a_choice_among_experiments_does_not_give_it_the_trials_of_all(tmp_path):
    put(tmp_path / "demo_1.out")
    put(tmp_path / "other_2.out")
    (tmp_path / "trace_jobs").mkdir()

    assert roots_of(tmp_path, experiment="demo") == {"demo": []}
    assert roots_of(tmp_path, experiment="renamed") == {"renamed": ["trace_jobs"]}


def test_trials_beside_a_folder_of_logs_are_found_when_there_are_no_others(tmp_path):
    put(tmp_path / "joblogs" / "demo_1.out")
    (tmp_path / "trace_jobs").mkdir()

    assert roots_of(tmp_path / "joblogs") == {"demo": [str(tmp_path / "trace_jobs")]}


def test_named_trial_folders_come_on_top(tmp_path):
    put(tmp_path / "demo" / "logs" / "demo_1.out")
    (tmp_path / "demo" / "trace_jobs").mkdir()
    (tmp_path / "elsewhere").mkdir()

    assert roots_of(tmp_path, trace_jobs=[tmp_path / "elsewhere", tmp_path / "demo" / "trace_jobs"]) == {
        "demo": ["demo/trace_jobs", "elsewhere"]
    }


def test_a_named_trial_folder_that_is_missing_is_refused(tmp_path):
    put(tmp_path / "demo_1.out")

    with pytest.raises(ConfigurationError) as caught:
        discover([tmp_path], trace_jobs=[tmp_path / "nowhere"])

    assert caught.value.slug == "missing-trial-folder"
    assert str(tmp_path / "nowhere") in str(caught.value)


def test_an_experiment_named_like_a_path_does_not_lead_out_of_its_folder(tmp_path):
    put(tmp_path / "logs" / "demo_1.out")
    (tmp_path.parent / "trace_jobs").mkdir(exist_ok=True)

    assert roots_of(tmp_path / "logs", experiment="../..") == {"../..": []}
