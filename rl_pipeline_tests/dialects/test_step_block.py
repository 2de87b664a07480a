"""Metric blocks of SkyRL's console logger."""

from __future__ import annotations

import math

import pytest

from rl_pipeline.dialects import step_block
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline_tests.dialects.feeding import feed, message, values

BLOCK = "Step 7: \n{{{}}}"
WHOLE = ", ".join(f"'policy/metric_{number}': '1.0000'" for number in range(20)) + ", 'trainer/global_step': {step}"


@pytest.mark.parametrize(
    ("printed", "value", "state", "text"),
    [
        ("'0.1235'", 0.1235, "measured", None),
        ("'1234567.8910'", 1234567.891, "measured", None),
        ("'-2.5000'", -2.5, "measured", None),
        ("'0.0000'", 0.0, "below_resolution", None),
        ("0", 0.0, "measured", None),
        ("0.0", 0.0, "measured", None),
        ("1e-06", 1e-06, "measured", None),
        ("True", 1.0, "measured", None),
        ("False", 0.0, "measured", None),
        ("np.float64(0.0)", 0.0, "measured", None),
        ("np.int64(4)", 4.0, "measured", None),
        ("tensor(0.5000, device='cuda:0')", 0.5, "measured", None),
        ("'nan'", None, "not_finite", "nan"),
        ("'-inf'", None, "not_finite", "-inf"),
        ("nan", None, "not_finite", "nan"),
        ("np.float32(inf)", None, "not_finite", "inf"),
        ("None", None, "text", "None"),
        ("'warm-up'", None, "text", "warm-up"),
        ("['0.5000', 2]", None, "text", '["0.5000", 2]'),
        ("{}", None, "text", "{}"),
        ("9" * 400, None, "text", f"number({'9' * 400})"),
    ],
)
def test_a_value_keeps_its_state(printed, value, state, text):
    rows = feed(step_block, BLOCK.format(f"'policy/x': {printed}"))

    assert values(rows, "value", "state", "text") == [(value, state, text)]


def test_a_printed_minus_zero_stays_minus_zero():
    (row,) = feed(step_block, BLOCK.format("'policy/final_loss': '-0.0000'"))

    assert math.copysign(1.0, row.value) == -1.0
    assert row.state == "below_resolution"


def test_dicts_inside_are_flattened_with_slashes():
    rows = feed(step_block, BLOCK.format("'loss/parts': {'kl': '0.5000', 'more': {'pg': 2}}"))

    assert values(rows, "metric", "value") == [("loss/parts/kl", 0.5), ("loss/parts/more/pg", 2.0)]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("'reward/avg_raw_reward': '0.2000', 'timing/step': '8.0000'", "train"),
        ("'eval/all/avg_score': '0.2000', 'reward/avg_raw_reward': '0.2000'", "train"),
        ("'eval/all/avg_score': '0.2000'", "eval"),
        ("'eval/all/avg_score': '0.2000', 'trainer/global_step': 7", "eval"),
        ("'timing/step': '8.0000', 'ray/gpu.util.avg': '70.0000', 'vllm/num_requests_running': 3", "timing"),
        ("'timing/step': '8.0000', 'trainer/global_step': 7", "train"),
    ],
)
def test_the_content_of_a_block_tells_its_kind(content, kind):
    rows = feed(step_block, BLOCK.format(content))

    assert {row.kind for row in rows} == {kind}


@pytest.mark.parametrize(
    ("key", "step"), [("'trainer/global_step': 9", 9), ("'trainer/global_step': '9.0000'", 9), ("'a/b': 1", 7)]
)
def test_the_step_is_the_metric_else_the_number_in_the_head(key, step):
    rows = feed(step_block, BLOCK.format(key))

    assert {row.global_step for row in rows} == {step}


def test_a_block_flushed_by_a_crash_is_partial_although_it_is_closed():
    rows = feed(
        step_block,
        f"Step 1: \n{{{WHOLE.format(step=1)}}}",
        f"Step 2: \n{{{WHOLE.format(step=2)}}}",
        "Step 3: \n{'policy/metric_0': '1.0000', 'trainer/global_step': 3}",
        f"Step 3: \n{{{WHOLE.format(step=3)}}}",
    )

    assert [kind for _, kind in sorted({(row.block, row.kind) for row in rows})] == [
        "train",
        "train",
        "partial",
        "train",
    ]


ODD = {
    "small": "'warmup/a': '1.0000', 'warmup/b': '2.0000', 'trainer/global_step': 1",
    "large": ", ".join(f"'once/{number}': '1.0000'" for number in range(40)) + ", " + WHOLE.format(step=1),
}


def kinds(*texts: str) -> list[str]:
    """The kind of every block, in the order of the file."""
    rows = feed(step_block, *texts)
    return [kind for _, kind in sorted({(row.block, row.kind) for row in rows})]


