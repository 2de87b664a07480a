"""Charts drawn in helper processes: on several cores, and with their memory given back when the charts are done."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from rl_pipeline.processes import Helper
from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.picture_helper import asked, picture_in
from rl_pipeline.report.page.pictures import Picture, picture_of

HELPER = "rl_pipeline.report.page.picture_helper"
HELPERS = 2


def drawn(charts: Sequence[Chart], *, helpers: int = HELPERS) -> tuple[Picture, ...]:
    """Every chart as a picture, drawn by helper processes, in the order of the charts.

    Args:
        charts: made with `palette.PAGE`.
        helpers: how many charts are drawn at once; 0 draws in this process.
    """
    with Studio(min(helpers, len(charts))) as studio:
        return studio.pictures_of(charts)


class Studio:
    """Some helpers that draw; each has the renderer in memory, some 120 MB.

    Args:
        size: how many; 0 draws in this process.
    """

    def __init__(self, size: int) -> None:
        self.helpers = [Helper(HELPER) for _ in range(size)]
        self._free: queue.SimpleQueue[Helper] = queue.SimpleQueue()
        for helper in self.helpers:
            self._free.put(helper)
        self._pool = ThreadPoolExecutor(max(1, size), thread_name_prefix="drawing")

    def __enter__(self) -> Studio:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        for helper in self.helpers:
            helper.close()

    def pictures_of(self, charts: Sequence[Chart]) -> tuple[Picture, ...]:
        """The charts' pictures in order; the largest are drawn first, so that none is waited for at the end.

        Raises:
            ValueError: a chart can not be drawn.
        """
        first = sorted(range(len(charts)), key=lambda place: -len(charts[place].rows))
        drawing = {place: self._pool.submit(self._picture_of, charts[place]) for place in first}
        return tuple(drawing[place].result() for place in range(len(charts)))

    def _picture_of(self, chart: Chart) -> Picture:
        """From a helper; from this process when there are none, or none can be started here."""
        if not self.helpers:
            return picture_of(chart)
        message, helper = asked(chart), self._free.get()
        try:
            answer = helper.ask(message)
            if answer is None and helper.process is not None:  # it died: of this chart, or of want of memory
                helper = self._another(helper)
                answer = helper.ask(message)
        finally:
            self._free.put(helper)
        if answer is None and helper.process is None:
            return picture_of(chart)
        if answer is None:
            raise ValueError(f"the renderer died of the chart {chart.name}")
        return picture_in(answer, chart)

    def _another(self, helper: Helper) -> Helper:
        helper.close()
        another = Helper(HELPER)
        self.helpers[self.helpers.index(helper)] = another
        return another
