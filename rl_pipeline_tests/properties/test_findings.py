"""Whatever the frames hold, every rule answers, and an answer can be read."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rl_pipeline.analysis.findings import build_context, evaluate, verdict
from rl_pipeline.analysis.findings.finding import SEVERITIES, STATUSES, VERDICTS
from rl_pipeline.schema import END_STATES, EVENT_KINDS, EXCEPTION_CLASSES
from rl_pipeline_tests.helpers.frames import job_row
from rl_pipeline_tests.helpers.small_runs import START, blocks, engine_lines, event, frames_of, trial_rows

METRICS = (
    "reward/avg_raw_reward", "reward/avg_pass_at_8", "policy/policy_entropy", "policy/raw_grad_norm",
    "policy/policy_kl",
    "policy/log_ratio_abs_mean", "policy/ppo_clip_ratio", "tis/imp_ratio_mean", "tis/capped_fraction",
    "async/staleness_mean", "async/staleness_max", "async/discarded_count", "async/effective_batch_groups",
    "async/effective_batch_samples", "async/num_groups_dropped", "async/keep_rate", "timing/step",
    "timing/wait_for_generation_buffer", "timing/generate", "timing/run_training", "timing/save_checkpoints",
    "system/process_rss_gb", "system/ram_total_gb", "generate/min_num_tokens", "generate/avg_num_tokens",
    "reward/num_zero_variance_filtered", "generate/trajectories_truncated",
)  # fmt: skip
NUMBERS = st.one_of(
    st.none(),
    st.sampled_from([0.0, 1.0, -1.0, 1e-9, 1e12, math.nan, math.inf, 0.5]),
    st.floats(min_value=-1e3, max_value=1e3, allow_nan=False),
)
SERIES = st.dictionaries(st.sampled_from(METRICS), st.lists(NUMBERS, min_size=1, max_size=40), max_size=10)
CLASSES = st.one_of(
    st.none(), st.tuples(st.sampled_from(["AgentTimeoutError", "X"]), st.sampled_from(EXCEPTION_CLASSES))
)


@st.composite
def trials(draw: st.DrawFn) -> list[dict[str, Any]]:
    count = draw(st.integers(0, 150))
    rewards = draw(st.lists(st.one_of(st.none(), st.sampled_from([0.0, 1.0, 0.5])), min_size=count, max_size=count))
    return trial_rows(
        rewards,
        exceptions=draw(st.lists(CLASSES, max_size=count)),
        tasks=draw(st.lists(st.sampled_from(["a", "b", "c"]), max_size=count)),
        seconds_apart=draw(st.sampled_from([None, 0.0, 60.0])),
    )


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    first = draw(st.integers(0, 3))
    rows = blocks(
        draw(SERIES) or {"timing/step": [1.0]}, first_step=first, seconds=draw(st.sampled_from([None, 0.0, 60.0]))
    )
    rows += blocks(draw(SERIES) or {"timing/step": [1.0]}, job="job_2", first_step=draw(st.integers(0, 30)))
    running = draw(st.lists(st.integers(0, 64), max_size=60))
    waiting = draw(st.lists(st.integers(0, 64), min_size=len(running), max_size=len(running)))
    kinds = draw(st.lists(st.sampled_from(sorted(EVENT_KINDS)), max_size=6))
    steps = [draw(st.one_of(st.none(), st.integers(0, 40))) for _ in kinds]
    ends = draw(st.lists(st.sampled_from(END_STATES), min_size=2, max_size=2))
    return {
        "jobs": [job_row(f"job_{number + 1}", end_state=end, last_logged_at=START) for number, end in enumerate(ends)],
        "step_metrics": rows,
        "trials": draw(trials()),
        "vllm_stats": engine_lines(running, waiting, kv=draw(st.sampled_from([0.0, 0.95]))),
        "job_events": [event(kind, step=step, value=1.0, name="x") for kind, step in zip(kinds, steps, strict=True)],
    }


@settings(max_examples=60)
@given(tables())
def test_every_rule_answers_whatever_the_frames_hold(drawn: dict[str, Any]):
    context = build_context(frames_of(**drawn), now=START)

    found = evaluate(context, strict=True)

    assert [finding.id for finding in found] == [f"R{number}" for number in range(1, 41)]
    for finding in found:
        assert finding.status in STATUSES
        assert finding.severity in SEVERITIES
        assert finding.summary
        assert "nan" not in finding.summary.lower().split(), finding
        assert finding.n >= 0
        assert finding.status != "not_measurable" or finding.missing, finding
        assert finding.status != "fired" or finding.evidence, finding
    assert verdict(found, context).status in VERDICTS
