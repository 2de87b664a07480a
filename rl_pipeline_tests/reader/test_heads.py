"""Logger heads, one per formatter."""

from __future__ import annotations

import json

import pytest

from rl_pipeline.reader.heads import find_head


@pytest.mark.parametrize(
    ("line", "head", "message"),
    [
        pytest.param(
            "2026-01-09 11:22:33.444 | INFO     | skyrl_train.trainer:train:301 - Step 7: ",
            ("loguru", "INFO", "skyrl_train.trainer:train", "2026-01-09 11:22:33.444"),
            "Step 7: ",
            id="loguru",
        ),
        pytest.param(
            "2026-01-09 11:22:33.444 +0100 | SUCCESS  | pkg.mod:<module>:12 - done",
            ("loguru", "SUCCESS", "pkg.mod:<module>", "2026-01-09 11:22:33.444 +0100"),
            "done",
            id="loguru with offset",
        ),
        pytest.param(
            "2026-01-09 11:22:33.444 Z | INFO     | a:b:1 - x",
            ("loguru", "INFO", "a:b", "2026-01-09 11:22:33.444 Z"),
            "x",
            id="Z",
        ),
        pytest.param(
            "INFO 02-11 04:05:06 [loggers.py:257] Engine",
            ("vllm", "INFO", "loggers.py", "02-11 04:05:06"),
            "Engine",
            id="vLLM",
        ),
        pytest.param(
            "INFO 03-01 10:11:12 metrics.py:455] Avg",
            ("vllm", "INFO", "metrics.py", "03-01 10:11:12"),
            "Avg",
            id="vLLM V0",
        ),
        pytest.param(
            "DEBUG 03-01 10:11:12.123 [v1/.../core.py:45] x",
            ("vllm", "DEBUG", "v1/.../core.py", "03-01 10:11:12.123"),
            "x",
            id="vLLM with milliseconds and a path",
        ),
        pytest.param(
            "[node7] INFO 02-11 04:05:06 [a.py:1] x",
            ("vllm", "INFO", "a.py", "02-11 04:05:06"),
            "x",
            id="vLLM with a prefix",
        ),
        pytest.param(
            "2026-01-09 11:22:33,444 - root.x - WARNING - text",
            ("stdlib", "WARNING", "root.x", "2026-01-09 11:22:33,444"),
            "text",
            id="standard library",
        ),
        pytest.param("WARNING:root:text", ("stdlib", "WARNING", "root", None), "text", id="its default"),
        pytest.param(
            "2026-01-09 11:20:01,123 INFO worker.py:1942 -- Connected",
            ("ray", "INFO", "worker.py", "2026-01-09 11:20:01,123"),
            "Connected",
            id="Ray",
        ),
        pytest.param(
            "[2026-01-09 11:20:01,456 I 301 301] (core_worker) core_worker.cc:859: text",
            ("ray", "I", "core_worker.cc", "2026-01-09 11:20:01,456"),
            "text",
            id="Ray's C++ part",
        ),
        pytest.param(
            "[2026-01-09 11:20:01 DP0 TP1] text", ("sglang", None, None, "2026-01-09 11:20:01"), "text", id="SGLang"
        ),
        pytest.param(
            "[INFO|trainer.py:2134] 2026-01-09 11:22:33,444 >> text",
            ("transformers", "INFO", "trainer.py", "2026-01-09 11:22:33,444"),
            "text",
            id="transformers",
        ),
        pytest.param(
            "[2026-01-09 11:20:01] a.py:3 - text", ("slime", None, "a.py", "2026-01-09 11:20:01"), "text", id="slime"
        ),
    ],
)
def test_heads_are_taken_off(line, head, message):
    found = find_head(line)

    assert found is not None
    assert (found.logger, found.level, found.origin, found.stamp) == head
    assert line[found.end :] == message


def test_a_json_record_gives_its_message():
    record = {
        "asctime": "2026-02-11 04:05:06,123",
        "levelname": "INFO",
        "name": "vllm.v1",
        "processName": "M",
        "process": 880,
    }

    found = find_head(json.dumps({**record, "message": "Engine 000: Avg prompt ..."}))

    assert found is not None
    assert (found.logger, found.level, found.origin, found.message) == (
        "json",
        "INFO",
        "vllm.v1",
        "Engine 000: Avg prompt ...",
    )
    assert (found.stamp, found.dated, found.process, found.process_pid) == ("2026-02-11 04:05:06,123", True, "M", 880)


@pytest.mark.parametrize(
    "line",
    [
        "Step 7: ",
        " 'trainer/epoch': 0,",
        "",
        'INFO:     10.0.0.2:51514 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
        "> 2026-01-09 11:22:33.444 | INFO     | a:b:1 - quoted",
        '{"message": 5}',
        '{"message": "no level, no time"}',
        '{"message": "cut',
        '{"a": ' * 100_000 + '"message"',
    ],
    ids=lambda line: line[:20],
)
def test_other_lines_have_no_head(line):
    assert find_head(line) is None
