"""Prefixes around a line, one trap each."""

from __future__ import annotations

import time

import pytest

from rl_pipeline.reader.envelopes import BARE, before_bar, open_envelope
from rl_pipeline.reader.message import Source

STATS = "INFO 02-11 04:05:06 [loggers.py:257] Engine 000"


@pytest.mark.parametrize(
    ("line", "source", "rest"),
    [
        pytest.param("plain text", BARE, "plain text", id="bare"),
        pytest.param("(pid=4411) starting", Source(pid=4411), "starting", id="no name yet"),
        pytest.param("(FSDP pid=9120, ip=10.8.0.31) x", Source(actor="FSDP", pid=9120, ip="10.8.0.31"), "x", id="ip"),
        pytest.param(
            "(Shard(rank=2) pid=60417) hello",
            Source(actor="Shard(rank=2)", pid=60417),
            "hello",
            id="brackets in the name",
        ),
        pytest.param(
            "(Pool(pid=5) of 3 pid=60417) (x)", Source(actor="Pool(pid=5) of 3", pid=60417), "(x)", id="pid in the name"
        ),
        pytest.param("(A, b c pid=1) x", Source(actor="A, b c", pid=1), "x", id="commas and spaces in the name"),
        pytest.param("(raylet, ip=10.8.0.31) x", Source(actor="raylet", ip="10.8.0.31"), "x", id="raylet"),
        pytest.param("(raylet) x", Source(actor="raylet"), "x", id="raylet of the driver's node"),
        pytest.param("(autoscaler +2m05s) Adding", Source(actor="autoscaler"), "Adding", id="autoscaler"),
        pytest.param("(pid=gcs_server) x", Source(actor="gcs_server"), "x", id="a word as pid"),
        pytest.param(
            f"(EngineCore_DP0 pid=912) {STATS}",
            Source(pid=912, process="EngineCore_DP0", process_pid=912),
            STATS,
            id="vLLM alone",
        ),
        pytest.param(
            f" 3: (AsyncVLLMInferenceEngine pid=70211, ip=10.1.0.7) (EngineCore_DP0 pid=70655) {STATS}",
            Source("AsyncVLLMInferenceEngine", 70211, "10.1.0.7", "EngineCore_DP0", 70655, "3"),
            STATS,
            id="label, Ray and vLLM nested",
        ),
        pytest.param("12: text", Source(label="12"), "text", id="srun label"),
        pytest.param("P0 3: text", Source(label="P0 3"), "text", id="heterogeneous job"),
        pytest.param(
            "[04:05:06] task=/ada/rl-demo/0 attempt=1 | (T pid=77)  'a': 1,",
            Source(actor="T", pid=77, label="task=/ada/rl-demo/0 attempt=1"),
            " 'a': 1,",
            id="iris",
        ),
        pytest.param("[04:05:06] task=/ada/0 | x", Source(label="task=/ada/0"), "x", id="older iris"),
        pytest.param("[pod/trainer-0/main] x", Source(label="pod/trainer-0/main"), "x", id="kubectl --prefix"),
        pytest.param("(T pid=77)  'a': 1,", Source(actor="T", pid=77), " 'a': 1,", id="indentation is kept"),
        pytest.param("(T pid=77)", Source(actor="T", pid=77), "", id="nothing behind"),
        pytest.param("(AReaL) 20260109-11:22:33.444 x", BARE, "(AReaL) 20260109-11:22:33.444 x", id="not a process"),
        pytest.param("(see pid=5, below) x", BARE, "(see pid=5, below) x", id="words"),
        pytest.param("Load: 100%|####| 5/5 [00:01<00:00, 4.9it/s]", BARE, None, id="a bar alone is the text"),
        pytest.param("Load: 100%|####| 5/5 [00:01<00:00, 4.9it/s]done", BARE, "done", id="text behind a bar"),
        pytest.param("12it [00:10, 1.2it/s] done", BARE, "done", id="text behind a bar without total"),
        pytest.param("a: 1%|#| 1/9 [00:01<?, ?it/s, q=1]b: 5%|#| 1/9 [00:01<?, ?it/s]x", BARE, "x", id="two bars"),
    ],
)
def test_prefixes_are_peeled(line, source, rest):
    envelope = open_envelope(line)

    assert envelope.source == source
    assert line[envelope.end :] == (line if rest is None else rest)


def test_times_of_a_collector_are_kept():
    envelope = open_envelope("2026-01-09T11:22:33.444555666Z [pod/a/b] (T pid=1) x")

    assert envelope.received == "2026-01-09T11:22:33.444555666Z"
    assert envelope.source == Source(actor="T", pid=1, label="pod/a/b")


@pytest.mark.parametrize("text", ["(" * 100_000, "(a pid=" * 30_000, "1: " * 50_000, "5%|" * 50_000, "1it [" * 50_000])
def test_hostile_prefixes_cost_no_more_than_their_length(text):
    began = time.process_time()

    open_envelope(text)

    assert time.process_time() - began < 5  # not a speed test: a quadratic pattern would need minutes


def test_what_stands_in_front_of_a_bar_is_offered_longest_first():
    bar = "Training, all:  22%|##        | 13/60 [2:10:40<7:52:27, 603.1s/it]"

    assert before_bar(f" 'k': '0.1',{bar}") == [
        " 'k': '0.1',Training,",
        " 'k': '0.1',",
        " 'k': '0.1'",
        " 'k'",
    ]
    assert before_bar(" 'k': '22%|x',") == []
    assert before_bar("plain") == []
