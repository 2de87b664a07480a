"""The first stage of a report: logs to tables, by two processes where that is worth a second one.

Little is imported here, so that the second process is started first, and both import what reading needs at one time.
"""

from __future__ import annotations

from rl_pipeline.commands.report_processes import another_reader
from rl_pipeline.commands.report_stages import Making
from rl_pipeline.commands.report_state import ReportState

WORTH_A_PROCESS = 100_000_000  # bytes of logs that another process saves more time with than its start costs


def read_job_tables(making: Making) -> None:
    """Logs to tables.

    Raises:
        ConfigurationError: the thresholds do not say what they must.
        DataError: nothing readable.
    """
    second = another_reader() if is_surely_worth_a_process(making) else None
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
