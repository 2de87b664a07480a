"""Runs too short, too broken or too unusual to say much: nothing raises, what is missing has a reason."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_pipeline.analysis.checkpoints import choose_checkpoint
from rl_pipeline.analysis.exception_counts import exception_means
from rl_pipeline.analysis.experiment_comparison import compare_experiments, profile
from rl_pipeline.analysis.geometry import gpu_geometry
from rl_pipeline.analysis.growth import growth_within_links
from rl_pipeline.analysis.job_comparison import compare_jobs
from rl_pipeline.analysis.level_breaks import level_breaks
from rl_pipeline.analysis.lineage import find_lineage
from rl_pipeline.analysis.links import find_chain
from rl_pipeline.analysis.outliers import stragglers
from rl_pipeline.analysis.pass_at_k import pass_at_k
from rl_pipeline.analysis.populations import find_populations
from rl_pipeline.analysis.replayed_prompts import check_replays
from rl_pipeline.analysis.restarts import restart_costs
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, WAIT_SECONDS, all_rows, canonical_of
from rl_pipeline.analysis.step_noise import step_noise
from rl_pipeline.analysis.task_changes import task_changes
from rl_pipeline.analysis.time_accounting import step_time
from rl_pipeline.analysis.token_means import token_means
from rl_pipeline.analysis.trial_analysis import analyse_trials
from rl_pipeline.analysis.trial_attribution import attribution
from rl_pipeline.analysis.waterfall import waterfall
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames

FULL = {
    REWARD: 0.4,
    "reward/avg_pass_at_8": 0.5,
    "async/effective_batch_groups": 64,
    "async/effective_batch_samples": 512,
    STEP_SECONDS: 100.0,
    WAIT_SECONDS: 60.0,
    "timing/run_training": 35.0,
    "generate/avg_num_tokens": 500.0,
    "generate/min_num_tokens": 1,
}
SYNCHRONOUS = {REWARD: 0.4, STEP_SECONDS: 100.0, "timing/generate": 60.0, "timing/policy_train": 30.0}


def everything(frames):
    """All results of the room, by name."""
    chain = find_chain(frames)
    rows = all_rows(frames, chain)
    canonical = canonical_of(rows)
    populations = find_populations(frames, rows)
    one = profile(frames)
    return {
        "lineage": find_lineage(frames, chain, rows),
        "populations": populations,
        "tokens": token_means(rows, populations.masked),
        "exceptions": exception_means(frames.rollout_batches, rows),
        "time": step_time(rows),
        "waterfall": waterfall(rows, chain),
        "restarts": restart_costs(rows, chain),
        "stragglers": stragglers(canonical),
        "growth": growth_within_links(canonical, WAIT_SECONDS),
        "geometry": gpu_geometry(frames.job_events),
        "jobs": compare_jobs(rows),
        "breaks": level_breaks(canonical),
        "noise": step_noise(canonical),
        "replays": check_replays(rows),
        "checkpoints": choose_checkpoint(canonical),
        "trials": analyse_trials(frames.trials),
        "tasks": task_changes(frames.trials),
        "passes": pass_at_k(frames.trials),
        "attribution": attribution(frames.trials, frames.jobs),
        "comparison": compare_experiments(one, one),
    }


def strange_values(value, path=""):
    """Places of a result that hold something else than plain finite values."""
    if is_dataclass(value):
        for f in fields(value):
            yield from strange_values(getattr(value, f.name), f"{path}.{f.name}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strange_values(item, f"{path}[{key}]")
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from strange_values(item, f"{path}[{place}]")
    elif isinstance(value, (np.generic, np.ndarray, pd.DataFrame, list)) or value is pd.NA:
        yield f"{path}: {type(value).__name__}"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{path}: {value}"


def _run(*steps, job="job_1"):
    cells = [row for block, values in enumerate(steps) for row in block_rows(job, block, block + 1, values)]
    return experiment_frames(jobs=[job_row(job)], step_metrics=cells)


RUNS = {
    "nothing": experiment_frames(),
    "a job without steps": experiment_frames(jobs=[job_row("job_1")]),
    "one step": _run(FULL),
    "two steps": _run(FULL, FULL),
    "three equal steps": _run(FULL, FULL, FULL),
    "forty equal steps": _run(*[FULL] * 40),
    "synchronous": _run(*[SYNCHRONOUS] * 12),
    "all values not finite": _run(*[dict.fromkeys(FULL, math.nan)] * 12),
    "infinite times": _run(*[FULL | {STEP_SECONDS: math.inf}] * 4),
    "no reward": _run(*[{STEP_SECONDS: 100.0}] * 12),
    "no time": _run(*[{REWARD: 0.4}] * 12),
    "zero reward": _run(*[FULL | {REWARD: 0.0, "reward/avg_pass_at_8": 0.0}] * 12),
    "full reward": _run(*[FULL | {REWARD: 1.0, "reward/avg_pass_at_8": 1.0}] * 12),
    "zero times": _run(*[FULL | {STEP_SECONDS: 0.0, WAIT_SECONDS: 0.0}] * 12),
    "every other step without keys": _run(*[FULL, {"trainer/epoch": 0}] * 10),
    "negative rewards": _run(*[FULL | {REWARD: -1.0 + i} for i in range(8)]),
}


@pytest.mark.parametrize("name", RUNS)
def test_odd_runs_give_plain_values_and_never_raise(name):
    assert list(strange_values(everything(RUNS[name]))) == []


def test_the_published_run_gives_plain_values_too():
    assert list(strange_values(everything(reference_frames()))) == []


def test_results_are_the_same_each_time():
    assert everything(reference_frames()) == everything(reference_frames())


def test_too_short_a_run_is_not_measurable_rather_than_fine():
    found = everything(_run(FULL, FULL))

    assert found["growth"].reason is not None
    assert found["checkpoints"].reason is not None
    assert found["noise"].design.reason is not None
    assert found["tasks"].reason is not None
    assert found["attribution"].reason is not None


number = st.one_of(st.floats(allow_nan=True, allow_infinity=True, width=32), st.integers(-3, 3).map(float))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["job_1", "job_2"]),
            st.integers(0, 12),
            st.dictionaries(st.sampled_from(sorted(FULL)), number),
        ),
        max_size=14,
    ),
    st.one_of(st.none(), st.integers(0, 12)),
)
def test_any_blocks_in_any_order_give_plain_values(blocks, resumed):
    cells = [row for place, (job, step, values) in enumerate(blocks) for row in block_rows(job, place, step, values)]
    frames = experiment_frames(jobs=[job_row("job_1"), job_row("job_2", resumed_from_step=resumed)], step_metrics=cells)

    assert list(strange_values(everything(frames))) == []
