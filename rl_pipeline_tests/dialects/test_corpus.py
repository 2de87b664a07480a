"""Excerpts of logs, read as a job's log is read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rl_pipeline.dialects import BLOCK_HEAD, NEEDLES, TRACEBACK_HEAD, JobParser
from rl_pipeline.reader import Needles, ReadReport, read_messages
from rl_pipeline.schema import JobEvent, JobRow, PhaseTiming, RolloutBatch, StepMetric, Unparsed, VllmStat
from rl_pipeline_tests.dialects.feeding import values

CORPUS = Path(__file__).parents[1] / "corpus"


def read(name: str) -> tuple[list[Any], JobParser]:
    parser = JobParser("job_1")
    needles = Needles(any_of=NEEDLES, block_head=BLOCK_HEAD, traceback_head=TRACEBACK_HEAD)
    rows = [row for item in read_messages(CORPUS / name, needles, ReadReport()) for row in parser.parse(item)]
    return [*rows, *parser.close()], parser


def of(rows: list[Any], table: type[JobRow]) -> list[Any]:
    return sorted((row for row in rows if isinstance(row, table)), key=lambda row: row.line)


def test_one_step_between_the_lines_of_other_processes():
    rows, parser = read("marin_async_step.log.txt")

    console = [row for row in of(rows, StepMetric) if row.source == "console"]
    assert values(console, "metric", "value", "state") == [
        ("async/staleness_mean", 0.0, "below_resolution"),
        ("policy/policy_lr", 0.0, "below_resolution"),
        ("reward/avg_raw_reward", 0.3359, "measured"),
        ("timing/step", 49.8012, "measured"),
        ("trainer/epoch", 0.0, "measured"),
        ("trainer/global_step", 1.0, "measured"),
    ]
    assert Counter(row.source for row in of(rows, StepMetric)) == {"console": 6, "mirror": 6}
    assert values(of(rows, RolloutBatch), "mode", "successful", "masked", "exceptions", "since_step_marker") == [
        ("training", 7, 1, {"RewardFileNotFoundError": 1}, None)
    ]
    assert values(of(rows, VllmStat), "ip", "pid", "running", "repeat_count") == [
        ("10.1.0.7", 101, 31, 1),
        ("10.1.0.9", 104, 2, 1),
        ("10.1.0.9", 104, 2, 4),
        ("10.1.0.7", 101, 0, 1),
    ]
    assert values(of(rows, PhaseTiming), "name", "seconds") == [("wait_for_generation_buffer", 21.3), ("step", 49.8)]
    assert of(rows, Unparsed) == []
    assert parser.recognised["trajectory_failures"] == 2


def test_the_course_of_a_job_from_its_command_to_its_end():
    rows, _ = read("skyrl_sync_start.log.txt")

    events = [(row.kind, row.step if row.step is not None else row.name) for row in of(rows, JobEvent)]
    assert [event for event in events if event[0] != "configuration"] == [
        ("resume", 40),
        ("checkpoint_loaded", 40),
        ("planned_steps", "data_loader"),
        ("checkpoint_saved", 41),
        ("end", "step_limit"),
        ("end", "training_done"),
    ]
    assert [name for kind, name in events if kind == "configuration"] == [
        "trainer.train_batch_size", "generator.n_samples_per_prompt", "trainer.policy.optimizer_config.lr",
        "colocate_all", "policy_num_nodes", "policy_num_gpus_per_node", "max_steps", "resume_mode",
        "num_inference_engines", "inference_engine_tensor_parallel_size", "gpu_memory_utilization", "max_num_seqs",
        "max_seq_len",
    ]  # fmt: skip
    blocks = {(row.block, row.kind, row.global_step) for row in of(rows, StepMetric)}
    assert blocks == {(0, "eval", 40), (1, "train", 41)}


def test_the_last_words_of_a_job_that_crashed():
    rows, _ = read("crash.log.txt")

    assert values(of(rows, JobEvent), "kind", "name", "step") == [
        ("traceback", "torch.OutOfMemoryError", None),
        ("worker_died", "worker", None),
        ("failure", "ActorDiedError", 4),
        ("driver_traceback", "ray.exceptions.ActorDiedError", None),
        ("slurm_task", "failed", None),
        ("slurm_task", "out_of_memory", None),
        ("slurm_job", "time_limit", None),
    ]
    assert values(of(rows, StepMetric), "metric", "kind")[-1] == ("generate/avg_num_tokens", "partial")
    assert values(of(rows, Unparsed), "dialect") == [("step_block",)]
    assert values(of(rows, PhaseTiming), "name", "finished") == [("policy_train", False)]


def test_logs_of_other_trainers_give_nothing():
    rows, parser = read("other_trainers.log.txt")

    assert rows == []
    assert parser.recognised == {}
