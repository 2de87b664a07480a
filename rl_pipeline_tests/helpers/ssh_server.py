"""An OpenSSH server on a free port of the loopback address, with a key of its own and one that may log in."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from rl_pipeline_tests.helpers.object_store import _listens, forget_connections
from rl_pipeline_tests.helpers.receivers import free_port
from rl_pipeline_tests.helpers.services import until

CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/login_key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
"""


@dataclass(frozen=True)
class SshServer:
    """Where it listens, and the folder of its keys."""

    port: int
    folder: Path

    def url(self, path: Path) -> str:
        """The URL of a path of this machine, as seen through the server."""
        return f"sftp://{getpass.getuser()}@127.0.0.1:{self.port}{path}"

    def know(self, key: str) -> None:
        """Write a key of the server into the client's known hosts."""
        known = self.folder / "home" / ".ssh" / "known_hosts"
        known.parent.mkdir(parents=True, exist_ok=True)
        kind, material = key.split()[:2]
        known.write_text(f"[127.0.0.1]:{self.port} {kind} {material}\n")

    def host_key(self) -> str:
        """The server's public key."""
        return (self.folder / "host_key.pub").read_text()


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """A server; the environment of the block makes clients use its key. Skips the test where none is installed."""
    program = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("no OpenSSH server is installed")
    for name in ("host_key", "login_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True, capture_output=True
        )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    server = SshServer(free_port(), folder)
    config = folder / "sshd_config"
    config.write_text(CONFIG.format(port=server.port, folder=folder))
    process = subprocess.Popen(
        [program, "-D", "-e", "-f", str(config)], stdout=subprocess.DEVNULL, stderr=(folder / "sshd.log").open("wb")
    )
    server.know(server.host_key())
    variables = {"FSSPEC_SFTP_KEY_FILENAME": str(folder / "login_key"), "HOME": str(folder / "home")}
    try:
        until("the SSH server listens", lambda: _listens(server.port), patience=60)
        with mock.patch.dict(os.environ, variables), _fsspec_variables():
            forget_connections()
            yield server
    finally:
        process.kill()
        process.wait()
        forget_connections()


@contextmanager
def _fsspec_variables() -> Iterator[None]:
    """Fsspec reads its variables when it is imported; here they are read again."""
    from fsspec.config import conf, set_conf_env

    before = dict(conf)
    set_conf_env(conf)
    try:
        yield
    finally:
        conf.clear()
        conf.update(before)
