"""Charts drawn in helper processes: on two cores, and with their memory given back when the charts are done.

One process evaluates specifications, another one makes pictures and pixels of what it left; a chart goes through both.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from rl_pipeline.processes import Helper
from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.chart_messages import asked, drawings_in, picture_in, question
from rl_pipeline.report.page.drawing import Evaluated, evaluated
from rl_pipeline.report.page.pictures import Picture, finished

PAGE_PACKAGE = "rl_pipeline.report.page"


def drawn(charts: Sequence[Chart], *, here: bool = False) -> tuple[Picture, ...]:
    """Every chart as a picture, in the order of the charts.

    Args:
        charts: made with `palette.PAGE`.
        here: whether to draw in this process.
    """
    if not charts:
        return ()
    with Studio(here=here) as studio:
        return studio.pictures_of(charts)


class Studio:
    """The two helpers that draw; the second one starts when there is something to finish.

    Args:
        here: whether this process does all of it.
    """

    def __init__(self, *, here: bool = False) -> None:
        self.evaluator, self.finisher = _Stage("evaluator", here=here), _Stage("finisher", here=here)

    def start_ahead(self) -> None:
        """Start the engine, which takes half a second, before there is anything to draw."""
        self.evaluator.pool.submit(self.evaluator.start)

    def __enter__(self) -> Studio:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stage in (self.evaluator, self.finisher):
            stage.close()

    def pictures_of(self, charts: Sequence[Chart]) -> tuple[Picture, ...]:
        """The charts' pictures in order; the largest are drawn first, so that none is waited for at the end.

        Args:
            charts: made with `palette.PAGE`.

        Raises:
            ValueError: a chart cannot be drawn.
        """
        self.start_ahead()
        self.finisher.pool.submit(self.finisher.start)  # its imports take place while the first chart is evaluated
        first = sorted(range(len(charts)), key=lambda place: -len(charts[place].rows))
        drawings = {place: self.evaluator.pool.submit(self._evaluated, charts[place]) for place in first}
        pictures = {place: self.finisher.pool.submit(self._finished, charts[place], drawings[place]) for place in first}
        return tuple(pictures[place].result() for place in range(len(charts)))

    def _evaluated(self, chart: Chart) -> Evaluated:
        answer = self.evaluator.ask(asked(chart), chart.name)
        return evaluated(chart) if answer is None else drawings_in(answer)

    def _finished(self, chart: Chart, drawings: Future[Evaluated]) -> Picture:
        done = drawings.result()
        answer = self.finisher.ask(question(asked(chart), done), chart.name)
        return finished(chart, done) if answer is None else picture_in(answer, chart)


class _Stage:
    """One helper, and the thread that talks to it."""

    def __init__(self, module: str, *, here: bool) -> None:
        self._module, self._is_here = f"{PAGE_PACKAGE}.{module}", here
        self.helper: Helper | None = None
        self.pool = ThreadPoolExecutor(1, thread_name_prefix=module)

    def start(self) -> None:
        """Start the helper, if there is to be one."""
        if self.helper is None and not self._is_here:
            self.helper = Helper(self._module)

    def ask(self, message: bytes, name: str) -> bytes | None:
        """What the helper answers; None when there is none, or none can be started here.

        Raises:
            ValueError: the chart of this name ends every helper.
        """
        if self.helper is None:
            return None
        answer = self.helper.ask(message)
        if answer is None and self.helper.process is not None:  # it died: of this chart, or of want of memory
            self.helper.close()
            self.helper = Helper(self._module)
            answer = self.helper.ask(message)
        if answer is None and self.helper.process is not None:
            raise ValueError(f"the renderer died of the chart {name}")
        return answer

    def close(self) -> None:
        """End the helper; charts that wait are not drawn."""
        self.pool.shutdown(cancel_futures=True)
        if self.helper is not None:
            self.helper.close()
