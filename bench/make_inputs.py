"""Inputs of the measurements, made from a seed: trial folders as Harbor leaves them.

    python bench/make_inputs.py trials FOLDER --count 44526
    python bench/make_inputs.py trials FOLDER --count 2000 --token-ids 290000

Documents are laid out as Harbor writes them (indented by four). 290,000 token ids in one line per list are 2 MB; with
`--indent-ids` each stands on its own line, as in a file that Pydantic indented.
"""

from __future__ import annotations

import argparse
import json
import random
import string
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

START = datetime(2026, 6, 3, 15, tzinfo=timezone.utc)
PLACE = "/scratch/lab/runs/selfinstruct-sandboxes-8b"
SOURCE = "selfinstruct-sandboxes"
EXCEPTIONS = ("AgentTimeoutError", "ContextLengthExceededError", "DaytonaError", "RewardFileNotFoundError")
ALPHABET = string.ascii_letters + string.digits
IDS_PLACE = '"rollout_details": null'
VOCABULARY = 151_000


def hexadecimal(rng: random.Random, digits: int) -> str:
    return f"{rng.getrandbits(4 * digits):0{digits}x}"


def phase(start: datetime, end: datetime) -> dict[str, str]:
    return {"started_at": told(start), "finished_at": told(end)}


def told(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def configuration(rng: random.Random, task: str, name: str) -> dict[str, Any]:
    return {
        "task": {
            "path": f"{PLACE}/tasks/{task}", "git_url": None, "git_commit_id": None, "overwrite": False,
            "download_dir": None, "source": SOURCE,
        },
        "trial_name": name,
        "trials_dir": f"{PLACE}/trace_jobs",
        "timeout_multiplier": 1.0,
        "agent": {
            "name": "terminus-2", "import_path": None, "model_name": "hosted_vllm/policy-8b",
            "override_timeout_sec": 1200.0, "override_setup_timeout_sec": None, "max_timeout_sec": None,
            "kwargs": {
                "max_turns": 120, "temperature": 1.0, "enable_summarize": False, "parser_name": "json",
                "store_all_messages": False, "session_id": hexadecimal(rng, 32),
                "model_info": {"max_input_tokens": 32768, "max_output_tokens": 8192},
            },
        },
        "environment": {
            "type": "daytona", "import_path": None, "force_build": False, "delete": True, "override_cpus": None,
            "override_memory_mb": None, "override_storage_mb": None, "override_gpus": None,
            "suppress_override_warnings": True, "kwargs": {"auto_stop_interval_mins": 60},
        },
        "verifier": {"override_timeout_sec": None, "max_timeout_sec": None, "disable": False},
        "job_id": "00000000-0000-4000-8000-0000000005a3",
    }  # fmt: skip


def document(rng: random.Random, number: int) -> dict[str, Any]:
    """One result: four in five scored, one in five with an exception."""
    task = f"selfinstruct-task-{number // 8 % 2000:05d}"
    name = f"{task}__{''.join(rng.choices(ALPHABET, k=7))}"
    start = START + timedelta(seconds=5 * number, microseconds=rng.randrange(1_000_000))
    marks = [start + timedelta(seconds=seconds) for seconds in (6.5, 25.0, 60 + rng.random() * 900)]
    end = marks[2] + timedelta(seconds=12 * rng.random(), microseconds=1)
    turns = rng.randint(1, 60)
    failed = rng.random() < 0.2
    words = f"Gave up after {turns} turns and {rng.randrange(40_000)} tokens, limit 32768"
    exception = {
        "exception_type": rng.choice(EXCEPTIONS),
        "exception_message": words,
        "exception_traceback": f'Traceback (most recent call last):\n  File "harbor/trial.py", line 372\n{words}\n',
        "occurred_at": told(end),
    }
    return {
        "id": f"{hexadecimal(rng, 8)}-{hexadecimal(rng, 4)}-4000-8000-{hexadecimal(rng, 12)}",
        "task_name": task,
        "trial_name": name,
        "trial_uri": f"file://{PLACE}/trace_jobs/{name}",
        "task_id": {"path": f"{PLACE}/tasks/{task}"},
        "source": SOURCE,
        "task_checksum": hexadecimal(rng, 64),
        "config": configuration(rng, task, name),
        "agent_info": {
            "name": "terminus-2", "version": "2.0.0", "model_info": {"name": "policy-8b", "provider": "hosted_vllm"}
        },
        "agent_result": {
            "n_input_tokens": 5000 * turns, "n_cache_tokens": 4000 * turns, "n_output_tokens": 450 * turns,
            "cost_usd": None, "rollout_details": None,
            "metadata": {
                "n_episodes": turns,
                "api_request_times_msec": [round(rng.uniform(1e3, 3e4), 1) for _ in range(turns)],
                "summarization_count": 0,
            },
        },
        "verifier_result": None if failed else {"rewards": {"reward": float(rng.random() < 0.4)}},
        "exception_info": exception if failed else None,
        "started_at": told(start),
        "finished_at": told(end),
        "environment_setup": phase(start, marks[0]),
        "agent_setup": phase(marks[0], marks[1]),
        "agent_execution": phase(marks[1], marks[2]),
        "verifier": None if failed else phase(marks[2], end),
    }  # fmt: skip


def text_of(trial: dict[str, Any], rng: random.Random, token_ids: int, *, indent_ids: bool) -> str:
    text = json.dumps(trial, indent=4)
    if not token_ids:
        return text
    turns = 10
    lists = [rng.choices(range(VOCABULARY), k=token_ids // (2 * turns)) for _ in range(2 * turns)]
    details = [{"prompt_token_ids": lists[:turns], "completion_token_ids": lists[turns:]}]
    shown = json.dumps(details, indent=4 if indent_ids else None)
    return text.replace(IDS_PLACE, f'"rollout_details": {shown}', 1)


def make_trials(folder: Path, count: int, *, token_ids: int = 0, indent_ids: bool = False, seed: int = 1) -> Path:
    """Write `count` trials as `<folder>/<trial>/result.json`; a folder that is complete is used again."""
    done = folder.with_name(f"{folder.name}.complete")
    if done.exists():
        return folder
    rng = random.Random(seed)
    for number in range(count):
        trial = document(rng, number)
        path = folder / str(trial["trial_name"])
        path.mkdir(parents=True, exist_ok=True)
        (path / "result.json").write_text(text_of(trial, rng, token_ids, indent_ids=indent_ids), encoding="utf-8")
    done.touch()
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    trials = kinds.add_parser("trials", help="trial folders with a result.json each")
    trials.add_argument("folder", type=Path)
    trials.add_argument("--count", type=int, default=44_526)
    trials.add_argument("--token-ids", type=int, default=0, help="in each document; 290000 make 2 MB")
    trials.add_argument("--indent-ids", action="store_true", help="one id a line")
    trials.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    make_trials(
        asked.folder, asked.count, token_ids=asked.token_ids, indent_ids=asked.indent_ids, seed=asked.seed
    )  # fmt: skip
    print(f"{asked.count} trials in {asked.folder}")


if __name__ == "__main__":
    main()
