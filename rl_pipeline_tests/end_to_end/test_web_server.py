"""The web server: who can reach it, what the read-only one refuses, what its pages know, and that it goes when told."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rl_pipeline.defs.instance import config_folder
from rl_pipeline_tests.helpers.lab import Lab
from rl_pipeline_tests.helpers.receivers import free_port
from rl_pipeline_tests.helpers.services import BIN, clean_environment, service, until
from rl_pipeline_tests.helpers.web_pages import (
    ask,
    listening_addresses,
    locations_of_runs,
    partitions_shown,
    status_of_post,
)

pytestmark = pytest.mark.dagster
READ_ONLY_UNIT = Path(__file__).resolve().parents[2] / "deploy" / "systemd" / "rl-pipeline-readonly.service"
WIPE = 'mutation {wipeAssets(assetPartitionRanges: [{assetKey: {path: ["raw_log"]}}]){__typename}}'
ADD = """mutation {addDynamicPartition(partitionsDefName: "rl_jobs", partitionKey: "x", repositorySelector:
{repositoryName: "__repository__", repositoryLocationName: "rl_pipeline"}){__typename}}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A laboratory with one experiment that was made by a command."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.write_job("demo", 101)
    command = [str(BIN / "rl-pipeline"), "backfill", str(lab.root)]
    subprocess.run(command, env=clean_environment(environment(lab)), cwd=lab.folder, check=True, capture_output=True)
    return lab


def environment(lab: Lab) -> dict[str, str]:
    return {**lab.environment(), "RL_PIPELINE_ROOTS": "", "HOME": str(lab.folder)}


@pytest.fixture(scope="module")
def read_only(lab: Lab) -> Iterator[str]:
    """The address of the web server of the unit in `deploy/`, on a free port."""
    port = free_port()
    [arguments] = re.findall(r"/bin/dagster-webserver +(.*)", READ_ONLY_UNIT.read_text())
    words = re.sub(r"-p \d+", f"-p {port}", re.sub(r"-w \S+", "", arguments)).split()
    command = [str(BIN / "dagster-webserver"), *words, "-w", str(config_folder() / "workspace.yaml")]
    variables = {**environment(lab), "DAGSTER_HOME": str(config_folder())}
    address = f"http://127.0.0.1:{port}/rl"
    with service(command, variables, folder=lab.folder, log=lab.folder / "web.log"):
        until("the web server", lambda: ask(address, "{version}"))
        yield address


def test_the_ui_of_the_command_is_for_this_machine_knows_every_run_and_goes_with_its_children(lab: Lab):
    port, elsewhere = free_port(), lab.folder / "elsewhere"
    elsewhere.mkdir()
    command = [str(BIN / "rl-pipeline"), "ui", "--port", str(port)]

    # As `make ui &` in a script starts it: interrupts are ignored.
    with service(
        command, environment(lab), folder=elsewhere, log=lab.folder / "ui.log", signals="--ignore-signal=INT"
    ) as ui:
        shown = until("the UI", lambda: partitions_shown(port))
        locations, addresses, born = locations_of_runs(port), listening_addresses(port), ui.living()
        ui.terminate()
        until("the last child", lambda: not ui.living())

    assert (shown["raw_log"], shown["metrics_report"]) == (["demo_101"], ["demo"])
    assert locations == ["rl_pipeline"] * 3
    assert addresses == {"127.0.0.1"}
    assert len(born) >= 3
    assert list(elsewhere.iterdir()) == []
    assert "Warning:" not in (lab.folder / "ui.log").read_text()


def test_the_read_only_server_shows_everything_and_changes_nothing(read_only: str):
    nodes = ask(read_only, "{assetNodes{assetKey{path} partitionKeys}}")["assetNodes"]
    wiped, added = ask(read_only, WIPE)["wipeAssets"], ask(read_only, ADD)["addDynamicPartition"]

    assert ["demo_101"] in [node["partitionKeys"] for node in nodes]
    assert (wiped["__typename"], added["__typename"]) == ("UnauthorizedError", "UnauthorizedError")
    assert status_of_post(f"{read_only}/report_asset_materialization/raw_log") == 401
    assert listening_addresses(urlsplit(read_only).port or 0) == {"127.0.0.1"}
