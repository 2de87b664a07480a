"""Dialects under arbitrary input: nothing raises, what is written is read back, what is cut is never wrong."""

from __future__ import annotations

import json
import math
from pprint import pformat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.dialects import DIALECTS, JobParser
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline.dialects.harbor_trial import parse_trial
from rl_pipeline.dialects.metric_rows import read_value
from rl_pipeline.dialects.parsed_trial import ParsedTrial
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.schema import BELOW_RESOLUTION, MEASURED, NOT_FINITE, PARTIAL, TEXT, VALUE_STATES, StepMetric
from rl_pipeline_tests.dialects.feeding import told

PAYLOADS = [sample.payload for dialect in DIALECTS for sample in dialect.SAMPLES]
NAMES = st.from_regex(r"(reward|policy|timing|eval/all|vllm)/[a-z_0-9]{1,60}", fullmatch=True)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.booleans()
METRICS = st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
MEMBERS = [
    "id", "trial_name", "task_name", "source", "config", "agent_info", "agent_result", "verifier_result",
    "exception_info", "started_at", "finished_at", "environment_setup", "agent_setup", "agent_execution", "verifier",
    "step_results", "stats", "n_total_trials",
]  # fmt: skip


def line(payload: str, *, complete: bool = True, logger: str | None = "loguru") -> Message:
    return Message(line=1, byte_offset=0, source=Source(), payload=payload, logger=logger, complete=complete)


def as_skyrl_prints(metrics: dict[str, Any]) -> str:
    """Floats as strings of four decimals, the rest as it is, in the order of the names."""
    shown = {name: f"{value:.4f}" if isinstance(value, float) else value for name, value in metrics.items()}
    return "Step 7: \n" + pformat(shown)


@given(st.text(max_size=300), st.booleans(), st.sampled_from([None, "loguru"]))
def test_no_text_makes_a_parser_raise(text, complete, logger):
    for dialect in DIALECTS:
        parser = dialect.parser(JobContext("job_1"))
        parser.parse(line(text, complete=complete, logger=logger))
        parser.close()


@given(st.sampled_from(PAYLOADS), st.integers(0, 400), st.integers(0, 400), st.text(max_size=12), st.booleans())
def test_no_damaged_sample_makes_the_parser_raise(payload, start, length, text, complete):
    parser = JobParser("job_1")

    rows = told(parser, line(payload[:start] + text + payload[start + length :], complete=complete), line(payload))

    assert all(row.job == "job_1" for row in [*rows, *parser.close()])


@given(METRICS)
def test_a_printed_block_is_read_back_to_its_four_decimals(metrics):
    rows: list[Any] = told(JobParser("job_1"), line(as_skyrl_prints(metrics)))

    read = {row.metric: row for row in rows}
    assert set(read) == set(metrics)
    for name, value in metrics.items():
        if isinstance(value, int) and abs(value) >= 10**300:
            continue  # no float holds it
        if not math.isfinite(value):
            assert (read[name].value, read[name].state) == (None, NOT_FINITE)
        else:
            assert read[name].value == (float(f"{value:.4f}") if isinstance(value, float) else float(value))


@given(METRICS)
def test_a_mirrored_block_is_read_back_exactly(metrics):
    finite = {name: value for name, value in metrics.items() if abs(value) < 1e300}
    rows: list[Any] = told(JobParser("job_1"), line(f"WANDB_MIRROR kind=train step=7 metrics={json.dumps(finite)}"))

    assert {row.metric: row.value for row in rows} == {name: float(value) for name, value in finite.items()}


@given(METRICS, st.integers(0, 3000))
def test_a_cut_block_holds_only_values_of_the_whole_one(metrics, length):
    text = as_skyrl_prints(metrics)
    whole = {row.metric: (row.value, row.text) for row in told(JobParser("job_1"), line(text))}

    rows = told(JobParser("job_1"), line(text[: min(length, len(text) - 1)], complete=False))

    kept = [row for row in rows if isinstance(row, StepMetric)]
    assert all(whole[row.metric] == (row.value, row.text) and row.kind == PARTIAL for row in kept)
    assert kept == [] or type(rows[-1]).__name__ == "Unparsed"


@given(JSON)
def test_a_value_has_one_state_and_what_belongs_to_it(value):
    number, text, state = read_value(value)

    assert state in VALUE_STATES
    assert (number is not None) == (state in (MEASURED, BELOW_RESOLUTION))
    assert (text is not None) == (state in (NOT_FINITE, TEXT))
    assert number is None or math.isfinite(number)


@given(st.binary(max_size=300))
def test_no_bytes_make_the_trial_reader_raise(data):
    assert isinstance(parse_trial(data), (str, ParsedTrial))
    assert isinstance(parse_trial(b'{"trial_name": "x", "a": ' + data), (str, ParsedTrial))


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=8), st.integers(0, 500))
def test_no_members_make_the_trial_reader_raise(members, cut):
    data = json.dumps({"trial_name": "fix-bug__aB3dE9x", **members}).encode()

    for trial in (parse_trial(data), parse_trial(data[:cut]), parse_trial(data.replace(b'"', b"'", 1))):
        if isinstance(trial, ParsedTrial):
            assert trial.row(path="x").trial
            assert (trial.reward is None) == (trial.outcome == "unscored")
            assert (trial.exception_type is None) == (trial.exception_class is None)


@pytest.mark.parametrize("piece", [" ", "(", "{", "'", '"', "\\", "a.", "1, ", "\n ", "A: 1, ", "*** ", "lr=1 ", "é"])
def test_long_hostile_text_is_read_in_one_go(piece):
    for payload in PAYLOADS:
        for head in (payload, payload[: len(payload) // 2]):
            outcome = told(JobParser("job_1"), line(head + piece * 2000))
            assert isinstance(outcome, list)
            assert not isinstance(outcome, Broken)
