"""Harbor's `result.json`, of every shape."""

from __future__ import annotations

from datetime import datetime

import pytest

from rl_pipeline.dialects.harbor_trial import parse_trial
from rl_pipeline.schema import Trial
from rl_pipeline_tests.dialects.trial_files import parsed, phase, trial_file


def test_a_usual_file_gives_the_whole_row():
    assert parsed().row(path="fix-bug__aB3dE9x") == Trial(
        trial="fix-bug__aB3dE9x",
        task="fix-bug",
        trial_id="00000000-0000-4000-8000-000000000001",
        path="fix-bug__aB3dE9x",
        source="some-set",
        agent="terminus-2",
        started_at=datetime(2026, 1, 9, 11, 22, 33, 444555),
        finished_at=datetime(2026, 1, 9, 11, 31, 2, 100),
        zone="UTC",
        n_turns=14,
        n_input_tokens=51200,
        n_cached_tokens=40960,
        n_output_tokens=3100,
        cost_usd=0.25,
        reward=1.0,
        rewards={"reward": 1.0},
        outcome="solved",
    )


@pytest.mark.parametrize(
    ("rewards", "reward", "outcome"),
    [
        ({"reward": 1.0}, 1.0, "solved"),
        ({"reward": 0.25, "other": 9}, 0.25, "solved"),
        ({"reward": 0}, 0.0, "unsolved"),
        ({"reward": -1.0}, -1.0, "unsolved"),
        ({"reward": True}, 1.0, "solved"),
        ({"reward": False}, 0.0, "unsolved"),
        ({"score": 0.5}, 0.5, "solved"),
        ({"a": 1.0, "b": 0.0}, None, "unscored"),
        ({"reward": None, "score": 1.0}, None, "unscored"),
        ({"reward": float("nan")}, None, "unscored"),
        ({"reward": float("inf")}, None, "unscored"),
        ({"reward": [1]}, None, "unscored"),
        ({}, None, "unscored"),
        (None, None, "unscored"),
        (3, None, "unscored"),
    ],
)
def test_the_reward_key_else_the_only_key_counts(rewards, reward, outcome):
    trial = parsed(verifier_result={"rewards": rewards})

    assert (trial.reward, trial.outcome) == (reward, outcome)


def test_all_reward_keys_are_kept():
    assert parsed(verifier_result={"rewards": {"a": 1, "b": None, "c": "x"}}).rewards == {
        "a": 1.0,
        "b": None,
        "c": None,
    }


@pytest.mark.parametrize("verifier", [None, ..., {}, [], "x"])
def test_a_missing_verifier_is_unscored_not_zero(verifier):
    trial = parsed(verifier_result=verifier)

    assert (trial.reward, trial.rewards, trial.outcome) == (None, None, "unscored")


def test_reward_and_exception_stand_side_by_side():
    trial = parsed(exception_info={"exception_type": "AgentTimeoutError", "exception_message": "after 1200 s"})

    assert (trial.outcome, trial.exception_type, trial.exception_class) == (
        "solved",
        "AgentTimeoutError",
        "agent_limit",
    )
    assert (trial.exception_message, trial.is_masked) == ("after 1200 s", False)


def test_a_masked_type_and_a_secret_in_its_message_are_told():
    trial = parsed(
        exception_info={
            "exception_type": "daytona.DaytonaError",
            "exception_message": "api_key=abcd1234efgh5678ijkl " * 9,
        }
    )

    assert trial.is_masked
    assert trial.exception_class == "infrastructure"
    assert trial.secrets_redacted == 9
    assert len(trial.exception_message or "") == 200
    assert "abcd1234" not in (trial.exception_message or "")


def test_a_secret_in_the_configuration_is_counted():
    assert parsed(config={"agent": {"kwargs": {"api_key": "abcd1234efgh5678ijkl"}}}).secrets_redacted == 1


def test_steps_are_summed_where_the_trial_has_nothing():
    step = {
        "step_name": "one",
        "agent_result": {"n_input_tokens": 10, "n_output_tokens": 2, "cost_usd": 0.5, "metadata": {"n_episodes": 3}},
        "agent_execution": phase("11:00:00Z", "11:01:00Z"),
        "verifier": phase("11:01:00Z", "11:01:30Z"),
    }
    failing = {**step, "exception_info": {"exception_type": "AgentTimeoutError"}}

    trial = parsed(agent_result=None, step_results=[step, failing, "no step", None])

    assert (trial.n_turns, trial.n_input_tokens, trial.n_cached_tokens, trial.n_output_tokens) == (6, 20, None, 4)
    assert (trial.cost_usd, trial.agent_execution_s, trial.verifier_s) == (1.0, 120.0, 60.0)
    assert trial.exception_type == "AgentTimeoutError"


