"""The published run as frames, without logs: 81 metric blocks, 4,934 batches, 44,526 trials, no clocks.

The numbers are in `reference_run/`; the report they come from prints no time, task name or configuration,
so those columns are null here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.schema import (
    AGENT_LIMIT,
    BELOW_RESOLUTION,
    CONSOLE,
    CONTEXT,
    INFRASTRUCTURE,
    MEASURED,
    OTHER,
    SOLVED,
    TRAIN,
    UNSCORED,
    UNSOLVED,
    VERIFIER,
    RolloutBatch,
    StepMetric,
    Trial,
)
from rl_pipeline_tests.helpers.frames import experiment_frames, frame_of, job_row

FOLDER = Path(__file__).parent / "reference_run"
EXPERIMENT = "a3-rl-selfinstruct-naive-sandboxes-2-verified-8b"
RESUMED_FROM = {"job_567548": None, "job_567550": 8, "job_567551": 50}
CLASSES = {
    "AgentTimeoutError": AGENT_LIMIT,
    "ContextLengthExceededError": CONTEXT,
    "RewardFileNotFoundError": VERIFIER,
    "RewardFileEmptyError": VERIFIER,
    "VerifierTimeoutError": VERIFIER,
    "VerifierOutputParseError": VERIFIER,
    "AddTestsDirError": VERIFIER,
    "RuntimeError": INFRASTRUCTURE,
    "AgentSetupTimeoutError": INFRASTRUCTURE,
    "DaytonaError": INFRASTRUCTURE,
    "DaytonaNotFoundError": INFRASTRUCTURE,
    "DaytonaValidationError": INFRASTRUCTURE,
    "DaytonaAuthenticationError": INFRASTRUCTURE,
}
MASKED_TYPES = frozenset({"DaytonaError", "RewardFileNotFoundError", "RewardFileEmptyError"})


@cache
def reference_frames(*, with_trials: bool = True) -> ExperimentFrames:
    """All frames of the published run (the same object each time: do not change it)."""
    metrics = list(_step_metrics())
    frames = experiment_frames(EXPERIMENT, jobs=_jobs(metrics), step_metrics=metrics, rollout_batches=_batches())
    trials = _trials() if with_trials else frames.trials
    tables = {name: getattr(frames, name) for name in frames.__slots__}
    return ExperimentFrames(**{**tables, "trials": trials})


def _jobs(metrics: list[StepMetric]) -> list[Any]:
    rows = []
    for job, resumed in RESUMED_FROM.items():
        steps = [m.global_step for m in metrics if m.job == job and m.global_step is not None]
        span = {"first_step": min(steps), "last_step": max(steps), "blocks": len(set(steps))}
        rows.append(job_row(job, experiment=EXPERIMENT, resumed_from_step=resumed, **span))
    return rows


def _step_metrics() -> list[StepMetric]:
    table = pd.read_csv(FOLDER / "steps.csv", dtype=str, keep_default_na=False)
    rows, counters = [], dict.fromkeys(RESUMED_FROM, 0)
    for record in table.to_dict("records"):
        job = f"job_{record.pop('job')}"
        block = counters[job]
        counters[job] += 1
        for metric, printed in record.items():
            if printed:
                rows.append(_metric(job, block, int(record["trainer/global_step"]), str(metric), printed))
    return rows


def _metric(job: str, block: int, step: int, metric: str, printed: str) -> StepMetric:
    vanished = printed in ("0.0000", "-0.0000")
    return StepMetric(
        job=job,
        block=block,
        line=1000 * (block + 1),
        kind=TRAIN,
        global_step=step,
        metric=metric,
        value=float(printed),
        state=BELOW_RESOLUTION if vanished else MEASURED,
        source=CONSOLE,
    )


def _batches() -> list[RolloutBatch]:
    """Batches drawn so that the sums of every block come out; who failed in which batch is not published."""
    table = pd.read_csv(FOLDER / "batches.csv")
    types = list(table.columns[6:])
    rows: list[RolloutBatch] = []
    for record in table.to_dict("records"):
        rows += _batches_of_block(record, types)
    return rows


def _batches_of_block(record: dict[Any, Any], types: list[str]) -> list[RolloutBatch]:
    batches, masked = int(record["batches"]), int(record["masked"])
    groups = int(record["failed_instances"])
    failures = [name for name in types for _ in range(int(record[name]))][: int(record["failed_trials"])]
    surplus = [name for name in types for _ in range(int(record[name]))][int(record["failed_trials"]) :]
    rows = []
    for number in range(batches):
        failed, failures = failures[:8], failures[8:]
        in_mask, masked = min(masked, len(failed)), masked - min(masked, len(failed))
        in_groups = groups if number == batches - 1 else min(groups, 1)
        groups -= in_groups
        names = failed + (surplus if number == batches - 1 else [])
        rows.append(
            RolloutBatch(
                job=f"job_{record['job']}",
                line=1000 * int(record["step"]) + number,
                mode="training",
                successful=8 - len(failed),
                total=8,
                failed_groups=in_groups,
                masked=in_mask,
                exceptions={name: names.count(name) for name in dict.fromkeys(names)},
                since_step_marker=int(record["step"]),
            )
        )
    return rows


def _trials() -> pd.DataFrame:
    table = pd.read_csv(FOLDER / "trials.csv", keep_default_na=False)
    kinds = frame_of(Trial, [_kind(record) for record in table.to_dict("records")])
    trials = kinds.loc[kinds.index.repeat(table["count"])].reset_index(drop=True)
    names = [f"trial-{number:05d}" for number in range(len(trials))]
    return trials.assign(trial=pd.Series(names, dtype=object), path=pd.Series(names, dtype=object))


def _kind(record: dict[Any, Any]) -> Trial:
    reward = float(record["reward"]) if record["reward"] != "" else None
    name = record["exception_type"] or None
    outcome = UNSCORED if reward is None else SOLVED if reward > 0 else UNSOLVED
    return Trial(
        trial="",
        task=None,
        path="",
        n_turns=int(float(record["n_episodes"])) if record["n_episodes"] != "" else None,
        reward=reward,
        rewards={} if reward is None else {"reward": reward},
        outcome=outcome,
        exception_type=name,
        exception_class=CLASSES.get(name, OTHER) if name else None,
        is_masked=name in MASKED_TYPES,
    )
