"""One Harbor trial: the `result.json` of a trial folder, as facts.

Written once by Harbor at the end of a trial (read in versions 0.1.44 and 0.26). A file is a trial when it is an object
with `trial_name`; the job-level `result.json`, with `n_total_trials` and `stats`, is not. Multi-step trials (0.26) keep
results, exceptions and phases in `step_results`; what the trial itself does not have is summed over the
steps, and an exception of a step is the trial's.

Reward: the `reward` key, else the only key; several keys without `reward` leave it open. A missing reward, null
or NaN is unscored, never 0. Reward and exception are independent: a verifier runs after a timeout too.
Token ids and chats (`rollout_details`, `all_messages`) are passed over without being built. Nothing raises: bytes that
are no trial give the reason as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from msgspec import Raw, Struct

from rl_pipeline.dialects.exception_classes import exception_class, is_masked_by_default
from rl_pipeline.dialects.harbor_json import (
    ABSENT,
    ObjectReader,
    Unreadable,
    count_of,
    is_text,
    items_of,
    members_of,
    number_of,
    text_of,
)
from rl_pipeline.dialects.harbor_usual import SECRETS, secrets_of_exception, usual_facts
from rl_pipeline.dialects.iso_time import Moment, read_time, seconds_between
from rl_pipeline.dialects.parsed_trial import MESSAGE_LIMIT, NAMES, REWARDS_LIMIT, ParsedTrial, outcome_of
from rl_pipeline.dialects.stored_values import LARGEST_INTEGER, stored_name, stored_names, stored_text
from rl_pipeline.dialects.token_ids import without_token_ids

STEPS_LIMIT = 10_000


class Result(Struct):
    """Members of a result, raw."""

    id: Raw = ABSENT
    trial_name: Raw = ABSENT
    task_name: Raw = ABSENT
    source: Raw = ABSENT
    config: Raw = ABSENT
    agent_info: Raw = ABSENT
    agent_result: Raw = ABSENT
    verifier_result: Raw = ABSENT
    exception_info: Raw = ABSENT
    started_at: Raw = ABSENT
    finished_at: Raw = ABSENT
    environment_setup: Raw = ABSENT
    agent_setup: Raw = ABSENT
    agent_execution: Raw = ABSENT
    verifier: Raw = ABSENT
    step_results: Raw = ABSENT
    n_total_trials: Raw = ABSENT
    stats: Raw = ABSENT


class AgentResult(Struct):
    """What the agent used."""

    n_input_tokens: Raw = ABSENT
    n_cache_tokens: Raw = ABSENT
    n_output_tokens: Raw = ABSENT
    cost_usd: Raw = ABSENT
    metadata: Raw = ABSENT


class Metadata(Struct):
    """The one wanted member of an agent's metadata."""

    n_episodes: Raw = ABSENT


class ExceptionInfo(Struct):
    """An exception as recorded."""

    exception_type: Raw = ABSENT
    exception_message: Raw = ABSENT
    exception_traceback: Raw = ABSENT


class Phase(Struct):
    """Start and end of a phase."""

    started_at: Raw = ABSENT
    finished_at: Raw = ABSENT


class Named(Struct):
    """Anything with a name."""

    name: Raw = ABSENT


class VerifierResult(Struct):
    """What the verifier said."""

    rewards: Raw = ABSENT


RESULT, AGENT_RESULT, METADATA = ObjectReader(Result), ObjectReader(AgentResult), ObjectReader(Metadata)
EXCEPTION, PHASE, NAMED = ObjectReader(ExceptionInfo), ObjectReader(Phase), ObjectReader(Named)
VERIFIER_RESULT = ObjectReader(VerifierResult)


def parse_trial(data: bytes | memoryview) -> ParsedTrial | str:
    """The trial, or the reason why the bytes are none."""
    facts = trial_facts(bytes(data))
    if isinstance(facts, str):
        return facts
    names = [None if name is None else stored_name(name) for name in facts[:NAMES]]
    trial = ParsedTrial._make((*names, *facts[NAMES:]))
    return trial._replace(started_at=_without_zone(trial.started_at), finished_at=_without_zone(trial.finished_at))


def trial_facts(data: bytes) -> tuple[Any, ...] | str:
    """The facts in the order of `ParsedTrial`, or the reason.

    Times in UTC may say that they are; the names at the beginning may hold credentials yet.
    """
    if data[:1] == b"{":
        data = without_token_ids(data)
        facts = usual_facts(data) if is_text(data) else None
        if facts is not None:
            return facts
    return parse_patiently(data)


def _without_zone(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=None)


def parse_patiently(data: bytes) -> ParsedTrial | str:
    """The same for a file of any shape, member by member."""
    try:
        result = RESULT.read_document(data)
    except Unreadable as reason:
        return str(reason)
    trial = text_of(result.trial_name)
    if not trial:
        is_job = bytes(result.n_total_trials) or bytes(result.stats)
        return "result of a job, not of a trial" if is_job else "no trial result: trial_name is missing or no text"
    steps = [RESULT.read(raw) for raw in items_of(result.step_results)[:STEPS_LIMIT]]
    return _trial(result, steps, stored_name(trial), secrets_in([result, *steps]))


