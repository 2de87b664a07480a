"""Limits and corners of putting messages together."""

from __future__ import annotations

import pytest

from rl_pipeline.reader import demultiplexer, open_messages
from rl_pipeline.reader.demultiplexer import stream_of
from rl_pipeline.reader.message import Source
from rl_pipeline_tests.reader.reading import LOGURU, RAY, payloads, read_bytes, read_lines


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (Source(pid=1), Source(actor="T", pid=1), True),
        (Source(actor="T", pid=1), Source(actor="T", pid=1, ip="10.0.0.1"), False),
        (Source(actor="T", pid=1), Source(actor="T", pid=1, process="EngineCore", process_pid=2), False),
        (Source(actor="raylet"), Source(actor="autoscaler"), False),
        (Source(label="1"), Source(), False),
    ],
)
def test_one_process_is_one_stream(left, right, same):
    assert (stream_of(left) == stream_of(right)) is same


def test_a_block_goes_on_when_its_process_tells_ray_its_name():
    assert payloads(f"(pid=7) {LOGURU}Step 1: ", "(pid=7) {'a': 1,", "(Trainer pid=7)  'b': 2}") == [
        ("Step 1: \n{'a': 1,\n 'b': 2}", True)
    ]


def test_number_keys_of_a_bare_driver_are_not_taken_for_labels():
    assert payloads(f"{LOGURU}Step 1: ", "{'x': {1: 'a',", "       2: 'b'},", " 3: 'c'}") == [
        ("Step 1: \n{'x': {1: 'a',\n       2: 'b'},\n 3: 'c'}", True)
    ]


def test_blocks_of_labelled_tasks_are_put_together_per_task():
    lines = [f"0: {LOGURU}Step 1: ", f"1: {LOGURU}Step 1: ", "0: {'a': 1,", "1: {'a': 2,", "0:  'b': 1}", "1:  'b': 2}"]

    assert payloads(*lines) == [("Step 1: \n{'a': 1,\n 'b': 1}", True), ("Step 1: \n{'a': 2,\n 'b': 2}", True)]


def test_a_line_cut_by_srun_goes_on_in_the_next_labelled_line():
    lines = [f" 0: {LOGURU}Step 1: ", " 0: {'reward/avg_ra", " 0: w_reward': '0.5',", " 0:  'b': 2}"]

    assert payloads(*lines) == [("Step 1: \n{'reward/avg_ra\nw_reward': '0.5',\n 'b': 2}", True)]


def test_a_block_that_never_ends_is_given_up_after_a_while(monkeypatch):
    monkeypatch.setattr(open_messages, "PATIENCE_LINES", 5)

    found = read_lines(
        f"(T pid=1) {LOGURU}Step 1: ", "(T pid=1) {'a': 1,", *["x"] * 9, "(T pid=1)  'b': 2}", "global_step: 1"
    )

    assert [(message.payload, message.complete) for message in found] == [
        ("Step 1: \n{'a': 1,", False),
        ("global_step: 1", True),
    ]


def test_a_block_holds_a_bounded_number_of_lines(monkeypatch):
    monkeypatch.setattr(open_messages, "MAX_BLOCK_LINES", 4)
    monkeypatch.setattr(demultiplexer, "MAX_BLOCK_LINES", 4)

    found = payloads(f"{LOGURU}Step 1: ", "{'a': 1,", *[f" 'k{number}': 1," for number in range(9)], " 'b': 2}")

    assert [(payload.count("\n"), complete) for payload, complete in found] == [(4, False)]


def test_only_so_many_blocks_are_open_at_once(monkeypatch):
    monkeypatch.setattr(demultiplexer, "MAX_OPEN", 2)

    found = payloads(*[f"(T pid={pid}) {LOGURU}Step {pid}: " for pid in range(1, 5)])

    assert found == [(f"Step {pid}: ", False) for pid in range(1, 5)]


def test_a_traceback_inside_a_block_is_a_message_of_its_own():
    found = payloads(
        f"(T pid=1) {LOGURU}Step 1: ",
        "(T pid=1) {'a': 1,",
        "(T pid=1) Traceback (most recent call last):",
        '(T pid=1)   File "a.py", line 1, in f',
        "(T pid=1)  'b': 2}",
        "(T pid=1) KeyError: 1",
    )

    assert found == [
        ("Step 1: \n{'a': 1,\n 'b': 2}", True),
        ('Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1', True),
    ]


MIRROR = f'{LOGURU}WANDB_MIRROR kind=train step=7 metrics={{"a/b": 1e-06, "c": [true, NaN], "d": "x y", "e": 12}}'


@pytest.mark.parametrize("cut", range(MIRROR.index("={") + 2, len(MIRROR)))
def test_a_mirror_line_cut_by_a_collector_is_put_together_again(cut):
    whole = MIRROR[len(LOGURU) :]

    found = payloads(f" 3: {MIRROR[:cut]}", " 4: global_step: 1", f" 3: {MIRROR[cut:]}", " 3: other")

    assert found == [("global_step: 1", True), (whole, True)]


def test_a_mirror_line_whose_rest_is_lost_comes_as_incomplete(monkeypatch):
    monkeypatch.setattr(open_messages, "CUT_LINE_PATIENCE", 3)

    found = payloads(f"(T pid=1) {MIRROR[:-9]}", *["x"] * 9, f"(T pid=1) {MIRROR}", f"(T pid=1) {MIRROR[:-3]}")

    assert [complete for _, complete in found] == [False, True, False]


