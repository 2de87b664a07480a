"""The files of `deploy/` agree with the programs they start: flags, variables, syntax, and never an open port."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rl_pipeline.settings import described
from rl_pipeline_tests.helpers.services import BIN, clean_environment

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
SCRIPTS = sorted(DEPLOY.glob("slurm/*.sbatch"))
FILES = [path for path in sorted(DEPLOY.rglob("*")) if path.is_file()]
PROGRAM = re.compile(r"/bin/(dagster-daemon|dagster-webserver|rl-pipeline)\"? +(.*)")


def commands(path: Path) -> list[tuple[str, str]]:
    """Programs of the environment that a file starts, each with its arguments."""
    return PROGRAM.findall(path.read_text())


def test_there_is_something_to_check():
    assert (len(UNITS), len(SCRIPTS)) == (3, 3)
    assert all(commands(path) for path in [*UNITS, *SCRIPTS])


@pytest.mark.dagster
@pytest.mark.parametrize("path", [*UNITS, *SCRIPTS], ids=lambda path: path.name)
def test_every_flag_is_known_to_its_program(path: Path, tmp_path: Path):
    for program, arguments in commands(path):
        words = arguments.split()
        subcommand = [words[0]] if words and not words[0].startswith("-") and program != "dagster-webserver" else []
        shown = subprocess.run(
            [str(BIN / program), *subcommand, "--help"],
            env=clean_environment({"HOME": str(tmp_path)}),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        flags = [word for word in words if word.startswith("-")]
        assert [flag for flag in flags if not re.search(rf"(^|[\s,]){flag}\b", shown)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_variable_is_a_setting(path: Path):
    known = {variable for variable, _, _ in described()} | {"RL_PIPELINE_ENV", "RL_PIPELINE_VENV"}

    assert set(re.findall(r"RL_PIPELINE_[A-Z_]+", path.read_text())) <= known


@pytest.mark.parametrize("path", [*UNITS, *SCRIPTS], ids=lambda path: path.name)
def test_a_web_server_listens_on_the_loopback_address_alone(path: Path):
    for program, arguments in commands(path):
        if program == "dagster-webserver":
            assert "-h 127.0.0.1" in arguments


def test_the_server_behind_the_proxy_is_read_only_and_the_proxy_asks_who_you_are():
    [(_, arguments)] = commands(DEPLOY / "systemd" / "rl-pipeline-readonly.service")
    proxy = (DEPLOY / "proxy" / "nginx.conf").read_text()

    assert "--read-only --path-prefix /rl" in arguments
    assert re.search(r"location /rl \{\s+auth_basic ", proxy)
    assert re.search(r"proxy_pass +http://127\.0\.0\.1:3001;", proxy)


def test_the_readme_says_that_there_is_no_login():
    assert "**Dagster has no login.**" in (DEPLOY / "README.md").read_text()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_valid_shell(path: Path):
    subprocess.run(["bash", "-n", str(path)], check=True)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_is_valid(path: Path, tmp_path: Path):
    """Verified with the program, the user and the folder that exist here in place of the deployment's."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    text = path.read_text().replace("/opt/rl_pipeline/venv/bin/", f"{BIN}/")
    text = re.sub(r"^(User|Group)=.*\n", "", text, flags=re.MULTILINE)
    unit = tmp_path / path.name
    unit.write_text(text)

    checked = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)

    told = [line for line in checked.stderr.splitlines() if path.name in line]
    assert told == []
