"""The usual `result.json`, read in one go: typed structures, filled while the bytes are passed once.

Only what needs no judgement is read here: every member of the type Harbor gives it, times in UTC, one step. Anything
else is None, and `harbor_trial` reads the file patiently; both give the same facts for the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from itertools import islice
from typing import Annotated

from msgspec import Meta, MsgspecError, Raw, Struct
from msgspec.json import Decoder

from rl_pipeline.dialects.exception_classes import exception_class, is_masked_by_default
from rl_pipeline.dialects.harbor_secrets import SecretCounter
from rl_pipeline.dialects.parsed_trial import MESSAGE_LIMIT, REWARDS_LIMIT, ParsedTrial, outcome_of
from rl_pipeline.dialects.stored_values import repeated_name, stored_names, stored_text

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
    exception_info: Raw = Raw(NULL)
    started_at: datetime | None = None
    finished_at: datetime | None = None
    environment_setup: Phase | None = None
    agent_setup: Phase | None = None
    agent_execution: Phase | None = None
    verifier: Phase | None = None
    step_results: tuple[()] | None = None


RESULT, EXCEPTION = Decoder(Result), Decoder(ExceptionInfo)
NOTHING_USED, NO_TURNS, NO_AGENT, NO_PHASE = AgentResult(), Metadata(), AgentInfo(), Phase()
SECRETS = SecretCounter()


class _Unusual(Exception):  # noqa: N818 - a signal inside this module
    """The file needs judgement."""


def usual_trial(data: bytes) -> ParsedTrial | None:
    """The trial, or None when the file is not quite the usual one.

    Args:
        data: the file, valid UTF-8 without a byte order mark.
    """
    try:
        return _trial(RESULT.decode(data))
    except (MsgspecError, RecursionError, ValueError, _Unusual):
        return None


def _trial(result: Result) -> ParsedTrial:
    used = result.agent_result or NOTHING_USED
    verifier = result.verifier or NO_PHASE
    started, finished = _utc(result.started_at), _utc(result.finished_at)
    rewards = _rewards(result.verifier_result)
    reward = _reward(rewards)
    cost = used.cost_usd
    exception_type, kind, message, is_masked, secrets = _exception(bytes(result.exception_info))
    return ParsedTrial(
        repeated_name(result.trial_name),
        _name(result.task_name),
        _name(result.id),
        _name(result.source),
        _name((result.agent_info or NO_AGENT).name),
        started,
        finished,
        None if started is None and finished is None else "UTC",
        _duration(result.environment_setup),
        _duration(result.agent_setup),
        _duration(result.agent_execution),
        _seconds(verifier.started_at, verifier.finished_at),
        _seconds(result.finished_at, verifier.finished_at) or None,
        (used.metadata or NO_TURNS).n_episodes,
        used.n_input_tokens,
        used.n_cache_tokens,
        used.n_output_tokens,
        None if cost is None or cost < 0 else cost,
        reward,
        rewards,
        outcome_of(reward),
        exception_type,
        kind,
        message,
        is_masked,
        secrets + SECRETS.count(bytes(result.config), *_names_in(result)),
    )


def _utc(moment: datetime | None) -> datetime | None:
    """The time without zone information of Python's."""
    if moment is None:
        return None
    if moment.tzinfo is not UTC:
        raise _Unusual
    return moment.replace(tzinfo=None)


def _duration(phase: Phase | None) -> float | None:
    return None if phase is None else _seconds(phase.started_at, phase.finished_at)


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    if start is None or end is None:
        return None
    if start.tzinfo is not UTC or end.tzinfo is not UTC:
        raise _Unusual
    seconds = (end - start).total_seconds()
    return seconds if seconds >= 0 else None


def _names_in(result: Result) -> tuple[bytes, bytes]:
    task = result.task_name or ""
    return result.trial_name.encode("utf-8", "replace"), task.encode("utf-8", "replace")


def _name(text: str | None) -> str | None:
    return repeated_name(text) if text else None


def _rewards(said: VerifierResult | None) -> dict[str, float | None] | None:
    """All reward keys with their numbers; None without rewards."""
    rewards = None if said is None else said.rewards
    if not rewards:
        return None
    told = dict(islice(rewards.items(), REWARDS_LIMIT))
    return dict(zip(stored_names(told), told.values(), strict=True))


def _reward(rewards: Mapping[str, float | None] | None) -> float | None:
    """The `reward` key, else the only key."""
    if rewards is None:
        return None
    if len(rewards) == 1:
        return next(iter(rewards.values()))
    return rewards.get("reward")


def _exception(info: bytes) -> tuple[str | None, str | None, str | None, bool, int]:
    """Type, class and redacted message of the exception, whether it is masked, and credentials in its record."""
    if info == NULL:
        return None, None, None, False, 0
    told = EXCEPTION.decode(info)
    secrets = SECRETS.count(info)
    if not told.exception_type and not told.exception_message:
        return None, None, None, False, secrets
    message = None if told.exception_message is None else stored_text(told.exception_message, MESSAGE_LIMIT)
    name = repeated_name(told.exception_type or "unnamed")
    return name, exception_class(name, message or ""), message, is_masked_by_default(name), secrets
