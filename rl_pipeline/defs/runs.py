"""The Dagster jobs that sensors start: one reads a job's log, one reports on an experiment."""

from __future__ import annotations

import dagster as dg

from rl_pipeline.defs.partitions import EXPERIMENTS, JOBS
from rl_pipeline.schema import JOB_TABLES

# A run that is started again begins at the beginning: the log may have grown since the first attempt.
TAGS = {"dagster/retry_strategy": "ALL_STEPS"}
READ_LOG, REPORT = "read_job_log", "report_experiment"

read_job_log = dg.define_asset_job(
    READ_LOG,
    selection=dg.AssetSelection.assets("raw_log", *(row.TABLE for row in JOB_TABLES), "job_trials"),
    tags=TAGS,
    description="All assets of one job log.",
)
report_experiment = dg.define_asset_job(
    REPORT,
    selection=dg.AssetSelection.assets(
        "trials", "cross_log_comparison", "findings", "metrics_report", "experiment_index"
    ),
    tags=TAGS,
    description="All assets of one experiment, and the index of all experiments after it.",
)
PARTITIONS = {READ_LOG: JOBS, REPORT: EXPERIMENTS}
