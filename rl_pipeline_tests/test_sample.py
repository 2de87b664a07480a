"""The bundled sample is what its generator writes, and its numbers agree with each other."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rl_pipeline.discovery import Look, discover, job_state
from rl_pipeline.sample import EXPERIMENT, sample_path

ROOT = Path(__file__).resolve().parents[1]
CONTROL = re.compile(r"\x1b\[[\d;]*m")


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def experiment():
    return discover([sample_path()]).only()


def blocks_of(log: Path) -> list[dict[str, object]]:
    """The metric blocks of a log, read the slow and simple way."""
    lines = [CONTROL.sub("", line) for line in log.read_bytes().decode().split("\n")]
    own = [line.partition(") ")[2] for line in lines if line.startswith("(skyrl_entrypoint ")]
    text = "\n".join(line for line in own if not line.startswith(("trial closed", "INFO:")))
    return [ast.literal_eval(block) for block in re.findall(r"Step \d+: \n(\{[^}]*\})", text)]


def test_the_committed_files_are_what_the_generator_writes(tmp_path):
    subprocess.run([sys.executable, ROOT / "examples" / "make_sample.py", tmp_path], check=True, capture_output=True)

    assert files_of(tmp_path) == files_of(ROOT / "examples" / "sample")


def test_the_sample_stays_small():
    files = files_of(sample_path())

    assert len(files) < 400
    assert sum(map(len, files.values())) < 3_000_000


def test_three_jobs_follow_each_other_and_each_resume_repeats_a_step(experiment):
    steps = {log.job: [block["trainer/global_step"] for block in blocks_of(log.path)] for log in experiment.jobs}

    assert steps == {
        "job_410231": [1, 2, 3, 4, 5, 6],
        "job_410236": [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        "job_410244": [16, 17, 18, 19, 20, 21, 22, 23, 24],
    }


def test_the_jobs_end_by_time_limit_by_preemption_and_by_themselves(experiment):
    look = Look(now=0.0, quiet_period_s=3600.0)

    assert [job_state(log, look).state for log in experiment.jobs] == ["time_limit", "preempted", "completed"]


def test_the_parts_of_a_step_add_up_to_the_step(experiment):
    parts = ("wait_for_generation_buffer", "convert_to_training_input", "run_training", "sync_weights")

    for log in experiment.jobs:
        for block in blocks_of(log.path):
            total = sum(float(str(block[f"timing/{part}"])) for part in parts)
            assert total == pytest.approx(float(str(block["timing/step"])), abs=0.0003)


def test_every_reward_is_a_whole_number_of_solved_trials(experiment):
    rewards = [float(str(block["reward/avg_raw_reward"])) for log in experiment.jobs for block in blocks_of(log.path)]

    assert len(rewards) == 26
    assert all(abs(reward * 12 - round(reward * 12)) < 0.001 for reward in rewards)
    assert sum(rewards[-8:]) / 8 > sum(rewards[:6]) / 6 + 0.2


def test_the_trials_hold_what_real_ones_hold(experiment):
    (root,) = experiment.trial_roots
    assert root == sample_path() / EXPERIMENT / "grpo-shell-tasks-4b-run1" / "trace_jobs"

    cut = root / "merge-csv__pT4xYbM" / "result.json"
    readable = [json.loads(path.read_bytes()) for path in sorted(root.glob("*/result.json")) if path != cut]
    kinds = {trial["exception_info"]["exception_type"] for trial in readable if trial["exception_info"]}

    assert len(readable) == 340
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut.read_bytes())
    assert not (root / "count-lines__kQ8nWzR" / "result.json").exists()
    assert "n_total_trials" in json.loads((root / "result.json").read_bytes())
    assert kinds == {
        "AgentTimeoutError",
        "ContextLengthExceededError",
        "DaytonaError",
        "EnvironmentStartTimeoutError",
        "RewardFileNotFoundError",
        "VerifierTimeoutError",
    }
