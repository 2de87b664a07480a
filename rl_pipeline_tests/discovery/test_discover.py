"""Experiments and jobs are found in every usual layout, and what is left out is told with what to do."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import pytest

from rl_pipeline.discovery import discover, parse_log_pattern
from rl_pipeline.errors import ConfigurationError, DataError


def put(path: Path, text: str | None = None) -> Path:
    """A small log whose content is its own path, so that no two are equal."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text is not None else f"line of {path}\n")
    return path


def found(*inputs: Path, **options) -> dict[str, list[str]]:
    return {item.experiment: [job.job for job in item.jobs] for item in discover(inputs, **options).experiments}


def messages(*inputs: Path, **options) -> list[str]:
    return [f"{problem.path.name}: {problem.what}" for problem in discover(inputs, **options).problems]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An experiments root with two experiments."""
    for job in (99, 100, 567548):
        put(tmp_path / "exps" / "demo-8b" / "logs" / f"demo-8b_{job}.out")
    put(tmp_path / "exps" / "other" / "logs" / "slurm-7.out")
    put(tmp_path / "exps" / "notes" / "todo.txt")
    return tmp_path / "exps"


def test_an_experiments_root_gives_its_experiments_with_jobs_in_the_order_of_their_ids(root):
    assert found(root) == {"demo-8b": ["job_99", "job_100", "job_567548"], "other": ["job_7"]}


@pytest.mark.parametrize("below", ["demo-8b", "demo-8b/logs", "demo-8b/logs/../logs"])
def test_an_experiments_folder_and_its_logs_folder_give_the_same_experiment(root, below):
    assert found(root / below) == {"demo-8b": ["job_99", "job_100", "job_567548"]}


def test_single_files_belong_to_the_experiment_above_them(root):
    assert found(root / "demo-8b/logs/demo-8b_99.out", root / "other/logs/slurm-7.out") == {
        "demo-8b": ["job_99"],
        "other": ["job_7"],
    }


def test_overlapping_inputs_give_each_log_once(root):
    assert found(root, root / "demo-8b", root / "other/logs/slurm-7.out") == {
        "demo-8b": ["job_99", "job_100", "job_567548"],
        "other": ["job_7"],
    }
    assert messages(root, root / "demo-8b") == []


def test_a_job_knows_its_keys_and_its_file(root):
    (demo, _) = discover([root]).experiments
    job = demo.jobs[-1]

    assert (demo.key, job.experiment_key, job.job_key, job.job_id) == (
        "demo-8b",
        "demo-8b",
        "demo-8b_567548",
        "567548",
    )
    assert job.path == root / "demo-8b/logs/demo-8b_567548.out"
    assert (job.size_bytes, job.mtime_ns) == (job.path.stat().st_size, job.path.stat().st_mtime_ns)


@pytest.mark.parametrize("name", ["all_logs", "logs"])
def test_a_flat_folder_holds_the_experiments_that_its_files_name(tmp_path, name):
    for file in ("demo_1.out", "demo_2.out", "other-3.log", "other_3_rayw1.out"):
        put(tmp_path / name / file)

    assert found(tmp_path / name) == {"demo": ["job_1", "job_2"], "other": ["job_3"]}


def test_a_logs_folder_with_one_unrelated_name_is_named_by_its_experiment_below_a_root(tmp_path):
    put(tmp_path / "run7" / "logs" / "grpo_1.out")

    assert found(tmp_path) == {"run7": ["job_1"]}


def test_a_resumed_part_stays_with_its_experiment(tmp_path):
    put(tmp_path / "demo" / "logs" / "demo_1.out")
    put(tmp_path / "demo" / "logs" / "demo-resumed_2.out")

    assert found(tmp_path) == {"demo": ["job_1", "job_2"]}


def test_logs_directly_in_an_experiments_folder_are_found_by_their_id(tmp_path):
    put(tmp_path / "demo" / "slurm-1.out")
    put(tmp_path / "demo" / "server.log")
    put(tmp_path / "tool" / "debug.log")

    assert found(tmp_path) == {"demo": ["job_1"]}


def test_two_experiments_in_one_folder_are_not_read_as_one(tmp_path):
    put(tmp_path / "mixed" / "logs" / "first_1.out")
    put(tmp_path / "mixed" / "logs" / "second_2.out")

    with pytest.raises(ConfigurationError) as caught:
        discover([tmp_path / "mixed"]).only()

    message = str(caught.value)
    assert caught.value.slug == "several-experiments"
    assert "first (1 job), second (1 job)" in message
    assert str(tmp_path / "mixed" / "logs") in message
    assert "--experiment" in message


def test_an_experiment_can_be_chosen_or_all_logs_be_given_one_name(tmp_path):
    put(tmp_path / "first_1.out")
    put(tmp_path / "second_2.out")

    assert found(tmp_path, experiment="second") == {"second": ["job_2"]}
    assert found(tmp_path, experiment="both") == {"both": ["job_1", "job_2"]}


def test_a_name_from_a_file_becomes_a_safe_key(tmp_path):
    put(tmp_path / "my run (3)_12.out")
    (item,) = discover([tmp_path]).experiments

    assert item.experiment == "my run (3)"
    assert item.key.startswith("my-run-3-")
    assert item.jobs[0].job_key.startswith("my-run-3-_12-")


def test_configured_patterns_find_logs_that_are_named_otherwise(tmp_path):
    put(tmp_path / "demo" / "slurm" / "a" / "out.12.txt")
    put(tmp_path / "flat" / "exp.one-44.console")
    patterns = [
        parse_log_pattern("{experiment}/slurm/*/out.{job}.txt"),
        parse_log_pattern("{experiment}-{job}.console"),
    ]

    assert found(tmp_path, patterns=patterns) == {"demo": ["job_12"], "exp.one": ["job_44"]}
    assert found(tmp_path) == {}


def test_a_missing_path_is_refused_with_where_and_what_to_do(tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        discover([tmp_path / "nowhere" / "logs"])

    assert caught.value.slug == "missing-path"
    assert str(tmp_path / "nowhere" / "logs") in str(caught.value)
    assert f"{tmp_path / 'nowhere'} does not exist either" in str(caught.value)


def test_what_is_neither_file_nor_folder_is_told_and_not_opened(tmp_path):
    os.mkfifo(tmp_path / "demo_1.out")

    assert messages(tmp_path / "demo_1.out") == ["demo_1.out: neither a file nor a folder"]
    assert messages(tmp_path) == [f"{tmp_path.name}: the folder holds no job log"]


def test_an_empty_folder_and_one_without_logs_say_so(tmp_path):
    (tmp_path / "empty").mkdir()
    put(tmp_path / "texts" / "readme.md")

    assert messages(tmp_path / "empty") == ["empty: the folder is empty"]
    assert messages(tmp_path / "texts") == ["texts: the folder holds no job log"]
    with pytest.raises(DataError) as caught:
        discover([tmp_path / "texts"]).only()
    assert caught.value.slug == "no-job-logs"
    assert "RL_PIPELINE_LOG_PATTERNS" in str(caught.value)


def test_of_a_log_and_its_packed_copy_the_log_is_read(root):
    log = root / "demo-8b" / "logs" / "demo-8b_100.out"
    log.with_name("demo-8b_100.out.gz").write_bytes(gzip.compress(log.read_bytes()))

    (demo, _) = discover([root]).experiments
    assert [job.path.name for job in demo.jobs][1] == "demo-8b_100.out"
    assert messages(root) == ["demo-8b_100.out.gz: second log of job_100, left out; demo-8b_100.out is read"]


@pytest.mark.parametrize("way", [shutil.copy, os.link, os.symlink], ids=["copy", "hard link", "symbolic link"])
def test_a_job_that_is_listed_twice_under_two_names_is_read_once(root, way):
    log = root / "demo-8b" / "logs" / "demo-8b_567548.out"
    way(log, log.with_name("demo-8b_999999.out"))

    discovery = discover([root])

    assert [job.job for job in discovery.experiments[0].jobs] == ["job_99", "job_100", "job_567548"]
    assert [problem.path.name for problem in discovery.problems] == ["demo-8b_999999.out"]
    assert "job_567548" in discovery.problems[0].what
    assert "remove or rename" in discovery.problems[0].do


def test_the_same_id_under_two_names_is_told_and_the_named_log_is_kept(root):
    put(root / "demo-8b" / "logs" / "slurm-567548.out")

    assert messages(root) == ["slurm-567548.out: second log of job_567548, left out; demo-8b_567548.out is read"]


def test_one_experiment_in_two_places_is_joined_and_told(tmp_path):
    put(tmp_path / "a" / "demo" / "logs" / "demo_1.out")
    put(tmp_path / "b" / "demo" / "logs" / "demo_2.out")

    assert found(tmp_path / "a", tmp_path / "b") == {"demo": ["job_1", "job_2"]}
    assert messages(tmp_path / "a", tmp_path / "b") == [
        "demo: experiment demo has logs in 2 places; they are read as one experiment"
    ]


def test_links_in_a_circle_and_dangling_ones_do_no_harm(root):
    (root / "loop").symlink_to(root)
    (root / "demo-8b" / "logs" / "loop_1.out").symlink_to("loop_1.out")
    (root / "demo-8b" / "logs" / "gone_2.out").symlink_to("nowhere.out")

    assert found(root) == {"demo-8b": ["job_99", "job_100", "job_567548"], "other": ["job_7"]}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_log_is_told(root):
    log = root / "demo-8b" / "logs" / "demo-8b_100.out"
    log.chmod(0)

    assert messages(root) == ["demo-8b_100.out: cannot be opened: Permission denied"]


def test_a_folder_of_trials_is_never_searched_for_logs(tmp_path):
    put(tmp_path / "demo" / "logs" / "demo_1.out")
    put(tmp_path / "trace_jobs" / "logs" / "trial_5.out")

    assert found(tmp_path) == {"demo": ["job_1"]}


def test_a_file_name_that_is_no_text_gives_names_that_are(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9\x1b[31m_1.out")).write_text("a line\n")
    (tmp_path / os.fsdecode(b"caf\xe9_2.out")).write_bytes(b"")

    discovery = discover([tmp_path])

    assert [item.experiment for item in discovery.experiments] == ["caf\ufffd\ufffd[31m"]
    assert discovery.experiments[0].jobs[0].job_key.isascii()
    assert str(discovery.problems[0]).encode()
    assert "\x1b" not in str(discovery.problems[0])
