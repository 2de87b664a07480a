"""The definitions load, name exactly what the schema promises, and say nothing of their own while loading."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.factory import build_definitions
from rl_pipeline.schema import JOB_TABLES
from rl_pipeline_tests.helpers.lab import Lab

JOB_ASSETS = {"raw_log", "job_trials", *(row.TABLE for row in JOB_TABLES)}
EXPERIMENT_ASSETS = {"trials", "cross_log_comparison", "findings", "metrics_report"}


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    return build_definitions(Lab(tmp_path_factory.mktemp("lab")).settings)


def test_every_table_of_a_job_is_an_asset_and_every_result_of_an_experiment(definitions: dg.Definitions):
    graph = definitions.resolve_asset_graph()
    partitions = {key.to_user_string(): graph.get(key).partitions_def for key in graph.materializable_asset_keys}

    def named(name: str) -> set[str]:
        return {asset for asset, found in partitions.items() if getattr(found, "name", None) == name}

    assert named("rl_jobs") == JOB_ASSETS
    assert named("rl_experiments") == EXPERIMENT_ASSETS
    assert {asset for asset, found in partitions.items() if found is None} == {
        "job_index",
        "experiment_index",
    }


def test_every_asset_has_a_group_kinds_and_a_description(definitions: dg.Definitions):
    graph = definitions.resolve_asset_graph()

    bare = [
        key.to_user_string()
        for key in graph.get_all_asset_keys()
        if not (graph.get(key).group_name and graph.get(key).kinds and graph.get(key).description)
    ]

    assert bare == []


def test_every_table_shows_its_columns_before_it_was_made(definitions: dg.Definitions):
    graph = definitions.resolve_asset_graph()

    columns = graph.get(dg.AssetKey("vllm_stats")).metadata["dagster/column_schema"].schema.columns

    assert "kv_cache_usage" in [column.name for column in columns]


def test_checks_of_partitioned_assets_have_a_result_per_partition(definitions: dg.Definitions):
    graph = definitions.resolve_asset_graph()

    unpartitioned = [key.to_user_string() for key in graph.asset_check_keys if graph.get(key).partitions_def is None]

    assert unpartitioned == ["job_index:everything_on_disk_was_understood"]


def test_the_definitions_can_be_loaded(definitions: dg.Definitions):
    dg.Definitions.validate_loadable(definitions)


@pytest.mark.dagster
def test_loading_warns_of_nothing_and_leaves_analysis_and_pages_for_those_who_need_them(tmp_path: Path):
    """Every warning is an error, but for those of other packages about themselves.

    Each run is a process: what a job's run does not need is not imported with the definitions.
    """
    program = (
        "import sys, dagster as dg, rl_pipeline.definitions as d; d.defs.get_repository_def(); "
        "print(*{'scipy', 'jinja2', 'rl_pipeline.analysis.findings'} & set(sys.modules))"
    )
    command = [
        sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning",
        "-c", program,
    ]  # fmt: skip

    loaded = subprocess.run(
        command, env={**os.environ, **Lab(tmp_path).environment()}, capture_output=True, text=True, check=False
    )

    assert (loaded.returncode, loaded.stdout, loaded.stderr) == (0, "\n", "")
