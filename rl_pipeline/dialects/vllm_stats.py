"""Statistics lines of vLLM V1 engines.

Printed by vLLM's logging statistics logger, one line per engine and interval (ten seconds unless set otherwise):
`Engine {iii}: Avg prompt throughput: {x} tokens/s, …`, or `{N} Engines Aggregated: …` for a whole server. Fields came
and went between versions and their order is not promised, so they are searched by label. Percentages become
fractions here. `Preemptions` and `Corrupted` are counters that some versions reset before printing: a printed 0
is no evidence. `Waiting` includes deferred requests in later versions. An idle engine prints one line of
zeros and then nothing. The engine number counts inside one server: an engine is its address, pid and number.
Lines of all engines look alike to Ray, which folds them; `repeat_count` then says for how many lines this one stands.

Other lines that begin with `Engine 000:` (iterations, MFU, cache configuration) are not statistics.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rl_pipeline.column_forms import Chosen
from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample, run_at
from rl_pipeline.dialects.stored_values import repeated_name
from rl_pipeline.reader.message import Message
from rl_pipeline.reader.regular import PlannedMessages
from rl_pipeline.schema import JobRow, VllmStat

NAME = "vllm_stats"
NEEDLES = (b"Avg prompt throughput: ",)
HEADED = True

HEAD = re.compile(r"(?:Engine (\d{1,6})|(\d{1,6}) Engines Aggregated): (?=Avg prompt)|(?=Avg prompt throughput: )")
# One field and what stands behind it; a number that is cut has no unit, comma or end behind it.
FIELD = re.compile(
    r"(?:(?P<label>[A-Z][A-Za-z0-9_ ]{1,40}): )?(?P<number>\d{1,15}(?:\.\d{1,6})?|nan|inf)"
    r"(?P<unit> tokens/s| reqs|%| waiting to start| in progress| completed waiting)?(?:, |\.?\s*\Z)"
)
# A field of a later version: told by its label, its value is passed over.
UNKNOWN = re.compile(r"(?P<label>[A-Z][A-Za-z0-9_ ]{1,40}): [^,\n]{0,80}(?:, |\Z)")
SWAPPED = re.compile(r", (?:Swapped|Pending): \d")  # V0 only, another dialect
PATTERNS = (HEAD, FIELD, UNKNOWN)

PERCENT = 100.0
KV_FETCH, KV_CACHE_USAGE = "KV fetch", " KV cache usage"
# Label (inside a KV fetch: what stands behind the number), column, unit.
COUNTS = {
    "Running": ("running", " reqs"),
    "Waiting": ("waiting", " reqs"),
    "Deferred": ("deferred", " reqs"),
    "Preemptions": ("preemptions", ""),
    "Corrupted": ("corrupted", " reqs"),
    " waiting to start": ("kv_fetch_waiting", ""),
    " in progress": ("kv_fetch_in_progress", ""),
    " completed waiting": ("kv_fetch_done_waiting", ""),
}
MEASURES = {
    "Avg prompt throughput": ("prompt_throughput", " tokens/s"),
    "Avg generation throughput": ("generation_throughput", " tokens/s"),
    KV_CACHE_USAGE: ("kv_cache_usage", "%"),
    "Prefix cache hit rate": ("prefix_cache_hit_rate", "%"),
    "External prefix cache hit rate": ("external_prefix_cache_hit_rate", "%"),
    "MM cache hit rate": ("mm_cache_hit_rate", "%"),
}


RATES = frozenset(column for column, _ in MEASURES.values())
MOST_DIGITS, MOST_DECIMALS = 9, 6  # of a number before and behind the point: together a float holds them exactly
MOST_PERCENT_DIGITS = 6  # before the point: a fraction rounded to nine decimals is then the nearest float


Place = tuple[str, int, "int | None", bool]  # column, run before the point, run behind it, whether in percent


@dataclass(frozen=True, slots=True)
class Fields:
    """The numbers of one line by column: counts, and rates or fractions."""

    counts: dict[str, int]
    measures: dict[str, float]


@dataclass(frozen=True, slots=True)
class StatPlan:
    """Lines with the same fields, read many at a time."""

    ROW: ClassVar[type[JobRow]] = VllmStat

    job: str
    engine_index: int | None
    places: tuple[Place, ...]
    most_digits: tuple[int, ...]
    in_order: bool = False

    def columns(self, planned: PlannedMessages) -> dict[str, Any]:
        """See `ColumnPlan`."""
        sources = planned.sources
        found: dict[str, Any] = {
            "job": self.job,
            "line": planned.lines,
            "logged_at": planned.logged_at,
            "pid": Chosen([source.pid for source in sources], planned.source_numbers),
            "ip": Chosen([source.ip and repeated_name(source.ip) for source in sources], planned.source_numbers),
            "engine_index": self.engine_index,
            "repeat_count": planned.repeat_counts,
        }
        for column, whole, behind, is_percent in self.places:
            number = planned.numbers[:, whole]
            decimals = 2 if is_percent else 0
            if behind is None:
                found[column] = number / 10.0**decimals if is_percent or column in RATES else number
                continue
            scale = 10 ** planned.digits[:, behind]
            found[column] = (number * scale + planned.numbers[:, behind]) / (scale * 10.0**decimals)
        return found


class StatLines:
    """Reads statistics lines one by one."""

    REGULAR = NEEDLES

    def __init__(self, context: JobContext) -> None:
        self.context = context

    def plan(self, message: Message, numbers: Sequence[tuple[int, int]], *, dated: bool) -> StatPlan | None:
        """See `RegularParser`."""
        head = HEAD.match(message.payload)
        outcome = None if dated or head is None or head.group(2) is not None else self.parse(message)
        if head is None or not isinstance(outcome, tuple):
            return None
        places = number_places(message.payload, head.end(), numbers)
        if places is None or len({run for place in places for run in place[1:3]} - {None}) != len(numbers):
            return None
        most = {behind: MOST_DECIMALS for _, _, behind, _ in places}
        most |= {whole: MOST_PERCENT_DIGITS for _, whole, _, is_percent in places if is_percent}
        digits = tuple(most.get(run, MOST_DIGITS) for run in range(len(numbers)))
        engine = None if head.group(1) is None else int(head.group(1))
        return StatPlan(self.context.job, engine, places, digits)

    def parse(self, message: Message) -> Outcome:
        """A row for the line."""
        head = HEAD.match(message.payload)
        if head is None or SWAPPED.search(message.payload):
            return None
        fields = read_fields(message.payload, head.end())
        if fields is None:
            return Broken("statistics line cut, or with a field not known")
        if not {"prompt_throughput", "generation_throughput", "kv_cache_usage"} <= fields.measures.keys():
            return Broken("statistics line without throughput or KV cache usage")
        return (self._row(message, head, fields),)

    def _row(self, message: Message, head: re.Match[str], fields: Fields) -> VllmStat:
        counts, measures = fields.counts, fields.measures
        return VllmStat(
            job=self.context.job,
            line=message.line,
            logged_at=message.logged_at,
            zone=message.zone,
            pid=message.source.pid,
            ip=message.source.ip and repeated_name(message.source.ip),
            engine_index=None if head.group(1) is None else int(head.group(1)),
            prompt_throughput=finite(measures["prompt_throughput"]),
            generation_throughput=finite(measures["generation_throughput"]),
            running=counts.get("running"),
            waiting=counts.get("waiting"),
            deferred=counts.get("deferred"),
            preemptions=counts.get("preemptions"),
            corrupted=counts.get("corrupted"),
            kv_fetch_waiting=counts.get("kv_fetch_waiting"),
            kv_fetch_in_progress=counts.get("kv_fetch_in_progress"),
            kv_fetch_done_waiting=counts.get("kv_fetch_done_waiting"),
            kv_cache_usage=finite(measures["kv_cache_usage"]),
            prefix_cache_hit_rate=finite(measures.get("prefix_cache_hit_rate")),
            external_prefix_cache_hit_rate=finite(measures.get("external_prefix_cache_hit_rate")),
            mm_cache_hit_rate=finite(measures.get("mm_cache_hit_rate")),
            repeat_count=message.repeat_count,
            scope="engine" if head.group(2) is None else "server",
            engines=None if head.group(2) is None else int(head.group(2)),
        )

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()


def number_places(text: str, position: int, numbers: Sequence[tuple[int, int]]) -> tuple[Place, ...] | None:
    """Where the number of each field stands among runs of digits; None when a field has no column or another form."""
    places: list[Place] = []
    group = ""
    while position < len(text):
        found = FIELD.match(text, position)
        if found is None:
            return None
        group = found.group("label") or group
        column, is_percent = column_of(group, found.group("unit") or "")
        whole, point, _ = found.group("number").partition(".")
        begin, middle = found.start("number"), found.start("number") + len(whole)
        before, behind = run_at(numbers, (begin, middle)), run_at(numbers, (middle + 1, found.end("number")))
        if column is None or before is None or (behind is None) == bool(point) or column in {at[0] for at in places}:
            return None
        places.append((column, before, behind, is_percent))
        position = found.end()
    return tuple(places)


def read_fields(text: str, position: int) -> Fields | None:
    """All fields from `position` to the end; None when a part of the text is no field."""
    fields = Fields({}, {})
    group = ""
    while position < len(text):
        found = FIELD.match(text, position)
        if found is None:
            found = UNKNOWN.match(text, position)
            if found is None or is_known(found.group("label")):
                return None
        else:
            group = found.group("label") or group
            if not _keep(fields, group, found.group("number"), found.group("unit") or ""):
                return None
        position = found.end()
    return fields


def is_known(label: str) -> bool:
    """Whether a column holds this field."""
    return label in COUNTS or label in MEASURES or label == KV_FETCH or label.endswith(KV_CACHE_USAGE)


def _keep(fields: Fields, label: str, number: str, unit: str) -> bool:
    """Put one number where it belongs; False when its unit does not fit its label. Unknown labels are passed over."""
    if label == KV_FETCH:
        label, unit = unit, ""
    column, wanted = COUNTS.get(label, ("", ""))
    if column:
        if unit != wanted or not number.isdigit():
            return False
        fields.counts[column] = int(number)
        return True
    if label.endswith(KV_CACHE_USAGE):
        label = KV_CACHE_USAGE
    column, wanted = MEASURES.get(label, ("", unit))
    if column and unit == wanted:
        fields.measures[column] = round(float(number) / PERCENT, 9) if unit == "%" else float(number)
    return unit == wanted


def column_of(label: str, unit: str) -> tuple[str | None, bool]:
    """The column of a field and whether it is printed in percent; None for fields that have no column."""
    if label == KV_FETCH:
        label, unit = unit, ""
    if label in COUNTS:
        return COUNTS[label][0], False
    found = MEASURES.get(KV_CACHE_USAGE if label.endswith(KV_CACHE_USAGE) else label)
    return (None, False) if found is None else (found[0], unit == "%")


def finite(value: float | None) -> float | None:
    """The number, or None for what is absent or was printed as nan or inf."""
    return value if value is not None and value - value == 0.0 else None


def parser(context: JobContext) -> StatLines:
    """A fresh parser for one job."""
    return StatLines(context)


SAMPLES = (
    Sample(
        "Engine 000: Avg prompt throughput: 3006.7 tokens/s, Avg generation throughput: 474.7 tokens/s, "
        "Running: 10 reqs, Waiting: 2 reqs, GPU KV cache usage: 41.0%, Prefix cache hit rate: 91.9%",
        (
            VllmStat(
                job="job_1",
                line=1,
                engine_index=0,
                prompt_throughput=3006.7,
                generation_throughput=474.7,
                running=10,
                waiting=2,
                kv_cache_usage=0.41,
                prefix_cache_hit_rate=0.919,
            ),
        ),
    ),
    Sample(
        "Engine 003: Avg prompt throughput: 12.0 tokens/s, Avg generation throughput: 900.1 tokens/s, "
        "Running: 31 reqs, Waiting: 7 reqs, Deferred: 4 reqs, "
        "KV fetch: 1 waiting to start, 2 in progress, 3 completed waiting, Preemptions: 5, "
        "GPU KV cache usage: 97.5%, Prefix cache hit rate: 33.3%, Corrupted: 0 reqs, "
        "External prefix cache hit rate: 12.5%, MM cache hit rate: 50.0%",
        (
            VllmStat(
                job="job_1",
                line=1,
                engine_index=3,
                prompt_throughput=12.0,
                generation_throughput=900.1,
                running=31,
                waiting=7,
                deferred=4,
                preemptions=5,
                corrupted=0,
                kv_fetch_waiting=1,
                kv_fetch_in_progress=2,
                kv_fetch_done_waiting=3,
                kv_cache_usage=0.975,
                prefix_cache_hit_rate=0.333,
                external_prefix_cache_hit_rate=0.125,
                mm_cache_hit_rate=0.5,
            ),
        ),
    ),
    Sample(
        "4 Engines Aggregated: Avg prompt throughput: 120.0 tokens/s, Avg generation throughput: 3600.4 tokens/s, "
        "Running: 124 reqs, Waiting: 0 reqs, GPU KV cache usage: 40.2%",
        (
            VllmStat(
                job="job_1",
                line=1,
                prompt_throughput=120.0,
                generation_throughput=3600.4,
                running=124,
                waiting=0,
                kv_cache_usage=0.402,
                scope="server",
                engines=4,
            ),
        ),
    ),
    Sample(
        "Avg prompt throughput: 1.5 tokens/s, Avg generation throughput: 2.0 tokens/s, "
        "Running: 1 reqs, Waiting: 0 reqs, Paused: 3 of 9, XPU KV cache usage: 0.0%, Prefix cache hit rate: nan%",
        (
            VllmStat(
                job="job_1",
                line=1,
                prompt_throughput=1.5,
                generation_throughput=2.0,
                running=1,
                waiting=0,
                kv_cache_usage=0.0,
            ),
        ),
    ),
    Sample("Engine 000: Avg prompt throughput: 3006.7 tokens/s, Avg gen", (), broken=True, complete=False),
)
