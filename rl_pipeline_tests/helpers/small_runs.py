"""Small runs for tests of single rules: a few metric series by step, trials, engine lines, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from rl_pipeline.analysis.findings import Finding, build_context, evaluate
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.schema import SOLVED, UNSCORED, UNSOLVED, StepMetric, VllmStat
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row

START = datetime(2026, 5, 1, 12, 0)
JOB = "job_1"


def blocks(
    series: Mapping[str, Sequence[float | None]], *, job: str = JOB, first_step: int = 1, seconds: float | None = None
) -> list[StepMetric]:
    """One block per step; a value of None leaves the key out; with `seconds` blocks have times that far apart."""
    rows = []
    for place in range(max(len(values) for values in series.values())):
        values = {name: column[place] for name, column in series.items() if place < len(column)}
        present = {name: value for name, value in values.items() if value is not None}
        logged_at = None if seconds is None else START + timedelta(seconds=seconds * (place + 1))
        step = first_step + place
        rows += block_rows(job, place, step, {**present, "trainer/global_step": step}, logged_at=logged_at)
    return rows


def trial_rows(
    rewards: Sequence[float | None],
    *,
    exceptions: Sequence[tuple[str, str] | None] = (),
    tasks: Sequence[str] = (),
    turns: Sequence[int] = (),
    seconds_apart: float | None = 10.0,
) -> list[dict[str, Any]]:
    """Trials in order of their end; `exceptions` are (type, class)."""
    rows = []
    for place, reward in enumerate(rewards):
        exception = exceptions[place] if place < len(exceptions) else None
        rows.append(
            {
                "trial": f"trial-{place}",
                "path": f"trial-{place}",
                "task": tasks[place] if place < len(tasks) else None,
                "n_turns": turns[place] if place < len(turns) else 5,
                "is_eval": False,
                "is_masked": False,
                "secrets_redacted": 0,
                "reward": reward,
                "outcome": UNSCORED if reward is None else SOLVED if reward > 0 else UNSOLVED,
                "exception_type": exception[0] if exception else None,
                "exception_class": exception[1] if exception else None,
                "finished_at": None if seconds_apart is None else START + timedelta(seconds=seconds_apart * place),
            }
        )
    return rows


def engine_lines(
    running: Sequence[int], waiting: Sequence[int], kv: Sequence[float] | float = 0.4, **columns: Any
) -> list[VllmStat]:
    """Lines of one engine, ten seconds apart; throughput follows running unless given."""
    usage = [kv] * len(running) if isinstance(kv, float) else list(kv)
    throughput = columns.pop("generation_throughput", [20.0 * count for count in running])
    shape = {"job": JOB, "pid": 7, "ip": "10.0.0.1", "engine_index": 0, **columns}
    return [
        VllmStat(
            line=100 + place,
            logged_at=START + timedelta(seconds=10 * place),
            prompt_throughput=100.0,
            generation_throughput=throughput[place],
            running=running[place],
            waiting=waiting[place],
            kv_cache_usage=usage[place],
            **shape,
        )
        for place in range(len(running))
    ]


def event(kind: str, **columns: Any) -> dict[str, Any]:
    """One row of job_events."""
    return {"job": JOB, "line": 1, "byte_offset": 0, "repeat_count": 1, "kind": kind, **columns}


def frames_of(**tables: Any) -> ExperimentFrames:
    """Frames with one job unless jobs are given."""
    return experiment_frames(**{"jobs": [job_row(JOB)], **tables})


def finding(rule: str, *, now: datetime | None = None, **tables: Any) -> Finding:
    """What one rule says; all others are evaluated too and must not raise."""
    found = evaluate(build_context(frames_of(**tables), now=now), strict=True)
    return next(item for item in found if item.id == rule)
