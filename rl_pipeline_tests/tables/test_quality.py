"""Sound tables break no rule, and each kind of lie breaks its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rl_pipeline.schema import (
    ALL_TABLES,
    Job,
    JobEvent,
    PhaseTiming,
    RolloutBatch,
    Row,
    SkippedTrial,
    StepMetric,
    Trial,
    Unparsed,
    VllmStat,
)
from rl_pipeline.tables.frames import to_arrow
from rl_pipeline.tables.quality import RULES, Violation, violations
from rl_pipeline_tests.helpers.strategies import rows

AT = datetime(2026, 1, 9, 11, 22, 33)
JOB = Job(
    experiment="exp", job="job_7", job_key="exp_7", path="exp_7.out", size_bytes=10, fingerprint="ab",
    first_logged_at=AT, last_logged_at=AT, lines=100, printed_lines=100, blocks=1, broken_blocks=0,
    dialect_lines={"step_block": 1, "wandb_mirror": 1, "vllm_stats": 98},
)  # fmt: skip
MIRROR = StepMetric(
    job="job_7", block=0, line=2, kind="train", global_step=1, metric="loss", value=0.51234567, state="measured",
    source="mirror", logged_at=AT,
)  # fmt: skip
CONSOLE = replace(MIRROR, block=1, line=3, value=0.5123, source="console")
BATCH = RolloutBatch(
    job="job_7", line=7, logged_at=AT, mode="training", successful=5, total=8, failed_groups=1, masked=1,
    exceptions={"AgentTimeoutError": 2, "DaytonaError": 1},
)  # fmt: skip
STAT = VllmStat(
    job="job_7", line=9, logged_at=AT, prompt_throughput=1.0, generation_throughput=2.0, running=1, waiting=0,
    kv_cache_usage=1.0, prefix_cache_hit_rate=0.0,
)  # fmt: skip
TIMER = PhaseTiming(job="job_7", line=10, name="step", seconds=0.0, finished=True, started_at=AT)
EVENT = JobEvent(job="job_7", line=11, byte_offset=0, kind="end")
BROKEN = Unparsed(job="job_7", line=12, byte_offset=None, dialect="vllm_stats", reason="cut", excerpt="Engine 0")
TRIAL = Trial(
    trial="t__1", task="t", path="t__1", started_at=AT, finished_at=AT, outcome="unscored", exception_type="X",
    exception_class="other", agent_execution_s=1.0,
)  # fmt: skip


def tables_of(*changed: Row) -> dict[str, pa.Table]:
    """Sound tables; those of the rows given hold these rows alone."""
    sound: list[Row] = [JOB, MIRROR, CONSOLE, BATCH, STAT, TIMER, EVENT, BROKEN, TRIAL]
    named = {row.TABLE for row in changed}
    held = [row for row in sound if row.TABLE not in named] + list(changed)
    return {cls.TABLE: to_arrow([row for row in held if type(row) is cls], cls) for cls in ALL_TABLES}


def broken(*changed: Row) -> list[tuple[str, str, int]]:
    return [(violation.table, violation.rule, violation.count) for violation in violations(tables_of(*changed))]


def test_sound_tables_break_no_rule():
    assert violations(tables_of()) == []


def test_tables_without_a_row_break_no_rule():
    assert violations({cls.TABLE: to_arrow([], cls) for cls in ALL_TABLES}) == []
    assert violations({}) == []


def test_rules_have_names_and_sentences_of_their_own():
    assert len({rule.slug for rule in RULES}) == len(RULES)
    assert all(rule.says for rule in RULES)


def test_a_violation_says_what_where_and_how_many():
    found = violations(tables_of(replace(STAT, kv_cache_usage=87.0), replace(STAT, line=20)))

    assert found == [
        Violation(
            table="vllm_stats", rule="fractions", severity="error", blocking=True, count=1,
            message="kv_cache_usage is no share between 0 and 1: line 9, kv_cache_usage 87.0",
            examples=("line 9, kv_cache_usage 87.0",),
        )
    ]  # fmt: skip


def test_a_long_list_of_places_is_cut():
    stats = [replace(STAT, line=line, kv_cache_usage=2.0) for line in range(1, 51)]

    (violation,) = violations(tables_of(*stats))

    assert violation.count == 50
    assert len(violation.examples) == 5
    assert violation.message.endswith("…")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ([MIRROR, CONSOLE, CONSOLE], [("step_metrics", "unique-keys", 1)]),
        ([TRIAL, TRIAL], [("trials", "unique-keys", 1)]),
        ([MIRROR, replace(CONSOLE, kind="training")], [("step_metrics", "known-words", 1)]),
        ([replace(TRIAL, outcome="passed")], [("trials", "known-words", 1)]),
        ([replace(STAT, job="job_8")], [("vllm_stats", "one-job", 1)]),
        ([replace(STAT, line=0)], [("vllm_stats", "lines", 1)]),
        ([replace(EVENT, line=102)], [("job_events", "lines", 1)]),
        ([replace(STAT, kv_cache_usage=-0.1)], [("vllm_stats", "fractions", 1)]),
        ([replace(STAT, prefix_cache_hit_rate=1.02)], [("vllm_stats", "hit-rates", 1)]),
        ([replace(BATCH, successful=9, exceptions={}, masked=None, failed_groups=0)],
         [("rollout_batches", "batch-sums", 1), ("rollout_batches", "breakdown-sums", 1),
          ("rollout_batches", "breakdown-sums", 1)]),
        ([MIRROR], [("step_metrics", "no-head-silent", 1)]),
        ([replace(JOB, blocks=2)], [("step_metrics", "no-block-lost", 1)]),
        ([replace(JOB, dialect_lines={"step_block": 3, "wandb_mirror": 1, "vllm_stats": 96})],
         [("step_metrics", "no-head-silent", 2)]),
        ([MIRROR, replace(CONSOLE, value=0.5125)], [("step_metrics", "mirror-agrees", 1)]),
        ([replace(BATCH, exceptions={"AgentTimeoutError": 2})], [("rollout_batches", "breakdown-sums", 1)]),
        ([replace(BATCH, exceptions={})], [("rollout_batches", "breakdown-sums", 1)]),
        ([replace(BATCH, masked=4)], [("rollout_batches", "breakdown-sums", 1)]),
        ([replace(BATCH, failed_groups=0)], [("rollout_batches", "breakdown-sums", 1)]),
        ([replace(MIRROR, global_step=4), replace(CONSOLE, global_step=3)], [("step_metrics", "steps-go-on", 1)]),
        ([replace(TIMER, seconds=-1.0)], [("phase_timings", "amounts", 1)]),
        ([replace(TRIAL, verifier_s=-0.5)], [("trials", "amounts", 1)]),
        ([replace(STAT, logged_at=datetime(2025, 1, 9))], [("vllm_stats", "dates", 1)]),
        ([replace(TRIAL, started_at=datetime(1970, 1, 1))], [("trials", "dates", 1)]),
        ([replace(TRIAL, finished_at=datetime(2026, 1, 8))], [("trials", "trial-times", 1)]),
        ([replace(TRIAL, verifier_overrun_s=3.0)], [("trials", "trial-times", 1)]),
        ([BROKEN, replace(BROKEN, line=13)], [("unparsed", "unparsed-share", 2)]),
    ],
    ids=lambda value: value[0][1] if isinstance(value[0], tuple) else "",
)  # fmt: skip
def test_each_lie_breaks_its_rule_and_no_other(changed: list[Row], expected: list[tuple[str, str, int]]):
    assert broken(*changed) == expected


@pytest.mark.parametrize(
    "changed",
    [
        [replace(BATCH, exceptions={"AgentTimeoutError": 9})],  # raised, and scored all the same
        [replace(BATCH, exceptions={}, masked=None)],  # forms before the breakdown was printed
        [replace(BATCH, successful=8, failed_groups=0, masked=0, exceptions={})],
        [MIRROR, replace(CONSOLE, value=0.51235 - 1e-9)],  # rounding at a half
        [replace(MIRROR, value=0.00004), replace(CONSOLE, value=0.0, state="below_resolution")],
        [MIRROR, replace(CONSOLE, kind="timing", metric="timing/step")],
        [replace(MIRROR, global_step=3), replace(CONSOLE, global_step=3)],
        [replace(TRIAL, path="a"), replace(TRIAL, path="b")],
        [replace(STAT, prefix_cache_hit_rate=None, logged_at=None)],
    ],
    ids=str,
)
def test_what_is_only_unusual_breaks_no_rule(changed: list[Row]):
    assert broken(*changed) == []


def test_a_console_value_is_compared_with_the_mirror_just_before_it():
    again = [replace(MIRROR, block=2, line=20, value=0.7), replace(CONSOLE, block=3, line=21, value=0.7)]

    assert broken(replace(JOB, blocks=2, dialect_lines={}), MIRROR, CONSOLE, *again) == []


def test_a_table_with_other_columns_is_told_and_not_looked_at_further():
    tables = tables_of(replace(STAT, kv_cache_usage=87.0))
    tables["vllm_stats"] = tables["vllm_stats"].drop_columns(["scope"])

    (violation,) = violations(tables)

    assert (violation.rule, violation.blocking, violation.examples) == ("columns", True, ("scope is missing",))


def test_what_is_odd_warns_and_what_would_mislead_blocks():
    warned = violations(tables_of(replace(TIMER, seconds=-1.0)))
    blocked = violations(tables_of(replace(STAT, line=0)))

    assert [(violation.severity, violation.blocking) for violation in warned + blocked] == [
        ("warn", False),
        ("error", True),
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_table_can_stop_the_rules(data: st.DataObject):
    tables: dict[str, Any] = {
        cls.TABLE: to_arrow(data.draw(st.lists(rows(cls), max_size=3)), cls) for cls in ALL_TABLES
    }

    for violation in violations(tables):
        assert violation.count > 0
        assert violation.message


def test_other_tables_are_left_out():
    assert violations({"anything": pa.table({"a": [1]}), "skipped_trials": to_arrow([], SkippedTrial)}) == []
