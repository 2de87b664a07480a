"""The results of the published run, computed once for all tests that print or draw them."""

from __future__ import annotations

from functools import cache

from rl_pipeline.analysis.summary import ExperimentResult, analyse_experiment
from rl_pipeline_tests.helpers.reference_frames import reference_frames


@cache
def reference_result() -> ExperimentResult:
    """The same object each time."""
    return analyse_experiment(reference_frames())