def test_the_trials_own_numbers_go_before_those_of_its_steps():
    steps = [{"agent_result": {"n_input_tokens": 7, "n_output_tokens": 7, "metadata": {"n_episodes": 7}}}]

    trial = parsed(agent_result={"n_input_tokens": 1}, step_results=steps)

    assert (trial.n_input_tokens, trial.n_output_tokens, trial.n_turns) == (1, 7, 7)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (("11:00:00Z", "11:00:10.5Z"), 10.5),
        (("11:00:00+02:00", "09:00:10Z"), 10.0),
        (("11:00:00", "11:00:10"), 10.0),
        (("11:00:00Z", "11:00:10"), None),
        (("11:00:00Z", None), None),
        ((None, "11:00:10Z"), None),
        (("11:00:10Z", "11:00:00Z"), None),
        (("soon", "11:00:10Z"), None),
    ],
)
def test_a_phase_needs_both_ends_in_one_zone(times, seconds):
    assert parsed(environment_setup=phase(*times)).environment_setup_s == seconds
    assert parsed(verifier=phase(*times)).verifier_s == seconds


def test_a_verifier_that_ends_after_the_trial_is_an_overrun():
    late = parsed(finished_at="2026-01-09T11:00:00Z", verifier=phase("10:59:00Z", "11:00:04Z"))
    usual = parsed(finished_at="2026-01-09T11:00:05Z", verifier=phase("10:59:00Z", "11:00:04Z"))

    assert (late.verifier_overrun_s, usual.verifier_overrun_s) == (4.0, None)


def test_times_without_a_zone_stay_local_and_do_not_mix():
    local = parsed(started_at="2026-01-09T11:00:00", finished_at="2026-01-09T12:00:00")
    mixed = parsed(started_at="2026-01-09T11:00:00", finished_at="2026-01-09T12:00:00Z")

    assert (local.started_at, local.zone) == (datetime(2026, 1, 9, 11), None)
    assert (mixed.started_at, mixed.finished_at, mixed.zone) == (None, datetime(2026, 1, 9, 12), "UTC")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty file"),
        (b" \n\0\0", "nothing but blanks or NUL bytes"),
        (b"\xff\xfe{\0}\0", "not UTF-8 text"),
        (b'{"trial_name": "x\xff"}', "not UTF-8 text"),
        (trial_file()[:-20], "JSON cut before its end"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b'{"n_total_trials": 8, "stats": {"n_trials": 8}}', "result of a job, not of a trial"),
        (b'{"a": 1}', "no trial result: trial_name is missing or no text"),
        (b'{"trial_name": 5}', "no trial result: trial_name is missing or no text"),
        (b'{"trial_name": "x", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "JSON nested too deeply to be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_trial_gives_a_reason(data, reason):
    assert parse_trial(data) == reason


def test_text_that_is_not_json_says_where():
    reason = parse_trial(b"<html>")

    assert isinstance(reason, str)
    assert reason.startswith("not JSON: ")


def test_a_byte_order_mark_and_a_memoryview_do_no_harm():
    assert not isinstance(parse_trial(memoryview(b"\xef\xbb\xbf" + trial_file())), str)


@pytest.mark.parametrize("value", [..., None, True, "12", "many", 1.5, -1, 10**30, 2**63, [], {}, "9" * 5000])
def test_hostile_numbers_never_raise_and_never_leave_the_column(value):
    usage = (
        {}
        if value is ...
        else dict.fromkeys(("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd"), value)
    )
    trial = parsed(agent_result={**usage, "metadata": {"n_episodes": None if value is ... else value}})

    for count in (trial.n_turns, trial.n_input_tokens, trial.n_cached_tokens, trial.n_output_tokens):
        assert count is None or (type(count) is int and 0 <= count < 2**63)
    assert trial.cost_usd is None or type(trial.cost_usd) is float


@pytest.mark.parametrize("value", [None, True, 5, "text", [], {}, [[]], {"name": 3}])
@pytest.mark.parametrize(
    "member",
    ["id", "task_name", "source", "agent_info", "agent_result", "verifier_result", "exception_info", "started_at",
     "finished_at", "environment_setup", "agent_execution", "verifier", "step_results", "config"],
)  # fmt: skip
def test_a_member_of_the_wrong_type_is_missing(member, value):
    assert parsed(**{member: value}).trial == "fix-bug__aB3dE9x"


def test_megabytes_of_token_ids_and_chats_change_nothing():
    details = [{"prompt_token_ids": [list(range(20_000))], "NaN": float("nan")}] * 4
    metadata = {"n_episodes": 14, "all_messages": [{"role": "user", "content": 'say "NaN" \\ud800 {'}] * 5000}

    trial = parsed(agent_result={"n_input_tokens": 1, "rollout_details": details, "metadata": metadata})

    assert (trial.n_turns, trial.n_input_tokens, trial.reward) == (14, 1, 1.0)


def test_half_surrogate_pairs_become_storable():
    trial = parse_trial(b'{"trial_name": "x\\ud83d", "task_name": "\\ud83d\\ude00"}')

    assert not isinstance(trial, str)
    assert (trial.trial, trial.task) == ("x\ufffd", "\U0001f600")
