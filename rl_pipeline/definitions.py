"""The definitions that `workspace.yaml` and `pyproject.toml` name, with the settings of the environment."""

from __future__ import annotations

import os

from rl_pipeline.defs.factory import build_definitions
from rl_pipeline.settings import Settings

defs = build_definitions(Settings.from_environment(os.environ))
