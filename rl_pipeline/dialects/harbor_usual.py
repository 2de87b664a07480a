"""The usual `result.json`, read in one go: typed structures, filled while the bytes are passed once.

Only what needs no judgement is read here: every member of the type Harbor gives it, times in UTC, one step. Anything
else is None, and `harbor_trial` reads the file patiently; both give the same facts for the same file.

Facts are made of many trials together, column by column: that costs a third of making them trial by trial.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from itertools import islice
from operator import attrgetter
from typing import Annotated, Any

from msgspec import Meta, MsgspecError, Raw, Struct
from msgspec.json import Decoder

from rl_pipeline.dialects.exception_classes import exception_class, is_masked_by_default
from rl_pipeline.dialects.harbor_secrets import SEARCHED, SecretCounter, suspects
from rl_pipeline.dialects.parsed_trial import MESSAGE_LIMIT, REWARDS_LIMIT, outcome_of
from rl_pipeline.dialects.stored_values import (
    NAME_LIMIT,
    repeated_name,
    storable,
    stored_name,
    stored_names,
    stored_text,
)
from rl_pipeline.redaction import LONGEST

UTC = timezone.utc
NULL = b"null"
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Moment = Annotated[datetime, Meta(tz=True)]


class Phase(Struct, gc=False):
    """Start and end of a phase."""

    started_at: Moment | None = None
    finished_at: Moment | None = None


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
    started_at: Moment | None = None
    finished_at: Moment | None = None
    environment_setup: Phase | None = None
    agent_setup: Phase | None = None
    agent_execution: Phase | None = None
    verifier: Phase | None = None
    step_results: tuple[()] | None = None


RESULT = Decoder(Result)
NO_EXCEPTION: tuple[str | None, str | None, str | None, bool] = (None, None, None, False)
NO_PHASE, NOTHING_USED, NO_METADATA = Phase(), AgentResult(), Metadata()
PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
LOOKED_AT = 4 * MESSAGE_LIMIT + LONGEST  # characters of a message that decide what is stored of it
SECRETS, SECRETS_OF_EXCEPTIONS = SecretCounter(), SecretCounter(searched=13 * SEARCHED)  # three texts, and more

Times = Sequence[datetime | None]


def usual_result(data: bytes) -> Result | None:
    """The trial's members, or None when the file is not quite the usual one.

    Args:
        data: the file, valid UTF-8 without a byte order mark.
    """
    try:
        return RESULT.decode(data)
    except (MsgspecError, RecursionError, ValueError):
        return None


def usual_facts(data: bytes) -> tuple[Any, ...] | None:
    """The facts of one trial in the order of `ParsedTrial`, or None when the file is not quite the usual one."""
    result = usual_result(data)
    columns, unusual = usual_columns([] if result is None else [result])
    return None if result is None or unusual else tuple(column[0] for column in columns)


def usual_columns(results: Sequence[Result]) -> tuple[list[list[Any]], set[int]]:
    """The facts of some trials, one list for each field of `ParsedTrial`, and the rows that need judgement after all.

    Times are in UTC and say so. The names at the beginning are as the file has them, not searched for credentials
    yet: that costs less for many trials together.
    """
    trials, tasks, ids, sources = (_of_all(results, name) for name in ("trial_name", "task_name", "id", "source"))
    agents = [None if result.agent_info is None else result.agent_info.name for result in results]
    started, finished = _of_all(results, "started_at"), _of_all(results, "finished_at")
    unusual = _elsewhere(started, finished)
    durations = [_durations(results, phase, finished, unusual) for phase in PHASES]
    rewards = [_rewards_of(result.verifier_result) for result in results]
    reward = [None if told is None else _reward(told) for told in rewards]
    return [
        *map(_names, (trials, tasks, ids, sources, agents)),
        started,
        finished,
        [None if start is None and end is None else "UTC" for start, end in zip(started, finished, strict=True)],
        *(seconds for seconds, _ in durations),
        durations[-1][1],
        *_used(results),
        reward,
        rewards,
        list(map(outcome_of, reward)),
        *_exceptions(results),
    ], unusual


def _of_all(results: Sequence[Struct], name: str) -> list[Any]:
    return list(map(attrgetter(name), results))


def _elsewhere(*columns: Times) -> set[int]:
    """Rows with a time that is not told in UTC."""
    return {
        row
        for times in columns
        if [time for time in times if time is not None and time.tzinfo is not UTC]
        for row, time in enumerate(times)
        if time is not None and time.tzinfo is not UTC
    }


def _durations(
    results: Sequence[Result], name: str, finished: Times, unusual: set[int]
) -> tuple[list[float | None], list[float | None]]:
    """Seconds that a phase took, and by which it outlasted the trial."""
    phases = [getattr(result, name) or NO_PHASE for result in results]
    starts, ends = _of_all(phases, "started_at"), _of_all(phases, "finished_at")
    unusual |= _elsewhere(starts, ends)
    overruns = [seconds or None for seconds in _seconds(finished, ends)] if name == PHASES[-1] else []
    return _seconds(starts, ends), overruns


def _seconds(starts: Times, ends: Times) -> list[float | None]:
    """Seconds from each start to its end; None when one is missing or the end comes first."""
    seconds = [
        None if start is None or end is None else (end - start).total_seconds()
        for start, end in zip(starts, ends, strict=True)
    ]
    if min(filter(None, seconds), default=0.0) >= 0:
        return seconds
    return [None if one is None or one < 0 else one for one in seconds]


def _names(texts: list[str | None]) -> list[str | None]:
    told = [text for text in texts if text]
    if "".join(told).isascii() and max(map(len, told), default=0) <= NAME_LIMIT:
        return texts if len(told) == len(texts) else [text or None for text in texts]
    return [_name(text) for text in texts]


def _name(text: str | None) -> str | None:
    if not text:
        return None
    return text if text.isascii() and len(text) <= NAME_LIMIT else stored_name(text)


def _used(results: Sequence[Result]) -> Iterable[list[Any]]:
    """Turns, tokens and cost."""
    used = [result.agent_result or NOTHING_USED for result in results]
    yield [(one.metadata or NO_METADATA).n_episodes for one in used]
    yield from (_of_all(used, name) for name in ("n_input_tokens", "n_cache_tokens", "n_output_tokens"))
    yield [None if one.cost_usd is None or one.cost_usd < 0 else one.cost_usd for one in used]


def _rewards_of(verdict: VerifierResult | None) -> dict[str, float | None] | None:
    """All reward keys with their numbers."""
    rewards = None if verdict is None else verdict.rewards
    if not rewards:
        return None
    if len(rewards) == 1 and repeated_name(key := next(iter(rewards))) == key:
        return rewards
    told = dict(islice(rewards.items(), REWARDS_LIMIT))
    return dict(zip(stored_names(told), told.values(), strict=True))


def _reward(rewards: Mapping[str, float | None]) -> float | None:
    """The `reward` key, else the only key."""
    if len(rewards) == 1:
        return next(iter(rewards.values()))
    return rewards.get("reward")


def _exceptions(results: Sequence[Result]) -> Iterable[list[Any]]:
    """Type, class and redacted message of each exception, whether it is masked, and credentials in each file."""
    secrets = SECRETS.count_all([bytes(result.config) for result in results])
    told = [NO_EXCEPTION] * len(results)
    infos = [(row, info) for row, result in enumerate(results) if (info := result.exception_info) is not None]
    found = SECRETS_OF_EXCEPTIONS.count_all([_words(info) for _, info in infos])
    unsafe = set(suspects([message[:LOOKED_AT] for _, info in infos if (message := info.exception_message)]))
    for (row, info), count in zip(infos, found, strict=True):
        secrets[row] += count
        told[row] = _exception(info, unsafe)
    yield from map(list, zip(*told, strict=True) if told else ((),) * len(NO_EXCEPTION))
    yield secrets


def _exception(info: ExceptionInfo, unsafe: Container[str]) -> tuple[str | None, str | None, str | None, bool]:
    """Type, class and redacted message of the exception, and whether it is masked.

    `unsafe`: beginnings of messages that may hold a credential; the others are stored as they are.
    """
    if not info.exception_type and not info.exception_message:
        return NO_EXCEPTION
    name, message = repeated_name(info.exception_type or "unnamed"), info.exception_message
    if message is not None:
        is_safe = message[:LOOKED_AT] not in unsafe
        message = storable(message[:MESSAGE_LIMIT]) if is_safe else stored_text(message, MESSAGE_LIMIT)
    return name, exception_class(name, message or ""), message, is_masked_by_default(name)


def _words(info: ExceptionInfo) -> bytes:
    """All words of an exception."""
    return _joined(info.exception_type, info.exception_message, info.exception_traceback)


def _joined(*texts: str | None) -> bytes:
    """The texts one behind the other, each as far as it is searched: none pushes another one out."""
    return "\n".join((text or "")[:SEARCHED] for text in texts).encode("utf-8", "replace")


def secrets_of_exception(name: str | None, message: str | None, trace: str | None) -> int:
    """Credentials in the words of an exception."""
    return SECRETS_OF_EXCEPTIONS.count(_joined(name, message, trace))
