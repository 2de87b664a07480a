"""Credentials in a log: counted, never kept."""

from __future__ import annotations

from rl_pipeline.dialects import credentials
from rl_pipeline.dialects.contract import JobContext
from rl_pipeline_tests.dialects.feeding import feed, message, values

LINE = "export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567"


def test_a_job_gives_one_row_per_kind_at_the_first_place():
    rows = feed(credentials, message("nothing", line=1), message(LINE, line=2), message(LINE, line=3, repeat_count=4))

    assert values(rows, "kind", "name", "line", "value", "repeat_count") == [("secret", "named_secret", 2, 5.0, 5)]


def test_no_part_of_a_credential_is_in_a_row():
    (row,) = feed(credentials, LINE)

    assert "0123456789" not in repr(row)


def test_counts_of_tokens_are_not_looked_at():
    counts = "episode 24 finished: prompt_tokens=8437 completion_tokens=1161"

    assert not any(needle.decode() in counts for needle in credentials.NEEDLES)
    assert credentials.parser(JobContext("job_1")).parse(message(counts)) is None
