"""What a person must do when a place elsewhere does not answer as it should.

Each service has its own exceptions; here they become one of five kinds, told by name so that no library has to be
imported to know its errors. No message holds more of the error than its kind and its first line, redacted.
"""

from __future__ import annotations

import socket

from rl_pipeline.addresses import without_login
from rl_pipeline.errors import ConfigurationError, DataError
from rl_pipeline.redaction import redact

EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "sftp": "sftp", "ssh": "sftp"}
PACKAGES = {"s3": "s3fs", "gcs": "gcsfs", "sftp": "paramiko"}
_NO_LOGIN = frozenset(
    {
        "NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError",
        "AuthenticationException", "BadAuthenticationType", "PasswordRequiredException", "DefaultCredentialsError",
        "RefreshError", "SSOTokenLoadError",
    }
)  # fmt: skip
_STRANGE_HOST = frozenset({"BadHostKeyException"})
_LINE = 200
SERVICES = frozenset({"botocore", "aiobotocore", "aiohttp", "paramiko", "gcsfs", "google", "requests", "asyncio"})


def trouble(error: BaseException, url: str) -> ConfigurationError:
    """The error that a person sees, for one that a place elsewhere gave.

    Args:
        error: any exception of the service or its library.
        url: what was asked for.
    """
    where = f"{without_login(url)} ({_words(error)})"
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, ImportError):
        return _missing_extra(url)
    if isinstance(error, PermissionError) or names & _NO_LOGIN:
        return ConfigurationError(
            "no permission to read or write there",
            where=where,
            expected="credentials that may do so",
            do="log in, or correct the rights: AWS_* variables, ~/.aws or a role for s3://, "
            "GOOGLE_APPLICATION_CREDENTIALS for gs://, an SSH key or agent for sftp://",
            slug="place-denied",
        )
    if names & _STRANGE_HOST:
        return ConfigurationError(
            "the server has another key than the one that is known of it",
            where=where,
            expected="the key in ~/.ssh/known_hosts",
            do="find out why; when the server was set up anew, remove its old key with ssh-keygen -R HOST",
            slug="place-changed-key",
        )
    return ConfigurationError(
        "no answer from the place that an address names"
        if _is_silence(error, names)
        else "a place did not do as asked",
        where=where,
        expected="a server that answers to this address",
        do="correct the address; look whether the server can be reached from this machine (network, proxy, "
        "AWS_ENDPOINT_URL for stores that are not Amazon's), then run the same command again",
        slug="place-unreachable",
    )


def is_of_place(error: BaseException) -> bool:
    """Whether an error is a service's or a connection's own, and not one of the program or of this machine's disk."""
    if isinstance(error, (ConfigurationError, DataError, FileNotFoundError, IsADirectoryError, NotADirectoryError)):
        return False
    if isinstance(error, OSError):
        return error.errno is None or isinstance(
            error, (PermissionError, ConnectionError, TimeoutError, socket.gaierror)
        )
    modules = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return not modules.isdisjoint(SERVICES) or isinstance(error, (EOFError, ImportError))


def _missing_extra(url: str) -> ConfigurationError:
    extra = EXTRAS.get(url.partition("://")[0].lower(), "")
    return ConfigurationError(
        "the program part for this kind of address is not installed",
        where=without_login(url),
        expected=f"the package {PACKAGES[extra]}" if extra else "a package of fsspec for this kind of address",
        do=f"pip install 'rl-pipeline[{extra}]'" if extra else "correct the address, or install that package",
        slug="place-not-installed",
    )


def _is_silence(error: BaseException, names: set[str]) -> bool:
    return isinstance(error, (ConnectionError, TimeoutError, socket.gaierror)) or any(
        part in name for name in names for part in ("Connect", "Timeout", "SSHException", "NoValidConnections")
    )


def _words(error: BaseException) -> str:
    text = (getattr(error, "strerror", None) or str(error)).strip().partition("\n")[0]
    return f"{type(error).__name__}: {redact(without_login(text)).text[:_LINE]}" if text else type(error).__name__
