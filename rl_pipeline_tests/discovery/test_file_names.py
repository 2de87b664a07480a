"""Names of job logs are told from names of files beside them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.discovery.file_names import (
    any_log_name,
    parse_log_name,
    parse_log_pattern,
    split_name,
    without_companions,
)
from rl_pipeline.errors import ConfigurationError


@pytest.mark.parametrize(
    ("file_name", "experiment", "job"),
    [
        ("demo_567548.out", "demo", "job_567548"),
        ("demo-567548.log", "demo", "job_567548"),
        ("demo_567548.err", "demo", "job_567548"),
        ("demo_567548.out.gz", "demo", "job_567548"),
        ("demo_567548.out.zst", "demo", "job_567548"),
        ("a3-rl.v2_8b-x_1.out", "a3-rl.v2_8b-x", "job_1"),
        ("slurm-567548.out", None, "job_567548"),
        ("567548.out", None, "job_567548"),
        ("slurm-918273_4.out", None, "job_918273_4"),
        ("demo_918273_4.out", "demo", "job_918273_4"),
        ("run_3_123456.out", "run_3", "job_123456"),  # ambiguous by itself: array ids begin with the long number
        ("demo_20260211_123456.out", "demo_20260211", "job_123456"),  # a date, no array
        ("multi_head_567548.out", "multi_head", "job_567548"),
        ("lora_rank16_567548.out", "lora_rank16", "job_567548"),
        ("grpo_vllm_8b_567548.out", "grpo_vllm_8b", "job_567548"),
        ("train.log", None, "train"),
        ("qwen-8b.out", None, "qwen-8b"),
    ],
)
def test_the_id_is_read_from_the_right(file_name, experiment, job):
    name = parse_log_name(file_name)

    assert name is not None
    assert (name.experiment, name.job) == (experiment, job)


@pytest.mark.parametrize(
    "file_name",
    [
        "demo_567548_rayhead.out",
        "demo_567548_rayw1.out",
        "demo_567548_rayw12.out",
        "demo_rayhead_567548.out",
        "demo_567548_head.out",
        "demo_567548_rank0.out",
        "demo_567548_worker_3.out",
        "demo_567548_vllm.log",
        "vllm_server_567548.log",
        "vllm-server.log",
        "vllm.log",
        "infra-260211_214021.log",
        "worker-00112233445566778899aabbccdd-01000000-4411.out",
        "raylet.out",
        "gcs_server.out",
        "job.log",
        "trial.log",
        ".demo_567548.out",
        "demo_567548.txt",
        "demo_567548.out.swp",
        "demo_567548",
        ".out",
        "metrics_567548.csv",
    ],
)
def test_files_beside_a_training_log_are_no_jobs(file_name):
    assert parse_log_name(file_name) is None


def test_companions_of_a_log_are_left_out():
    names = [
        "demo_567548.out",
        "demo_567548.err",
        "demo_567548.log",
        "demo_567548_0.out",
        "demo_567548_1.out",
        "demo_567550.err",
        "notes.log",
        "slurm-99999_1.out",
        "slurm-99999_2.out",
    ]

    assert list(without_companions(names)) == [
        "demo_567548.out",
        "demo_567550.err",
        "slurm-99999_1.out",
        "slurm-99999_2.out",
    ]


def test_logs_without_an_id_count_when_no_other_has_one():
    assert list(without_companions(["train.log", "resumed.out", "x.txt"])) == ["resumed.out", "train.log"]


def test_a_file_that_someone_points_at_may_have_any_name():
    assert any_log_name("notes of tuesday.txt").job == "notes of tuesday"
    assert any_log_name("demo-12.console.txt.gz").job == "demo-12.console"
    assert any_log_name("demo_567548_rayhead.out").job == "demo_567548_rayhead"
    assert any_log_name("demo_567548.txt").job == "job_567548"


@pytest.mark.parametrize(
    ("pattern", "path", "experiment", "job"),
    [
        ("{experiment}-{job}.txt", "my-exp-12.txt", "my-exp", "job_12"),
        ("{experiment}-{job}.txt", "deep/down/my-exp-12.txt", "my-exp", "job_12"),
        ("{experiment}/slurm/{experiment}_{job}.o", "e/slurm/e_7.o", "e", "job_7"),
        ("{experiment}/*/job?{job}.[lo]*", "e/a/job-7.log", "e", "job_7"),
        (r"(?P<experiment>[a-z]+)--(?P<job>\d+)\.txt", "abc--12.txt", "abc", "job_12"),
        ("*_{job}.console", "demo_12.console", "demo", "job_12"),
    ],
)
def test_a_pattern_names_experiment_and_job(pattern, path, experiment, job):
    name = parse_log_pattern(pattern).parse(path)

    assert name is not None
    assert (name.experiment, name.job) == (experiment, job)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("{experiment}-{job}.txt", "demo_12.txt"),
        ("{experiment}/slurm/{experiment}_{job}.o", "e/slurm/f_7.o"),
        ("a.c", "abc"),
    ],
)
def test_a_pattern_leaves_other_names_alone(pattern, path):
    assert parse_log_pattern(pattern).parse(path) is None


@pytest.mark.parametrize("pattern", ["(?P<experiment>[a-z]+", "(?P<job>(?P<job>x))", "[z-a]{job}"])
def test_a_pattern_that_is_no_pattern_is_refused_with_what_to_do(pattern):
    with pytest.raises(ConfigurationError) as caught:
        parse_log_pattern(pattern)

    assert caught.value.slug == "bad-log-pattern"
    assert "RL_PIPELINE_LOG_PATTERNS" in str(caught.value)


@given(st.text(max_size=80))
def test_any_text_can_be_asked(file_name):
    parse_log_name(file_name)
    any_log_name(file_name)
    without_companions([file_name])


@given(st.from_regex(r"[a-z][a-z-]{0,12}[a-z]", fullmatch=True), st.integers(1, 10**9))
def test_name_and_id_come_back_as_they_were_put_together(name, number):
    assert split_name(f"{name}_{number}") == (name, str(number))
    assert split_name(f"{name}-{number}") == (name, str(number))
