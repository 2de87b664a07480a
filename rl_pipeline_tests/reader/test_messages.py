"""Whole files through the reader: what reaches a dialect."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import datetime

import pytest
import zstandard

from rl_pipeline.reader import Message, Source, fingerprint
from rl_pipeline_tests.reader.reading import LOGURU, RAY, payloads, read_bytes, read_lines

BLOCK = ("Step 7: ", "{'async/staleness_mean': '0.8125',", " 'trainer/epoch': 0,", " 'trainer/global_step': 7}")
WHOLE = ("\n".join(BLOCK), True)


def test_a_message_carries_everything_needed_to_find_it_again():
    (message,) = read_lines("preamble", RAY + LOGURU + "Resuming from global_step: 40")

    assert message == Message(
        line=2,
        byte_offset=9,
        source=Source(actor="TrainerActor", pid=77),
        payload="Resuming from global_step: 40",
        logged_at=datetime(2026, 1, 9, 11, 22, 33, 444000),
        logger="loguru",
        level="INFO",
        origin="skyrl_train.utils.tracking:log",
    )


def test_lines_without_a_needle_are_not_messages():
    assert read_lines(RAY + LOGURU + "Number of sequences: 128", "INFO:     10.0.0.2:51514 - ok") == []


def test_a_block_is_one_message_with_the_line_of_its_head():
    (message,) = read_lines("x", RAY + LOGURU + BLOCK[0], *(RAY + line for line in BLOCK[1:]))

    assert (message.payload, message.complete, message.line) == (*WHOLE, 2)


def test_lines_of_other_sources_inside_a_block_neither_break_nor_enter_it():
    engine = "\x1b[36m(AsyncVLLMInferenceEngine pid=101, ip=10.1.0.7)\x1b[0m "

    found = payloads(
        RAY + LOGURU + BLOCK[0],
        engine + "}",
        RAY + BLOCK[1],
        engine + "INFO 01-09 11:22:33 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s",
        "done }",
        RAY + BLOCK[2],
        engine + " 'trainer/global_step': 9}",
        "(raylet) {'a': 1}",
        RAY + BLOCK[3],
    )

    assert found == [("Engine 000: Avg prompt throughput: 1.0 tokens/s", True), WHOLE]


def test_lines_of_the_other_stream_of_the_same_process_stay_outside():
    found = payloads(
        RAY + LOGURU + BLOCK[0],
        RAY + "loading shard 3",
        RAY + BLOCK[1],
        RAY + "}",
        RAY + '  "a": 1',
        RAY + LOGURU + "Finished: 'generate', time cost: 41.20s",
        RAY + BLOCK[2],
        RAY + "",
        RAY + "Step 9: ",
        RAY + BLOCK[3],
    )

    assert found == [("Finished: 'generate', time cost: 41.20s", True), WHOLE]


def test_a_block_may_begin_on_the_line_of_its_head():
    assert payloads(LOGURU + "Step 7: {'a': '0.1',", " 'b': 2}") == [("Step 7: {'a': '0.1',\n 'b': 2}", True)]
    assert payloads(LOGURU + "Step 7: {'a': '0.1'}") == [("Step 7: {'a': '0.1'}", True)]


def test_a_head_glued_behind_a_progress_bar_is_found():
    bar = "Training Batches Processed:  22%|██▏       | 13/60 [2:10:40<7:52:27, 603.1s/it]"

    for glue in ("", " "):
        (message,) = read_lines(
            f"{RAY}\r{bar[:40]}\r{bar}{glue}{LOGURU}{BLOCK[0]}", *(RAY + line for line in BLOCK[1:])
        )

        assert (message.payload, message.complete) == WHOLE
        assert message.source == Source(actor="TrainerActor", pid=77)
        assert message.logged_at == datetime(2026, 1, 9, 11, 22, 33, 444000)


def test_a_scheduler_tail_glued_behind_a_progress_bar_is_found():
    tail = "slurmstepd: error: *** JOB 918273 ON node0412 CANCELLED AT 2026-01-10T03:00:12 DUE TO TIME LIMIT ***"

    found = payloads(f"Training:  22%|##        | 13/60 [2:10:40<7:52:27, 603.1s/it]{tail}")

    assert found == [(tail, True)]


def test_a_ray_line_glued_behind_a_bar_of_the_driver_belongs_to_the_actor():
    (message,) = read_lines(f"Generating: 5it [00:10, 1.2it/s]{RAY}{LOGURU}Resuming from global_step: 3")

    assert message.source == Source(actor="TrainerActor", pid=77)


def test_text_that_quotes_a_block_head_opens_nothing():
    found = payloads(
        RAY + "Step 5: ",
        RAY + "> and then it stopped",
        RAY + "{'a': 1}",
        RAY + LOGURU + BLOCK[0],
        *(RAY + x for x in BLOCK[1:]),
    )

    assert found == [WHOLE]


def test_a_second_block_head_of_the_source_ends_the_first_as_incomplete():
    found = payloads(
        RAY + LOGURU + "Step 6: ", RAY + "{'a': 1,", RAY + LOGURU + BLOCK[0], *(RAY + line for line in BLOCK[1:])
    )

    assert found == [("Step 6: \n{'a': 1,", False), WHOLE]


def test_the_end_of_the_file_hands_an_open_block_on():
    assert payloads(RAY + LOGURU + BLOCK[0], RAY + BLOCK[1], RAY + " 'trainer/ep") == [
        ("Step 7: \n{'async/staleness_mean': '0.8125',\n 'trainer/ep", False)
    ]


def test_blocks_of_two_trainers_are_kept_apart():
    lines = []
    for left, right in zip(("Step 1: ", "{'a': 1,", " 'b': 2}"), ("Step 1: ", "{'a': 3,", " 'b': 4}"), strict=True):
        head = LOGURU if left.startswith("Step") else ""
        lines += [f"(T pid=1) {head}{left}", f"(T pid=1, ip=10.0.0.2) {head}{right}"]

    assert payloads(*lines) == [("Step 1: \n{'a': 1,\n 'b': 2}", True), ("Step 1: \n{'a': 3,\n 'b': 4}", True)]


def test_a_block_folded_by_ray_loses_the_suffixes_of_its_lines():
    found = payloads(
        RAY + LOGURU + BLOCK[0],
        RAY + BLOCK[1] + "\x1b[32m [repeated 2x across cluster]\x1b[0m",
        RAY + BLOCK[2],
        RAY + BLOCK[3],
    )

    assert found == [WHOLE]


def test_a_block_with_its_end_missing_does_not_swallow_the_rest_of_the_file():
    engine = "(E pid=5) INFO 01-09 11:22:33 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s"
    found = payloads(
        RAY + LOGURU + BLOCK[0], RAY + BLOCK[1], *[engine] * 3, RAY + LOGURU + "Resuming from global_step: 1"
    )

    assert [payload[:9] for payload, _ in found] == ["Engine 00"] * 3 + ["Resuming ", "Step 7: \n"]


def test_a_traceback_ends_at_the_exception_and_the_next_is_another_message():
    found = payloads(
        "(W pid=1) Traceback (most recent call last):",
        '(W pid=1)   File "a.py", line 1, in <module>',
        "(W pid=2) other",
        "(W pid=1)     f()",
        "(W pid=1) KeyError: 'x'",
        "(W pid=1) ",
        "(W pid=1) During handling of the above exception, another exception occurred:",
        "(W pid=1) Traceback (most recent call last):",
        '(W pid=1)   File "b.py", line 2, in g',
        "(W pid=1) ValueError: y",
    )

    assert found == [
        ("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nKeyError: 'x'", True),
        ('Traceback (most recent call last):\n  File "b.py", line 2, in g\nValueError: y', True),
    ]


def test_a_traceback_with_a_head_on_every_line_is_one_message():
    head = "(EngineCore_DP0 pid=912) ERROR 02-11 04:05:06 [core.py:710] "

    found = payloads(
        head + "Traceback (most recent call last):", head + '  File "a.py", line 1, in run', head + "KeyError: 1"
    )

    assert found == [('Traceback (most recent call last):\n  File "a.py", line 1, in run\nKeyError: 1', True)]


def test_folded_lines_are_counted_over_all_lines():
    first = "(Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or see x for more.)"
    data = (
        f"{RAY}hello\x1b[32m [repeated 4x across cluster] {first}\x1b[0m\n"
        f"{RAY}hello [repeated 2x across cluster]\n"
        f"[36m(T pid=1)[0m hello[32m [repeated 3x across cluster][0m\r\n"
        f"{RAY}it said [repeated 9x across cluster] in the text\n"
        f"{RAY}{LOGURU}Resuming from global_step: 3\x1b[32m [repeated 5x across cluster]\x1b[0m\n"
    )

    (message,), report = read_bytes(data.encode())

    # source: N counts the line it is attached to, so N - 1 lines are missing from the file.
    assert (report.lines, report.folded_lines) == (5, 3 + 1 + 2 + 4)
    assert (message.payload, message.repeat_count) == ("Resuming from global_step: 3", 5)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_compressed_logs_give_the_same_messages(pack):
    data = "".join(f"{RAY}{LOGURU}Resuming from global_step: {step}\n" for step in range(500)).encode()
    plain, _ = read_bytes(data)

    packed, report = read_bytes(pack(data[:5000]) + pack(data[5000:]))

    assert packed == plain
    assert report.read_error is None
    assert report.bytes_read == len(data)


def test_docker_records_are_joined_before_anything_else():
    long = "x" * 40_000
    line = f'{LOGURU}WANDB_MIRROR kind=train step=7 metrics={{"a": 0.5, "pad": "{long}"}}'
    parts = [line[at : at + 16_384] for at in range(0, len(line), 16_384)]
    parts[-1] += "\n"
    records = [{"log": part, "stream": "stderr", "time": "2026-01-09T10:22:33.444555666Z"} for part in parts]
    records.insert(1, {"log": "Step 3 of something\n", "stream": "stdout", "time": "2026-01-09T10:22:33.5Z"})

    other, mirror = read_lines(*map(json.dumps, records))

    assert (mirror.payload, mirror.line, mirror.byte_offset) == (line[len(LOGURU) :], 1, 0)
    assert (other.payload, other.logged_at, other.zone) == (
        "Step 3 of something",
        datetime(2026, 1, 9, 10, 22, 33, 500000),
        "UTC",
    )


def test_kubelet_records_are_joined_and_their_blocks_put_together():
    time = "2026-01-09T10:22:33.444555666Z stderr"
    (message,) = read_lines(
        f"{time} P {LOGURU}St",
        f"{time} F ep 7: ",
        f"{time} F {BLOCK[1]}",
        f"{time} F {BLOCK[2]}",
        f"{time} F {BLOCK[3]}",
    )

    assert (message.payload, message.complete, message.line) == (*WHOLE, 1)


def test_a_log_without_any_date_takes_the_year_from_the_file_time():
    lines = [
        f"(E pid=1) INFO {day} 23:59:58 [loggers.py:1] Engine 000: Avg prompt throughput: 1"
        for day in ("12-31", "01-01")
    ]

    found = read_lines(*lines, anchor=datetime(2026, 1, 1, 2, 0))

    assert [message.logged_at for message in found] == [
        datetime(2025, 12, 31, 23, 59, 58),
        datetime(2026, 1, 1, 23, 59, 58),
    ]


def test_the_first_dated_line_gives_the_year_of_lines_before_it():
    stat = "(E pid=1) INFO 12-31 23:59:58 [loggers.py:1] Engine 000: Avg prompt throughput: 1"

    first, *_ = read_lines(stat, "2026-01-01 00:00:03.000 | INFO     | a:b:1 - hello", anchor=datetime(2030, 6, 1))

    assert first.logged_at == datetime(2025, 12, 31, 23, 59, 58)


def test_first_and_last_time_come_from_lines_without_needle_too():
    middle = [f"2026-01-09 12:00:{second:02d}.000 | INFO     | a:b:1 - x" for second in range(60)]

    _, report = read_bytes("\n".join(["bare", *middle, "bare"]).encode())

    assert report.first_logged_at == datetime(2026, 1, 9, 12, 0, 0)
    assert report.last_logged_at == datetime(2026, 1, 9, 12, 0, 59)
    assert (report.zone, report.cut_tail, report.lines) == (None, True, 62)


def test_a_byte_order_mark_nul_runs_and_broken_characters_do_no_harm():
    data = b"\xef\xbb\xbf" + (LOGURU + "Resuming from global_step: 1\r\n").encode() + b"\0" * 5000
    data += LOGURU.encode() + b"Resuming from global_step: 2 \xff\xfe caf\xc3\r\n"

    (first, second), report = read_bytes(data)

    assert first.payload == "Resuming from global_step: 1"
    assert second.payload == "Resuming from global_step: 2 \ufffd\ufffd caf\ufffd"
    assert (report.nul_bytes, report.undecodable_bytes) == (5000, 3)


def test_line_separators_inside_text_do_not_end_a_line():
    (message,) = read_lines(LOGURU + "Resuming from global_step: 1 \u2028 \x85 \x0b \x0c end")

    assert message.payload.endswith("end")


def test_a_line_longer_than_the_reader_holds_is_cut_and_noted():
    data = (
        b"a\n" + b"x" * 5000 + b" global_step: \xff" * 50 + b"\n" + (LOGURU + "Resuming from global_step: 1\n").encode()
    )

    (message,), report = read_bytes(data, max_line=1000, chunk_bytes=64)

    assert (message.line, message.byte_offset) == (3, 5753)
    assert (report.lines, report.long_lines, report.cut_tail) == (3, 1, False)
    assert report.undecodable_bytes == 50


def test_the_fingerprint_is_that_of_the_stored_bytes(tmp_path):
    path = tmp_path / "job.out"
    path.write_bytes(gzip.compress(b"hello\n" * 100_000))

    _, report = read_bytes(path.read_bytes())

    assert report.fingerprint == fingerprint(path)


def test_progress_is_told_in_stored_bytes():
    told: list[int] = []

    _, report = read_bytes(gzip.compress(b"hello\n" * 100_000), on_bytes=told.append, chunk_bytes=100)

    assert sum(told) == report.size_bytes


def test_an_empty_file_has_no_messages():
    messages, report = read_bytes(b"")

    assert messages == []
    assert (report.lines, report.cut_tail, report.first_logged_at) == (0, False, None)


@pytest.mark.parametrize(
    "line",
    [
        f"{RAY}{LOGURU}Resuming from global_step: 3",
        f"{RAY}{LOGURU}Resuming from global_step: 3\x1b[32m [repeated 5x across cluster]\x1b[0m\r",
        f"{RAY}{LOGURU}global_step: 3 at 22%|#| 13/60 [2:10:40<7:52:27, 603.1s/it] done",
        "(E pid=1, ip=10.0.0.1) INFO 01-09 11:22:33 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0",
        "(EngineCore_DP0 pid=1) INFO 01-09 11:22:33 [loggers.py:127] Engine 000: Avg prompt throughput: 22%|#| 1/2 [1]",
        "(E pid=word) INFO 99-99 11:22:33 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0",
        "(E pid=1) 2026-02-30 11:22:33.444 | INFO | a:b:1 - global_step: 1",
    ],
)
def test_the_short_way_of_a_usual_line_gives_what_the_long_way_gives(line):
    short = read_lines(f"{LOGURU}global_step: 0", line)

    # An open block sends the lines behind it the long way; both logs have one dated line before.
    long = read_lines(f"(Other pid=9) {LOGURU}Step 1: ", line)

    assert replace(short[1], byte_offset=0) == replace(long[0], byte_offset=0)
