"""The rooms on one string, without Dagster: logs and trials to tables, tables to results, results to files.

Every function takes what it needs and returns a value; only `render_report` and the ledger write.
The command line and the Dagster assets both call these functions, so both leave the same bytes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline import __version__, trial_ledger
from rl_pipeline.addresses import address
from rl_pipeline.cycles import rare_looks_for_cycles
from rl_pipeline.dialects import BLOCK_HEAD, NEEDLES, TRACEBACK_HEAD, JobParser
from rl_pipeline.discovery import JobLog, checkpoint_steps
from rl_pipeline.errors import DataError, PipelineError
from rl_pipeline.growing_log import EarlierReading, earlier_rows, kept_state, standing_of
from rl_pipeline.job_summary import JobCourse
from rl_pipeline.places import PlaceError, on_disk
from rl_pipeline.reader import Message, Needles, OrderedRun, PlannedMessages, ReadReport, Resume, read_planned
from rl_pipeline.schema import ALL_TABLES, JOB_TABLES, Job, SkippedTrial, Trial
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.row_tables import RowSink, to_arrow
from rl_pipeline.tables.store import TableStore
from rl_pipeline.trial_files.seen import Seen

if TYPE_CHECKING:
    from rl_pipeline.analysis.inputs import ExperimentFrames
    from rl_pipeline.analysis.summary import ExperimentResult, analyse_experiment
    from rl_pipeline.analysis.trial_placing import Spans
    from rl_pipeline.report.bundle import Bundle
    from rl_pipeline.report.page.index import Index, write_index
    from rl_pipeline.results import frames_of, load_thresholds, render_report

__all__ = [
    "PARSER_VERSION",
    "Bundle",
    "EarlierReading",
    "ExperimentFrames",
    "ExperimentResult",
    "Index",
    "JobLog",
    "JobTables",
    "TrialTables",
    "analyse_experiment",
    "checkpoint_steps",
    "earlier_reading",
    "experiment_frames_from_store",
    "experiment_tables",
    "frames_of",
    "load_frames",
    "load_thresholds",
    "parse_job",
    "read_experiment_trials",
    "render_report",
    "write_index",
]

# Goes into every data version: raise it when the same log gives other rows.
PARSER_VERSION = "1"
# Analysis and report are imported when they are asked for: processes that only read logs do without.
ON_DEMAND = {
    "Bundle": "rl_pipeline.report.bundle",
    "ExperimentFrames": "rl_pipeline.analysis.inputs",
    "ExperimentResult": "rl_pipeline.analysis.summary",
    "Index": "rl_pipeline.report.page.index",
    "analyse_experiment": "rl_pipeline.analysis.summary",
    "frames_of": "rl_pipeline.results",
    "load_thresholds": "rl_pipeline.results",
    "render_report": "rl_pipeline.results",
    "write_index": "rl_pipeline.report.page.index",
}
LOG_NEEDLES = Needles(any_of=NEEDLES, block_head=BLOCK_HEAD, traceback_head=TRACEBACK_HEAD)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the other module has
    if name not in ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(ON_DEMAND[name]), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTables:
    """All tables of one job log, `jobs` (one row) among them, and where they come from."""

    tables: Mapping[str, pa.Table]
    provenance: Mapping[str, Any]
    state: bytes | None = None  # how to go on when the log has grown

    @property
    def recognised(self) -> int:
        """Messages that some dialect claimed."""
        return sum(dict(self.tables[Job.TABLE].column("dialect_lines")[0].as_py() or ()).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTables:
    """The trials of one experiment, each with its job or none, and the folders that are no trial."""

    trials: pa.Table
    skipped: pa.Table


def parse_job(
    log: JobLog, *, on_bytes: Callable[[int], None] | None = None, earlier: EarlierReading | None = None
) -> JobTables:
    """Read one log once, as a stream; of a log that has only grown, what is new.

    Args:
        log: where it lies and what it is called.
        on_bytes: told how many stored bytes were read since the last call.
        earlier: what is kept of an earlier reading of this log; the tables are the same without it.

    Raises:
        DataError: the file cannot be opened, or goes away; damage inside it is data, not an error.
        ConfigurationError: it lies elsewhere, and its place does not answer.
    """
    try:
        with on_disk(log.path) as file, rare_looks_for_cycles():
            return _parsed(log, file, on_bytes, earlier)
    except PlaceError as error:
        raise error.told from error
    except OSError as error:
        raise DataError(
            "A job log cannot be read",
            where=f"{address(log.path)} ({error.strerror or error})",
            expected="a file that stays where it is and that this user may read",
            do="look whether it was moved or deleted meanwhile, then run the same command again",
            slug="log-unreadable",
        ) from error


def earlier_reading(store: TableStore, job_key: str) -> EarlierReading | None:
    """What the store has of an earlier reading of a job's log; None when there is nothing that is of use."""
    try:
        found = store.earlier_reading(job_key)
    except (PipelineError, OSError):
        return None
    return None if found is None else EarlierReading(*found)


