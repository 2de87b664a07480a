"""A copy of the bundled sample where the demo may work: the installed package can be read-only."""

from __future__ import annotations

import shutil
from pathlib import Path

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.sample import sample_path

FOLDER = "sample"


def copied_sample(home: Path) -> Path:
    """The experiments root of the sample below the home; copied once, and again when it is incomplete.

    Raises:
        ConfigurationError: the home cannot be written.
    """
    source, target = sample_path(), home / FOLDER
    try:
        home.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target, dirs_exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            "The folder of the demo cannot be written",
            where=f"{home} ({error.strerror or error})",
            expected="a folder that this user may write",
            do="name another one: rl-pipeline demo DIR",
            slug="home-not-writable",
        ) from error
    return target
