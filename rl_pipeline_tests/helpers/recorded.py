"""What an instance would know after runs, without running them."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.discovery import JobLog
from rl_pipeline.pipeline import job_version
from rl_pipeline.reader import fingerprint


def record_version(instance: dg.DagsterInstance, asset: str, partition: str | None, version: str) -> None:
    """A materialization of one partition (or of an asset without any) with this data version."""
    event = dg.AssetMaterialization(asset, partition=partition, tags={"dagster/data_version": version})
    instance.report_runless_asset_event(event)


def record_made(instance: dg.DagsterInstance, log: JobLog, *, final: bool = True) -> None:
    """All assets of a job, made from its log as it is on disk."""
    facts = log.path.stat()
    content = fingerprint(log.path)
    version = LogVersion(fingerprint=content, size_bytes=facts.st_size, mtime_ns=facts.st_mtime_ns, is_final=final)
    record_version(instance, "raw_log", log.job_key, str(version))
    record_version(instance, "step_metrics", log.job_key, job_version(content))
    record_version(instance, "job_trials", log.job_key, f"{job_version(content)}-t0")


def record_run(
    instance: dg.DagsterInstance,
    job_name: str,
    status: dg.DagsterRunStatus,
    tags: Mapping[str, str],
) -> str:
    """A run with this status and these tags; gives its id."""
    run = dg.DagsterRun(job_name=job_name, status=status, tags=dict(tags))
    instance.run_storage.add_run(run)
    return run.run_id
