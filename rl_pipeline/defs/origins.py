"""Runs that are made in this process belong to the same code location as those that the daemon starts.

Dagster writes into a run where its code comes from only when a server of that code starts it. Without
that the pages that group runs by code location (the timeline, which is the first page) leave it out, and
it cannot be started again from the page of the run.
"""

from __future__ import annotations

import sys

import dagster as dg
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.tags import REPOSITORY_LABEL_TAG
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

LOCATION, MODULE, REPOSITORY = "rl_pipeline", "rl_pipeline.definitions", "__repository__"  # as in workspace.yaml
LOCATION_TAG = {REPOSITORY_LABEL_TAG: f"{REPOSITORY}@{LOCATION}"}


def name_location(instance: dg.DagsterInstance, run_id: str) -> None:
    """Write into a run that has ended where its code comes from."""
    run = instance.get_run_by_id(run_id)
    if run is None:
        return
    target = LoadableTargetOrigin(executable_path=sys.executable, module_name=MODULE)
    location = ManagedGrpcPythonEnvCodeLocationOrigin(loadable_target_origin=target, location_name=LOCATION)
    origin = RemoteJobOrigin(
        repository_origin=RemoteRepositoryOrigin(code_location_origin=location, repository_name=REPOSITORY),
        job_name=run.job_name,
    )
    instance.run_storage.replace_job_origin(run, origin)