@pytest.mark.parametrize("first", ODD.values(), ids=ODD)
@pytest.mark.parametrize("steps", [2, 3, 9])
def test_an_odd_first_block_does_not_make_the_ordinary_ones_partial(first, steps):
    ordinary = [f"Step {step}: \n{{{WHOLE.format(step=step)}}}" for step in range(2, 2 + steps)]

    assert kinds(f"Step 1: \n{{{first}}}", *ordinary) == ["train"] * (1 + steps)


def small(step: int) -> str:
    return f"Step {step}: \n{{'policy/metric_0': '1.0000', 'trainer/global_step': {step}}}"


def whole(step: int) -> str:
    return f"Step {step}: \n{{{WHOLE.format(step=step)}}}"


@pytest.mark.parametrize(
    ("texts", "partial"),
    [
        ([whole(1), whole(2), small(3)], {2}),  # nothing was trained after it
        ([whole(1), whole(2), small(3), whole(4)], {2}),  # the next step has what it lacks
        ([whole(1), small(2), small(2), whole(2)], {1, 2}),  # two attempts ended in the same step
        ([whole(1), small(2), small(3), small(4), small(5)], set()),  # fewer metrics from here on
        ([whole(1), small(2), whole(3), small(4), whole(5), small(6)], {1}),  # all of them every second step
    ],
)
def test_a_small_block_is_partial_when_what_follows_shows_it(texts, partial):
    assert kinds(*texts) == ["partial" if block in partial else "train" for block in range(len(texts))]


def test_the_rows_of_blocks_come_in_the_order_of_the_log():
    rows = feed(step_block, whole(1), small(2), small(3), whole(4), small(5))

    assert [row.line for row in rows] == sorted(row.line for row in rows)


def test_names_hold_no_credentials_and_stay_distinct_when_they_are_cut():
    long, token = "x" * 320, "ghp_" + "a1B2c3D4e5F6" * 3
    rows = feed(
        step_block,
        BLOCK.format(
            f"'{long}/a': 1, '{long}/b': 2, 'api_key={token}': 3, 'n/{token}': {{'{token}': 4}}, 'n/{token[:-1]}': 5"
        ),
    )

    assert len({row.metric for row in rows}) == len(rows) == 5
    assert {len(row.metric) for row in rows[:2]} == {300}
    assert not any(token[4:] in row.metric for row in rows)


def test_an_evaluation_inside_a_block_does_not_make_the_next_block_partial():
    scores = ", ".join(f"'eval/set_{number}/avg_score': '0.5000'" for number in range(60))

    rows = feed(step_block, f"Step 1: \n{{{scores}, {WHOLE.format(step=1)}}}", f"Step 2: \n{{{WHOLE.format(step=2)}}}")

    assert {row.kind for row in rows} == {"train"}


def test_a_cut_block_keeps_what_a_comma_closed_and_says_so():
    parser = step_block.parser(JobContext("job_1"))

    outcome = parser.parse(message("Step 9: \n{'a/b': '1.0000',\n 'a/c': 2,\n 'a/d': '3.00", complete=False))

    assert isinstance(outcome, Broken)
    assert values(outcome.rows, "metric", "value", "kind") == [("a/b", 1.0, "partial"), ("a/c", 2.0, "partial")]
    assert outcome.reason == "metric block cut: the log went on, or ended, before it was closed"


@pytest.mark.parametrize("payload", ["Step 9: ", "Step 9: \n[1, 2]", "Step 9: \n{'a': }", "Step 9: \n{{}: 1}"])
def test_a_head_without_a_readable_dict_is_broken(payload):
    outcome = step_block.parser(JobContext("job_1")).parse(message(payload))

    assert isinstance(outcome, Broken)
    assert list(outcome.rows) == []


@pytest.mark.parametrize(
    "payload", ["Step 9: loss=0.1", "Step 3/80 (Epoch 0, Step 3)", "step 9: \n{'a': 1}", "See Step 9: \n{}"]
)
def test_other_texts_with_the_word_step_are_not_blocks(payload):
    assert step_block.parser(JobContext("job_1")).parse(message(payload)) is None


def test_blocks_are_numbered_in_file_order_and_move_the_step_marker():
    context = JobContext("job_1")

    rows = feed(step_block, "Step 4: \n{'a/b': 1}", "Step 5: \n{'a/b': 2}", context=context)

    assert values(rows, "block", "global_step") == [(0, 4), (1, 5)]
    assert context.step_marker == 5


def test_credentials_and_half_surrogates_are_not_stored():
    rows = feed(step_block, BLOCK.format("'a/note': 'api_key=abcd1234efgh5678ijkl', 'a/other': '\\ud83d'"))

    assert values(rows, "text") == [("api_key=[redacted named_secret]",), ("\ufffd",)]
