"""Whose log a log is, from names alone; and that jobs come in the order of their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.discovery.folders import CHILD, FILES, GIVEN, LOGS, LogFolder, job_logs
from rl_pipeline.discovery.grouping import experiment_names, natural


@pytest.mark.parametrize(
    ("path", "kind", "names", "expected"),
    [
        ("/r/demo/logs", LOGS, ["demo_1.out"], {"demo"}),
        ("/r/demo/logs", LOGS, ["slurm-1.out"], {"demo"}),
        ("/r/demo/logs", LOGS, ["grpo_1.out"], {"demo"}),
        ("/r/demo/logs", LOGS, ["demo_1.out", "demo-resumed_2.out"], {"demo"}),
        ("/r/demo/logs", LOGS, ["demo_1.out", "train_2.out"], {"demo"}),
        ("/r/demo/logs", LOGS, ["first_1.out", "second_2.out"], {"first", "second"}),
        ("/r/demo/logs", GIVEN, ["demo_1.out"], {"demo"}),
        ("/r/demo/logs", GIVEN, ["slurm-1.out"], {"demo"}),
        ("/r/demo/logs", GIVEN, ["grpo_1.out"], {"grpo"}),
        ("/r/demo/logs", FILES, ["console.txt"], {"demo"}),
        ("/r/flat", GIVEN, ["first_1.out", "second_2.out"], {"first", "second"}),
        ("/r/flat", GIVEN, ["slurm-1.out"], {"flat"}),
        ("/r/demo", CHILD, ["grpo_1.out"], {"demo"}),
        ("/r/flat", CHILD, ["first_1.out", "second_2.out"], {"first", "second"}),
        ("/r/demo", CHILD, ["slurm-1.out"], {"demo"}),
    ],
)
def test_the_experiment_is_the_folder_or_the_name_part(path, kind, names, expected):
    folder = LogFolder(path, "/r" if kind in (LOGS, CHILD) else path, kind)

    assert set(experiment_names(folder, job_logs(folder, names, ())).values()) == expected


def test_numbers_in_names_are_ordered_as_numbers():
    names = ["job_100", "job_99", "job_918273_10", "job_918273_9", "train", "job_1"]

    assert sorted(names, key=natural) == ["job_1", "job_99", "job_100", "job_918273_9", "job_918273_10", "train"]


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_two_names_can_be_ordered(first, second):
    assert natural(first) < natural(second) or natural(second) <= natural(first)
