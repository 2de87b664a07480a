"""Rules that the tables of a job, or the trials of an experiment, must keep.

In: Arrow tables by name. Out: one `Violation` per broken rule and table, with a count, a sentence and
the first places. All violations are collected; nothing raises.

A rule blocks where its violation means that the table lies (a share of 87, a metric twice in one
block, a block that got lost): what is made from such a table would be wrong. It warns where the data
are odd and may well be what the trainer printed (steps that go back, a clock that jumped).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from rl_pipeline.schema import TABLES_BY_NAME
from rl_pipeline.tables.rules_of_columns import (
    dates_out_of_range,
    differing_columns,
    fractions_out_of_range,
    lines_out_of_range,
    negative_amounts,
    odd_hit_rates,
    rows_of_other_jobs,
    unknown_words,
)
from rl_pipeline.tables.rules_of_tables import (
    disagreeing_mirrors,
    impossible_batches,
    lost_blocks,
    odd_breakdowns,
    odd_trial_times,
    repeated_keys,
    share_of_unparsed,
    silent_heads,
    steps_going_back,
)
from rl_pipeline.tables.violations import Found, Tables

SHOWN_PLACES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One promise of the tables.

    Attributes:
        slug: its name.
        says: the promise, as a sentence.
        blocking: whether nothing may be made from a table that breaks it.
        find: gives what breaks it, table by table.
    """

    slug: str
    says: str
    blocking: bool
    find: Callable[[Tables], Iterable[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken rule.

    Attributes:
        table: which.
        rule: slug of the rule.
        severity: error when blocking, else warn.
        blocking: whether nothing may be made from the table.
        count: rows (or values, or blocks) that break it.
        message: what is wrong, with the first places.
        examples: those places, one text each.
    """

    table: str
    rule: str
    severity: str
    blocking: bool
    count: int
    message: str
    examples: tuple[str, ...] = ()


def _rule(slug: str, says: str, find: Callable[[Tables], Iterable[Found]], *, blocking: bool) -> Rule:
    return Rule(slug=slug, says=says, blocking=blocking, find=find)


COLUMNS = _rule("columns", "a table has exactly the columns of its schema", differing_columns, blocking=True)

RULES: tuple[Rule, ...] = (
    COLUMNS,
    _rule("unique-keys", "no fact stands twice in a table", repeated_keys, blocking=True),
    _rule("known-words", "kinds, states and outcomes are those of the schema", unknown_words, blocking=True),
    _rule("one-job", "all rows belong to the job of the log", rows_of_other_jobs, blocking=True),
    _rule("lines", "lines count from 1 and end with the log", lines_out_of_range, blocking=True),
    _rule("fractions", "shares lie between 0 and 1", fractions_out_of_range, blocking=True),
    _rule("batch-sums", "a batch has no more successes than trials", impossible_batches, blocking=True),
    _rule("no-block-lost", "all complete metric blocks of the log are in the table", lost_blocks, blocking=True),
    _rule("no-head-silent", "every metric block that was begun has rows or is told as unparsed", silent_heads,
          blocking=False),
    _rule("mirror-agrees", "mirror line and console block of a step agree within what is printed",
          disagreeing_mirrors, blocking=False),
    _rule("breakdown-sums", "exceptions, masked trials and failed prompts of a batch fit its failed trials",
          odd_breakdowns, blocking=False),
    _rule("steps-go-on", "training steps of a job never go back", steps_going_back, blocking=False),
    _rule("hit-rates", "hit rates lie between 0 and 1", odd_hit_rates, blocking=False),
    _rule("amounts", "counts, durations and rates are not negative", negative_amounts, blocking=False),
    _rule("dates", "times lie between 2015 and 2100, and within the log's", dates_out_of_range, blocking=False),
    _rule("trial-times", "a trial ends after it began, and before its verifier's end", odd_trial_times,
          blocking=False),
    _rule("unparsed-share", "at most one recognised message in a hundred is broken", share_of_unparsed,
          blocking=False),
)  # fmt: skip


def violations(tables: Mapping[str, pa.Table]) -> list[Violation]:
    """Everything that is wrong with these tables, blocking violations first.

    Args:
        tables: those of one job (the six, with or without `jobs`), or the trials of an experiment; names
            that the schema does not have are left out.
    """
    known = {name: table for name, table in tables.items() if name in TABLES_BY_NAME}
    broken = _broken(COLUMNS, known)
    whole = {name: table for name, table in known.items() if name not in {violation.table for violation in broken}}
    return broken + [violation for rule in RULES if rule is not COLUMNS for violation in _broken(rule, whole)]


def _broken(rule: Rule, tables: Tables) -> list[Violation]:
    return [
        Violation(
            table=found.table,
            rule=rule.slug,
            severity="error" if rule.blocking else "warn",
            blocking=rule.blocking,
            count=found.broken,
            message=_message(found),
            examples=tuple(found.places[:SHOWN_PLACES]),
        )
        for found in rule.find(tables)
        if found.broken
    ]


def _message(found: Found) -> str:
    shown = "; ".join(found.places[:SHOWN_PLACES])
    more = " …" if found.broken > SHOWN_PLACES and shown else ""
    return f"{found.what}: {shown}{more}" if shown else found.what
