"""Addresses of inputs: paths of this machine, and URLs of folders elsewhere, as one kind of `Path`.

    s3://bucket/experiments      ⇄  Path("/s3:/bucket/experiments")
    sftp://me@host:22/data/runs  ⇄  Path("/sftp:/me@host:22/data/runs")

So names, parents and parts are worked out in one way, and a look at the beginning of the text tells what lies
elsewhere. What a person sees is always the URL (`address`). `places` opens what stands behind it.

A URL with a password is refused: addresses stand in tables, in messages and in Dagster's history.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from rl_pipeline.errors import ConfigurationError

KINDS = ("s3", "gs", "sftp", "memory")  # `memory` lives in one process, for tests
_SAME_AS = {"s3a": "s3", "gcs": "gs", "ssh": "sftp"}
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_ELSEWHERE = tuple(f"/{kind}:/" for kind in KINDS)
_HIDDEN = re.compile(r"(?<=://)[^/]*@")
# An item of a list of roots: a URL with its login and port, or anything up to the next colon.
_ROOT = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?[^/:]*(?::\d{1,5}(?=[/:]|\s*$))?[^:]*|[^:]+)")


def is_elsewhere(path: PurePath | str) -> bool:
    """Whether a path stands for something that is not on this machine's file systems."""
    return str(path).startswith(_ELSEWHERE)


def as_path(text: str) -> Path:
    """The path that stands for an address.

    >>> as_path("s3://bucket/logs/"), as_path("logs/a.out")
    (PosixPath('/s3:/bucket/logs'), PosixPath('logs/a.out'))

    Raises:
        ConfigurationError: a URL of an unknown kind, without a place, or with a password in it.
    """
    url = _URL.fullmatch(text)
    if url is None:
        return Path(text)
    kind, rest = url[1].lower(), url[2]
    kind = _SAME_AS.get(kind, kind)
    if kind in {"file", "local"}:
        return Path("/", rest)
    host = rest.partition("/")[0]
    refuse_password(text)
    if kind not in KINDS or (kind != "memory" and not host):
        raise ConfigurationError(
            "an address that nothing here can open",
            where=without_login(text),
            expected="a path, or s3://bucket/folder, gs://bucket/folder, sftp://[user@]host[:port]/folder",
            do="correct the address, or bring the data to a place that can be opened",
            slug="address-unknown",
        )
    return Path(f"/{kind}:", *(part for part in rest.split("/") if part))


def refuse_password(url: str) -> None:
    """Raise a ConfigurationError for a URL with a password (or keys of a bucket) in it; the message has none."""
    kind, _, rest = url.partition("://")
    login, at, _ = rest.partition("/")[0].rpartition("@")
    if at and (":" in login or kind.lower() in {"s3", "s3a", "gs", "gcs"}):
        raise ConfigurationError(
            "an address with a password in it",
            where=without_login(url),
            expected="an address without a password: addresses stand in tables, messages and Dagster's history",
            do="leave it out; credentials come from the usual places: AWS_* variables or ~/.aws, "
            "GOOGLE_APPLICATION_CREDENTIALS, an SSH key or agent, or fsspec's own variables (FSSPEC_SFTP_PASSWORD)",
            slug="address-with-password",
        )


def without_login(url: str) -> str:
    """A URL without user and password.

    >>> without_login("redis://:secret@host/0")
    'redis://host/0'
    """
    return _HIDDEN.sub("", url)


def address(path: PurePath | str) -> str:
    """The URL of a path that stands for one; any other path as it is.

    >>> address(Path("/sftp:/host/data"))
    'sftp://host/data'
    """
    text = str(path)
    if not text.startswith(_ELSEWHERE):
        return text
    kind, _, rest = text[1:].partition(":/")
    return f"{kind}://{rest}"


def split_roots(text: str) -> list[str]:
    """The items of a list of paths and URLs with colons between.

    >>> split_roots("/data/a:s3://bucket/b:sftp://host:22/c:~/d")
    ['/data/a', 's3://bucket/b', 'sftp://host:22/c', '~/d']
    """
    return [item.strip() for item in _ROOT.findall(text) if item.strip()]
