"""One look of `finished_jobs` over 10,000 known jobs and 200 new ones: seconds, and calls to the file system.

    python bench/sensor_tick.py [--jobs 10000] [--new 200] [--folder DIR]

Makes the logs and an instance that has recorded every known job (once; the folder is used again), then
looks: with nothing remembered, twice with nothing new, with the new logs, and once more. Dagster gives a
sensor 60 seconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG
from dagster._core.events import AssetMaterialization, DagsterEvent, DagsterEventType, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID
from dagster._core.storage.event_log.schema import AssetEventTagsTable, SqlEventLogStorageTable
from dagster._serdes import serialize_value
from sqlalchemy import func, select

from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.job_index import JobIndex
from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.defs.memory import Memory
from rl_pipeline.defs.rounds import Watched, finished_jobs_round
from rl_pipeline.defs.scheduler import ask_nobody
from rl_pipeline.discovery import JobLog, discover
from rl_pipeline.pipeline import job_version
from rl_pipeline.reader import fingerprint
from rl_pipeline.settings import Settings

JOBS_PER_EXPERIMENT = 20
LINE = "2026-01-09 11:{minute:02d}:00.000 | INFO     | a:b:1 - {text}\n"
OPENED: Counter[str] = Counter()


def count_opens(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: what Python opens and lists; `stat` has no event and is counted by discovery itself."""
    if event in {"open", "os.scandir", "os.listdir"}:
        OPENED[event] += 1


def write_logs(root: Path, first: int, count: int) -> None:
    """Finished logs of a few hundred bytes, each with content of its own."""
    for number in range(first, first + count):
        experiment = f"exp-{number // JOBS_PER_EXPERIMENT:04d}"
        path = root / experiment / "logs" / f"{experiment}_{100_000 + number}.out"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            text = "a word " * (number % JOBS_PER_EXPERIMENT)  # sizes differ, as they do
            lines = [LINE.format(minute=minute, text=f"{text} of job {number}") for minute in range(10)]
            path.write_text("".join(lines) + LINE.format(minute=11, text="Training done!"))


def record(instance: dg.DagsterInstance, logs: list[JobLog]) -> None:
    """Everything about these jobs is made, as far as the instance knows: its rows, written in one transaction."""
    events, tags = [], []
    for log in logs:
        content = fingerprint(log.path)
        version = LogVersion(fingerprint=content, size_bytes=log.size_bytes, mtime_ns=log.mtime_ns, is_final=True)
        for asset, made in (
            ("raw_log", str(version)),
            ("step_metrics", job_version(content)),
            ("job_trials", f"{job_version(content)}-t0"),
        ):
            events.append(event_row(AssetMaterialization(asset, partition=log.job_key, tags={DATA_VERSION_TAG: made})))
            tags.append({"asset_key": f'["{asset}"]', "key": DATA_VERSION_TAG, "value": made})
    storage = instance.event_log_storage
    storage.store_event(entry(AssetMaterialization("raw_log", partition="template")))
    with storage.index_connection() as connection:
        first = connection.execute(select(func.max(SqlEventLogStorageTable.c.id))).scalar() + 1
        numbered = [{**row, "id": first + number} for number, row in enumerate(events)]
        connection.execute(SqlEventLogStorageTable.insert(), numbered)
        connection.execute(AssetEventTagsTable.insert(), [{**tag, "event_id": first + n} for n, tag in enumerate(tags)])


def event_row(event: AssetMaterialization) -> dict[str, object]:
    """The row that Dagster would write for a materialization outside any run."""
    return {
        "run_id": RUNLESS_RUN_ID,
        "event": serialize_value(entry(event)),
        "dagster_event_type": DagsterEventType.ASSET_MATERIALIZATION.value,
        "timestamp": datetime.now(timezone.utc).replace(tzinfo=None),
        "asset_key": event.asset_key.to_string(),
        "partition": event.partition,
    }


def entry(event: AssetMaterialization) -> EventLogEntry:
    """A materialization outside any run."""
    data = DagsterEvent(
        event_type_value=DagsterEventType.ASSET_MATERIALIZATION.value,
        job_name=RUNLESS_JOB_NAME,
        event_specific_data=StepMaterializationData(event),
    )
    return EventLogEntry(
        error_info=None, user_message="", level=20, run_id=RUNLESS_RUN_ID, timestamp=time.time(), dagster_event=data
    )


def look(name: str, watched: Watched, instance: dg.DagsterInstance) -> None:
    """One look, with its numbers on one line."""
    OPENED.clear()
    began = time.perf_counter()
    asked = finished_jobs_round(watched, instance)
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:<28} {seconds:7.2f} s   asked for {len(asked.wanted):4d}   left {asked.left:5d}   "
        f"discovery calls {asked.calls:6d}   opened {OPENED['open']:5d}   peak {memory:5.0f} MB"
    )


def main() -> None:
    """Make the laboratory, look four times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--new", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = (options.folder or Path(tempfile.mkdtemp(prefix="rl_tick_"))).resolve()
    root = folder / "experiments"
    settings = Settings.from_environment({"RL_PIPELINE_HOME": str(folder / "home"), "RL_PIPELINE_ROOTS": str(root)})
    write_logs(root, 0, options.jobs)
    with open_instance(settings) as instance:
        if not (folder / "recorded").exists():
            logs = [job for experiment in discover([root]).experiments for job in experiment.jobs]
            began = time.perf_counter()
            record(instance, logs)
            print(f"recorded {len(logs)} jobs in {time.perf_counter() - began:.0f} s", file=sys.stderr)
            (folder / "recorded").touch()
        watched = Watched(
            roots=(root,),
            patterns=(),
            quiet_period_s=3600.0,
            index=JobIndex(settings.store),
            memory=Memory(settings.home / "sensors"),
            most_runs=settings.runs_per_tick,
            sacct=ask_nobody,
        )
        sys.addaudithook(count_opens)
        for name in ("first look, nothing known", "second look", "third look"):
            look(name, watched, instance)
        write_logs(root, options.jobs, options.new)
        look(f"{options.new} new logs", watched, instance)
        look("the look after", watched, instance)
    print(f"folder: {folder}", file=sys.stderr)
    os.sync()


if __name__ == "__main__":
    main()
