"""What rules read: the tables of one experiment and what the rest of analysis made of them.

`build_context` computes every shared result once; rules then only look. Nothing here reads a clock: `now`
is handed in for jobs that still run, and is null when nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import pandas as pd

from rl_pipeline.analysis.checkpoints import CheckpointChoice, choose_checkpoint
from rl_pipeline.analysis.engines import EngineAnalysis, analyse_engines
from rl_pipeline.analysis.findings.finding import Evidence
from rl_pipeline.analysis.findings.masked_share import masked_or_unscored
from rl_pipeline.analysis.findings.step_series import StepSeries
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.lineage import Lineage, find_lineage
from rl_pipeline.analysis.links import Chain, find_chain
from rl_pipeline.analysis.populations import (
    MaskedShare,
    Populations,
    find_populations,
    training_batches,
    training_trials,
)
from rl_pipeline.analysis.replayed_prompts import ReplayCheck, check_replays
from rl_pipeline.analysis.restarts import RestartCosts, restart_costs
from rl_pipeline.analysis.series import all_rows, canonical_of
from rl_pipeline.analysis.thresholds import SHARED, Thresholds, default_thresholds
from rl_pipeline.analysis.time_accounting import StepTime, step_time
from rl_pipeline.analysis.token_means import TokenMeans, token_means

STEP, WAIT = "timing/step", "timing/wait_for_generation_buffer"
REWARD = "reward/avg_raw_reward"
ASYNC_SIGNS = ("async/", "timing/wait_for_generation_buffer")


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """One experiment before judgement; `steps` are the canonical ones, `all_steps` every row that was trained."""

    frames: ExperimentFrames
    thresholds: Thresholds
    chain: Chain
    steps: StepSeries
    all_steps: StepSeries
    engines: EngineAnalysis
    lineage: Lineage
    restarts: RestartCosts
    time: StepTime
    populations: Populations
    masked: MaskedShare
    tokens: TokenMeans
    replays: ReplayCheck
    checkpoints: CheckpointChoice
    now: datetime | None = None

    @cached_property
    def trials(self) -> pd.DataFrame:
        """Trials of training; evaluations did not train anything."""
        return training_trials(self.frames.trials)

    @cached_property
    def failed_trials(self) -> pd.DataFrame:
        """Type and class of the exceptions of those that have a class."""
        kinds = self.trials[["exception_type", "exception_class"]]
        return kinds[kinds["exception_class"].notna()]

    @cached_property
    def batches(self) -> pd.DataFrame:
        """Batch completion lines, evaluations left out where the log tells them apart."""
        return training_batches(self.frames.rollout_batches)

    @cached_property
    def is_async(self) -> bool:
        """Whether the trainer generates beside training (fully asynchronous)."""
        return any(name.startswith(ASYNC_SIGNS) for name in self.all_steps.names)

    @cached_property
    def wait_share(self) -> float | None:
        """Σ wait ÷ Σ step time over canonical steps that log both; fraction."""
        return wait_share_of(self.steps)

    @cached_property
    def jobs_by_name(self) -> dict[str, pd.Series[Any]]:
        """Rows of `jobs` by short name."""
        return {str(row["job"]): row for _, row in self.frames.jobs.iterrows()}

    def value(self, rule: str, name: str) -> float:
        """A threshold of a rule."""
        return self.thresholds.value(rule, name)

    def count(self, rule: str, name: str) -> int:
        """A threshold that counts something."""
        return self.thresholds.count(rule, name)

    @property
    def minimum_steps(self) -> int:
        """Canonical steps below which rules on steps do not judge."""
        return self.count(SHARED, "minimum_steps")

    @property
    def minimum_trials(self) -> int:
        """Trials below which rules on shares do not judge."""
        return self.count(SHARED, "minimum_trials")

    def file_of(self, job: str | None) -> str | None:
        """Name of a job's log."""
        row = self.jobs_by_name.get(str(job))
        return None if row is None else str(row["path"])

    def at_step(self, text: str, row: int, *, key: str | None = None, series: StepSeries | None = None) -> Evidence:
        """Evidence at one step row: its file, line and step, and the value of `key` there."""
        steps = self.steps if series is None else series
        keys = steps.rows.iloc[row]
        value = steps.column(key).iloc[row] if key else None
        job, step = str(keys["job"]), int(keys["global_step"])
        return Evidence(
            text=text,
            job=job,
            file=self.file_of(job),
            line=int(keys["line"]),
            step_range=(step, step),
            key=key,
            value=None if value is None or pd.isna(value) else float(value),
        )

    def over_steps(
        self, text: str, rows: Iterable[int] | None = None, *, key: str | None = None, value: float | None = None
    ) -> Evidence:
        """Evidence over a range of canonical steps; all of them when no rows are given."""
        keys = self.steps.rows if rows is None else self.steps.rows.loc[list(rows)]
        jobs = keys["job"].unique()
        job = str(jobs[0]) if len(jobs) == 1 else None
        span = (int(keys["global_step"].min()), int(keys["global_step"].max())) if len(keys) else None
        line = int(keys["line"].iloc[0]) if job and len(keys) else None
        return Evidence(
            text=text,
            job=job,
            file=self.file_of(job) if job else None,
            line=line,
            step_range=span,
            key=key,
            value=value,
        )

    def at_line(
        self, text: str, job: object, line: object, *, key: str | None = None, value: float | None = None
    ) -> Evidence:
        """Evidence at one line of a log."""
        number = None if line is None or pd.isna(line) else int(line)  # type: ignore[call-overload]
        name = None if job is None else str(job)
        return Evidence(text=text, job=name, file=self.file_of(name), line=number, key=key, value=value)

    def setting(self, *names: str) -> tuple[float, Evidence] | None:
        """A number of the logged configuration, by the last part of its dotted key."""
        found = configured_number(self.frames, *names)
        if found is None:
            return None
        row, value = found
        text = f"configuration: {row['name']} = {value:g}"
        return value, self.at_line(text, row["job"], row["line"], key=str(row["name"]), value=value)

    def not_finite(self, *names: str) -> list[Evidence]:
        """One piece of evidence per canonical step in which a metric was printed as nan or inf."""
        return [self.at_step(f"{names[0]} is not a finite number", row) for row in self.steps.not_finite(*names)]


