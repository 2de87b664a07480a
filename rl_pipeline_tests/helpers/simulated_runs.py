"""Simulated runs with known truth, as frames: healthy ones and one for every way to be sick.

`simulate(scenario, seed)` gives the frames and the time of looking. The same seed gives the same run. The
rules must not be tuned to this file: it draws what a run of each kind would look like, not what they test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.schema import TABLES_BY_NAME, Job, JobEvent, Row, StepMetric, Trial
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.simulated_engines import vllm_stats
from rl_pipeline_tests.helpers.simulated_plan import Link, Plan, plan
from rl_pipeline_tests.helpers.simulated_steps import StepTruth, is_stalled, simulate_steps, step_metrics
from rl_pipeline_tests.helpers.simulated_trials import rollout_batches, shuffled, trials


@dataclass(frozen=True)
class SimulatedRun:
    """One run: what the rules see, and the truth behind it."""

    frames: ExperimentFrames
    plan: Plan
    now: datetime | None


def simulate(scenario: str, seed: int) -> SimulatedRun:
    """One run of a scenario of `simulated_plan.SCENARIOS`."""
    drawn = plan(scenario, seed)
    truths = simulate_steps(drawn)
    metrics = step_metrics(drawn, truths)
    if not drawn.has_clocks:
        metrics["logged_at"] = pd.NaT
    attempts = trials(drawn, truths)
    engines = vllm_stats(drawn, truths)
    running = is_stalled(drawn) and drawn.rng.random() < 0.5
    silence = _silence(drawn, truths)
    tables: dict[str, Any] = {name: frame_of(row, ()) for name, row in TABLES_BY_NAME.items()}
    tables |= {
        "jobs": frame_of(Job, _jobs(drawn, truths, silence, running=running)),
        "step_metrics": filled(StepMetric, metrics),
        "trials": filled(Trial, shuffled(drawn.rng, attempts)),
        "vllm_stats": filled(TABLES_BY_NAME["vllm_stats"], engines),
        "job_events": frame_of(JobEvent, _events(drawn, truths)),
    }
    if drawn.is_async:
        tables["rollout_batches"] = filled(TABLES_BY_NAME["rollout_batches"], rollout_batches(drawn, truths, attempts))
    frames = ExperimentFrames(experiment=f"{scenario} {seed}", **tables)
    return SimulatedRun(frames=frames, plan=drawn, now=truths[-1].ended_at + silence if running else None)


def filled(row_class: type[Row], table: pd.DataFrame) -> pd.DataFrame:
    """A frame with the columns and kinds of the row class; columns that are not given are null or their default."""
    kinds, columns = get_type_hints(row_class), {}
    for field in fields(row_class):
        given = table[field.name] if field.name in table else pd.Series([_default(field, kinds)] * len(table))
        columns[field.name] = _typed(given.reset_index(drop=True), kinds[field.name])
    return pd.DataFrame(columns)


def _default(field: Any, kinds: Mapping[str, Any]) -> Any:
    if get_origin(kinds[field.name]) is dict:
        return {}
    return field.default if isinstance(field.default, int | str | bool) else None


def _typed(column: pd.Series[Any], kind: Any) -> pd.Series[Any]:
    types = set(get_args(kind)) or {kind}
    if get_origin(kind) is dict:
        return column.astype(object)
    if datetime in types:
        return pd.to_datetime(column).astype("datetime64[us]")
    if int in types:
        return column.astype("Int64")
    if float in types:
        return column.astype("float64")
    if bool in types:
        return column.fillna(False).astype(bool)
    return column.astype(object).where(column.notna(), None)


def _silence(drawn: Plan, truths: list[StepTruth]) -> timedelta:
    """From the last step to the end of the log."""
    steps = [truth.metrics["timing/step"] for truth in truths]
    if is_stalled(drawn):
        return timedelta(seconds=float(np.max(steps) * drawn.rng.uniform(4, 20)))
    return timedelta(seconds=float(np.median(steps) * drawn.rng.uniform(0.02, 0.95)))


def _jobs(drawn: Plan, truths: list[StepTruth], silence: timedelta, *, running: bool) -> list[dict[str, Any]]:
    rows = []
    for place, link in enumerate(drawn.links):
        own, last = [truth for truth in truths if truth.link is link], place == len(drawn.links) - 1
        end = own[-1].ended_at + (silence if last else timedelta(seconds=20))
        state = (
            "time_limit"
            if not last
            else "running"
            if running
            else str(drawn.rng.choice(["completed", "time_limit", "cancelled"]))
        )
        rows.append(
            {
                "experiment": drawn.scenario,
                "job": link.job,
                "job_key": f"run_{link.job}",
                "path": f"run_{link.job[4:]}.out",
                "size_bytes": 10_000_000,
                "fingerprint": link.job,
                "first_logged_at": own[0].started_at - timedelta(seconds=150) if drawn.has_clocks else None,
                "last_logged_at": end if drawn.has_clocks else None,
                "resumed_from_step": link.first_step - 1 if place else None,
                "first_step": link.first_step,
                "last_step": link.last_step,
                "end_state": state,
                "lines": 1000 + 400 * len(own) + 300,
                "printed_lines": 1000 + 400 * len(own) + 300,
                "blocks": len(own),
                "broken_blocks": 0,
                "dialect_lines": {},
                "nul_bytes": 0,
                "undecodable_bytes": 0,
                "cut_tail": False,
            }
        )
    return rows


def _events(drawn: Plan, truths: list[StepTruth]) -> list[dict[str, Any]]:
    rows = []
    for place, link in enumerate(drawn.links):
        rows += _start_events(drawn, link, place)
        for truth in truths:
            if truth.link is link and truth.step % 5 == 0:
                at = truth.ended_at if drawn.has_clocks else None
                rows.append(
                    _event(link, "checkpoint_saved", line=1390 + 400 * truth.place, step=truth.step, logged_at=at)
                )
    return rows


def _start_events(drawn: Plan, link: Link, place: int) -> list[dict[str, Any]]:
    start = "resume" if place else "fresh_start"
    capacity = drawn.notes["max_num_seqs"]
    return [
        _event(link, "configuration", line=10, name="generator.max_num_seqs", value=float(capacity)),
        _event(link, "configuration", line=11, name="trainer.policy.optimizer_config.lr", value=1e-6),
        _event(link, "planned_steps", line=20, name="training", value=float(drawn.last_step * 2)),
        _event(link, start, line=30, step=link.first_step - 1 if place else None),
    ]


def _event(link: Link, kind: str, *, line: int, **columns: Any) -> dict[str, Any]:
    return {"job": link.job, "line": line, "byte_offset": 100 * line, "kind": kind, "repeat_count": 1, **columns}
