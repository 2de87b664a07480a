"""What was read, and what could not be."""

from __future__ import annotations

from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.schema import EVAL, PARTIAL
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row


def test_every_log_says_what_it_is_and_what_is_wrong_with_it():
    frames = experiment_frames(
        jobs=[job_row("job_1", compression="gzip", nul_bytes=3, cut_tail=True, dialect_lines={"timers": 2, "a": 1})]
    )
    log = provenance_of(frames).logs[0]

    assert (log.job, log.file, log.compression, log.nul_bytes, log.cut_tail) == ("job_1", "job_1.out", "gzip", 3, True)
    assert list(log.recognised.items()) == [("a", 1), ("timers", 2)]
    assert log.read_error is None


def test_broken_messages_are_counted_by_format_and_reason_with_the_first_as_example():
    def broken(line: int, reason: str) -> dict[str, object]:
        head = {"job": "job_1", "line": line, "byte_offset": 0, "dialect": "timers"}
        return {**head, "reason": reason, "excerpt": f"line {line}"}

    found = provenance_of(
        experiment_frames(unparsed=[broken(5, "cut"), broken(7, "no number"), broken(9, "no number")])
    )

    assert [(kind.reason, kind.count, kind.line, kind.excerpt) for kind in found.unparsed] == [
        ("no number", 2, 7, "line 7"),
        ("cut", 1, 5, "line 5"),
    ]
    assert found.unparsed_total == 3


def test_skipped_folders_are_counted_by_reason():
    skipped = [{"path": "b", "reason": "empty"}, {"path": "a", "reason": "empty"}, {"path": "c", "reason": "job file"}]
    found = provenance_of(experiment_frames(skipped_trials=skipped))

    assert [(kind.reason, kind.count, kind.example) for kind in found.skipped] == [
        ("empty", 2, "a"),
        ("job file", 1, "c"),
    ]


def test_evaluation_and_cut_blocks_are_counted_once_each():
    rows = [
        *block_rows("job_1", 0, 0, {"eval/a": 1.0, "eval/b": 1.0}, kind=EVAL),
        *block_rows("job_1", 1, 1, {"a/b": 1.0}, kind=PARTIAL),
    ]
    found = provenance_of(experiment_frames(jobs=[job_row("job_1")], step_metrics=rows))

    assert (found.evaluation_blocks, found.partial_blocks) == (1, 1)
    assert found.rows["step_metrics"] == 3


def test_nothing_at_all_is_counted_as_nothing():
    found = provenance_of(experiment_frames())

    assert (found.logs, found.trials, found.unparsed_total, found.secrets_redacted) == ((), 0, 0, 0)
