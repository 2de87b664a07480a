"""Everything that Dagster is given, made from one `Settings`; nothing is found by scanning."""

from __future__ import annotations

import dagster as dg

from rl_pipeline.defs.experiment_assets import experiment_results, trials
from rl_pipeline.defs.experiment_index import experiment_index
from rl_pipeline.defs.index_assets import job_index
from rl_pipeline.defs.job_assets import job_tables, job_trials, raw_log
from rl_pipeline.defs.notification_sensor import notifications_sensor
from rl_pipeline.defs.partitions import LOG_FILES, TRIAL_FOLDERS
from rl_pipeline.defs.resources import Inputs, Reports, Sensing, Store
from rl_pipeline.defs.running_sensor import running_jobs_sensor
from rl_pipeline.defs.runs import index_experiments, read_job_log, report_experiment
from rl_pipeline.defs.sensors import finished_experiments_sensor, finished_jobs_sensor
from rl_pipeline.settings import Settings

INPUT_ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [LOG_FILES, TRIAL_FOLDERS, job_index]
JOB_ASSETS = [raw_log, job_tables, job_trials]
EXPERIMENT_ASSETS = [trials, experiment_results, experiment_index]


def build_definitions(settings: Settings) -> dg.Definitions:
    """The definitions of a deployment. Steps are short, so that they run in the process of their run."""
    return dg.Definitions(
        assets=[*INPUT_ASSETS, *JOB_ASSETS, *EXPERIMENT_ASSETS],
        resources=build_resources(settings),
        jobs=[read_job_log, report_experiment, index_experiments],
        sensors=[
            finished_jobs_sensor(settings.tick_seconds),
            finished_experiments_sensor(settings.tick_seconds),
            running_jobs_sensor(settings),
            notifications_sensor(settings),
        ],
        executor=dg.in_process_executor,
    )


def build_resources(settings: Settings) -> dict[str, dg.ConfigurableResource]:  # type: ignore[type-arg]
    """The resources by the names that assets ask for."""
    return {
        "store": Store(url=settings.store),
        "inputs": Inputs(
            roots=list(settings.roots),
            log_patterns=list(settings.log_patterns),
            quiet_minutes=settings.quiet_minutes,
        ),
        "sensing": Sensing(
            folder=str(settings.home / "sensors"), runs_per_tick=settings.runs_per_tick, slurm=settings.slurm
        ),
        "reports": Reports(
            folder=str(settings.reports), thresholds_file=str(settings.thresholds) if settings.thresholds else None
        ),
    }
