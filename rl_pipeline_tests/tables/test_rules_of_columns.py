"""The word lists of the rules are those that the writers of the columns use."""

from __future__ import annotations

from rl_pipeline import schema
from rl_pipeline.analysis import trial_placing
from rl_pipeline.tables.rules_of_columns import WORDS


def test_the_words_are_those_of_the_constants():
    assert set(WORDS["trials", "job_confidence"]) == {
        trial_placing.EXACT,
        trial_placing.ASSUMED_UTC,
        trial_placing.ESTIMATED_ZONE,
        trial_placing.OVERLAP,
        trial_placing.NONE,
    }
    assert WORDS["trials", "outcome"] == (schema.SOLVED, schema.UNSOLVED, schema.UNSCORED)
    assert set(WORDS["trials", "exception_class"]) == {
        schema.AGENT_LIMIT, schema.CONTEXT, schema.VERIFIER, schema.INFRASTRUCTURE, schema.HARNESS, schema.OTHER,
    }  # fmt: skip
    assert set(WORDS["step_metrics", "kind"]) == {schema.TRAIN, schema.EVAL, schema.TIMING, schema.PARTIAL}
    assert set(WORDS["step_metrics", "state"]) == {
        schema.MEASURED, schema.BELOW_RESOLUTION, schema.NOT_FINITE, schema.TEXT,
    }  # fmt: skip
    assert set(WORDS["step_metrics", "source"]) == {schema.CONSOLE, schema.MIRROR, schema.SUMMARY, schema.JSONL}
    assert WORDS["jobs", "end_state"] == schema.END_STATES
