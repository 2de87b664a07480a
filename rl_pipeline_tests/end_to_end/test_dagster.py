"""Dagster as a user meets it: commands in processes of their own, one store wherever they start."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rl_pipeline.defs.instance import config_folder, open_instance
from rl_pipeline.defs.versions import recorded_versions
from rl_pipeline_tests.helpers.lab import Lab
from rl_pipeline_tests.helpers.receivers import free_port
from rl_pipeline_tests.helpers.services import BIN, clean_environment, service, until
from rl_pipeline_tests.helpers.web_pages import partitions_shown

pytestmark = pytest.mark.dagster
CHECKOUT_FILES = ("dagster.yaml", "workspace.yaml", "pyproject.toml", ".gitignore")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.write_job("demo", 101)
    lab.write_trials("demo", 3)
    return lab


def run(lab: Lab, *command: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command of this environment with the settings of the lab."""
    return subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        env=clean_environment({**lab.environment(), "HOME": str(lab.folder), **variables}),
        cwd=folder or lab.folder,
        capture_output=True,
        text=True,
        check=False,
    )


def materialize(lab: Lab, group: str, key: str) -> subprocess.CompletedProcess[str]:
    return run(
        lab, "dagster", "asset", "materialize", "-m", "rl_pipeline.definitions",
        "--select", f"group:{group}", "--partition", key, DAGSTER_HOME=str(config_folder()),
    )  # fmt: skip


def checkout(folder: Path) -> Path:
    """A git repository with the files that Dagster reads in a checkout."""
    folder.mkdir()
    for name in CHECKOUT_FILES:
        shutil.copy(ROOT / name, folder / name)
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "t"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def left_behind(repository: Path) -> str:
    """What git sees as new or ignored."""
    command = ["git", "status", "--porcelain", "--ignored"]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout


def test_the_definitions_validate_in_a_checkout(lab: Lab, tmp_path: Path):
    folder = checkout(tmp_path / "checkout")

    done = run(lab, "dagster", "definitions", "validate", "-w", "workspace.yaml", folder=folder)

    assert done.returncode == 0, done.stderr
    assert left_behind(folder) == ""


def test_a_job_and_an_experiment_are_materialized_by_the_command_line(lab: Lab):
    registered = run(lab, "rl-pipeline", "discover", str(lab.root), "--register")
    job = materialize(lab, "jobs", "demo_101")
    experiment = materialize(lab, "experiments", "demo")

    assert (registered.returncode, job.returncode, experiment.returncode) == (0, 0, 0), experiment.stderr[-2000:]
    assert (lab.settings.reports / "demo" / "metrics_report.md").is_file()


def test_a_failed_blocking_check_fails_the_command(lab: Lab):
    run(lab, "rl-pipeline", "discover", str(lab.root), "--register")
    lab.log_path("demo", 101).write_bytes(b"")

    job = materialize(lab, "jobs", "demo_101")

    assert job.returncode == 1
    assert "log_has_content" in job.stderr


def test_an_unknown_partition_fails_the_command(lab: Lab):
    assert materialize(lab, "jobs", "unknown_7").returncode == 1


@pytest.mark.parametrize("start", ["in the checkout", "from elsewhere with DAGSTER_HOME"])
def test_every_way_of_starting_shows_one_store_and_leaves_nothing_behind(lab: Lab, tmp_path: Path, start: str):
    folder, port = checkout(tmp_path / "checkout"), free_port()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(lab, "rl-pipeline", "discover", str(lab.root), "--register", folder=elsewhere)
    environment = {**lab.environment(), "RL_PIPELINE_ROOTS": "", "HOME": str(tmp_path)}
    command = [str(BIN / "dagster"), "dev", "-p", str(port)]
    if start == "in the checkout":
        command, cwd = [*command, "-w", "workspace.yaml"], folder
    else:
        command, cwd = [*command, "-m", "rl_pipeline.definitions"], elsewhere
        environment["DAGSTER_HOME"] = str(folder)

    with service(command, environment, folder=cwd, log=tmp_path / "dev.log"):
        shown = until("the UI", lambda: partitions_shown(port))

    assert shown["raw_log"] == ["demo_101"]
    assert shown["metrics_report"] == ["demo"]
    assert left_behind(folder) == ""
    assert list(elsewhere.iterdir()) == []


def report_script(lab: Lab, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / "examples" / "ci" / "report.sh"), str(lab.root), str(out)],
        env=clean_environment({"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(lab.folder)}),
        cwd=lab.folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_for_continuous_integration_leaves_reports(lab: Lab, tmp_path: Path):
    done = report_script(lab, tmp_path / "out")

    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "out" / "reports" / "demo" / "metrics_report.md").is_file()


def test_the_script_tries_everything_and_fails_when_one_log_is_none(lab: Lab, tmp_path: Path):
    other = lab.log_path("another", 301)
    other.parent.mkdir(parents=True)
    other.write_text("nothing that anybody would recognise\n" * 3)

    done = report_script(lab, tmp_path / "out")

    assert done.returncode == 1
    assert "FAILED: jobs another_301" in done.stderr
    assert (tmp_path / "out" / "reports" / "demo" / "metrics_report.md").is_file()


def test_what_the_command_line_made_the_instance_knows(lab: Lab):
    run(lab, "rl-pipeline", "discover", str(lab.root), "--register")
    materialize(lab, "jobs", "demo_101")

    with open_instance(lab.settings) as instance:
        assert list(recorded_versions(instance, "step_metrics")) == ["demo_101"]


def test_the_assets_and_the_command_line_write_the_same_bytes(lab: Lab, tmp_path: Path):
    reported = run(lab, "rl-pipeline", "report", str(lab.root / "demo"), str(tmp_path / "out"))
    made = run(lab, "rl-pipeline", "backfill", str(lab.root))

    assert (reported.returncode, made.returncode) == (0, 0), made.stderr[-2000:]
    by_command, by_assets = files_of(tmp_path / "out"), files_of(lab.settings.reports / "demo")
    assert len(by_command) > 10
    assert sorted(by_command) == sorted(by_assets)
    assert [name for name, content in by_command.items() if by_assets[name] != content] == []


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of a bundle by its relative path; the list of the bundle's own files is not part of it."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if not name.startswith(".")}
