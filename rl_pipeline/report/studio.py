"""Charts drawn in helper processes: on several cores, and with their memory given back when the charts are done."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from rl_pipeline.processes import Helper
from rl_pipeline.report import vega
from rl_pipeline.report.vega_helper import DRAWING, MADE, SPECIFICATION

HELPER = "rl_pipeline.report.vega_helper"

T = TypeVar("T")
R = TypeVar("R")


class Studio:
    """Some helpers that draw.

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

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """The results of work that draws, in the order of the items, as many at once as there are helpers."""
        return self._pool.map(work, items)

    def svg_of(self, spec: Mapping[str, Any]) -> str:
        """The specification as SVG.

        Raises:
            ValueError: it is none that can be drawn.
        """
        made = self._made(SPECIFICATION + json.dumps(vega.drawable(spec)).encode())
        return vega.svg_of(spec) if made is None else made.decode()

    def png_of(self, svg: str) -> bytes:
        """The drawing as pixels; raises as `svg_of` does."""
        made = self._made(DRAWING + svg.encode())
        return vega.png_of(svg) if made is None else made

    def _made(self, message: bytes) -> bytes | None:
        """What a helper made of it; None when there are none, or none can be started here."""
        if not self.helpers:
            return None
        helper = self._free.get()
        try:
            answer = helper.ask(message)
            if answer is None and helper.process is not None:  # it died: of this message, or of want of memory
                helper = self._another(helper)
                answer = helper.ask(message)
        finally:
            self._free.put(helper)
        if answer is None and helper.process is None:
            return None
        if answer is None or not answer.startswith(MADE):
            raise ValueError("the renderer died of it" if answer is None else answer[1:].decode())
        return answer[1:]

    def _another(self, helper: Helper) -> Helper:
        helper.close()
        another = Helper(HELPER)
        self.helpers[self.helpers.index(helper)] = another
        return another
