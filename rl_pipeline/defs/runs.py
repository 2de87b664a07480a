"""The Dagster jobs that sensors start: one reads a job's log, one reports on an experiment."""

from __future__ import annotations

import dagster as dg

from rl_pipeline.defs.partitions import EXPERIMENTS, JOBS
from rl_pipeline.schema import JOB_TABLES

# A run that is started again begins at the beginning: the log may have grown since the first attempt.
TAGS = {"dagster/retry_strategy": "ALL_STEPS"}
READ_LOG, REPORT, INDEX = "read_job_log", "report_experiment", "index_experiments"

read_job_log = dg.define_asset_job(
    READ_LOG,
    selection=dg.AssetSelection.assets("raw_log", *(row.TABLE for row in JOB_TABLES), "job_trials"),
    tags=TAGS,
    description="All assets of one job log.",
)
report_experiment = dg.define_asset_job(
    REPORT,
    selection=dg.AssetSelection.assets("trials", "cross_log_comparison", "findings", "metrics_report"),
    tags=TAGS,
    description="All assets of one experiment.",
)
# Apart from the reports: it reads all of them, so it runs once after several, not once after each.
index_experiments = dg.define_asset_job(
    INDEX,
    selection=dg.AssetSelection.assets("experiment_index"),
    tags=TAGS,
    description="The page of all experiments.",
)
PARTITIONS = {READ_LOG: JOBS, REPORT: EXPERIMENTS}