def wait_share_of(series: StepSeries) -> float | None:
    """Ratio of sums of wait and step time; null where either is not logged."""
    wait, step = series.column(WAIT), series.column(STEP)
    both = wait.notna() & step.notna()
    whole = float(step[both].sum())
    return float(wait[both].sum()) / whole if whole > 0 else None


def build_context(
    frames: ExperimentFrames,
    thresholds: Thresholds | None = None,
    *,
    now: datetime | None = None,
    on_disk: Collection[int] | None = None,
) -> RunContext:
    """Everything the rules read.

    Args:
        frames: tables of the experiment.
        thresholds: the package's when left out.
        now: time of looking, in the zone of the logs, for jobs that still run.
        on_disk: steps whose checkpoints exist; null when nobody looked.
    """
    thresholds = default_thresholds() if thresholds is None else thresholds
    warmup = thresholds.count(SHARED, "warmup_steps")
    window = {
        "window_steps": thresholds.count(SHARED, "window_steps"),
        "window_minimum": thresholds.count(SHARED, "window_minimum"),
    }
    chain = find_chain(frames)
    rows = all_rows(frames, chain, warm_up_steps=warmup)
    steps = StepSeries(rows=canonical_of(rows), **window)
    populations = find_populations(frames, rows)
    masked = masked_or_unscored(frames.trials, populations.masked)
    capacity = configured_number(frames, "max_num_seqs")
    return RunContext(
        frames=frames,
        thresholds=thresholds,
        chain=chain,
        steps=steps,
        all_steps=StepSeries(rows=rows, **window),
        engines=analyse_engines(
            frames.vllm_stats,
            thresholds=thresholds,
            wait_shares=_wait_shares(steps),
            max_num_seqs=capacity[1] if capacity else None,
        ),
        lineage=find_lineage(frames, chain, rows),
        restarts=restart_costs(rows, chain),
        time=step_time(rows),
        populations=populations,
        masked=masked,
        tokens=token_means(rows, masked),
        replays=check_replays(rows),
        checkpoints=choose_checkpoint(
            steps.rows,
            on_disk=on_disk,
            alpha=thresholds.value("R37", "ema_alpha"),
            last_saved=_last_saved(frames.job_events),
        ),
        now=now,
    )


def _last_saved(events: pd.DataFrame) -> int | None:
    """The last step whose checkpoint a log says was saved."""
    steps = events.loc[events["kind"] == "checkpoint_saved", "step"].dropna()
    return int(steps.max()) if len(steps) else None


def _wait_shares(steps: StepSeries) -> dict[str | None, float | None]:
    shares: dict[str | None, float | None] = {None: wait_share_of(steps)}
    for job, rows in steps.rows.groupby("job", sort=False):
        part = StepSeries(rows=rows, window_steps=steps.window_steps, window_minimum=steps.window_minimum)
        shares[str(job)] = wait_share_of(part)
    return shares


def configured_number(frames: ExperimentFrames, *names: str) -> tuple[pd.Series[Any], float] | None:
    """The last logged configuration entry whose dotted key ends in one of the names, and its number."""
    events = frames.job_events[frames.job_events["kind"] == "configuration"]
    known = events[events["name"].notna() & events["value"].notna()]
    last_part = known["name"].astype(str).str.rsplit(".", n=1).str[-1]
    for name in names:
        found = known[last_part == name]
        if len(found):
            return found.iloc[-1], float(found["value"].iloc[-1])
    return None
