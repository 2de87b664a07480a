"""Logs and trials full of credentials, all made up: none of them stands in any file that is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rl_pipeline import pipeline
from rl_pipeline.discovery import JobLog
from rl_pipeline_tests.dialects.trial_files import trial_file

MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
# What must not be found, and the text it stands in.
SECRETS = {
    "hf": (f"hf_{MIXED[:34]}", "{}"),
    "github": (f"ghp_{MIXED[1:37]}", "{}"),
    "openai": (f"sk-{MIXED[::-1]}", "{}"),
    "aws": ("AKIAQWERTYUIOPASDFGH", "{}"),
    "aws_secret": (f"/k9{MIXED[2:39]}", "aws_secret_access_key={}"),
    "jwt": (f"eyJ{MIXED[:20]}.eyJ{MIXED[3:30]}.{MIXED[5:30]}", "{}"),
    "password": ("x9Kd83hfKQpw0", "password={}"),
    "url": ("xS3cr3tOfTheUrl", "https://ada:{}@host.example/org"),
}
TEXTS = {name: frame.format(secret) for name, (secret, frame) in SECRETS.items()}
PREFIX = "(TrainerActor pid=77) "
HEAD = "2026-01-09 11:22:{:02d}.444 | INFO     | skyrl_train.utils.tracking:log:61 - "


def log_lines() -> Iterator[str]:
    for step in (1, 2, 3):
        for name, text in TEXTS.items():
            head = PREFIX + HEAD.format(step * 10)
            yield f"{head}Started: '{text}'"
            yield f"{head}Finished: '{text}', time cost: 1.20s"
            yield f"{head}Exception breakdown: {{'{text}': 2, '{name}Error': 1}}"
            yield f"{head}Batch generation complete: 5/8 successful, 1 failed instances"
            yield f"{head}Resuming from global_step: {step} {text}"
            yield f"{head}Saving checkpoint at step {step} to {text}"
            yield f"{head}Exception breakdown: {{'{text}"
            engine = f"(E pid=9, ip={text}) INFO 01-09 11:22:33 loggers.py:111] Engine 000: "
            yield (
                engine
                + "Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 1 reqs, "
                "Waiting: 0 reqs, GPU KV cache usage: 1.0%, Prefix cache hit rate: 1.0%"
            )
            yield f"{engine}Avg prompt throughput: 1.0 tokens/s, {text}"
            yield f"{text}"
            yield "Traceback (most recent call last):"
            yield f'  File "{text}/deep/er/run.py", line 3, in {text}'
            yield "    main()"
            yield f"ValueError: {'w ' * 900}{text} {text}" if step == 2 else f"{name}.Error: {text}"
            yield f"trainer.resume_mode={text}"
            yield f"{head}Trajectory TrajectoryID(x) failed with exception: {text} (type=A, exclude_from_baseline=True)"
            yield f"Training failed at step {step} with ValueError: {text}"
            yield f"slurmstepd: error: something {text}"
        named = {f"loss/{text}": step for text in TEXTS.values()} | {
            f"note/{name}": text for name, text in TEXTS.items()
        }
        metrics: dict[str, Any] = {
            **named,
            "deep": {text: {text: 0.5} for text in TEXTS.values()},
            "reward/avg_raw_reward": 0.5,
        }
        metrics |= {"list": list(TEXTS.values()), "trainer/global_step": step, "policy/policy_lr": 1e-6}
        yield f"{head}WANDB_MIRROR kind=train step={step} metrics={json.dumps(metrics)}"
        yield f"{head}Step {step}: "
        body = ",\n ".join(f"{key!r}: {value!r}" for key, value in metrics.items())
        yield from (PREFIX + line for line in f"{{{body}}}".split("\n"))


def trials(root: Path) -> None:
    for number, text in enumerate(TEXTS.values()):
        name = f"{'plain' if '/' in text else text}__{number:07d}"
        folder = root / f"task-{name}"
        folder.mkdir(parents=True)
        members = {
            "id": f"{number}-{text}", "trial_name": text, "task_name": f"task-{number} {text}", "source": text,
            "agent_info": {"name": text}, "verifier_result": {"rewards": {"reward": 1.0, text: 0.5}},
            "exception_info": {"exception_type": text, "exception_message": f"{text} {'w ' * 398}{text}"},
        }  # fmt: skip
        if number % 2:  # read patiently
            members["started_at"] = "2026-01-09 11:22:33+02:00"
        (folder / "result.json").write_bytes(trial_file(**members))
        (root / f"dead-{name}").mkdir()
        (root / f"dead-{name}" / "trial.log").touch()


def texts_of(path: Path) -> str:
    written = path.read_bytes()
    told = str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else ""
    return written.decode("utf-8", "replace") + told


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secrets")
    log = folder / "run_1.out"
    log.write_text("\n".join(log_lines()) + "\n", encoding="utf-8")
    trials(folder / "trace_jobs")
    job = JobLog(
        experiment="run", experiment_key="run", job="job_1", job_key="run_1", path=log,
        size_bytes=log.stat().st_size, mtime_ns=log.stat().st_mtime_ns,
    )  # fmt: skip
    jobs = [pipeline.parse_job(job)]
    read = pipeline.read_experiment_trials([folder / "trace_jobs"], jobs, workers=1)
    assert read.trials.num_rows == len(TEXTS)
    frames = pipeline.load_frames("run", jobs, read)
    assert len(frames.step_metrics) > 100
    pipeline.render_report(pipeline.analyse_experiment(frames, pipeline.load_thresholds(None)), frames, folder / "out")
    return folder / "out"


@pytest.mark.parametrize("name", SECRETS)
def test_no_written_file_holds_a_credential(bundle: Path, name: str):
    secret = SECRETS[name][0]
    pieces = (secret, secret[4:18])  # a part of it is too much, too
    files = [path for path in bundle.rglob("*") if path.is_file()]

    assert {".parquet", ".csv", ".md", ".json", ".html"} <= {path.suffix for path in files}
    assert [path.name for path in files if any(piece in texts_of(path) for piece in pieces)] == []
