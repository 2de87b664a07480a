"""Lines that differ only in numbers are read many at a time; what comes out is what reading each for itself gives."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_pipeline.dialects import JobParser
from rl_pipeline.pipeline import LOG_NEEDLES
from rl_pipeline.reader import Message, PlannedMessages, ReadReport, messages, read_messages, read_planned
from rl_pipeline.reader.open_messages import PATIENCE_LINES
from rl_pipeline.schema import JOB_TABLES
from rl_pipeline.tables.frames import RowSink

ENGINE = (
    "{ray}INFO {month:02d}-{day:02d} 11:22:33 [loggers.py:248] Engine 00{e}: Avg prompt throughput: {x} tokens/s, "
    "Avg generation throughput: {y} tokens/s, Running: {n} reqs, Waiting: {m} reqs, GPU KV cache usage: {z}%, "
    "Prefix cache hit rate: {z}%{fold}"
)
HEAD = "{ray}{year}-{month:02d}-{day:02d} 11:22:33.{milli} | INFO     | pkg.module:run:{n} - "
LINES = (
    ENGINE,
    ENGINE,
    ENGINE + " ",
    ENGINE.replace("%{fold}", "%, Paused: {n} of 9{fold}"),
    HEAD + "Starting batch generation for {n} trials (mode=training)",
    HEAD + "Starting batch generation for {n} trials (mode=eval (nightly {m}))",
    HEAD + "Exception breakdown: {{'AgentTimeoutError': {n}, 'DaytonaError': {m}}}",
    HEAD + "Exception breakdown: {{'Http404Error': {n}}}",
    HEAD + "Batch generation complete: {n}/{total} successful, {m} failed instances, 1 masked (excluded from baseline)",
    HEAD + "Batch generation complete: {n}/{total} successful, {m} failed instances{fold}",
    HEAD + "Started: 'policy_train'",
    HEAD + "Finished: 'policy_train', time cost: {x}s",
    HEAD + "Finished: 'eval', time cost: {n}s",
    HEAD + "Step {n}: ",
    "{ray}{{'loss/a': '{x}',\n{ray} 'loss/b': {n},\n{ray} 'reward/avg_raw_reward': '0.5000',\n"
    "{ray} 'policy/x': '{y}',\n{ray} 'trainer/global_step': {n}}}",
    "{ray} 'loss/b': {n},",
    HEAD + "Traceback (most recent call last):",
    '{ray}  File "a.py", line {n}, in f',
    "{ray}ValueError: {n}",
    "{ray}Batch generation complete: {n}/8 successful, 0 failed instances",
    HEAD + "api_key={n}abcdefgh12345678 Started: 'policy_train'",
    "chatter {n} of {m}\r",
    "2026-13-{day:02d} 11:22:33 no time",
)
NUMBERS = st.sampled_from(["0", "7", "8", "12", "007", "1234567890123", "999999999"])
DECIMALS = st.sampled_from(["0.0", "12.5", "3006.7", "1.234567890", "nan", "41", "00.10"])
VALUES = {
    "ray": st.sampled_from(
        [
            "\x1b[36m(Engine pid=77)\x1b[0m ", "\x1b[36m(Engine pid=78, ip=10.0.0.1)\x1b[0m ", "(Engine pid=77) ",
            "\x1b[35m(Engine pid=77)\x1b[0m ", "", "0: (Engine pid=9) ",
        ]
    ),
    "fold": st.sampled_from(["", "", "\x1b[32m [repeated 7x across cluster]\x1b[0m", " [repeated 0x across cluster]"]),
    "year": st.sampled_from(["2026", "2026", "2026", "2025", "0000"]),
    "month": st.sampled_from([1, 6, 6, 6, 12, 13]),
    "day": st.sampled_from([3, 3, 4, 29, 31, 0]),
    "milli": st.sampled_from(["123", "456"]),
    "e": st.sampled_from(["0", "1"]),
    "x": DECIMALS, "y": DECIMALS, "z": DECIMALS, "n": NUMBERS, "m": NUMBERS, "total": NUMBERS,
}  # fmt: skip
ROUND = st.fixed_dictionaries(VALUES)
SETTINGS = settings(max_examples=150, deadline=None)
FIRST = "2026-06-03 11:22:30.000 | INFO     | pkg.module:run:1 - hello\n"


def one_by_one(path: Path) -> tuple[Mapping[str, pa.Table], dict[str, int], ReadReport]:
    """Tables by way of one message for each line, without any compiled loop."""
    report, parser, sink = ReadReport(), JobParser("job_1"), RowSink(JOB_TABLES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "load", lambda: None)
        for message in read_messages(path, LOG_NEEDLES, report, chunk_bytes=700):
            sink.append(parser.parse(message))
    sink.append(parser.close())
    return sink.tables(), parser.recognised, report


def many_at_a_time(
    path: Path, chunk_bytes: int = 700
) -> tuple[Mapping[str, pa.Table], dict[str, int], ReadReport, int]:
    """The same with plans, and how many lines had one."""
    report, parser, sink, planned = ReadReport(), JobParser("job_1"), RowSink(JOB_TABLES, batch_rows=4), 0
    for item in read_planned(path, LOG_NEEDLES, report, parser, chunk_bytes=chunk_bytes):
        if isinstance(item, PlannedMessages):
            sink.append_columns(*parser.columns(item))
            planned += len(item.lines)
        elif isinstance(item, Message):
            sink.append(parser.parse(item))
        else:
            sink.append(parser.parse_ordered(item))
            planned += item.stop - item.start
            for row_class, columns in parser.collected() if item.is_last else ():
                sink.append_columns(row_class, columns)
    sink.append(parser.close())
    return sink.tables(), parser.recognised, report, planned


@SETTINGS
@given(st.lists(st.tuples(st.sampled_from(LINES), ROUND), max_size=40), st.booleans())
def test_both_ways_give_the_same_tables(lines, begins_dated):
    text = "".join(line.format(**values) + "\n" for line, values in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.out"
        path.write_bytes(((FIRST if begins_dated else "") + text * 3).encode())

        expected, recognised, report = one_by_one(path)
        tables, also_recognised, also_report, _ = many_at_a_time(path)

    assert also_recognised == recognised
    assert also_report == report
    for name, table in expected.items():
        assert tables[name].to_pylist() == table.to_pylist(), name


BLOCK_LINES = (
    HEAD + "Step {n}: ",
    HEAD + "Step {n}: ",
    "{ray}{{'loss/a': '{x}',",
    "{ray}{{'a': 1}}",
    "{ray}{{",
    *["{ray} 'loss/b': '{x}',", "{ray} 'policy/c': {n},"] * 4,
    "{ray} 'reward/d': nan,",
    "{ray} 'reward/d': [1, 2],",
    "{ray} 'reward/d': 'a text '\n{ray}              'in two pieces',",
    *["{ray} 'trainer/global_step': {n}}}"] * 2,
    "{ray} 'trainer/global_step': '{x}'}}",
    "{ray} 'x': 1}}{fold}",
    "{ray}plain text {n} of the same process",
    "{ray}it [00:01, 2.0it/s] 'loss/e': 1,",
    "{ray} 50%|#####     | 1/2\r 'loss/e': 1,",
    "{ray}'loss/f': 1,",
    "pid=77 of another line",
    "77",
    ENGINE,
    HEAD + "Batch generation complete: {n}/{total} successful, {m} failed instances",
    HEAD + "Exception breakdown: {{'Http404Error': {n}}}",
    HEAD + "Traceback (most recent call last):",
    '{ray}  File "a.py", line {n}, in f',
    "{ray}ValueError: {n}",
    HEAD + "api_key={n}abcdefgh12345678",
    "{ray} 'secret': 'sk-abcdefghijklmnopqrstuvwx{n}',",
)


@SETTINGS
@given(st.lists(st.tuples(st.sampled_from(BLOCK_LINES), ROUND), max_size=60), st.sampled_from([300, 700, 1 << 20]))
def test_both_ways_put_the_same_blocks_together(lines, chunk_bytes):
    text = "".join(line.format(**values) + "\n" for line, values in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.out"
        path.write_bytes((FIRST + text * 3).encode())

        expected, recognised, report = one_by_one(path)
        tables, also_recognised, also_report, _ = many_at_a_time(path, chunk_bytes)

    assert (also_recognised, also_report) == (recognised, report)
    for name, table in expected.items():
        assert tables[name].to_pylist() == table.to_pylist(), name


@pytest.mark.parametrize("line", [LINES[0], *LINES[4:7], *LINES[8:13]])
def test_usual_lines_have_a_plan_after_the_first_ones(tmp_path, line):
    usual = {"ray": "\x1b[36m(Engine pid=77)\x1b[0m ", "fold": "", "year": "2026", "month": 6, "day": 3, "e": "0"}
    path = tmp_path / "job.out"
    lines = [
        line.format(**usual, milli="123", x="12.5", y="0.5", z="1.0", n=number % 8, m=1, total=8)
        for number in range(100)
    ]
    path.write_text(FIRST + "".join(f"{text}\n" for text in lines))

    tables, _, _, planned = many_at_a_time(path)
    expected, _, _ = one_by_one(path)

    assert planned > 80
    assert {name: table.to_pylist() for name, table in tables.items()} == {
        name: table.to_pylist() for name, table in expected.items()
    }


RAY = "\x1b[36m(Engine pid=77)\x1b[0m "
USUAL_HEAD = RAY + "2026-06-03 11:22:33.123 | INFO     | pkg.module:run:7 - "
PERCENT = ENGINE.format(
    ray=RAY, month=6, day=3, e="0", x="1.0", y="2.0", n=1, m=2, z="{number}.858771", fold=""
)  # fmt: skip
COMPLETE = USUAL_HEAD + "Batch generation complete: 5/{number} successful, 1 failed instances"
UNCLOSED = [USUAL_HEAD + "Step 7: ", RAY + "{'loss/a': '1.0',", RAY + " 'trainer/global_step': 7,"]
# Given up when the line behind its patience comes, whichever that is.
GIVEN_UP = [*UNCLOSED, *["chatter"] * (PATIENCE_LINES - 3)]


@pytest.mark.parametrize(
    ("line", "middle"),
    [
        pytest.param(PERCENT, [], id="percentages whose fraction no rounding makes exact"),
        pytest.param(
            USUAL_HEAD + "Started: 'glp\x1b[mat-Abcdefghijklmnopqrstuvwxyz'", [], id="a needle cut by a colour"
        ),
        pytest.param(COMPLETE, GIVEN_UP, id="a block that is given up"),
    ],
)
def test_both_ways_give_the_same_tables_where_they_once_did_not(tmp_path, line, middle):
    lines = [line.format(number=580_866_000 + number * 7919) for number in range(120)]
    path = tmp_path / "job.out"
    path.write_text(FIRST + "\n".join([*lines[:60], *["chatter"] * 100, *middle, *lines[60:], ""]))

    expected, recognised, report = one_by_one(path)
    tables, also_recognised, also_report, _ = many_at_a_time(path)

    assert (also_recognised, also_report) == (recognised, report)
    for name, table in expected.items():
        assert tables[name].to_pylist() == table.to_pylist(), name


STARTED, FINISHED = USUAL_HEAD + "Started: '{name}'", USUAL_HEAD + "Finished: '{name}', time cost: 1.50s"
BATCH = USUAL_HEAD + "Starting batch generation for 8 trials"
TYPES = ", ".join(f"'{first}{second}': 1" for first in "abcdefghijk" for second in "ABCDEFGHIJKLMNOPQRST")
LONG_SUFFIX = " [repeated {number}x across cluster] (Ray deduplicates " + "logs " * 120 + ")" + " " * 52


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([FINISHED.format(name=name) for name in ("a={", "b")], id="a timer that opens a dict"),
        pytest.param([BATCH + " (mode=eval (a={'b))", COMPLETE.format(number=8)], id="a mode that opens a dict"),
        pytest.param(
            [BATCH + f" (mode=eval {'n' * 298}{number})" for number in (1, 12)], id="a mode that grows too long"
        ),
        pytest.param([USUAL_HEAD + f"Exception breakdown: {{{TYPES}}}"], id="more exception types than are believed"),
        pytest.param([USUAL_HEAD + "Exception breakdown: {'A': 1}\x1b[m"], id="an orphan with a colour of no number"),
        pytest.param(
            [STARTED.format(name="a") + LONG_SUFFIX.format(number=number) for number in (7, 123_456)],
            id="a suffix that grows too long",
        ),
        pytest.param(
            [f"{RAY}{year}-06-03{USUAL_HEAD[22:]}Started: 'a'" for year in ("2026", "20x6", "2o2 ")], id="no stamp"
        ),
        pytest.param(
            [
                *[BATCH + f" (mode={mode})" for mode in ("eval", "training", "eval")],
                FINISHED.format(name="eval"),
                *[BATCH + f" (mode={mode})" for mode in ("eval", "training")],
                *[COMPLETE.format(number=8)] * 2,
            ],
            id="an evaluation that begins when another has ended",
        ),
    ],
)
def test_odd_lines_that_come_again_are_read_as_when_they_came_first(tmp_path, lines):
    path = tmp_path / "job.out"
    path.write_text(FIRST + "\n".join([*lines * 20, ""]))

    expected, recognised, report = one_by_one(path)
    tables, also_recognised, also_report, _ = many_at_a_time(path)

    assert (also_recognised, also_report) == (recognised, report)
    for name, table in expected.items():
        assert tables[name].to_pylist() == table.to_pylist(), name
