"""The quick reader gives what the patient one gives, or leaves it to that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rl_pipeline.dialects.harbor_trial import parse_patiently, parse_trial
from rl_pipeline.dialects.harbor_usual import usual_facts
from rl_pipeline_tests.dialects.trial_files import phase, trial_file

TIMES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None, "", "2026-01-09T11:22:33Z", "2026-01-09T11:22:33.5Z", "2026-01-09T11:22:33.444555Z",
        "2026-01-09T11:22:33.4445556789Z", "2026-01-09T11:22:33.9999999Z", "2026-01-09t11:22:33z",
        "2026-01-09T11:22:33", "2026-01-09 11:22:33+02:00", "2026-01-09T11:22:33+00:00", "0001-01-01T00:00:00+23:00",
        "9999-12-31T23:59:59.9999999Z", "2026-01-09T24:00:00Z", "2026-02-30T00:00:00Z", "2026-01-09", 5, True, [],
    ]
)  # fmt: skip
COUNTS: st.SearchStrategy[Any] = (
    st.sampled_from([None, 0, 1, -1, True, 1.0, 1.5, 2**53, 2**63 - 1, 2**63, 10**30, "12", "many", [], {}])
    | st.integers()
    | st.floats()
)
TEXTS = st.none() | st.text(max_size=8) | st.sampled_from(["\ud83d", "x" * 400, 5, [], {}])
PHASES = st.none() | st.fixed_dictionaries({}, optional={"started_at": TIMES, "finished_at": TIMES}) | TEXTS
USED = st.fixed_dictionaries(
    {},
    optional={
        "n_input_tokens": COUNTS, "n_cache_tokens": COUNTS, "n_output_tokens": COUNTS, "cost_usd": COUNTS,
        "rollout_details": st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=2),
        "metadata": st.none() | TEXTS | st.fixed_dictionaries({}, optional={"n_episodes": COUNTS}),
    },
)  # fmt: skip
REWARDS = st.none() | TEXTS | st.dictionaries(st.sampled_from(["reward", "a", "", "k" * 400, "k" * 401]), COUNTS)
EXCEPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "exception_type": TEXTS | st.sampled_from(["AgentTimeoutError", "DaytonaError", "RuntimeError"]),
        "exception_message": TEXTS | st.sampled_from(["api_key=abcd1234efgh5678ijkl", "the sandbox died"]),
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "trial_name": TEXTS, "task_name": TEXTS, "id": TEXTS, "source": TEXTS,
        "config": TEXTS | st.fixed_dictionaries({"k": st.sampled_from(["password='hunter22'", "plain"])}),
        "agent_info": TEXTS | st.fixed_dictionaries({}, optional={"name": TEXTS}),
        "agent_result": TEXTS | USED,
        "verifier_result": TEXTS | st.fixed_dictionaries({}, optional={"rewards": REWARDS}),
        "exception_info": TEXTS | EXCEPTIONS,
        "started_at": TIMES, "finished_at": TIMES,
        "environment_setup": PHASES, "agent_setup": PHASES, "agent_execution": PHASES, "verifier": PHASES,
        "step_results": st.none() | TEXTS | st.lists(st.fixed_dictionaries({"agent_result": USED}), max_size=2),
    },
)  # fmt: skip


@given(changes=DOCUMENTS, indent=st.sampled_from([None, 4]))
@example(changes={"verifier": phase("11:22:33.0000005Z", "11:22:34Z")}, indent=None)
def test_both_readers_tell_the_same(changes: dict[str, Any], indent: int | None):
    data = json.dumps(json.loads(trial_file(**changes)), indent=indent).encode()

    assert repr(parse_trial(data)) == repr(parse_patiently(data))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"verifier_result": None, "exception_info": {"exception_type": "E", "exception_message": "m"}},
        {"agent_result": None, "agent_execution": phase("11:00:00Z", "11:00:10.25Z"), "step_results": None},
        {"step_results": [], "config": {"agent": {"kwargs": {}}}},
    ],
)
def test_a_usual_file_is_read_quickly(changes: dict[str, Any]):
    assert usual_facts(trial_file(**changes)) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"started_at": "2026-01-09T11:22:33"},
        {"step_results": [{}]},
        {"trial_name": ""},
        {"agent_result": {"n_input_tokens": -1}},
    ],
)
def test_a_file_that_needs_judgement_is_left_to_the_patient_reader(changes: dict[str, Any]):
    assert usual_facts(trial_file(**changes)) is None
