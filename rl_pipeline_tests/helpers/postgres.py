"""A PostgreSQL server for tests, with a password, on a free port of the loopback address.

Started from the server's own programs, wherever the system keeps them. PostgreSQL refuses to run as root, so a
test that does runs it as the user `postgres`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rl_pipeline_tests.helpers.receivers import free_port

PASSWORD = "made-up-for-tests"
SYSTEM_FOLDER = Path("/usr/lib/postgresql")


def server_programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, the newest where there are several."""
    found = shutil.which("pg_ctl")
    folders = sorted(SYSTEM_FOLDER.glob("*/bin"), key=lambda path: float(path.parent.name))
    return Path(found).parent if found else (folders[-1] if folders else None)


def as_server_user(folder: Path) -> list[str]:
    """The words before a command, so that it does not run as root; the folder is given to that user."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "postgres", "postgres")
    return ["runuser", "-u", "postgres", "--"]


@contextmanager
def postgres_server() -> Iterator[str]:
    """A server with an empty database; gives its URL. Skips the test where there is no server to start."""
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    folder = Path(tempfile.mkdtemp(prefix="rl_pg_"))
    data, port = folder / "data", free_port()
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    user = as_server_user(folder)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    try:
        _run(
            [
                *user,
                programs / "initdb",
                "-D",
                data,
                "-U",
                "lab",
                "-A",
                "scram-sha-256",
                "--pwfile",
                folder / "password",
            ]
        )
        _run([*user, programs / "pg_ctl", "-D", data, "-o", options, "-l", folder / "server.log", "-w", "start"])
        yield f"postgresql://lab:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run(
            [*user, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=False, capture_output=True
        )
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str | Path]) -> None:
    # A file takes the output: the server keeps it open after pg_ctl has ended, and a pipe would never close.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False)
        output.seek(0)
        assert done.returncode == 0, output.read().decode("utf-8", "replace")
