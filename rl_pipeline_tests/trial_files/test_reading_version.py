"""Changed code reads trials anew: what counts as the code that reads them."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

from rl_pipeline import trial_ledger


def test_the_version_of_the_reading_code_is_that_of_all_modules_with_which_a_process_reads_trials():
    code = (
        "import rl_pipeline.trial_files.worker, sys; print(*(m for m in sys.modules if m.startswith('rl_pipeline.')))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    package = Path(trial_ledger.__file__).parent
    files = {Path(sys.modules[name].__file__ or "") for name in told if import_module(name)}
    counted = {path for pattern in trial_ledger.CODE for path in package.glob(pattern)}
    # How a library is loaded, and the answering of messages, read nothing; columns and units are told by the schema.
    others = {"reader/compiled.py", "trial_files/worker.py", "schema.py", "units.py"}

    assert {path for path in files if path.name != "__init__.py"} - counted == {package / name for name in others}
    assert {
        path for path in package.glob("reader/*/*") if path.suffix in {".c", ".py"} and "loops" not in path.parts
    } <= counted
