"""The trial files of the sample run, as Harbor 0.1 writes them, and the odd ones that real folders hold."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from simulated_run import SimulatedJob, Trial

DATA_SET = "shell-tasks-v1"
MODEL = {"name": "policy-4b", "provider": "hosted_vllm"}
JOB_ID = "5b0c6a54-2f0e-4a52-9a5e-7f1f3c1d7a10"
MESSAGES = {
    "AgentTimeoutError": "Agent execution timed out after 420.0 seconds",
    "ContextLengthExceededError": "Model context length exceeded: 16384 tokens",
    "DaytonaError": "Failed to create sandbox: no runner available",
    "EnvironmentStartTimeoutError": "Environment start timed out after 120.0 seconds",
    "RewardFileNotFoundError": "No reward file found at verifier/reward.txt",
    "VerifierTimeoutError": "Verifier execution timed out after 120.0 seconds",
}


def write_trials(folder: Path, jobs: Sequence[SimulatedJob], start: datetime) -> int:
    """Write one folder per trial, and what is no trial: the job's summary, an unfinished one, a cut file."""
    trials = [trial for job in jobs for group in job.groups for trial in group.trials]
    for trial in trials:
        _write(folder / trial.name / "result.json", json.dumps(_result(trial, start)))
    _write(folder / "result.json", json.dumps(_summary(trials, start)))
    unfinished = {"trial_name": "count-lines__kQ8nWzR", "task": {"path": "tasks/count-lines"}}
    _write(folder / "count-lines__kQ8nWzR" / "config.json", json.dumps(unfinished))
    whole = json.dumps(_result(trials[0], start)).replace(trials[0].name, "merge-csv__pT4xYbM")
    _write(folder / "merge-csv__pT4xYbM" / "result.json", whole[: len(whole) * 3 // 5])
    return len(trials)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def _result(trial: Trial, start: datetime) -> dict[str, Any]:
    def at(seconds: float) -> str:
        return (start + timedelta(seconds=seconds)).isoformat(timespec="microseconds") + "Z"

    def phase(begin: float, seconds: float) -> dict[str, str]:
        return {"started_at": at(begin), "finished_at": at(begin + seconds)}

    ran = trial.turns is not None
    checksum = hashlib.sha256(trial.task.encode()).hexdigest()
    return {
        "id": str(uuid.uuid5(uuid.UUID(JOB_ID), trial.name)),
        "task_name": trial.task,
        "trial_name": trial.name,
        "trial_uri": f"file:///scratch/trace_jobs/{trial.name}",
        "task_id": {"path": f"tasks/{trial.task}"},
        "source": DATA_SET,
        "task_checksum": checksum,
        "config": {"trial_name": trial.name, "agent": {"name": "terminus-2"}, "job_id": JOB_ID},
        "agent_info": {"name": "terminus-2", "version": "2.0.0", "model_info": MODEL},
        "agent_result": _agent_result(trial) if ran else None,
        "verifier_result": None if trial.reward is None else {"rewards": {"reward": trial.reward}},
        "exception_info": _exception(trial, start),
        "started_at": at(trial.started),
        "finished_at": at(trial.finished),
        "environment_setup": phase(trial.started, trial.environment_s),
        "agent_setup": phase(trial.started + trial.environment_s, trial.agent_setup_s) if ran else None,
        "agent_execution": phase(trial.agent_start, trial.agent_s) if ran else None,
        "verifier": None if trial.verifier_s is None else phase(trial.agent_start + trial.agent_s, trial.verifier_s),
    }


def _agent_result(trial: Trial) -> dict[str, Any]:
    return {
        "n_input_tokens": trial.input_tokens,
        "n_cache_tokens": int(trial.input_tokens * 0.88),
        "n_output_tokens": trial.output_tokens,
        "cost_usd": None,
        "rollout_details": None,
        "metadata": {"n_episodes": trial.turns, "summarization_count": 0},
    }


def _exception(trial: Trial, start: datetime) -> dict[str, str] | None:
    if trial.exception is None:
        return None
    message = MESSAGES[trial.exception]
    return {
        "exception_type": trial.exception,
        "exception_message": message,
        "exception_traceback": f"Traceback (most recent call last):\n  …\n{trial.exception}: {message}\n",
        "occurred_at": (start + timedelta(seconds=trial.finished)).isoformat(),
    }


def _summary(trials: Sequence[Trial], start: datetime) -> dict[str, Any]:
    """The job's own result file: rewritten all the time, and left unfinished when the job is killed."""
    scored = [trial for trial in trials if trial.reward is not None]
    names = {str(reward): [t.name for t in scored if t.reward == reward] for reward in (1.0, 0.0)}
    kinds = Counter(str(trial.exception) for trial in trials if trial.exception)
    errors = {kind: [t.name for t in trials if t.exception == kind] for kind in sorted(kinds)}
    return {
        "id": JOB_ID,
        "started_at": start.isoformat(),
        "finished_at": None,
        "n_total_trials": len(trials),
        "stats": {
            "n_trials": len(trials),
            "n_errors": sum(kinds.values()),
            "evals": {
                f"terminus-2__policy-4b__{DATA_SET}": {
                    "n_trials": len(scored),
                    "n_errors": sum(kinds.values()),
                    "metrics": [{"mean": sum(t.reward or 0.0 for t in scored) / len(scored)}],
                    "reward_stats": {"reward": names},
                    "exception_stats": errors,
                }
            },
        },
    }
