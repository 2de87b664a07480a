"""Settings that a log shows."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import configuration
from rl_pipeline.dialects.contract import JobContext
from rl_pipeline_tests.dialects.feeding import feed, message, values


@pytest.mark.parametrize(
    ("payload", "rows"),
    [
        ("    max_num_seqs: 256", [("max_num_seqs", 256.0, "256")]),
        ("  max_steps: null", [("max_steps", None, "null")]),
        ("  colocate_all: true", [("colocate_all", 1.0, "true")]),
        (" 'lr': 1.0e-06,", [("lr", 1e-06, "1.0e-06")]),
        (
            "{'max_model_len': 32768, 'seed': 1, 'max_num_seqs': 64}",
            [("max_model_len", 32768.0, "32768"), ("max_num_seqs", 64.0, "64")],
        ),
        ("trainer.epochs=20", [("trainer.epochs", 20.0, "20")]),
        ("    generator.n_samples_per_prompt=8 \\", [("generator.n_samples_per_prompt", 8.0, "8")]),
        (
            "+ python -m app +trainer.fully_async.max_staleness_steps=4",
            [("trainer.fully_async.max_staleness_steps", 4.0, "4")],
        ),
        ('trainer.algorithm.advantage_estimator="grpo"', [("trainer.algorithm.advantage_estimator", None, "grpo")]),
    ],
)
def test_a_setting_is_read_in_every_form(payload, rows):
    found = feed(configuration, message(payload, logger=None))

    assert values(found, "name", "value", "detail") == rows


@pytest.mark.parametrize(
    "payload",
    [
        "I set max_num_seqs: 256 in the file",
        "the batch_size=8 was fine",
        "prompt with max_model_len=32768 and more",
        "  my_max_num_seqs: 256",
        "  max_num_seqs_total: 256",
        "num_nodes",
    ],
)
def test_prose_is_no_setting(payload):
    assert configuration.parser(JobContext("job_1")).parse(message(payload, logger=None)) is None


def test_the_same_setting_is_kept_once_per_value():
    rows = feed(configuration, *["  max_num_seqs: 256"] * 8, "  max_num_seqs: 64")

    assert values(rows, "line", "value") == [(1, 256.0), (9, 64.0)]


def test_after_the_first_step_nothing_is_a_setting():
    context = JobContext("job_1", step_marker=1)

    assert configuration.parser(context).parse(message("  max_num_seqs: 256")) is None


def test_a_cut_line_keeps_only_what_is_followed_by_more():
    rows = feed(configuration, message("trainer.epochs=20 trainer.policy.optimizer_config.lr=1.0e", complete=False))

    assert values(rows, "name") == [("trainer.epochs",)]


def test_every_key_has_a_needle():
    forms = [form.format(key) for key in configuration.KEYS for form in ("  {}: 1", " '{}': 1", "trainer.{}=1")]

    missed = [form for form in forms if not any(needle.decode() in form for needle in configuration.NEEDLES)]

    assert missed == []
