"""Dagster's own processes, started as a user starts them and stopped with their children.

Tests wait for what the instance says and never for time to pass: `until` asks again and again, with a
deadline that only a broken program reaches.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

from rl_pipeline.defs.instance import config_folder

PATIENCE_SECONDS = 240.0
LOOK_SECONDS = 0.5
BIN = Path(sys.executable).parent

T = TypeVar("T")


def until(what: str, ask: Callable[[], T | None], *, patience: float = PATIENCE_SECONDS) -> T:
    """The first answer that is true; a failure that names what never came when patience ends."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        with suppress(OSError):
            answer = ask()
            if answer:
                return answer
        time.sleep(LOOK_SECONDS)
    raise AssertionError(f"waited {patience:.0f} s in vain for: {what}")


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment without anything of a surrounding deployment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RL_PIPELINE_", "DAGSTER_"))}
    return {**kept, "DAGSTER_DISABLE_TELEMETRY": "1", **extra}


class Service:
    """A process with its children, in a process group of its own."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        log: IO[bytes],
        *,
        signals: str = "--default-signal=INT,TERM",
    ) -> None:
        # A shell without job control would hand down SIGINT ignored, and Dagster then ignores SIGTERM too.
        self.process = subprocess.Popen(
            ["env", signals, *command],
            env=clean_environment(environment),
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def stop(self) -> None:
        """Ask it to stop as Ctrl-C does, and wait until it has."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=60)
        self.kill()

    def terminate(self) -> None:
        """Ask it to stop as `kill` does, and wait until it has, whatever becomes of its children."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def living(self) -> list[str]:
        """The names of the processes that it or its children have started and that still live."""
        names = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                head, _, rest = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")
                state, _, _, session = rest.split()[:4]
                if int(session) == self.process.pid and state != "Z":
                    names.append(head.partition("(")[2])
        return names

    def kill(self) -> None:
        """End it and all its children at once, without a chance to clean up."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def service(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    folder: Path,
    log: Path,
    signals: str = "--default-signal=INT,TERM",
) -> Iterator[Service]:
    """Start a program; when the block ends it is stopped, with its children.

    Args:
        command: the program and its arguments.
        environment: variables besides those of the tests.
        folder: where it is started.
        log: gets what it prints.
        signals: how it inherits signals, as an option of `env`.
    """
    with log.open("ab") as file:
        running = Service(command, environment, folder, file, signals=signals)
        try:
            yield running
        finally:
            running.stop()


@contextmanager
def daemon(environment: Mapping[str, str], folder: Path) -> Iterator[Service]:
    """The Dagster daemon on the shared instance, which asks after its runs every two seconds and not every thirty."""
    home = folder / "dagster_home"
    home.mkdir(exist_ok=True)
    text = (config_folder() / "dagster.yaml").read_text(encoding="utf-8")
    (home / "dagster.yaml").write_text(re.sub(r"poll_interval_seconds: \d+", "poll_interval_seconds: 2", text))
    command = [str(BIN / "dagster-daemon"), "run", "-w", str(config_folder() / "workspace.yaml")]
    variables = {"DAGSTER_HOME": str(home), **environment}
    with service(command, variables, folder=folder, log=folder / "daemon.log") as running:
        yield running
