"""The ways a notice goes out: a file of JSON lines, a webhook, e-mail.

Each channel delivers one notice or raises `ChannelError`, whose words never hold the address with its
password or token. All network calls have a timeout; none of them runs longer than a sensor may.
"""

from __future__ import annotations

import json
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from email.message import EmailMessage
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.notifications.notice import Notice

TIMEOUT_SECONDS = 10.0
GENERIC, SLACK = "json", "slack"
SMTP_PORTS = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}


class ChannelError(Exception):
    """A notice could not be delivered; it will be tried again."""


class Channel(Protocol):
    """Something that delivers notices; `name` keys the memory of what it told."""

    @property
    def name(self) -> str:
        """A name that stays the same as long as the receiver does."""
        ...

    def deliver(self, notice: Notice) -> None:
        """Deliver one notice.

        Raises:
            ChannelError: it did not arrive.
        """
        ...


def as_record(notice: Notice) -> dict[str, str | None]:
    """A notice as JSON, with the time it was told (UTC)."""
    told_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {"version": "1", "told_at": told_at, **asdict(notice)}


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file that gets one JSON object per notice; always on, and the record of what was told."""

    path: Path

    @property
    def name(self) -> str:
        """There is one such file."""
        return "json_lines"

    def deliver(self, notice: Notice) -> None:
        """Append one line."""
        line = json.dumps(as_record(notice), ensure_ascii=False) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(line)
        except OSError as error:
            raise ChannelError(f"{self.path}: {error.strerror}") from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A webhook that redirects is not the one that was configured."""

    def redirect_request(self, *_args: object, **_kwargs: object) -> None:
        """Follow nothing; the redirect is reported as the error it is."""
        return


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that receives each notice by POST: as generic JSON, or as Slack (and its likes) read it."""

    url: str = field(repr=False)  # often holds a token
    format: str = GENERIC

    def __post_init__(self) -> None:
        """Refuse what could never work, when the settings are read and not at night."""
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or self.format not in {GENERIC, SLACK}:
            raise ConfigurationError(
                "the webhook of notifications cannot be used",
                where="RL_PIPELINE_NOTIFY_WEBHOOK, RL_PIPELINE_NOTIFY_WEBHOOK_FORMAT",
                expected=f"an http(s) URL, and the format {GENERIC} or {SLACK}",
                do="correct the variable, or unset it",
                slug="bad-notification-setting",
            )

    @property
    def name(self) -> str:
        """The receiver's host; the rest of the URL may be secret."""
        return f"webhook {urlsplit(self.url).hostname}"

    def deliver(self, notice: Notice) -> None:
        """POST the notice; any answer but 2xx is a failure."""
        body: Mapping[str, object] = as_record(notice) if self.format == GENERIC else {"text": slack_text(notice)}
        request = urllib.request.Request(
            self.url,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "rl-pipeline"},
            method="POST",
        )
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=TIMEOUT_SECONDS):
                return
        except urllib.error.HTTPError as error:
            raise ChannelError(f"{self.name} answered {error.code}") from None
        except (OSError, ValueError) as error:
            raise ChannelError(f"{self.name}: {type(error).__name__}") from None


def slack_text(notice: Notice) -> str:
    """A notice in Slack's own markup; its three control characters are escaped, so no text can ping a channel."""
    lines = [f"*{_slack_escaped(notice.title)}*"]
    lines += [f"```{_slack_escaped(notice.text).replace('`', chr(39))}```"] if notice.text else []
    lines += [_slack_escaped(notice.link)] if notice.link else []
    return "\n".join(lines)


def _slack_escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@dataclass(frozen=True, slots=True)
class Mail:
    """E-mail by SMTP: `smtp://`, `smtp+starttls://` or `smtps://`, with user and password in the URL if needed."""

    url: str = field(repr=False)
    sender: str
    receivers: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what could never work, when the settings are read and not at night."""
        parts = urlsplit(self.url)
        if parts.scheme not in SMTP_PORTS or not parts.hostname or not self.sender or not self.receivers:
            raise ConfigurationError(
                "the e-mail of notifications cannot be used",
                where="RL_PIPELINE_NOTIFY_SMTP, RL_PIPELINE_NOTIFY_FROM, RL_PIPELINE_NOTIFY_TO",
                expected="smtp://host:port (or smtp+starttls://, smtps://), one sender, receivers with commas between",
                do="correct the variables, or unset RL_PIPELINE_NOTIFY_SMTP",
                slug="bad-notification-setting",
            )

    @property
    def name(self) -> str:
        """Server and receivers, without user and password."""
        return f"mail {urlsplit(self.url).hostname} to {','.join(self.receivers)}"

    def deliver(self, notice: Notice) -> None:
        """Send one message to all receivers; a refused receiver is a failure."""
        try:
            with self._connection() as server:
                refused = server.send_message(self._message(notice))
        except (OSError, smtplib.SMTPException, ValueError) as error:
            raise ChannelError(f"{self.name}: {type(error).__name__}") from None
        if refused:
            raise ChannelError(f"{self.name}: {len(refused)} receivers refused")

    def _message(self, notice: Notice) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = " ".join(f"[rl-pipeline] {notice.title}".split())
        message["From"] = self.sender
        message["To"] = ", ".join(self.receivers)
        message.set_content("\n\n".join(part for part in (notice.title, notice.text, notice.link) if part))
        return message

    def _connection(self) -> smtplib.SMTP:
        parts = urlsplit(self.url)
        port = parts.port or SMTP_PORTS[parts.scheme]
        server: smtplib.SMTP
        if parts.scheme == "smtps":
            context = ssl.create_default_context()
            server = smtplib.SMTP_SSL(str(parts.hostname), port, timeout=TIMEOUT_SECONDS, context=context)
        else:
            server = smtplib.SMTP(str(parts.hostname), port, timeout=TIMEOUT_SECONDS)
        try:
            if parts.scheme == "smtp+starttls":
                server.starttls(context=ssl.create_default_context())
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
        except BaseException:
            server.close()
            raise
        return server
