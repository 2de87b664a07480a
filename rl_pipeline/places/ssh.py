"""SSH servers that are known: fsspec's SFTP file system, which by itself would accept a changed key of a server.

The keys of `~/.ssh/known_hosts` count, as with `ssh`: a server whose key is another one is refused; one that was never
seen is accepted (`ssh -o StrictHostKeyChecking=accept-new`), for this process.
"""

from __future__ import annotations

import threading

import fsspec
import paramiko
from fsspec.implementations.sftp import SFTPFileSystem

CONNECT_SECONDS = 20.0
KEEP_ALIVE_SECONDS = 30
ANSWER_SECONDS = 120.0


class KnownHosts(SFTPFileSystem):  # type: ignore[misc]  # fsspec has no types
    """SFTP with the known keys of servers, and with a connection that is opened anew when it broke."""

    protocol = ("sftp", "ssh")

    def _connect(self) -> None:
        self._guard, self._of_thread = threading.RLock(), threading.local()
        self._reach()

    @property
    def ftp(self) -> paramiko.SFTPClient:
        """This thread's channel: one serves one thread. A connection that broke is opened anew, as it will in weeks."""
        with self._guard:
            transport = self.client.get_transport()
            if transport is None or not transport.is_active():
                transport = self._reach()
            held = getattr(self._of_thread, "held", None)
            if held is None or held[0] is not transport:
                channel = self.client.open_sftp()
                channel.get_channel().settimeout(ANSWER_SECONDS)
                held = self._of_thread.held = (transport, channel)
            return held[1]

    def _reach(self) -> paramiko.Transport:
        client = paramiko.SSHClient()
        client.load_system_host_keys()
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        waits = {"timeout": CONNECT_SECONDS, "banner_timeout": CONNECT_SECONDS, "auth_timeout": CONNECT_SECONDS}
        client.connect(self.host, **{**waits, **self.ssh_kwargs})
        transport = client.get_transport()
        transport.set_keepalive(KEEP_ALIVE_SECONDS)
        self.client = client
        return transport


_lock = threading.Lock()


def register() -> None:
    """Make fsspec use it for sftp:// and ssh://."""
    with _lock:
        if fsspec.registry.get("sftp") is not KnownHosts:
            for protocol in ("sftp", "ssh"):
                fsspec.register_implementation(protocol, KnownHosts, clobber=True)
