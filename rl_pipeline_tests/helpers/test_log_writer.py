"""The log writer prints what the programs print; the expected lines are written out by hand."""

from __future__ import annotations

import ast
import gzip
import pprint
import re
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline_tests.helpers.log_writer import LogWriter, engine_actors, interleaved
from rl_pipeline_tests.helpers.ray_output import Actor, Line, console_block, fold, loguru_lines, srun_label

AT = datetime(2026, 1, 9, 11, 22, 33, 444000)


def test_a_step_is_its_timers_and_then_one_block_with_its_metrics():
    log = LogWriter(trainer=Actor("TrainerActor", 77), start=AT)

    log.step(7, {"reward/avg_raw_reward": 0.203125, "policy/policy_lr": 1e-6}, seconds={"generate": 30.5})

    assert log.text() == (
        "(TrainerActor pid=77) 2026-01-09 11:22:33.444 | INFO     | "
        "skyrl_train.fully_async_trainer:_train_loop:658 - Started: 'step'\n"
        "(TrainerActor pid=77) 2026-01-09 11:22:33.444 | INFO     | "
        "skyrl_train.fully_async_trainer:_train_loop:658 - Started: 'generate'\n"
        "(TrainerActor pid=77) 2026-01-09 11:23:03.944 | INFO     | "
        "skyrl_train.fully_async_trainer:_train_loop:658 - Finished: 'generate', time cost: 30.50s\n"
        "(TrainerActor pid=77) 2026-01-09 11:23:03.944 | INFO     | "
        "skyrl_train.fully_async_trainer:_train_loop:658 - Finished: 'step', time cost: 30.50s\n"
        "(TrainerActor pid=77) 2026-01-09 11:23:03.944 | INFO     | skyrl_train.utils.tracking:log:61 - Step 7: \n"
        "(TrainerActor pid=77) {'policy/policy_lr': '0.0000',\n"
        "(TrainerActor pid=77)  'reward/avg_raw_reward': '0.2031',\n"
        "(TrainerActor pid=77)  'timing/generate': '30.5000',\n"
        "(TrainerActor pid=77)  'timing/step': '30.5000',\n"
        "(TrainerActor pid=77)  'trainer/epoch': 0,\n"
        "(TrainerActor pid=77)  'trainer/global_step': 7}\n"
    )


def test_the_colour_of_a_level_closes_behind_the_last_line_of_a_message():
    lines = loguru_lines(AT, "a.b:c:1", "Step 7: \n{'x': 1}", colours=True)

    assert lines == [
        "\x1b[32m2026-01-09 11:22:33.444\x1b[0m | \x1b[1mINFO    \x1b[0m | "
        "\x1b[36ma.b\x1b[0m:\x1b[36mc\x1b[0m:\x1b[36m1\x1b[0m - \x1b[1mStep 7: ",
        "{'x': 1}\x1b[0m",
    ]


def test_an_engine_line_has_no_year_and_its_node_only_when_it_is_another():
    near, _, far, _ = engine_actors(4)
    log = LogWriter(start=AT).engine(near, generation=12.0, running=3).engine(far, prefix_percent=91.25)

    assert log.text().splitlines() == [
        "(AsyncVLLMInferenceEngine pid=70211) INFO 01-09 11:22:33 [loggers.py:248] Engine 000: Avg prompt throughput: "
        "0.0 tokens/s, Avg generation throughput: 12.0 tokens/s, Running: 3 reqs, Waiting: 0 reqs, "
        "GPU KV cache usage: 0.0%",
        "(AsyncVLLMInferenceEngine pid=70405, ip=10.1.0.8) INFO 01-09 11:22:33 [loggers.py:248] Engine 000: Avg prompt "
        "throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, "
        "GPU KV cache usage: 0.0%, Prefix cache hit rate: 91.2%",
    ]


def test_the_end_by_time_limit_is_glued_to_a_bar():
    last = LogWriter(start=AT).time_limit("918273").text().splitlines()[-1]

    assert last.endswith(
        "603.1s/it]slurmstepd: error: *** JOB 918273 ON node0412 CANCELLED AT 2026-01-09T11:22:33 DUE TO TIME LIMIT ***"
    )


def test_a_packed_log_holds_the_same_text(tmp_path):
    log = LogWriter().fresh_start().training_done()

    path = log.write(tmp_path / "logs" / "demo_1.out.gz")

    assert gzip.decompress(path.read_bytes()).decode() == log.text()


def test_lines_of_others_stand_between_the_lines_of_a_block_and_none_is_lost():
    metrics = {f"reward/component_{number:02d}": float(number) for number in range(40)}
    quiet = LogWriter(seed=5).block(3, metrics)
    noisy = LogWriter(seed=5, engines=engine_actors(2)).block(3, metrics, noise=0.6)

    own = [line for line in noisy.lines if line.actor == noisy.trainer and "other stream" not in line.text]
    assert [line.text for line in own] == [line.text for line in quiet.lines]
    assert len(noisy.lines) > len(quiet.lines) + 20


def test_srun_labels_are_right_aligned():
    assert [srun_label(3, 8), srun_label(3, 16)] == ["3: ", " 3: "]


@given(
    st.dictionaries(
        st.text("abc/_ '\\\n", min_size=1, max_size=90),
        st.floats(allow_nan=False, allow_infinity=False, width=16)
        | st.integers(-9, 10**12)
        | st.none()
        | st.booleans()
        | st.text(max_size=60)
        | st.lists(st.floats(0, 1, width=16), max_size=4),
        max_size=30,
    )
)
def test_a_block_is_what_pprint_makes_of_four_decimals(metrics):
    def decimals(value):
        if isinstance(value, list):
            return [decimals(item) for item in value]
        return f"{value:.4f}" if isinstance(value, float) else value

    expected = {key: decimals(value) for key, value in metrics.items()}

    assert console_block(metrics) == pprint.pformat(expected, width=80)
    assert ast.literal_eval(console_block(metrics)) == expected


def test_folding_prints_the_first_line_at_once_and_the_rest_as_a_count():
    one, two, three = Actor("Engine", 1), Actor("Engine", 2), Actor("Engine", 3)
    lines = [Line(AT, actor, f"Engine 000: running {n}") for n, actor in enumerate([one, two, three, one])]
    lines.append(Line(AT.replace(second=39), one, "something else"))

    assert [line.text for line in fold(lines)] == [
        "Engine 000: running 0",
        "Engine 000: running 3 [repeated 3x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 "
        "to disable log deduplication, or see https://docs.ray.io/ for more options.)",
        "something else",
    ]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(["load 1", "step 2 done", "step 3 done", "4"])),
        max_size=60,
    )
)
def test_folding_loses_no_line_from_the_count(events):
    at = AT
    lines = []
    for seconds, pid, text in events:
        at += timedelta(seconds=seconds)
        lines.append(Line(at, Actor("Worker", pid), text))

    told = list(fold(lines))

    counts = [re.search(r"\[repeated (\d+)x across cluster\]", line.text) for line in told]
    assert sum(int(count[1]) if count else 1 for count in counts) == len(lines)


@given(st.lists(st.lists(st.integers(), max_size=8), max_size=4), st.integers(0, 99))
def test_interleaving_keeps_the_order_of_each_stream(streams, seed):
    named = [[f"{number}:{place}" for place, _ in enumerate(stream)] for number, stream in enumerate(streams)]

    mixed = list(interleaved(named, seed))

    for number, stream in enumerate(named):
        assert [line for line in mixed if line.startswith(f"{number}:")] == stream
