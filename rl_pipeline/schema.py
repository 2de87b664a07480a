"""The waist of the pipeline: every table, as one row class each.

Dialects build these rows, `tables` turns them into Arrow and Parquet, analysis and report read the
frames by these column names. A column is told once: type, unit, meaning. Types map to Arrow as
int → int64, float → float64, str → string, bool → bool, datetime → timestamp[us] without zone,
dict[str, int] → map<string, int64>, dict[str, float | None] → map<string, double>.

Times are UTC where the zone is known (`zone` is then "UTC"), else local to the node that printed
them (`zone` null). A missing value is null, never 0. `job` is the short published name
(`job_567548`); lines count from 1, byte offsets from 0.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar

from rl_pipeline.units import Unit

SCHEMA_VERSION = 1

# States of a logged value (column `state` of step_metrics).
MEASURED = "measured"
BELOW_RESOLUTION = "below_resolution"
NOT_FINITE = "not_finite"
TEXT = "text"
VALUE_STATES = (MEASURED, BELOW_RESOLUTION, NOT_FINITE, TEXT)

# Kinds of a metric block (column `kind`): a timing block is the second block of a step in
# upstream's fully-async trainer; a partial one was cut off.
TRAIN, EVAL, TIMING, PARTIAL = "train", "eval", "timing", "partial"
BLOCK_KINDS = (TRAIN, EVAL, TIMING, PARTIAL)

# Where a metric value was read (column `source`); a summary is a line of words with numbers, not a block.
CONSOLE, MIRROR, JSONL, SUMMARY = "console", "mirror", "jsonl", "summary"
METRIC_SOURCES = (CONSOLE, MIRROR, JSONL, SUMMARY)

SOLVED, UNSOLVED, UNSCORED = "solved", "unsolved", "unscored"
OUTCOMES = (SOLVED, UNSOLVED, UNSCORED)

# Classes of trial exceptions.
AGENT_LIMIT, CONTEXT, VERIFIER, INFRASTRUCTURE = "agent_limit", "context", "verifier", "infrastructure"
HARNESS, OTHER = "harness", "other"
EXCEPTION_CLASSES = (AGENT_LIMIT, CONTEXT, VERIFIER, INFRASTRUCTURE, HARNESS, OTHER)

# How a job ended (column `end_state`).
END_STATES = (
    "completed", "time_limit", "preempted", "cancelled", "node_failure", "requeued", "out_of_memory",
    "failed", "running", "unknown",
)  # fmt: skip

# Kinds of job events (column `kind` of job_events) and what `step`, `name` and `value` hold.
EVENT_KINDS: dict[str, str] = {
    "fresh_start": "no checkpoint was loaded: training starts at the beginning",
    "resume": "step: last completed step of the checkpoint that is loaded; the first new block is step + 1",
    "checkpoint_loaded": "step: the checkpoint that was loaded completely",
    "loop_started": "step: where the fully-async loop begins; also printed on a fresh start, with 0",
    "planned_steps": "value: steps that were planned; name: training, data_loader",
    "step_marker": "step: about to be trained; value: samples of its batch; name: effective_batch",
    "batch_reward": "value: mean raw reward of the batch just collected, all digits; name: its metric",
    "stale_group": "a group discarded as too old; value: its staleness in steps",
    "checkpoint_saving": "step: a save begins",
    "checkpoint_saved": "step: a save is complete; null for the final one of some trainers",
    "export_saved": "model weights were exported",
    "end": "the training loop ended by itself; name: training_done, step_limit, already_complete",
    "teardown_hang": "the program did not exit after training; value: seconds since teardown",
    "failure": "the trainer's own words on a crash; step, and name: exception type",
    "traceback": "a Python traceback of a worker; name: exception type; detail: last own frame, message",
    "driver_traceback": "the same, printed by the driver itself",
    "worker_died": "Ray lost an actor or worker process; name: what Ray calls it",
    "out_of_memory": "name: cuda, host, object_store",
    "killed": "a shell's word on a dead process; name: Killed, Terminated, …",
    "slurm_job": "SLURM ended the job; name: end state",
    "slurm_step": "SLURM ended one job step, the job may go on; name: end state",
    "slurm_task": "srun on a task that ended badly; name: end state; value: exit code",
    "slurm_consequence": "srun on what follows from an end already told (exit 137 or 143, an aborted step)",
    "slurm_notice": "other words of SLURM, not fatal by themselves",
    "configuration": "name: key; value: number; detail: value as text",
    "secret": "a credential in the log; name: its kind; value: how many; never its text",
    "trajectory_failure": "summed over the job; name: exception type; value: 1 left out of the baseline, 0 kept",
    "trajectory_passthrough": "summed over the job; name: exception type whose trial kept the verifier's reward",
}


def column(doc: str, unit: Unit = Unit.ONE, *, default: Any = MISSING) -> Any:  # noqa: ANN401 - dataclass field
    """A table column: its meaning and unit, kept in the field's metadata."""
    metadata = {"doc": doc, "unit": unit}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job log."""

    TABLE: ClassVar[str] = "jobs"

    experiment: str = column("name of the experiment the job belongs to", Unit.TEXT)
    job: str = column("short published name, job_<scheduler id>", Unit.TEXT)
    job_key: str = column("Dagster partition key of the job", Unit.TEXT)
    path: str = column("file name of the log", Unit.TEXT)
    size_bytes: int = column("size of the file as stored (compressed if it is)", Unit.BYTES)
    fingerprint: str = column("digest of the stored bytes, hex: BLAKE3 of the BLAKE3 digests of each 4 MiB", Unit.TEXT)
    compression: str | None = column("gzip or zstd, null for plain text", Unit.TEXT, default=None)
    first_logged_at: datetime | None = column("first time found in the log", Unit.TIME, default=None)
    last_logged_at: datetime | None = column("last time found in the log", Unit.TIME, default=None)
    zone: str | None = column("UTC, or null for the node's unmarked local time", Unit.TEXT, default=None)
    resumed_from_step: int | None = column("completed step the job resumed from; null for a fresh start", default=None)
    first_step: int | None = column("smallest global_step with a training block", default=None)
    last_step: int | None = column("largest global_step with a training block", default=None)
    end_state: str = column("how the job ended: " + " · ".join(END_STATES), Unit.TEXT, default="unknown")
    end_evidence: str | None = column("the line that shows it, redacted", Unit.TEXT, default=None)
    end_line: int | None = column("line number of that evidence", default=None)
    end_byte: int | None = column("byte offset of that line in the uncompressed log", Unit.BYTES, default=None)
    lines: int = column("lines in the log")
    printed_lines: int = column("lines the processes printed: lines in the file plus those that Ray folded away")
    blocks: int = column("complete metric blocks")
    broken_blocks: int = column("metric blocks that were cut or could not be read")
    nul_bytes: int = column("NUL bytes met (holes of a sparse file)", Unit.BYTES, default=0)
    undecodable_bytes: int = column("bytes that are not UTF-8", Unit.BYTES, default=0)
    cut_tail: bool = column("the last line has no line end", Unit.FLAG, default=False)
    read_error: str | None = column(
        "why reading stopped early (damaged compression, I/O), null if it did not", Unit.TEXT, default=None
    )
    dialect_lines: dict[str, int] = column("messages that each dialect recognised, by dialect", Unit.MAP, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMetric:
    """One metric of one block."""

    TABLE: ClassVar[str] = "step_metrics"

    job: str = column("short name of the job", Unit.TEXT)
    block: int = column("number of the block in its job, from 0 in file order")
    line: int = column("line of the block's head")
    kind: str = column("train, eval, timing or partial", Unit.TEXT)
    global_step: int | None = column("training step of the block: trainer/global_step, else the head's number")
    metric: str = column("name as logged", Unit.TEXT)
    value: float | None = column("number, in the unit of the metric catalogue; null when not a finite number")
    text: str | None = column(
        "the value as printed when it is text, a list or not finite; redacted", Unit.TEXT, default=None
    )
    state: str = column("measured, below_resolution (printed 0.0000), not_finite, text", Unit.TEXT)
    source: str = column("console, mirror, jsonl or summary", Unit.TEXT)
    logged_at: datetime | None = column("time of the block's head", Unit.TIME, default=None)
    zone: str | None = column("UTC, or null for unmarked local time", Unit.TEXT, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutBatch:
    """One `Batch generation complete` line."""

    TABLE: ClassVar[str] = "rollout_batches"

    job: str = column("short name of the job", Unit.TEXT)
    line: int = column("line of the completion message")
    logged_at: datetime | None = column("time of the line", Unit.TIME, default=None)
    zone: str | None = column("UTC, or null for unmarked local time", Unit.TEXT, default=None)
    mode: str | None = column("training or eval; null when the log cannot tell", Unit.TEXT, default=None)
    successful: int = column("trials that ended without a counted failure")
    total: int = column("trials of the batch")
    failed_groups: int = column("distinct prompts with at least one failed trial")
    masked: int | None = column(
        "failed trials left out of the baseline; null in forms that do not print it", default=None
    )
    exceptions: dict[str, int] = column("failed trials by exception type", Unit.MAP)
    since_step_marker: int | None = column(
        "number in the last `Step N:` text before the line; null before the first", default=None
    )
    repeat_count: int = column("lines this one stands for after Ray's folding; its numbers are those of one", default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmStat:
    """One statistics line of an inference engine."""

    TABLE: ClassVar[str] = "vllm_stats"

    job: str = column("short name of the job", Unit.TEXT)
    line: int = column("line of the message")
    logged_at: datetime | None = column("time printed by the engine", Unit.TIME, default=None)
    zone: str | None = column("UTC, or null for unmarked local time", Unit.TEXT, default=None)
    pid: int | None = column("process id of the engine's actor", default=None)
    ip: str | None = column("address of its node; null on the driver's node", Unit.TEXT, default=None)
    engine_index: int | None = column("data-parallel rank inside one server", default=None)
    prompt_throughput: float | None = column("prompt tokens per second in the interval", Unit.TOKENS_PER_SECOND)
    generation_throughput: float | None = column("generated tokens per second in the interval", Unit.TOKENS_PER_SECOND)
    running: int | None = column("requests being computed at print time", Unit.REQUESTS)
    waiting: int | None = column("requests queued at print time", Unit.REQUESTS)
    swapped: int | None = column("requests swapped out (V0 only)", Unit.REQUESTS, default=None)
    deferred: int | None = column("deferred requests; null where not printed", Unit.REQUESTS, default=None)
    preemptions: int | None = column("preemptions in the interval; null where not printed", default=None)
    corrupted: int | None = column("requests with NaN logits; null where not printed", Unit.REQUESTS, default=None)
    kv_fetch_waiting: int | None = column("KV fetches waiting to start", Unit.REQUESTS, default=None)
    kv_fetch_in_progress: int | None = column("KV fetches in progress", Unit.REQUESTS, default=None)
    kv_fetch_done_waiting: int | None = column("KV fetches completed and waiting", Unit.REQUESTS, default=None)
    kv_cache_usage: float | None = column("share of the KV cache in use", Unit.FRACTION)
    cpu_kv_cache_usage: float | None = column("share of the CPU KV cache in use (V0 only)", Unit.FRACTION, default=None)
    prefix_cache_hit_rate: float | None = column(
        "prefix cache hits over the last ~1000 requests", Unit.FRACTION, default=None
    )
    external_prefix_cache_hit_rate: float | None = column("hits of the KV connector", Unit.FRACTION, default=None)
    mm_cache_hit_rate: float | None = column("hits of the multimodal cache", Unit.FRACTION, default=None)
    repeat_count: int = column("lines this one stands for after Ray's folding; 1 when not folded", default=1)
    scope: str = column("engine, or server for an aggregated line", Unit.TEXT, default="engine")
    engines: int | None = column("engines behind an aggregated line", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTiming:
    """One timer interval."""

    TABLE: ClassVar[str] = "phase_timings"

    job: str = column("short name of the job", Unit.TEXT)
    line: int = column("line of the Finished message, else of the Started one")
    name: str = column("timer name, the suffix of its timing/ metric", Unit.TEXT)
    started_at: datetime | None = column("time of Started, else end minus duration", Unit.TIME, default=None)
    zone: str | None = column("UTC, or null for unmarked local time", Unit.TEXT, default=None)
    seconds: float | None = column("duration as printed; null for a timer that never finished", Unit.SECONDS)
    finished: bool = column("whether a Finished line was seen (it is printed after errors too)", Unit.FLAG)
    repeat_count: int = column("lines this one stands for after Ray's folding", default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """One line that tells something about the course of the job."""

    TABLE: ClassVar[str] = "job_events"

    job: str = column("short name of the job", Unit.TEXT)
    line: int = column("line of the message")
    byte_offset: int = column("where the line starts in the uncompressed log", Unit.BYTES)
    logged_at: datetime | None = column("time of the line", Unit.TIME, default=None)
    zone: str | None = column("UTC, or null for unmarked local time", Unit.TEXT, default=None)
    kind: str = column("what happened, one of EVENT_KINDS", Unit.TEXT)
    step: int | None = column("global_step named by the line", default=None)
    name: str | None = column(
        "what the line is about: exception type, tail class, configuration key", Unit.TEXT, default=None
    )
    value: float | None = column("number named by the line, if any", default=None)
    detail: str | None = column("the message, redacted and cut at 500 characters", Unit.TEXT, default=None)
    repeat_count: int = column("lines this one stands for after Ray's folding", default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsed:
    """One message that belongs to a dialect but is broken."""

    TABLE: ClassVar[str] = "unparsed"

    job: str = column("short name of the job", Unit.TEXT)
    line: int = column("first line of the message")
    byte_offset: int | None = column(
        "where that line starts in the uncompressed log; null when only the line is known", Unit.BYTES
    )
    dialect: str = column("dialect that claims the message", Unit.TEXT)
    reason: str = column("what is wrong with it", Unit.TEXT)
    excerpt: str = column("the beginning of the message, redacted, at most 200 characters", Unit.TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One attempt at one task in a sandbox (Harbor `result.json`)."""

    TABLE: ClassVar[str] = "trials"

    trial: str = column("trial name", Unit.TEXT)
    task: str | None = column("task name", Unit.TEXT)
    trial_id: str | None = column("unique id the harness gave the trial; tells copies apart", Unit.TEXT, default=None)
    path: str = column("trial folder, relative to the trial root it was found under", Unit.TEXT)
    source: str | None = column("data set named by the trial", Unit.TEXT, default=None)
    agent: str | None = column("agent name", Unit.TEXT, default=None)
    is_eval: bool = column("found below an eval_sessions folder", Unit.FLAG, default=False)
    started_at: datetime | None = column("start of the trial", Unit.TIME, default=None)
    finished_at: datetime | None = column("end of the trial", Unit.TIME, default=None)
    zone: str | None = column("UTC, or null when the file gives no zone", Unit.TEXT, default=None)
    environment_setup_s: float | None = column("environment_setup.finished_at − started_at", Unit.SECONDS, default=None)
    agent_setup_s: float | None = column("agent_setup.finished_at − started_at", Unit.SECONDS, default=None)
    agent_execution_s: float | None = column(
        "agent_execution.finished_at − started_at; summed over steps", Unit.SECONDS, default=None
    )
    verifier_s: float | None = column(
        "verifier.finished_at − started_at; summed over steps", Unit.SECONDS, default=None
    )
    verifier_overrun_s: float | None = column(
        "verifier.finished_at − finished_at when positive, else null", Unit.SECONDS, default=None
    )
    n_turns: int | None = column("model turns (agent_result.metadata.n_episodes)", default=None)
    n_input_tokens: int | None = column("prompt tokens, cached ones included", Unit.TOKENS, default=None)
    n_cached_tokens: int | None = column("prompt tokens served from a cache", Unit.TOKENS, default=None)
    n_output_tokens: int | None = column("generated tokens", Unit.TOKENS, default=None)
    cost_usd: float | None = column("cost as reported", Unit.USD, default=None)
    reward: float | None = column("the `reward` key, else the only key; null when unscored", Unit.REWARD, default=None)
    rewards: dict[str, float | None] = column("all reward keys", Unit.MAP, default=None)
    outcome: str = column("solved (reward > 0), unsolved, unscored", Unit.TEXT)
    exception_type: str | None = column("exception class name, null if none", Unit.TEXT, default=None)
    exception_class: str | None = column(" · ".join(EXCEPTION_CLASSES), Unit.TEXT, default=None)
    exception_message: str | None = column("first 200 characters, redacted", Unit.TEXT, default=None)
    is_masked: bool = column(
        "probably left out of the baseline: the trainer's default mask list names the type",
        Unit.FLAG,
        default=False,
    )
    secrets_redacted: int = column("credentials found in the file and not stored", default=0)
    job: str | None = column(
        "job in whose time window the trial ran; null when none or unknown", Unit.TEXT, default=None
    )
    job_confidence: str | None = column(
        "exact (one window, zones known) · assumed_utc · estimated_zone · overlap · none", Unit.TEXT, default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedTrial:
    """One folder or file that was not read as a trial."""

    TABLE: ClassVar[str] = "skipped_trials"

    path: str = column("relative to the trial root", Unit.TEXT)
    reason: str = column("what it is instead, or what is wrong with it", Unit.TEXT)


JobRow = StepMetric | RolloutBatch | VllmStat | PhaseTiming | JobEvent | Unparsed
Row = Job | JobRow | Trial | SkippedTrial

JOB_TABLES: tuple[type[JobRow], ...] = (StepMetric, RolloutBatch, VllmStat, PhaseTiming, JobEvent, Unparsed)
TRIAL_TABLES: tuple[type[Row], ...] = (Trial, SkippedTrial)
ALL_TABLES: tuple[type[Row], ...] = (Job, *JOB_TABLES, *TRIAL_TABLES)
TABLES_BY_NAME: dict[str, type[Row]] = {row.TABLE: row for row in ALL_TABLES}


def columns_of(row: type[Row]) -> tuple[Field[Any], ...]:
    """The columns of a table in order; `metadata` holds `doc` and `unit`."""
    return fields(row)
