"""Runs of this process name the code location that the workspace names."""

from __future__ import annotations

import dagster as dg
import yaml

from rl_pipeline.defs.instance import config_folder
from rl_pipeline.defs.origins import LOCATION, LOCATION_TAG, MODULE, REPOSITORY, name_location


@dg.op
def nothing() -> None:
    """Does nothing."""


@dg.job
def empty() -> None:
    """Has one step."""
    nothing()


def test_the_names_are_those_of_the_workspace():
    workspace = yaml.safe_load((config_folder() / "workspace.yaml").read_text())

    assert workspace["load_from"] == [{"python_module": {"module_name": MODULE, "location_name": LOCATION}}]


def test_a_run_of_this_process_belongs_to_the_code_location():
    with dg.DagsterInstance.ephemeral() as instance:
        done = empty.execute_in_process(instance=instance, tags=LOCATION_TAG)
        name_location(instance, done.run_id)

        [run] = instance.get_runs(dg.RunsFilter(tags=LOCATION_TAG))

    assert run.remote_job_origin is not None
    assert run.remote_job_origin.location_name == LOCATION
    assert run.remote_job_origin.repository_origin.repository_name == REPOSITORY
    assert run.status == dg.DagsterRunStatus.SUCCESS
