"""Names of what is remembered beside a report."""

from __future__ import annotations

STATE_FOLDER = ".rl_pipeline_state"
STATE_FILE = "report.json"
