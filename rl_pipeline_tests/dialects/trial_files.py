"""Contents of trial files for tests."""

from __future__ import annotations

import json
from typing import Any

from rl_pipeline.dialects.harbor_trial import parse_trial
from rl_pipeline.dialects.parsed_trial import ParsedTrial

BEGIN, END = "2026-01-09T11:22:33.444555Z", "2026-01-09T11:31:02.000100Z"


def trial_file(**members: Any) -> bytes:
    """A trial's result with the given members instead of the usual ones; `...` leaves a member out."""
    usual: dict[str, Any] = {
        "id": "00000000-0000-4000-8000-000000000001",
        "trial_name": "fix-bug__aB3dE9x",
        "task_name": "fix-bug",
        "source": "some-set",
        "agent_info": {"name": "terminus-2", "version": "2.0.0"},
        "agent_result": {
            "n_input_tokens": 51200, "n_cache_tokens": 40960, "n_output_tokens": 3100, "cost_usd": 0.25,
            "metadata": {"n_episodes": 14},
        },
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": BEGIN,
        "finished_at": END,
    }  # fmt: skip
    return json.dumps({key: value for key, value in {**usual, **members}.items() if value is not ...}).encode()


def parsed(**members: Any) -> ParsedTrial:
    """The trial of such a file."""
    trial = parse_trial(trial_file(**members))
    assert isinstance(trial, ParsedTrial), trial
    return trial


def phase(start: str | None, end: str | None) -> dict[str, str | None]:
    """A phase with times on the day of the trial."""
    return {
        "started_at": None if start is None else f"2026-01-09T{start}",
        "finished_at": None if end is None else f"2026-01-09T{end}",
    }
