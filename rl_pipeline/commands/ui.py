"""`rl-pipeline ui`: the web server and daemon of Dagster on the one store."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import sys
from pathlib import Path

import click

from rl_pipeline.defs.instance import config_folder, instance_folder
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.settings import Settings

# Dagster recommends its newer `dg dev`, which does not know workspace.yaml.
SUPERSEDED = "ignore:Function `dev_command` is superseded"


def run(*, port: int, host: str) -> None:
    """Replace this process by `dagster dev`; interrupts reach it as if it had been started by hand.

    What would stop it is looked for first: Dagster itself would start everything, and tell the trouble
    in the middle of other processes' output.

    Raises:
        ConfigurationError: Dagster's command is not installed beside this Python, the home cannot be
            written, or the port cannot be listened on.
    """
    command = shutil.which("dagster", path=str(Path(sys.executable).parent)) or shutil.which("dagster")
    if command is None:
        raise ConfigurationError(
            "The `dagster` command is missing",
            where=str(Path(sys.executable).parent),
            do="install rl_pipeline with its dependencies in this environment",
            slug="dagster-missing",
        )
    instance_folder(Settings.from_environment(os.environ))
    must_be_free(host, port)
    folder = config_folder()
    os.environ["DAGSTER_HOME"] = str(folder)
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), SUPERSEDED)))
    address = f"http://{host}:{port}"
    os.environ.setdefault("RL_PIPELINE_UI_URL", address)  # where the links of messages lead
    click.echo(f"Dagster comes up on {address} (Ctrl-C stops it)")
    hear_signals()
    arguments = [command, "dev", "-w", str(folder / "workspace.yaml"), "-h", host, "-p", str(port)]
    os.execv(command, arguments)


def must_be_free(host: str, port: int) -> None:
    """Listen for a moment, as the web server will.

    Raises:
        ConfigurationError: somebody else does, or this address is none of this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        raise ConfigurationError(
            f"port {port} is taken" if taken else f"the web server cannot listen on {host}:{port}",
            where=f"{host}:{port} ({error.strerror or error})",
            expected="a port and an address of this machine that nobody listens on",
            do=f"stop the other program, or take another port: rl-pipeline ui --port {_another(port)}"
            f" (make ui PORT={_another(port)})",
            slug="port-taken",
        ) from error


def _another(port: int) -> int:
    return port + 1 if 1024 <= port < 65535 else 3001


def hear_signals() -> None:
    """Take Ctrl-C and `kill` as usual, also where a shell started this in its background.

    A shell without job control starts `command &` with interrupts ignored, and Dagster then ignores
    SIGTERM as well: neither it nor its children could be stopped politely.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
