"""Trials: how much faster than `json.load` of each file into a row, and what a re-run costs.

    python bench/trials.py [--folder DIR] [--rounds 5] [--count 44526] [--big 2000] [--workers 2]

Three sets: 4 KB documents, 2 MB documents of token ids, and the first one again with 100 new trials and a ledger.
The baseline finds the files with `rglob`, loads each with `json.load` and makes a row, in one thread.
Imports are not timed; starting the worker processes is. `peak MiB` is of all processes together.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from make_inputs import make_trials

from measuring import Cost, measure, rounds, table, timed

NEW = 100
PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
TOKEN_IDS = 290_000  # 2 MB


def naive_rows(root: Path) -> list[dict[str, Any]]:
    """The common way: load everything, take what is wanted."""
    rows = []
    for path in root.rglob("result.json"):
        with path.open(encoding="utf-8") as file:
            rows.append(naive_row(json.load(file), path))
    return rows


def naive_row(told: dict[str, Any], path: Path) -> dict[str, Any]:
    used = told.get("agent_result") or {}
    exception = told.get("exception_info") or {}
    rewards = (told.get("verifier_result") or {}).get("rewards") or {}
    row = {
        "path": str(path.parent), "trial": told["trial_name"], "task": told.get("task_name"), "id": told.get("id"),
        "source": told.get("source"), "agent": (told.get("agent_info") or {}).get("name"),
        "started_at": moment(told.get("started_at")), "finished_at": moment(told.get("finished_at")),
        "turns": (used.get("metadata") or {}).get("n_episodes"), "input_tokens": used.get("n_input_tokens"),
        "cached_tokens": used.get("n_cache_tokens"), "output_tokens": used.get("n_output_tokens"),
        "cost": used.get("cost_usd"), "reward": rewards.get("reward"), "exception": exception.get("exception_type"),
        "message": exception.get("exception_message"),
    }  # fmt: skip
    for name in PHASES:
        phase = told.get(name)
        row[name] = phase and (moment(phase["finished_at"]) - moment(phase["started_at"])).total_seconds()
    return row


def moment(text: Any) -> Any:  # noqa: ANN401 - as the file has it
    return text and datetime.fromisoformat(text.replace("Z", "+00:00"))


def ours(root: Path, ledger: str | None, workers: int) -> None:
    import pandas  # noqa: F401, PLC0415 - imports are not timed, and pyarrow imports it with its first array

    from rl_pipeline.trial_ledger import read_trials  # noqa: PLC0415 - not in the baseline's process

    timed(lambda: read_trials([root], ledger, workers=workers))


def compare(root: Path, count: int, workers: int) -> str:
    """Baseline against the program, nothing remembered."""

    def cold() -> Cost:
        with tempfile.TemporaryDirectory() as ledger:
            return measure([__file__, "--measure", "ours", str(root), "--ledger", ledger, "--workers", str(workers)])

    candidates = {
        "json.load into a row": lambda: measure([__file__, "--measure", "naive", str(root)]),
        f"read_trials, {workers} processes": cold,
        "read_trials, in this process": lambda: measure([__file__, "--measure", "ours", str(root), "--workers", "1"]),
    }
    return table(rounds(count, candidates), "json.load into a row")


def compare_warm(root: Path, count: int, workers: int) -> str:
    """Nothing remembered, everything remembered, and everything but 100 new trials."""
    with tempfile.TemporaryDirectory() as kept, tempfile.TemporaryDirectory() as new:
        make_trials(Path(new) / "new", NEW, seed=2)

        def run(ledger: str) -> Cost:
            return measure([__file__, "--measure", "ours", str(root), "--ledger", ledger, "--workers", str(workers)])

        def cold() -> Cost:
            shutil.rmtree(kept)
            return run(kept)

        def with_new() -> Cost:
            added = root / "added"
            shutil.copytree(Path(new) / "new", added)
            try:
                return run(kept)
            finally:
                shutil.rmtree(added)

        candidates = {"cold": cold, "nothing new": lambda: run(kept), f"{NEW} new": with_new}
        return table(rounds(count, candidates), "cold")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rl_pipeline_bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=44_526, help="documents of 4 KB")
    parser.add_argument("--big", type=int, default=2_000, help="documents of 2 MB (2000 need 4 GB of disk)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "ROOT"), help=argparse.SUPPRESS)
    parser.add_argument("--ledger", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        what, root = asked.measure[0], Path(asked.measure[1])
        if what == "naive":
            timed(lambda: naive_rows(root))
        else:
            ours(root, asked.ledger, asked.workers)
        return
    if asked.count:
        small = make_trials(asked.folder / f"trials_{asked.count}", asked.count)
        print(f"{asked.count} documents of 4 KB\n\n{compare(small, asked.rounds, asked.workers)}\n", flush=True)
        print(f"The same, remembered\n\n{compare_warm(small, asked.rounds, asked.workers)}\n", flush=True)
    for indent, how in ((False, "one line a list"), (True, "one line an id")) if asked.big else ():
        # An id on its own line takes 28 bytes instead of 8, so a quarter of them make the same size.
        ids = TOKEN_IDS // 4 if indent else TOKEN_IDS
        folder = asked.folder / f"big_{asked.big}_{indent}"
        big = make_trials(folder, asked.big, token_ids=ids, indent_ids=indent)
        print(f"{asked.big} documents of 2 MB, {how}\n\n{compare(big, asked.rounds, asked.workers)}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
