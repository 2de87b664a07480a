"""Batch lines of one window of a log, read many at a time; and what is known of batches that are not complete.

Sources are told by numbers here: looking a source up for each line costs more than the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rl_pipeline.column_forms import Chosen
from rl_pipeline.dialects.contract import Broken, Outcome
from rl_pipeline.reader.message import Source

if TYPE_CHECKING:
    from rl_pipeline.dialects.rollout_batches import BatchPlan, RolloutBatches
    from rl_pipeline.reader.ordered import OrderedLines

STARTED, TOLD, COMPLETION = "started", "told", "completion"  # kinds of lines
TOO_MANY = "more trials successful than there were"
SURE_NUMBERS = 3  # of a completion line; the fourth came later
MODES_LIMIT = 10_000  # batches of one size that may be outstanding before they are forgotten


class Breakdown(NamedTuple):
    """Failed trials by exception type, and the line that told them."""

    line: int
    byte_offset: int
    text: str
    counts: dict[str, int]


@dataclass(slots=True)
class Outstanding:
    """Started batches of one source and one size; `settled` of them are complete, but which ones is not known."""

    modes: dict[str | None, int] = field(default_factory=dict)
    total: int = 0
    settled: int = 0

    def start(self, mode: str | None, count: int) -> None:
        """Note batches that were started."""
        self.modes[mode] = self.modes.get(mode, 0) + count
        self.total += count
        if self.total > MODES_LIMIT:
            self._forget()

    def complete(self, count: int) -> str | None:
        """The mode that all outstanding batches share, or None; `count` of them are outstanding no more."""
        modes = self.modes
        shared = [mode for mode, number in modes.items() if number > 0] if len(modes) > 1 else modes
        if len(shared) == 1 and (number := modes[mode := next(iter(shared))]) > 0:
            modes[mode] = left = max(0, number - count)
            self.total += left - number
            return mode
        self.settled += count
        if self.settled >= self.total:
            self._forget()
        return None

    def _forget(self) -> None:
        self.modes.clear()
        self.total = self.settled = 0

    def evaluation_over(self) -> None:
        """An evaluation has ended: none of its batches is outstanding."""
        ended = self.modes.pop("eval", 0)
        self.total -= ended
        self.settled = max(0, self.settled - ended)
        if len(self.modes) == 1 and self.settled:
            mode = next(iter(self.modes))
            self.modes[mode] = max(0, self.modes[mode] - self.settled)
            self.settled = 0


class BatchWindow:
    """Batch lines of one window: what waits in it, and the rows it gives.

    `waiting`: line of the breakdown that waits, by number of its source; `carried`: sources that have one of another
    kind; `pools`: outstanding batches by number of their source and size.
    """

    def __init__(self, batches: RolloutBatches, lines: OrderedLines) -> None:
        """`batches`: holds what is known beyond the window."""
        self._batches, self._lines = batches, lines
        self.waiting: dict[int, int] = {}
        self._numbers = {source: number for number, source in enumerate(lines.sources)}
        self.carried = {number for source, number in self._numbers.items() if source in batches.breakdowns}
        self.pools: dict[tuple[int, int], Outstanding] = {}
        self._indexes: list[int] = []  # of completion lines
        self._told: list[int] = []  # lines of their breakdowns, -1: none
        self._modes: list[str | None] = []
        self._markers: list[int | None] = []

    def take(self, index: int, stop: int, outcomes: list[tuple[int, Outcome]]) -> int:
        """Read lines as far as they are of batches; gives where it ended."""
        lines, batches = self._lines, self._batches
        plans, sources, counts = lines.plans, lines.source_numbers, lines.counts
        first, second, odd = lines.column(0), lines.column(1), lines.with_leading_zeros
        while index < stop:
            kind, source = plans[index].kind, sources[index]
            outcome: Outcome = None
            if kind is COMPLETION:
                outcome = self._complete(index, source, first[index], second[index], counts[index])
            elif kind is TOLD:
                outcome = batches.parse(lines.message(index)) if index in odd else self._break_down(index, source)
            elif kind is STARTED:
                mode = cast("BatchPlan", plans[index]).mode
                batches.modes_seen.add(mode)
                self._pool(source, first[index]).start(mode, counts[index])
            else:
                break
            if outcome:
                outcomes.append((index, outcome))
            index += 1
        return index

    def _pool(self, source: int, total: int) -> Outstanding:
        pool = self.pools.get((source, total))
        if pool is None:
            pool = self._batches.pool(self._lines.sources[source], total)
            self.pools[source, total] = pool
        return pool

    def _complete(self, index: int, source: int, successful: int, total: int, count: int) -> Outcome:
        if successful > total:
            return Broken(TOO_MANY)
        if source in self.carried:
            return self._complete_carried(index, source)
        pool = self.pools.get((source, total)) or self._batches.outstanding.get((self._lines.sources[source], total))
        mode = None if pool is None else pool.complete(count)
        self._indexes.append(index)
        self._told.append(self.waiting.pop(source, -1))
        self._modes.append(mode or self._batches.only_mode)
        self._markers.append(self._batches.context.step_marker)
        return None

    def _complete_carried(self, index: int, source: int) -> Outcome:
        """A completion line whose breakdown was not read here."""
        self.carried.discard(source)
        successful, total, failed, *others = self._lines.matrix[index].tolist()
        has_masked = len(self._lines.plans[index].most_digits) > SURE_NUMBERS
        waiting = self._batches.breakdowns.pop(self._lines.sources[source])
        told = successful, total, failed, others[0] if has_masked else None
        return (self._batches.row(self._lines.message(index), told, waiting),)

    def _break_down(self, index: int, source: int) -> Outcome:
        earlier = None
        if source in self.carried:
            self.carried.discard(source)
            earlier = self._batches.breakdowns.pop(self._lines.sources[source])
        elif source in self.waiting:
            earlier = self._whole(self.waiting[source])
        self.waiting[source] = index
        return None if earlier is None else (self._batches.orphan(earlier, "no completion line followed"),)

    def carry(self, source: Source) -> None:
        """Note that a source has a breakdown that was not read here."""
        if (number := self._numbers.get(source)) is not None:
            self.carried.add(number)

    def give_up(self, source: Source) -> Breakdown | None:
        """The breakdown of a source that was read here; none of it waits any more, here or elsewhere."""
        if (number := self._numbers.get(source)) is None:
            return None
        self.carried.discard(number)
        index = self.waiting.pop(number, None)
        return None if index is None else self._whole(index)

    def _whole(self, index: int) -> Breakdown:
        """A breakdown with its text and counts."""
        lines = self._lines
        counts = dict(zip(lines.plans[index].names, lines.matrix[index].tolist(), strict=False))
        return Breakdown(*lines.place(index), lines.payload(index), counts)

    def collected(self) -> dict[str, Any] | None:
        """The columns of all completion lines; what still waits is handed over."""
        lines, indexes = self._lines, self._indexes
        for source, index in self.waiting.items():
            self._batches.breakdowns[lines.sources[source]] = self._whole(index)
        if not indexes:
            return None
        numbers = lines.matrix[indexes]
        return {
            "job": self._batches.context.job,
            "line": lines.line_numbers[indexes],
            "logged_at": lines.logged_at[indexes],
            "mode": _chosen(self._modes),
            "successful": numbers[:, 0],
            "total": numbers[:, 1],
            "failed_groups": numbers[:, 2],
            "masked": lines.optional(indexes, SURE_NUMBERS),
            "exceptions": lines.maps(self._told),
            "since_step_marker": _chosen(self._markers),
            "repeat_count": lines.repeat_counts[indexes],
        }


def _chosen(values: Sequence[Any]) -> Chosen:
    """A column of few different values."""
    seen = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return Chosen(list(seen), list(map(seen.__getitem__, values)))