def _trial(result: Result, steps: list[Result], trial: str, secrets: int) -> ParsedTrial:
    usage = usage_with_steps(result, steps)
    exception_type, message = exception_of([result, *steps])
    rewards = rewards_of(result)
    reward = reward_of(rewards)
    started, finished = read_time(text_of(result.started_at)), read_time(text_of(result.finished_at))
    verifier = phase_of(result.verifier)
    zone = "UTC" if any(moment is not None and moment.aware for moment in (started, finished)) else None
    return ParsedTrial(
        trial=trial,
        task=name_of(result.task_name),
        trial_id=name_of(result.id),
        source=name_of(result.source),
        agent=name_of(NAMED.read(result.agent_info).name),
        started_at=at_zone(started, zone),
        finished_at=at_zone(finished, zone),
        zone=zone,
        environment_setup_s=phase_seconds(result.environment_setup),
        agent_setup_s=phase_seconds(result.agent_setup),
        agent_execution_s=phase_or_steps(phase_of(result.agent_execution), [step.agent_execution for step in steps]),
        verifier_s=phase_or_steps(verifier, [step.verifier for step in steps]),
        verifier_overrun_s=seconds_between(finished, verifier[1]) or None,
        n_turns=whole(usage.turns),
        n_input_tokens=whole(usage.input_tokens),
        n_cached_tokens=whole(usage.cached_tokens),
        n_output_tokens=whole(usage.output_tokens),
        cost_usd=usage.cost,
        reward=reward,
        rewards=rewards,
        outcome=outcome_of(reward),
        exception_type=exception_type,
        exception_class=None if exception_type is None else exception_class(exception_type, message or ""),
        exception_message=message,
        is_masked=exception_type is not None and is_masked_by_default(exception_type),
        secrets_redacted=secrets,
    )


class Usage(NamedTuple):
    """Turns, tokens and cost; None where nothing was recorded."""

    turns: float | None
    input_tokens: float | None
    cached_tokens: float | None
    output_tokens: float | None
    cost: float | None


def usage_of(result: Result) -> Usage:
    """What one `agent_result` says."""
    used = AGENT_RESULT.read(result.agent_result)
    cost = number_of(used.cost_usd)
    return Usage(
        turns=count_of(METADATA.read(used.metadata).n_episodes),
        input_tokens=count_of(used.n_input_tokens),
        cached_tokens=count_of(used.n_cache_tokens),
        output_tokens=count_of(used.n_output_tokens),
        cost=cost if cost is not None and cost >= 0 else None,
    )


def usage_with_steps(result: Result, steps: list[Result]) -> Usage:
    """The trial's own numbers; each that it does not have is summed over the steps that have it."""
    own = usage_of(result)
    if not steps:
        return own
    parts = [usage_of(step) for step in steps]
    return Usage(*(total(column) if mine is None else mine for mine, *column in zip(own, *parts, strict=True)))


def total(numbers: Iterable[float | None]) -> float | None:
    """The sum of the numbers that exist; None when there is none, or it is too large for a table."""
    known = [number for number in numbers if number is not None]
    summed = sum(known)
    return summed if known and summed <= LARGEST_INTEGER else None


def whole(number: float | None) -> int | None:
    """A count for an integer column."""
    return None if number is None else int(number)


def exception_of(results: Iterable[Result]) -> tuple[str | None, str | None]:
    """Type and redacted message of the first exception recorded."""
    for result in results:
        info = EXCEPTION.read(result.exception_info)
        name, message = text_of(info.exception_type), text_of(info.exception_message)
        if name or message:
            shown = None if message is None else stored_text(message, MESSAGE_LIMIT)
            return stored_name(name or "unnamed"), shown
    return None, None


def rewards_of(result: Result) -> dict[str, float | None] | None:
    """All reward keys with their numbers, null where the value is no finite number; None without rewards."""
    members = members_of(VERIFIER_RESULT.read(result.verifier_result).rewards)
    told = {key: number_of(raw) for key, raw in islice(members.items(), REWARDS_LIMIT)}
    return dict(zip(stored_names(told), told.values(), strict=True)) or None


def reward_of(rewards: Mapping[str, float | None] | None) -> float | None:
    """The `reward` key, else the only key."""
    if not rewards:
        return None
    if "reward" in rewards:
        return rewards["reward"]
    return next(iter(rewards.values())) if len(rewards) == 1 else None


def phase_of(raw: Raw) -> tuple[Moment | None, Moment | None]:
    """Start and end of a phase."""
    phase = PHASE.read(raw)
    return read_time(text_of(phase.started_at)), read_time(text_of(phase.finished_at))


def phase_seconds(raw: Raw) -> float | None:
    """Duration of a phase."""
    return seconds_between(*phase_of(raw))


def phase_or_steps(phase: tuple[Moment | None, Moment | None], of_steps: Iterable[Raw]) -> float | None:
    """Duration of a phase of the trial; when the trial has none, the sum over its steps."""
    if phase != (None, None):
        return seconds_between(*phase)
    return total(phase_seconds(step) for step in of_steps)


def at_zone(moment: Moment | None, zone: str | None) -> datetime | None:
    """The time, when it is told in the zone of the row; one without a zone beside one with a zone is not known."""
    return moment.at if moment is not None and moment.aware == (zone is not None) else None


def name_of(raw: Raw) -> str | None:
    """A name that a table can hold."""
    text = text_of(raw)
    return stored_name(text) if text else None


def secrets_in(results: Iterable[Result]) -> int:
    """Credentials in the configuration and the exceptions of a trial; none of them is stored."""
    found = 0
    for result in results:
        info = EXCEPTION.read(result.exception_info)
        name, message, trace = map(text_of, (info.exception_type, info.exception_message, info.exception_traceback))
        found += SECRETS.count(bytes(result.config)) + secrets_of_exception(name, message, trace)
    return found