def _parsed(
    log: JobLog, file: Path, on_bytes: Callable[[int], None] | None, earlier: EarlierReading | None
) -> JobTables:
    report, sink, kept = ReadReport(), RowSink(JOB_TABLES), list[bytes]()
    standing = standing_of(file, earlier.state) if earlier is not None else None
    if standing is not None and standing.parser.context.job != log.job:
        standing = None
    parser = standing.parser if standing else JobParser(log.job)
    course = standing.course if standing else JobCourse()
    if standing is not None and earlier is not None:
        sink.begin_with(earlier_rows(standing, earlier), earlier.base)

    def keep(resume: Resume) -> None:
        state = kept_state(file, resume, parser, course, sink)
        kept.extend([] if state is None else [state])

    messages = read_planned(
        file, LOG_NEEDLES, report, parser,
        anchor=datetime.fromtimestamp(log.mtime_ns / 1e9, tz=timezone.utc).replace(tzinfo=None),
        on_bytes=on_bytes, resume=standing.resume if standing else None, on_resume=keep,
    )  # fmt: skip
    for item in messages:
        if isinstance(item, PlannedMessages):
            sink.append_columns(*parser.columns(item))
            continue
        rows = parser.parse(item) if isinstance(item, Message) else parser.parse_ordered(item)
        course.observe(rows)
        sink.append(rows)
        if isinstance(item, OrderedRun) and item.is_last:
            for row_class, columns in parser.collected():
                sink.append_columns(row_class, columns)
    rows = parser.close()
    course.observe(rows)
    sink.append(rows)
    job = course.summarise(log, report, parser.recognised)
    tables = sink.tables().with_table(Job.TABLE, to_arrow([job], Job))
    return JobTables(tables=tables, provenance=provenance_of(job), state=kept[0] if kept and sink.is_settled else None)


def provenance_of(job: Job) -> dict[str, Any]:
    """What a stored set of tables was made from; its `version` decides whether it is current."""
    return {
        "experiment": job.experiment,
        "job": job.job,
        "file": job.path,
        "size_bytes": job.size_bytes,
        "fingerprint": job.fingerprint,
        "parser_version": PARSER_VERSION,
        "program_version": __version__,
        "version": job_version(job.fingerprint),
    }


def job_version(fingerprint: str) -> str:
    """The data version of a job's tables: content of the log and version of the parser."""
    return f"{fingerprint}-p{PARSER_VERSION}"


def read_experiment_trials(
    roots: Sequence[Path],
    jobs: Sequence[JobTables],
    *,
    ledger: str | None = None,
    workers: int = 2,
    on_progress: Callable[[int], None] | None = None,
) -> TrialTables:
    """Read all trial folders below `roots` and say in whose time window each trial ran.

    Args:
        roots: trial roots; overlapping ones are read once.
        jobs: the parsed jobs of the experiment, for their time windows.
        ledger: URL of the ledger's folder; None reads everything anew.
        workers: processes that read files when there are many.
        on_progress: told how many files were handled since the last call.
    """
    windows = pa.concat_tables([job.tables[Job.TABLE] for job in jobs] or [arrow_schema(Job).empty_table()])
    return read_trials_of(windows, roots, ledger=ledger, workers=workers, on_progress=on_progress)


