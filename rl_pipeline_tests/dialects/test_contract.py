"""What every dialect promises, tried on its own samples: seven rules for all of `DIALECTS`.

A new dialect is tested by being listed; nothing has to be written here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from rl_pipeline.dialects import BLOCK_HEAD, DIALECTS, NEEDLES, TRACEBACK_HEAD, JobParser
from rl_pipeline.dialects.contract import Broken, Dialect, JobContext, Outcome, Sample
from rl_pipeline.reader import Needles, ReadReport, read_messages
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.schema import PARTIAL, JobEvent, JobRow, PhaseTiming, StepMetric, Unparsed
from rl_pipeline.units import Unit

NAMED = {f"{dialect.NAME}-{n}": (dialect, sample) for dialect in DIALECTS for n, sample in enumerate(dialect.SAMPLES)}
SAMPLES = [pytest.param(*case, id=name) for name, case in NAMED.items()]
WITH_LOGGER = [pytest.param(*case, id=name) for name, case in NAMED.items() if not case[1].bare]
CORPUS = Path(__file__).parents[1] / "corpus"
LOG_NEEDLES = Needles(any_of=NEEDLES, block_head=BLOCK_HEAD, traceback_head=TRACEBACK_HEAD)
PREFIX = "\x1b[36m(TrainerActor pid=77)\x1b[0m "
HEAD = "2026-01-09 11:22:33.444 | INFO     | skyrl_train.trainer:train:61 - "
# Columns that tell where and when, not what.
PLACE = {"line", "byte_offset", "block", "logged_at", "zone", "pid", "ip", "started_at", "since_step_marker"}


def message(payload: str, sample: Sample, *, line: int = 1, complete: bool = True) -> Message:
    logger = None if sample.bare else "loguru"
    return Message(line=line, byte_offset=0, source=Source(), payload=payload, logger=logger, complete=complete)


def outcome_and_rows(dialect: Dialect, sample: Sample, payload: str, *, complete: bool) -> tuple[Outcome, list[JobRow]]:
    """What the dialect makes of a payload after the sample's earlier lines, closing included."""
    parser = dialect.parser(JobContext("job_1"))
    for earlier in sample.before:
        parser.parse(message(earlier, sample, line=0))
    outcome = parser.parse(message(payload, sample, complete=complete))
    rows = outcome.rows if isinstance(outcome, Broken) else outcome or ()
    return outcome, [*rows, *parser.close()]


def facts(row: JobRow) -> dict[str, Any]:
    """What a row says apart from place and time; repr tells -0.0 from 0.0."""
    return {item.name: repr(getattr(row, item.name)) for item in fields(row) if item.name not in PLACE}


def all_facts(rows: Sequence[JobRow]) -> list[dict[str, Any]]:
    return [{"table": type(row).__name__, **facts(row)} for row in rows]


def test_every_dialect_is_listed_once_and_has_samples():
    names = [dialect.NAME for dialect in DIALECTS]

    assert len(set(names)) == len(names)
    assert all(dialect.SAMPLES for dialect in DIALECTS if dialect.PATTERNS)


@pytest.mark.parametrize(("dialect", "sample"), SAMPLES)
def test_a_sample_gives_exactly_its_rows(dialect: Dialect, sample: Sample):
    outcome, rows = outcome_and_rows(dialect, sample, sample.payload, complete=sample.complete)

    assert outcome is not None
    assert isinstance(outcome, Broken) == sample.broken
    assert [repr(row) for row in rows] == [repr(place_of(row, expected)) for row, expected in zip_rows(rows, sample)]


def place_of(row: JobRow, expected: JobRow) -> JobRow:
    """The expected row at the line of the row made: a row may stand at an earlier line of the sample."""
    return replace(expected, line=row.line)


def zip_rows(rows: Sequence[JobRow], sample: Sample) -> Iterator[tuple[JobRow, JobRow]]:
    assert all_facts(rows) == all_facts(sample.rows)
    return zip(rows, sample.rows, strict=True)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.NAME)
def test_every_pattern_is_reached_by_a_sample(dialect: Dialect):
    payloads = [text for sample in dialect.SAMPLES for text in (sample.payload, *sample.before)]
    unreached = [pattern.pattern for pattern in dialect.PATTERNS if not any(map(pattern.search, payloads))]

    assert not unreached


@pytest.mark.parametrize(("dialect", "sample"), SAMPLES)
def test_a_sample_holds_a_needle_of_its_dialect(dialect: Dialect, sample: Sample):
    first_line = sample.payload.split("\n")[0].encode()

    assert any(needle in first_line for needle in dialect.NEEDLES)


@pytest.mark.parametrize(("dialect", "sample"), SAMPLES)
def test_no_other_dialect_claims_a_sample(dialect: Dialect, sample: Sample):
    claimed = [
        other.NAME
        for other in DIALECTS
        if other is not dialect
        and other.parser(JobContext("job_1")).parse(message(sample.payload, sample, complete=sample.complete))
        is not None
    ]

    assert claimed == []


