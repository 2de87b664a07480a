"""The usual `result.json`, read in one go: typed structures, filled while the bytes are passed once.

Only what needs no judgement is read here: every member of the type Harbor gives it, times in UTC, one step. Anything
else is None, and `harbor_trial` reads the file patiently; both give the same facts for the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from itertools import islice
from typing import Annotated, Any

from msgspec import Meta, MsgspecError, Raw, Struct
from msgspec.json import Decoder
from msgspec.structs import astuple

from rl_pipeline.dialects.exception_classes import exception_class, is_masked_by_default
from rl_pipeline.dialects.harbor_secrets import SecretCounter
from rl_pipeline.dialects.parsed_trial import MESSAGE_LIMIT, REWARDS_LIMIT, outcome_of
from rl_pipeline.dialects.stored_values import (
    NAME_LIMIT,
    repeated_name,
    storable,
    stored_name,
    stored_names,
    stored_text,
)

UTC = timezone.utc
NULL = b"null"
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Phase(Struct, gc=False):
    """Start and end of a phase."""

    started_at: datetime | None = None
    finished_at: datetime | None = None


class Metadata(Struct, gc=False):
    """The one wanted member of an agent's metadata."""

    n_episodes: Count | None = None


class AgentResult(Struct, gc=False):
    """What the agent used."""

    n_input_tokens: Count | None = None
    n_cache_tokens: Count | None = None
    n_output_tokens: Count | None = None
    cost_usd: float | None = None
    metadata: Metadata | None = None


class VerifierResult(Struct, gc=False):
    """What the verifier said."""

    rewards: dict[str, float | None] | None = None


class ExceptionInfo(Struct, gc=False):
    """An exception as recorded."""

    exception_type: str | None = None
    exception_message: str | None = None
    exception_traceback: str | None = None


class AgentInfo(Struct, gc=False):
    """Which agent."""

    name: str | None = None


class Result(Struct, gc=False):
    """A whole result."""

    trial_name: Annotated[str, Meta(min_length=1)]
    id: str | None = None
    task_name: str | None = None
    source: str | None = None
    config: Raw = Raw(NULL)
    agent_info: AgentInfo | None = None
    agent_result: AgentResult | None = None
    verifier_result: VerifierResult | None = None
    exception_info: ExceptionInfo | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    environment_setup: Phase | None = None
    agent_setup: Phase | None = None
    agent_execution: Phase | None = None
    verifier: Phase | None = None
    step_results: tuple[()] | None = None


RESULT = Decoder(Result)
NO_EXCEPTION: tuple[str | None, str | None, str | None, bool, int] = (None, None, None, False, 0)
SECRETS, SECRETS_OF_EXCEPTIONS = SecretCounter(), SecretCounter()


class _Unusual(Exception):  # noqa: N818 - a signal inside this module
    """The file needs judgement."""


def usual_facts(data: bytes) -> tuple[Any, ...] | None:
    """The facts of a trial in the order of `ParsedTrial`, or None when the file is not quite the usual one.

    Times are in UTC and say so. The names at the beginning are as the file has them, not searched for credentials
    yet: that costs less for many trials together.

    Args:
        data: the file, valid UTF-8 without a byte order mark.
    """
    try:
        return _facts(RESULT.decode(data))
    except (MsgspecError, RecursionError, ValueError, _Unusual):
        return None


def _facts(result: Result) -> tuple[Any, ...]:
    trial, trial_id, task, source, config, agent, used, verdict, info, started, finished, *phases, _ = astuple(result)
    setup, agent_setup, execution, verifier = phases
    if (started is not None and started.tzinfo is not UTC) or (finished is not None and finished.tzinfo is not UTC):
        raise _Unusual
    turns, tokens, cached, written, cost = None, None, None, None, None
    if used is not None:
        tokens, cached, written, cost, metadata = astuple(used)
        turns = None if metadata is None else metadata.n_episodes
    rewards = None if verdict is None or not verdict.rewards else _rewards(verdict.rewards)
    reward = _reward(rewards)
    names = (trial.encode("utf-8", "replace"), (task or "").encode("utf-8", "replace"))
    exception_type, exception_kind, message, is_masked, secrets = NO_EXCEPTION
    if info is not None:
        exception_type, exception_kind, message, is_masked, secrets = _exception(info, names)
    return (
        _name(trial),
        _name(task),
        _name(trial_id),
        _name(source),
        None if agent is None else _name(agent.name),
        started,
        finished,
        None if started is None and finished is None else "UTC",
        None if setup is None else _seconds(setup.started_at, setup.finished_at),
        None if agent_setup is None else _seconds(agent_setup.started_at, agent_setup.finished_at),
        None if execution is None else _seconds(execution.started_at, execution.finished_at),
        None if verifier is None else _seconds(verifier.started_at, verifier.finished_at),
        None if verifier is None else _seconds(finished, verifier.finished_at) or None,
        turns,
        tokens,
        cached,
        written,
        None if cost is None or cost < 0 else cost,
        reward,
        rewards,
        outcome_of(reward),
        exception_type,
        exception_kind,
        message,
        is_masked,
        secrets + SECRETS.count(bytes(config), *names),
    )


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    if start is None or end is None:
        return None
    if start.tzinfo is not UTC or end.tzinfo is not UTC:
        raise _Unusual
    seconds = (end - start).total_seconds()
    return seconds if seconds >= 0 else None


def _name(text: str | None) -> str | None:
    if not text:
        return None
    return text if text.isascii() and len(text) <= NAME_LIMIT else stored_name(text)


def _rewards(rewards: dict[str, float | None]) -> dict[str, float | None]:
    """All reward keys with their numbers."""
    if len(rewards) == 1 and repeated_name(key := next(iter(rewards))) == key:
        return rewards
    told = dict(islice(rewards.items(), REWARDS_LIMIT))
    return dict(zip(stored_names(told), told.values(), strict=True))


def _reward(rewards: Mapping[str, float | None] | None) -> float | None:
    """The `reward` key, else the only key."""
    if rewards is None:
        return None
    if len(rewards) == 1:
        return next(iter(rewards.values()))
    return rewards.get("reward")


def _exception(info: ExceptionInfo, names: tuple[bytes, ...]) -> tuple[str | None, str | None, str | None, bool, int]:
    """Type, class and redacted message of the exception, whether it is masked, and credentials in its words."""
    name, message = info.exception_type, info.exception_message
    secrets = secrets_of_exception(name, message, info.exception_traceback, *names)
    if not name and not message:
        return None, None, None, False, secrets
    name = repeated_name(name or "unnamed")
    if message is not None:
        message = stored_text(message, MESSAGE_LIMIT) if secrets else storable(message[:MESSAGE_LIMIT])
    return name, exception_class(name, message or ""), message, is_masked_by_default(name), secrets


def secrets_of_exception(name: str | None, message: str | None, trace: str | None, *names: bytes) -> int:
    """Credentials in the words of an exception; 0 means that each of them is free of any."""
    words = "\n".join((name or "", message or "", trace or ""))
    return SECRETS_OF_EXCEPTIONS.count(words.encode("utf-8", "replace"), *names)
