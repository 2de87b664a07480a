"""How many runs are handed out at once: what `dagster.yaml` says on one machine, what the workers can take on several.

With workers, no more runs are handed out than they have slots; the others wait in the queue and none of them can be
late. While no worker answers, one run is handed out all the same: it fails in time and says what is missing.
"""

from __future__ import annotations

import os
import time

from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator, RunQueueConfig

from rl_pipeline.settings import Settings

ASK_SECONDS = 10.0  # workers come and go; asking them takes a second


class RunQueue(QueuedRunCoordinator):
    """Dagster's queue of runs, as long as the workers are many."""

    _asked_at, _slots = float("-inf"), 1

    def get_run_queue_config(self) -> RunQueueConfig:
        """The limits that hold now."""
        config, broker_url = super().get_run_queue_config(), Settings.from_environment(os.environ).broker_url
        return config if broker_url is None else config._replace(max_concurrent_runs=self._of_workers(broker_url))

    def _of_workers(self, broker_url: str) -> int:
        from rl_pipeline.defs.workers import slots, worker_app  # noqa: PLC0415 - an extra, not always installed

        if time.monotonic() - self._asked_at > ASK_SECONDS:
            self._slots = max(slots(worker_app(broker_url)) or 0, 1)
            self._asked_at = time.monotonic()
        return self._slots
