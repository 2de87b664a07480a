"""One physical line to its payloads."""

from __future__ import annotations

import pytest

from rl_pipeline.reader.lines import plain_text, repeat_count, unwrap
from rl_pipeline.reader.message import Source


def never(_frame: str) -> bool:
    return False


def test_everything_nested_is_taken_off_in_order():
    prefix = "\ufeff 3: \x1b[36m(Engine pid=70211, ip=10.1.0.7)\x1b[0m \x1b[1;36m(EngineCore_DP0 pid=70655)\x1b[0m "
    suffix = "\x1b[32m [repeated 4x across cluster]\x1b[0m\r"
    raw = f"{prefix}INFO 02-11 04:05:06 [loggers.py:257] Engine 000: Avg{suffix}".encode()

    (found,) = unwrap(raw, never)

    assert found.source == Source("Engine", 70211, "10.1.0.7", "EngineCore_DP0", 70655, "3")
    assert (found.payload, found.repeat_count) == ("Engine 000: Avg", 4)
    assert found.head is not None
    assert found.head.logger == "vllm"


def test_nul_runs_and_marks_are_dropped():
    assert plain_text(b"\0\0\0\xef\xbb\xbfa\0b\r") == "ab"


def test_only_wanted_frames_and_the_last_are_unwrapped_with_the_prefix_of_the_line():
    found = unwrap(b"(T pid=1) 1%|\r2% Step 3: x\r3%|\r4%|", lambda frame: "Step" in frame)

    assert [(item.source.pid, item.payload) for item in found] == [(1, "2% Step 3: x"), (1, "4%|")]


def test_a_frame_that_names_its_process_itself_belongs_to_that():
    found = unwrap(b"\r1%|\r(T pid=1) hello", never)

    assert [(item.source.pid, item.payload) for item in found] == [(1, "hello")]


@pytest.mark.parametrize(
    ("text", "count", "payload"),
    [
        ("x [repeated 4x across cluster]", 4, "x"),
        ("x [repeated 0x across cluster]", 1, "x"),
        ("x [repeated 4x across cluster] and more", 1, "x [repeated 4x across cluster] and more"),
        ("x [repeated 4x across cluster] (Ray deduplicates logs by default. See a for more.)", 4, "x"),
        (" 'a': 1, [repeated 2x across cluster]", 2, " 'a': 1,"),
    ],
)
def test_the_repeat_suffix_stands_at_the_end(text, count, payload):
    (found,) = unwrap(text.encode(), never)

    assert (found.repeat_count, found.payload) == (count, payload)
    assert repeat_count(text.encode()) == count


def test_a_label_that_may_be_a_key_is_remembered():
    (found,) = unwrap(b" 2: 'b',", never)

    assert (found.source.label, found.payload, found.unlabelled) == ("2", "'b',", " 2: 'b',")


@pytest.mark.parametrize("end", ["\r", "\r\r", "\r ", "\r \r"])
def test_carriage_returns_at_the_end_are_no_frames(end):
    assert plain_text(f"Step 7: {end}".encode()) == "Step 7: "
