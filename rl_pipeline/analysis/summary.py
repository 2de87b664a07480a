"""Everything analysis has to say about one experiment, as one object.

`analyse_experiment` strings the modules of this room together, each shared result computed once. The
object is what `report.json` holds and what the pages are made from.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from rl_pipeline.analysis.checkpoints import CheckpointChoice
from rl_pipeline.analysis.engines import EngineAnalysis
from rl_pipeline.analysis.exception_counts import ExceptionMeans, exception_means
from rl_pipeline.analysis.findings import Finding, RunContext, Verdict, build_context, evaluate, verdict
from rl_pipeline.analysis.geometry import Geometry, gpu_geometry
from rl_pipeline.analysis.growth import Growth, growth_within_links
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.job_comparison import JobMeans, compare_jobs
from rl_pipeline.analysis.level_breaks import LevelBreaks, level_breaks
from rl_pipeline.analysis.lineage import Lineage
from rl_pipeline.analysis.outliers import OutlyingStep, stragglers
from rl_pipeline.analysis.pass_at_k import PassAtK, pass_at_k
from rl_pipeline.analysis.populations import Populations
from rl_pipeline.analysis.published import published_tables
from rl_pipeline.analysis.published_rows import PublishedTables
from rl_pipeline.analysis.replayed_prompts import ReplayCheck
from rl_pipeline.analysis.restarts import RestartCosts
from rl_pipeline.analysis.series import STEP_SECONDS, WAIT_SECONDS, all_rows, canonical_of
from rl_pipeline.analysis.step_noise import StepNoise, step_noise
from rl_pipeline.analysis.task_changes import TaskChanges, task_changes
from rl_pipeline.analysis.thresholds import Threshold, Thresholds, default_thresholds
from rl_pipeline.analysis.time_accounting import StepTime
from rl_pipeline.analysis.token_means import TokenMeans
from rl_pipeline.analysis.training_trends import TrainingTrends, training_trends
from rl_pipeline.analysis.trial_analysis import TrialAnalysis, analyse_trials
from rl_pipeline.analysis.trial_attribution import Attribution, attribution
from rl_pipeline.analysis.waterfall import Waterfall, waterfall


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeReport:
    """Where the time went.

    Attributes:
        steps: closed tree over all steps in the logs; the headline shares.
        waterfall: the whole experiment, restarts and gaps included.
        restarts: what starting again cost.
        stragglers: steps far slower than their link.
        growth: step and wait time growing within links.
        geometry: GPUs behind it.
    """

    steps: StepTime
    waterfall: Waterfall
    restarts: RestartCosts
    stragglers: tuple[OutlyingStep, ...]
    growth: tuple[Growth, ...]
    geometry: Geometry


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationReport:
    """Whose rewards, tokens and failures the numbers are about."""

    rewards: Populations
    tokens: TokenMeans
    exceptions: tuple[ExceptionMeans, ...]
    pass_at_k: tuple[PassAtK, ...]
    attribution: Attribution


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult:
    """All results of one experiment; `as_of` is set when a job was still running."""

    experiment: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    published: PublishedTables
    lineage: Lineage
    replays: ReplayCheck
    populations: PopulationReport
    time: TimeReport
    trend: TrainingTrends
    levels: LevelBreaks
    noise: StepNoise
    trials: TrialAnalysis
    tasks: TaskChanges
    comparison: tuple[JobMeans, ...]
    engines: EngineAnalysis
    checkpoints: CheckpointChoice
    thresholds: tuple[Threshold, ...]
    as_of: datetime | None = None


def analyse_experiment(
    frames: ExperimentFrames,
    thresholds: Thresholds | None = None,
    *,
    as_of: datetime | None = None,
    checkpoints_on_disk: Collection[int] | None = None,
    gpus: int | None = None,
) -> ExperimentResult:
    """Analyse one experiment; never raises for want of data, what is missing is said in its place.

    Args:
        frames: all its tables.
        thresholds: of the findings; the package's own when left out.
        as_of: time of looking, in the zone of the logs, when a job still runs.
        checkpoints_on_disk: steps whose checkpoints exist; None when nobody looked.
        gpus: GPUs of the experiment, when the deployment knows better than the log.
    """
    thresholds = default_thresholds() if thresholds is None else thresholds
    context = build_context(frames, thresholds, now=as_of, on_disk=checkpoints_on_disk)
    rows = all_rows(frames, context.chain)
    canonical = canonical_of(rows)
    findings = evaluate(context)
    return ExperimentResult(
        experiment=frames.experiment,
        verdict=verdict(findings, context),
        findings=findings,
        published=published_tables(frames),
        lineage=context.lineage,
        replays=context.replays,
        populations=population_report(context, rows),
        time=time_report(context, rows, gpus),
        trend=training_trends(canonical),
        levels=level_breaks(canonical),
        noise=step_noise(canonical),
        trials=analyse_trials(frames.trials),
        tasks=task_changes(frames.trials),
        comparison=compare_jobs(rows),
        engines=context.engines,
        checkpoints=context.checkpoints,
        thresholds=tuple(thresholds.values()),
        as_of=as_of,
    )


def population_report(context: RunContext, rows: pd.DataFrame) -> PopulationReport:
    """Populations of rewards, tokens, failures and solved tasks; `rows` of `all_rows`."""
    frames = context.frames
    return PopulationReport(
        rewards=context.populations,
        tokens=context.tokens,
        exceptions=exception_means(frames.rollout_batches, rows),
        pass_at_k=pass_at_k(context.trials),
        attribution=attribution(frames.trials, frames.jobs),
    )


def time_report(context: RunContext, rows: pd.DataFrame, gpus: int | None) -> TimeReport:
    """Where the time went, by step, by chain and by restart; `rows` of `all_rows`."""
    geometry = gpu_geometry(context.frames.job_events, setting=gpus)
    canonical = canonical_of(rows)
    return TimeReport(
        steps=context.time,
        waterfall=waterfall(rows, context.chain, gpus=geometry.gpus),
        restarts=context.restarts,
        stragglers=stragglers(canonical),
        growth=tuple(growth_within_links(canonical, metric) for metric in (STEP_SECONDS, WAIT_SECONDS)),
        geometry=geometry,
    )
