"""Recorded against wanted: the data versions that decide what has to be made again.

Two functions serve the assets, the sensors and the command line alike, so that all of them mean the
same by "current". Recorded versions come from the instance with one query for all partitions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.pipeline import PARSER_VERSION, job_version

LOG_ASSET, TABLES_ASSET, JOB_TRIALS_ASSET, REPORT_ASSET = "raw_log", "step_metrics", "job_trials", "metrics_report"
INDEX_ASSET = "experiment_index"
ANALYSIS_VERSION = "1"  # raise it when the same tables give another report


def recorded_versions(
    instance: dg.DagsterInstance, asset: str, partitions: Sequence[str] | None = None
) -> dict[str, str]:
    """The data version of the latest materialization of each partition that has one."""
    tags = instance.event_log_storage.get_latest_tags_by_partition(
        dg.AssetKey(asset), dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION_TAG], partitions
    )
    return {partition: found[DATA_VERSION_TAG] for partition, found in tags.items() if DATA_VERSION_TAG in found}


def complete_jobs(instance: dg.DagsterInstance, partitions: Sequence[str] | None = None) -> dict[str, LogVersion]:
    """The jobs of which all assets were made from one content by this version of the parser."""
    logs = recorded_versions(instance, LOG_ASSET, partitions)
    tables = recorded_versions(instance, TABLES_ASSET, partitions)
    trials = recorded_versions(instance, JOB_TRIALS_ASSET, partitions)
    complete = {}
    for key, text in logs.items():
        log = LogVersion.parse(text)
        if log is None:
            continue
        wanted = job_version(log.fingerprint)
        if tables.get(key) == wanted and trials.get(key, "").startswith(wanted):
            complete[key] = log
    return complete


def job_trials_version(provenance: Mapping[str, Any] | None, trials: pa.Table) -> str:
    """The version of a job's trials: that of its tables, and which trials there were."""
    told = "\n".join(sorted(str(trial) for trial in trials["trial"].to_pylist()))
    digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{(provenance or {}).get('version', 'no-tables')}-t{digest}"


def experiment_version(finished: Mapping[str, LogVersion]) -> str:
    """The data version of an experiment's assets: the content of all finished members, and the programs.

    Jobs that are still running are left out, so that their growth alone asks for no new report.
    """
    told = "\n".join(f"{key} {version.fingerprint}" for key, version in sorted(finished.items()))
    digest = hashlib.blake2b(told.encode(), digest_size=12).hexdigest()
    return f"{digest}-p{PARSER_VERSION}-a{ANALYSIS_VERSION}"


def current_experiment_version(instance: dg.DagsterInstance, job_keys: Iterable[str]) -> str:
    """The version that an experiment's assets have when they are made now."""
    complete = complete_jobs(instance, list(job_keys))
    return experiment_version({key: version for key, version in complete.items() if version.is_final})


def index_version(reports: Mapping[str, str]) -> str:
    """The data version of the index: which reports there were, of which versions."""
    told = "\n".join(f"{key} {version}" for key, version in sorted(reports.items()))
    return f"{hashlib.blake2b(told.encode(), digest_size=12).hexdigest()}-a{ANALYSIS_VERSION}"


def recorded_index(instance: dg.DagsterInstance) -> str | None:
    """The data version of the index as it was last made."""
    event = instance.get_latest_materialization_event(dg.AssetKey(INDEX_ASSET))
    made = event.asset_materialization if event else None
    return (made.tags or {}).get(DATA_VERSION_TAG) if made else None
