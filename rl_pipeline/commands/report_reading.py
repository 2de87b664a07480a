"""The first stage of a report: logs to tables, by two processes where that is worth a second one.

Little is imported here, so that the second process is started first, and both import what reading needs at one time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from rl_pipeline.commands.other_process import OtherProcess
from rl_pipeline.commands.report_stages import NO_FRAMES, Making
from rl_pipeline.commands.report_state import ReportState

PREPARE = "rl_pipeline.commands.report_making:prepare"
WORTH_A_PROCESS = 16_000_000  # bytes of logs that another process saves more time with than its start costs


def read_job_tables(making: Making) -> None:
    """Logs to tables.

    Raises:
        ConfigurationError: the thresholds cannot be read.
        DataError: nothing readable.
    """
    second = SecondReader() if is_surely_worth_a_process(making) else None
    try:
        from rl_pipeline.commands.report_making import read_all_logs

        read_all_logs(making, second)
    finally:
        if second is not None:
            second.close(at_once=True)


def is_surely_worth_a_process(making: Making) -> bool:
    """Whether logs are read whatever was kept of them, and enough of them."""
    sizes = [log.size_bytes for log in making.experiment.jobs]
    is_first = making.force or not ReportState(making.out).is_there
    return is_first and sum(sizes) - max(sizes, default=0) >= WORTH_A_PROCESS


class SecondReader:
    """Another process that reads logs, and the one thread that talks to it; it begins with its imports."""

    def __init__(self) -> None:
        self.process = OtherProcess(without=NO_FRAMES)
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="second reader")
        self.thread.submit(self.process.call, PREPARE, gives=type(None))

    def __enter__(self) -> SecondReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=error is not None)

    def close(self, *, at_once: bool = False) -> None:
        """End the process; what it is at is lost with `at_once`."""
        self.process.close(at_once=at_once)
        self.thread.shutdown(cancel_futures=True)
