"""The program of a process that reads trial files: which folders comes in, what they hold goes out."""

from __future__ import annotations

import gc

from rl_pipeline.trial_files.visiting import answer

__all__ = ["answer"]

gc.freeze()
