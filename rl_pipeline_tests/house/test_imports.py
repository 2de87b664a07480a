"""The direction of data, kept by import-linter's contracts in pyproject.toml."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_data_flows_one_way():
    command = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or "lint-imports"

    done = subprocess.run([command], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