def read_trials_of(
    windows: pa.Table,
    roots: Sequence[Path],
    *,
    ledger: str | None = None,
    workers: int = 2,
    on_progress: Callable[[int], None] | None = None,
    seen: Seen | None = None,
) -> TrialTables:
    """The same from the table `jobs`; `seen` is told which files there were, and in which state they were read."""
    trials, skipped = trial_ledger.read_trials(roots, ledger, workers=workers, on_progress=on_progress, seen=seen)
    return TrialTables(trials=with_jobs(trials, windows), skipped=skipped)


def with_jobs(trials: pa.Table, windows: pa.Table) -> pa.Table:
    """The trials with the job of each, and how sure that is."""
    from rl_pipeline.analysis.trial_placing import placed

    found = placed(
        spans(trials, "started_at", "finished_at"),
        tuple(windows["job"].to_pylist()),
        spans(windows, "first_logged_at", "last_logged_at"),
    )
    for name, values in (("job", found.job), ("job_confidence", found.confidence)):
        place = trials.schema.get_field_index(name)
        trials = trials.set_column(place, trials.schema.field(place), pa.array(values, pa.string()))
    return trials


def spans(table: pa.Table, first: str, last: str) -> Spans:
    """Two columns of times, and whether they are in UTC."""
    from rl_pipeline.analysis.trial_placing import Spans

    is_utc = pc.fill_null(pc.equal(table["zone"], "UTC"), False)
    return Spans(
        table[first].to_numpy().astype("datetime64[us]"),
        table[last].to_numpy().astype("datetime64[us]"),
        is_utc.to_numpy().astype(bool),
    )


def load_frames(experiment: str, jobs: Sequence[JobTables], trials: TrialTables) -> ExperimentFrames:
    """The frames of one experiment; `jobs` in chain order whatever the order given."""
    from rl_pipeline.results import frames_of

    return frames_of(experiment, experiment_tables([job.tables for job in jobs], trials))


def experiment_frames_from_store(store: TableStore, experiment_key: str, job_keys: Sequence[str]) -> ExperimentFrames:
    """The same frames, read back from the store.

    Raises:
        DataError: a member's tables are missing or of another schema version.
    """
    from rl_pipeline.results import frames_of

    tables = [store.read_job(key) for key in job_keys]
    trials = TrialTables(
        trials=store.read_experiment(experiment_key, Trial.TABLE),
        skipped=store.read_experiment(experiment_key, SkippedTrial.TABLE),
    )
    experiment = tables[0][Job.TABLE].column("experiment")[0].as_py() if tables else experiment_key
    return frames_of(experiment, experiment_tables(tables, trials))


def experiment_tables(jobs: Sequence[Mapping[str, pa.Table]], trials: TrialTables) -> dict[str, pa.Table]:
    """All tables of one experiment by name; those of its jobs one after the other, in chain order."""
    return {**tables_of_jobs(jobs), Trial.TABLE: trials.trials, SkippedTrial.TABLE: trials.skipped}


def tables_of_jobs(jobs: Sequence[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """The tables of jobs by name, one job after the other, in chain order."""
    ordered = chain_order(jobs)
    return {
        row.TABLE: pa.concat_tables([tables[row.TABLE] for tables in ordered] or [arrow_schema(row).empty_table()])
        for row in ALL_TABLES
        if row not in {Trial, SkippedTrial}
    }


def chain_order(jobs: Sequence[Mapping[str, pa.Table]]) -> list[Mapping[str, pa.Table]]:
    """Jobs as they followed each other: by first time in the log, by job number where some log has no time."""
    rows = [tables[Job.TABLE].slice(0, 1).to_pylist()[0] for tables in jobs]
    numbers = [int("".join(filter(str.isdigit, row["job"])) or 0) for row in rows]
    times = [row["first_logged_at"] for row in rows]
    dated = all(time is not None for time in times)
    keys = [(time if dated else 0, number, row["job"]) for time, number, row in zip(times, numbers, rows, strict=True)]
    return [jobs[index] for index in sorted(range(len(jobs)), key=keys.__getitem__)]
