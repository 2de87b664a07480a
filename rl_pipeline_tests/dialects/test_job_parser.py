"""Who gets which message of a job."""

from __future__ import annotations

from typing import Any

from rl_pipeline.dialects import DIALECTS, JobParser
from rl_pipeline.reader.message import Source
from rl_pipeline.schema import JobEvent, RolloutBatch, StepMetric, Unparsed
from rl_pipeline_tests.dialects.feeding import OTHER, message, told

MARKER = "Step 5: effective_batch=512 samples (64/64 groups), discard_rate=0.0%"
BLOCK = "Step 5: \n{'reward/avg_raw_reward': '0.5000', 'trainer/global_step': 5}"
DONE = "Batch generation complete: 8/8 successful, 0 failed instances"


def closed(parser: JobParser) -> list[Any]:
    return list(parser.close())


def test_rows_of_all_dialects_share_one_course():
    parser = JobParser("job_567548")

    rows = told(parser, message(MARKER), message(DONE), message(BLOCK))

    assert [type(row) for row in rows] == [JobEvent, RolloutBatch, StepMetric, StepMetric]
    assert rows[1].since_step_marker == 5
    assert {row.job for row in rows} == {"job_567548"}
    assert parser.recognised == {"effective_batch": 1, "rollout_batches": 1, "step_block": 1}


def test_block_numbers_count_over_console_mirror_and_summary():
    parser = JobParser("job_1")
    mirror = 'WANDB_MIRROR kind=train step=5 metrics={"a": 1}'

    payloads = (mirror, BLOCK, "vLLM Stats (step 5): engines=8", BLOCK)

    rows = told(parser, *(message(payload) for payload in payloads))

    assert sorted({(row.block, row.source) for row in rows}) == [
        (0, "mirror"),
        (1, "console"),
        (2, "summary"),
        (3, "console"),
    ]


def test_a_broken_message_is_unparsed_beside_what_could_be_saved():
    parser = JobParser("job_1")

    rows = told(parser, message("Step 9: \n{'a/b': 1,\n 'a/c", line=12, complete=False))

    assert [type(row) for row in rows] == [StepMetric, Unparsed]
    assert (rows[1].line, rows[1].byte_offset, rows[1].dialect) == (12, 1200, "step_block")
    assert rows[1].excerpt == "Step 9: \n{'a/b': 1,\n 'a/c"


def test_an_excerpt_is_short_and_holds_no_credential():
    parser = JobParser("job_1")

    (row,) = told(parser, message("Finished: 'api_key=abcd1234efgh5678ijkl' " + "x" * 1000))

    assert len(row.excerpt) == 200
    assert "abcd1234" not in row.excerpt


def test_a_bare_line_of_a_source_that_uses_a_logger_is_quoted_text():
    parser = JobParser("job_1")
    parser.parse(message("Started: 'step'"))

    assert parser.parse(message("Training done!", logger=None)) == []
    assert parser.parse(message(BLOCK, logger=None)) == []
    assert len(parser.parse(message("Training done!", logger=None, source=OTHER))) == 1
    assert len(parser.parse(message("Training done!"))) == 1


def test_what_programs_print_without_a_logger_is_read_all_the_same():
    parser = JobParser("job_1")
    parser.parse(message("Started: 'step'", source=Source()))

    (row,) = told(parser, message("Killed", logger=None, source=Source()))

    assert row.kind == "killed"


def test_credentials_are_seen_in_lines_of_other_dialects():
    parser = JobParser("job_1")
    line = "trainer.epochs=20 trainer.wandb_api_key=0123456789abcdef0123456789abcdef01234567"

    rows = [*told(parser, message(line)), *closed(parser)]

    assert [(row.kind, row.name) for row in rows] == [("configuration", "trainer.epochs"), ("secret", "named_secret")]
    assert parser.recognised == {"configuration": 1, "credentials": 1}


def test_late_rows_come_at_the_end():
    parser = JobParser("job_1")

    assert parser.parse(message("Started: 'step'")) == []
    assert [row.finished for row in closed(parser)] == [False]
    assert parser.close() == []


def test_a_message_nobody_knows_gives_nothing():
    parser = JobParser("job_1")

    assert parser.parse(message("hello")) == []
    assert parser.recognised == {}


def test_two_jobs_do_not_share_anything():
    first, second = JobParser("job_1"), JobParser("job_2")
    first.parse(message(MARKER))

    (row,) = told(second, message(DONE))

    assert row.since_step_marker is None
    assert len(DIALECTS) == len({dialect.NAME for dialect in DIALECTS})
