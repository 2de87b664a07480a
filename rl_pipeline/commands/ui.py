"""`rl-pipeline ui`: the web server and daemon of Dagster on the one store."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from rl_pipeline.defs.instance import config_folder
from rl_pipeline.errors import ConfigurationError


def run(*, port: int, host: str) -> None:
    """Replace this process by `dagster dev`; interrupts reach it as if it had been started by hand.

    Raises:
        ConfigurationError: Dagster's command is not installed beside this Python.
    """
    command = shutil.which("dagster", path=str(Path(sys.executable).parent)) or shutil.which("dagster")
    if command is None:
        raise ConfigurationError(
            "The `dagster` command is missing",
            where=str(Path(sys.executable).parent),
            do="install rl_pipeline with its dependencies in this environment",
            slug="dagster-missing",
        )
    folder = config_folder()
    os.environ["DAGSTER_HOME"] = str(folder)
    arguments = [command, "dev", "-w", str(folder / "workspace.yaml"), "-h", host, "-p", str(port)]
    os.execv(command, arguments)