def written(sample: Sample) -> str:
    """The sample as a Ray driver prints it, colours and prefix on every line."""
    text = ""
    for payload in (*sample.before, sample.payload):
        head = "" if sample.bare else HEAD
        first, *rest = payload.split("\n")
        text += f"{PREFIX}{head}\x1b[1m{first}\n" + "".join(f"{PREFIX}{line}\n" for line in rest)
    return text if sample.complete else text.removesuffix("\n")


@pytest.mark.parametrize(("dialect", "sample"), WITH_LOGGER)
def test_a_sample_with_prefix_and_colours_gives_the_same_rows(dialect: Dialect, sample: Sample, tmp_path: Path):
    log = tmp_path / "run_1.out"
    log.write_text(written(sample), encoding="utf-8")
    parser = JobParser("job_1")

    rows = [row for item in read_messages(log, LOG_NEEDLES, ReadReport()) for row in parser.parse(item)]
    rows += parser.close()

    assert parser.recognised[dialect.NAME] >= 1
    told = [row for row in rows if not (sample.broken and isinstance(row, Unparsed))]
    assert all_facts(told) == all_facts([*rows_of_before(dialect, sample), *sample.rows])
    assert any(isinstance(row, Unparsed) for row in rows) >= sample.broken


def rows_of_before(dialect: Dialect, sample: Sample) -> list[JobRow]:
    """Rows that the earlier lines of a sample give by themselves."""
    parser = dialect.parser(JobContext("job_1"))
    outcomes = [parser.parse(message(earlier, sample)) for earlier in sample.before]
    return [row for outcome in outcomes if outcome is not None and not isinstance(outcome, Broken) for row in outcome]


@pytest.mark.parametrize(("dialect", "sample"), SAMPLES)
def test_a_cut_sample_never_gives_a_wrong_row(dialect: Dialect, sample: Sample):
    for length in range(len(sample.payload)):
        outcome, rows = outcome_and_rows(dialect, sample, sample.payload[:length], complete=False)
        if outcome is None:
            continue
        rows = [row for row in rows if not (isinstance(row, PhaseTiming) and not row.finished)]  # of an earlier line
        wrong = [row for row in rows if not isinstance(row, Unparsed) and not any(map(partial_of(row), sample.rows))]
        assert not wrong, sample.payload[:length]


def partial_of(row: JobRow) -> Callable[[JobRow], bool]:
    """Whether a row says nothing that a row of the whole sample does not say; less is allowed."""

    def is_part_of(whole: JobRow) -> bool:
        if type(row) is not type(whole):
            return False
        told, expected = facts(row), facts(whole)
        if isinstance(row, JobEvent) and isinstance(whole, JobEvent):  # the words of the line may be fewer
            expected["detail"] = told["detail"] if (whole.detail or "").startswith(row.detail or "") else "other"
        allowed = {"kind": repr(PARTIAL)} if isinstance(row, StepMetric) else {}
        return all(value in (expected[name], allowed.get(name), "None", "{}") for name, value in told.items())

    return is_part_of


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.NAME)
def test_lines_of_other_programs_give_a_dialect_nothing(dialect: Dialect):
    parser = dialect.parser(JobContext("job_1"))
    for number, line in enumerate((CORPUS / "other_trainers.log.txt").read_text("utf-8").splitlines(), 1):
        for payload in (line, re.sub(r"^\([^)]*\) |^.*?(?: - |\] )", "", line)):
            item = Message(line=number, byte_offset=0, source=Source(), payload=payload)
            assert parser.parse(item) is None, payload
    assert list(parser.close()) == []


@pytest.mark.parametrize(("dialect", "sample"), SAMPLES)
def test_the_values_of_a_sample_fit_the_schema(dialect: Dialect, sample: Sample):
    _, rows = outcome_and_rows(dialect, sample, sample.payload, complete=sample.complete)
    for row in rows:
        for item in fields(row):
            value, unit = getattr(row, item.name), item.metadata["unit"]
            if unit is Unit.FRACTION and value is not None:
                assert 0.0 <= value <= 1.0, item.name
            if unit in (Unit.SECONDS, Unit.TOKENS_PER_SECOND, Unit.REQUESTS) and value is not None:
                assert value >= 0, item.name
            assert isinstance(value, value_types(item.type)), (item.name, value)


def value_types(annotation: object) -> tuple[type, ...]:
    """Types that an annotation of a row class allows; an int is no float, None only where it is said."""
    known: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "datetime": object}
    parts = [part.strip() for part in str(annotation).split("|")]
    return tuple(type(None) if part == "None" else dict if part.startswith("dict") else known[part] for part in parts)
