"""The metrics of one block, kept as columns: a block has dozens of rows that differ in four of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import overload

from rl_pipeline.schema import StepMetric

Reading = tuple["float | None", "str | None", str]  # value, text and state of one metric


@dataclass(frozen=True, slots=True)
class MetricBlock(Sequence[StepMetric]):
    """Rows of step_metrics that differ in metric, value, text and state alone; `readings` has one entry a metric."""

    job: str
    block: int
    line: int
    kind: str
    global_step: int | None
    source: str
    logged_at: datetime | None
    zone: str | None
    metrics: Sequence[str]
    readings: Sequence[Reading]

    def __len__(self) -> int:
        """How many rows."""
        return len(self.metrics)

    @overload
    def __getitem__(self, index: int) -> StepMetric: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[StepMetric]: ...
    def __getitem__(self, index: int | slice) -> StepMetric | Sequence[StepMetric]:
        """A row, or some of them."""
        if isinstance(index, slice):
            return replace(self, metrics=self.metrics[index], readings=self.readings[index])
        value, text, state = self.readings[index]
        return StepMetric(
            job=self.job, block=self.block, line=self.line, kind=self.kind, global_step=self.global_step,
            metric=self.metrics[index], value=value, text=text, state=state, source=self.source,
            logged_at=self.logged_at, zone=self.zone,
        )  # fmt: skip

    def columns(self) -> dict[str, Sequence[object]]:
        """All columns of the rows, by name."""
        count = len(self.metrics)
        values, texts, states = zip(*self.readings, strict=True) if self.readings else ((), (), ())
        return {
            "job": (self.job,) * count, "block": (self.block,) * count, "line": (self.line,) * count,
            "kind": (self.kind,) * count, "global_step": (self.global_step,) * count, "metric": self.metrics,
            "value": values, "text": texts, "state": states, "source": (self.source,) * count,
            "logged_at": (self.logged_at,) * count, "zone": (self.zone,) * count,
        }  # fmt: skip
