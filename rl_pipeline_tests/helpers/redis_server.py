"""A Redis server with a password on a free port of the loopback address, and workers that take runs from it."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from rl_pipeline_tests.helpers.receivers import free_port
from rl_pipeline_tests.helpers.services import BIN, Service, service, until

PASSWORD = "made-up-for-redis"


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A server; gives its URL. Skips the test where there is none to start."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no Redis server is installed")
    port = free_port()
    options = [
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--requirepass",
        PASSWORD,
        "--save",
        "",
        "--dir",
        str(folder),
    ]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        until("Redis listens", lambda: _listens(port), patience=60)
        yield f"redis://:{PASSWORD}@127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait()


@contextmanager
def worker(environment: Mapping[str, str], folder: Path, *, slots: int = 1) -> Iterator[Service]:
    """A worker with a home of its own, as on a machine of its own; ready when the block begins."""
    folder.mkdir(parents=True, exist_ok=True)
    log, variables = folder / "worker.log", {**environment, "RL_PIPELINE_HOME": str(folder / "home")}
    command = [str(BIN / "rl-pipeline"), "worker", "--slots", str(slots)]
    with service(command, variables, folder=folder, log=log) as running:
        until(
            f"the worker is ready ({log})", lambda: " ready." in log.read_text(errors="replace") or None, patience=120
        )
        yield running


def runs_of(folder: Path) -> int:
    """How many runs a worker has executed."""
    return (folder / "worker.log").read_text(errors="replace").count("succeeded in")


def _listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