HEAD = f"{RAY}{LOGURU}Step 7: "
DICT = ("{'a/b': '0.1',", " 'c/d': '0.2',", " 'trainer/global_step': 7}")
WHOLE = ("\n".join(("Step 7: ", *DICT)), True)
BAR = "Training Batches Processed:  22%|██▏       | 13/60 [2:10:40<7:52:27, 603.1s/it]"


@pytest.mark.parametrize(
    "foreign", ["hello", "Done", "42", "1.0", "None", "'", "12: 3", "f(x", "}", " }", "]", "{", "{}", "{'a': 1}", "'x'"]
)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_line_of_the_same_process_neither_enters_nor_ends_a_block(foreign, place):
    lines = [HEAD, *(RAY + line for line in DICT)]
    lines.insert(place, RAY + foreign)

    assert payloads(*lines) == [WHOLE]


@pytest.mark.parametrize("foreign", ["}", "]", "hello", "'", "42", "{'a': 1}"])
def test_a_line_between_the_pieces_of_a_long_string_stays_outside(foreign):
    # source: pprint of {'a/text': 'word word more words', 'trainer/global_step': 1} at a small width
    pieces = ("{'a/text': 'word word '", "           'more words',", " 'trainer/global_step': 1}")

    found = payloads(HEAD, RAY + pieces[0], RAY + foreign, *(RAY + piece for piece in pieces[1:]))

    assert found == [("\n".join(("Step 7: ", *pieces)), True)]


@pytest.mark.parametrize("before", [["{'a': 1}"], ["{}"], ["{"], ["{", "hello"], ["{", " 'a': 1", "}"], ["{'x': 1,"]])
def test_a_small_dict_of_the_same_process_does_not_stand_for_the_metrics(before):
    assert payloads(HEAD, *(RAY + line for line in (*before, *DICT))) == [WHOLE]


def test_a_small_dict_stands_when_nothing_better_comes_before_the_next_head():
    found = payloads(HEAD, RAY + "{'a': 1}", RAY + "{'b': 2}", f"{RAY}{LOGURU}Step 8: ", RAY + "{'a': 2}", RAY + "x")

    assert found == [("Step 7: \n{'a': 1}", True), ("Step 8: \n{'a': 2}", True)]


def test_a_block_of_metrics_that_is_cut_is_preferred_to_a_small_dict():
    assert payloads(HEAD, RAY + "{'a': 1}", RAY + DICT[0]) == [("Step 7: \n{'a/b': '0.1',", False)]


@pytest.mark.parametrize("end", ["\r\n", "\r\r\n", "\r \n", f"\r{BAR}\n", f"\r{BAR[:40]}\r{BAR}\r\n", f"{BAR}\n"])
def test_line_ends_and_bars_behind_the_lines_of_a_block_are_taken_off(end):
    text = "".join(line + end for line in (HEAD, *(RAY + line for line in DICT)))
    if end == f"{BAR}\n":  # a head takes no bar behind it
        text = text.replace(HEAD + end, HEAD + "\n")

    (message,), _ = read_bytes(text.encode())

    assert (message.payload, message.complete) == WHOLE


@pytest.mark.parametrize("glue", ["", " ", "\r"])
def test_a_bar_in_front_of_a_line_of_a_block_is_taken_off(glue):
    lines = [HEAD, RAY + DICT[0], RAY + BAR + glue + DICT[1], RAY + BAR + glue + DICT[2]]

    assert payloads(*lines) == [WHOLE]


CUT_BLOCK = [f"3: (T pid=77) {line}" for line in (f"{LOGURU}Step 7: ", *DICT)]
FIRST = len("3: (T pid=77) ")


@pytest.mark.parametrize("line", [1, 2, 3])
@pytest.mark.parametrize("back", range(1, 16))
def test_a_block_line_cut_by_srun_behind_a_process_prefix_is_put_together(line, back):
    text = CUT_BLOCK[line]
    lines = [*CUT_BLOCK[:line], text[:-back], "4: hello", f"3: {text[-back:]}", *CUT_BLOCK[line + 1 :]]
    if text[-back - 1] == ",":
        return  # the line is whole

    ((payload, complete),) = payloads(*lines)

    assert complete
    # source: the lines as printed; only where the cut stood and how far a line was indented may differ
    assert "".join(payload.split()) == "".join(WHOLE[0].split())


def test_two_keys_are_never_joined_to_one():
    lines = [CUT_BLOCK[0], "3: (T pid=77) {'async/mean'", "4: : 0.5,", "3: (T pid=77)  'reward/raw': '0.02',"]

    assert payloads(*lines) == [("Step 7: \n{'async/mean'", False)]


def test_a_bare_block_of_a_process_that_logs_is_quoted_text_even_before_its_first_needle():
    bare = [RAY + "Example: ", RAY + "Step 3: ", *(RAY + line for line in DICT)]

    assert payloads(f"{RAY}{LOGURU}Number of sequences: 128", *bare) == []
    assert payloads(*bare, f"{RAY}{LOGURU}Number of sequences: 128") == []
    assert payloads(*bare, f"(Other pid=5) {LOGURU}hello") == [("\n".join(("Step 3: ", *DICT)), True)]
