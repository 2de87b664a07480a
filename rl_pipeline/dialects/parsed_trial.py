"""A trial as its file tells it: what both readers of `result.json`, the quick and the patient one, give."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from rl_pipeline.schema import SOLVED, UNSCORED, UNSOLVED, Trial

NAME_LIMIT = 300  # characters kept of a name
NAMES = 5  # columns at the beginning that hold names
MESSAGE_LIMIT = 200  # characters kept of an exception's message
REWARDS_LIMIT = 200


class ParsedTrial(NamedTuple):
    """The columns of `schema.Trial` that do not depend on place or job."""

    trial: str
    task: str | None
    trial_id: str | None
    source: str | None
    agent: str | None
    started_at: datetime | None
    finished_at: datetime | None
    zone: str | None
    environment_setup_s: float | None
    agent_setup_s: float | None
    agent_execution_s: float | None
    verifier_s: float | None
    verifier_overrun_s: float | None
    n_turns: int | None
    n_input_tokens: int | None
    n_cached_tokens: int | None
    n_output_tokens: int | None
    cost_usd: float | None
    reward: float | None
    rewards: dict[str, float | None] | None
    outcome: str
    exception_type: str | None
    exception_class: str | None
    exception_message: str | None
    is_masked: bool
    secrets_redacted: int

    def row(self, *, path: str, is_eval: bool = False) -> Trial:
        """The table row of a trial found at `path`; its job is not known yet."""
        return Trial(path=path, is_eval=is_eval, **self._asdict())


def outcome_of(reward: float | None) -> str:
    """A missing reward is unscored, never 0."""
    return UNSCORED if reward is None else SOLVED if reward > 0 else UNSOLVED
