"""MarinSkyRL's mirror line."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import JobParser, wandb_mirror
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline.schema import StepMetric
from rl_pipeline_tests.dialects.feeding import feed, message, told, values

LINE = "WANDB_MIRROR kind=train step=7 metrics={}"


def test_values_keep_all_their_digits():
    rows = feed(wandb_mirror, LINE.format('{"policy/policy_lr": 8e-06, "reward/avg_raw_reward": 0.203125}'))

    assert values(rows, "metric", "value", "state", "source", "global_step") == [
        ("policy/policy_lr", 8e-06, "measured", "mirror", 7),
        ("reward/avg_raw_reward", 0.203125, "measured", "mirror", 7),
    ]


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 500])
def test_what_is_no_finite_number_has_no_value(token):
    (row,) = feed(wandb_mirror, LINE.format(f'{{"loss/avg_kl": {token}}}'))

    assert (row.value, row.state) == (None, "not_finite")


def test_an_exact_zero_is_measured():
    (row,) = feed(wandb_mirror, LINE.format('{"loss/avg_kl": 0.0}'))

    assert (row.value, row.state) == (0.0, "measured")


def test_a_mirror_of_an_evaluation_is_of_kind_eval():
    (row,) = feed(wandb_mirror, 'WANDB_MIRROR kind=eval step=0 metrics={"eval/all/avg_score": 0.5}')

    assert (row.kind, row.global_step) == ("eval", 0)


def test_metrics_that_could_not_be_written_are_told():
    outcome = wandb_mirror.parser(JobContext("job_1")).parse(message(LINE.format('{"_serialize_error": "bad"}')))

    assert outcome == Broken("the trainer could not write its metrics")


@pytest.mark.parametrize(
    "metrics",
    ['{"a": 1, "b": 2', '{"a": 1, "b": tru', '{"a": 1, "b": "x', '{"a": 1, "b": 2, "c', '{"a": 1, "b": 2} and more'],
)
def test_a_cut_line_is_broken_and_keeps_what_a_comma_closed(metrics):
    outcome = wandb_mirror.parser(JobContext("job_1")).parse(message(LINE.format(metrics), complete=False))

    assert isinstance(outcome, Broken)
    assert set(values(outcome.rows, "kind")) <= {("partial",)}
    assert set(values(outcome.rows, "metric", "value")) <= {("a", 1.0), ("b", 2.0)}


def test_hostile_depth_is_broken_not_an_error():
    outcome = wandb_mirror.parser(JobContext("job_1")).parse(message(LINE.format('{"a": ' + "[" * 100_000)))

    assert isinstance(outcome, Broken)


@pytest.mark.parametrize("depth", [21, 100, 400, 800, 989, 5_000, 100_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_a_value_of_any_depth_is_text_or_told_as_broken(depth, opened, closed):
    nested = opened * depth + "1" + closed * depth

    rows = told(JobParser("job_1"), message(f'WANDB_MIRROR kind=train step=7 metrics={{"b": 1, "a": {nested}}}'))

    assert rows
    assert all(len(row.metric) <= 300 for row in rows if isinstance(row, StepMetric))
    assert ("b", 1.0) in [(row.metric, row.value) for row in rows if isinstance(row, StepMetric)]


def test_names_in_a_cut_line_hold_no_credentials():
    rows = told(
        JobParser("job_1"),
        message('WANDB_MIRROR kind=train step=7 metrics={"loss/password=hunter22x": 1, "a": 1e-0', complete=False),
    )

    assert [row.metric for row in rows if isinstance(row, StepMetric)] == ["loss/password=[redacted named_secret]"]
