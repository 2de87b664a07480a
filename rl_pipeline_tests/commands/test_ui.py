"""`rl-pipeline ui` before anything is started: a port that is taken, an address of another machine, a home nobody may
write."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from rl_pipeline.cli import WRONG_USE, main
from rl_pipeline.commands.ui import must_be_free
from rl_pipeline.errors import ConfigurationError
from rl_pipeline_tests.helpers.receivers import free_port

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_a_taken_port_ends_at_once_and_another_is_proposed(taken: int, tmp_path: Path):
    done = CliRunner().invoke(main, ["ui", "--port", str(taken)], env={"RL_PIPELINE_HOME": str(tmp_path)})

    assert done.exit_code == WRONG_USE
    assert done.output.startswith(f"rl-pipeline: port {taken} is taken\n")
    assert re.search(r"do: .*rl-pipeline ui --port \d+ \(make ui PORT=\d+\)", done.output)


def test_a_free_port_is_left_free():
    port = free_port()

    must_be_free("127.0.0.1", port)
    must_be_free("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("203.0.113.7", 3000), ("no such host", 3000)])
def test_an_address_where_nobody_can_listen_is_told(host: str, port: int):
    with pytest.raises(ConfigurationError, match="cannot listen"):
        must_be_free(host, port)


def test_a_home_that_cannot_be_written_is_told_without_a_traceback(tmp_path: Path):
    (tmp_path / "file").write_text("")

    done = CliRunner().invoke(main, ["ui"], env={"RL_PIPELINE_HOME": str(tmp_path / "file" / "home")})

    assert done.exit_code == WRONG_USE
    assert "Traceback" not in done.output
    assert "do: set RL_PIPELINE_HOME to such a folder" in done.output


def test_make_hands_the_port_down():
    shown = subprocess.run(
        ["make", "--dry-run", "ui", "PORT=4567"], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "rl-pipeline ui --port 4567" in shown.stdout
