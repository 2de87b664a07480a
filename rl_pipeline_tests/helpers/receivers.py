"""Real receivers of notices on this machine: a web server and a mail server that keep what they get."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class WebReceiver:
    """A web server: what was posted to it, and what it answers."""

    port: int = 0
    status: int = 200
    bodies: list[Any] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks/T000/secret-part"


@contextmanager
def web_receiver(*, status: int = 200) -> Iterator[WebReceiver]:
    """A web server on a free port of the loopback address, and the status it answers with."""
    receiver = WebReceiver(status=status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if receiver.status == 200:
                receiver.bodies.append(json.loads(body))
            self.send_response(receiver.status)
            if receiver.status in {301, 302, 307}:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class MailReceiver:
    """A mail server: the messages it took."""

    port: int = 0
    messages: list[str] = field(default_factory=list)
    refused_receivers: frozenset[str] = frozenset()

    async def handle_RCPT(  # noqa: N802 - the name that aiosmtpd calls
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address in self.refused_receivers:
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        self.messages.append(content.decode() if isinstance(content, bytes) else str(content))
        return "250 taken"


@contextmanager
def mail_receiver(
    *, user: str | None = None, password: str | None = None, refused: frozenset[str] = frozenset()
) -> Iterator[MailReceiver]:
    """A mail server on a free port of the loopback address; with a user, one must log in."""
    receiver = MailReceiver(refused_receivers=refused)

    def authenticate(_server: object, _session: object, _envelope: object, _mechanism: str, data: object) -> AuthResult:
        good = isinstance(data, LoginPassword) and (data.login, data.password) == (
            (user or "").encode(),
            (password or "").encode(),
        )
        return AuthResult(success=good, handled=False)

    options: dict[str, Any] = (
        {"authenticator": authenticate, "auth_required": True, "auth_require_tls": False} if user else {}
    )
    receiver.port = free_port()  # the controller connects to the port it was given, so 0 cannot be used
    controller = Controller(receiver, hostname="127.0.0.1", port=receiver.port, **options)
    controller.start()
    try:
        yield receiver
    finally:
        controller.stop()
