"""Per-trajectory lines, summed over the job."""

from __future__ import annotations

from rl_pipeline.dialects import trajectory_failures
from rl_pipeline_tests.dialects.feeding import OTHER, feed, message, values

START = "Trajectory TrajectoryID(instance_id='fix-bug', repetition_id=3)"


def failed(text: str, name: str = "DaytonaError", excluded: bool = True) -> str:
    return f"{START} failed with Harbor exception: {text} (type={name}, exclude_from_baseline={excluded})"


def test_lines_are_counted_by_type_and_treatment():
    rows = feed(
        trajectory_failures,
        message(failed("a"), line=1),
        message(failed("b"), line=2, repeat_count=3),
        message(failed("c", excluded=False), line=3),
        message(f"{START}: AgentTimeoutError classified as PASSTHROUGH, using verifier reward", line=4),
    )

    assert values(rows, "kind", "name", "value", "line", "repeat_count") == [
        ("trajectory_failure", "DaytonaError", 1.0, 1, 4),
        ("trajectory_failure", "DaytonaError", 0.0, 3, 1),
        ("trajectory_passthrough", "AgentTimeoutError", None, 4, 1),
    ]


def test_type_and_treatment_are_taken_from_the_end():
    quoted = "the chat said (type=KeyError, exclude_from_baseline=False) and went on"

    rows = feed(trajectory_failures, failed(quoted, "ContextLengthExceededError"))

    assert values(rows, "name", "value") == [("ContextLengthExceededError", 1.0)]


def test_the_end_of_a_long_text_may_stand_on_a_later_line():
    quoted = f"{START} failed with exception: x (type=KeyError, exclude_from_baseline=False)"

    rows = feed(
        trajectory_failures,
        message(f"{START} failed with exception: the chat was", line=1),
        message("tests (type=DaytonaError, exclude_from_baseline=True)", source=OTHER, logger=None, line=2),
        message("... (type=ContextLengthExceededError, exclude_from_baseline=True)", line=3, logger=None),
        message(quoted, line=4, logger=None),
        message(f"{START} failed with exception: without end", line=9),
    )

    assert values(rows, "name", "value", "line", "repeat_count") == [
        ("ContextLengthExceededError", 1.0, 1, 1),
        ("untyped", None, 9, 1),
    ]


def test_a_line_of_the_oldest_form_has_no_type():
    rows = feed(trajectory_failures, f"{START} failed: Could not extract results.")

    assert values(rows, "name", "value") == [("untyped", None)]
