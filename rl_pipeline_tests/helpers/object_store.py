"""A server that speaks S3, in a process of its own, on a free port of the loopback address.

The environment of the block points every S3 client of this process, and of processes it starts, at that server.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest import mock

import fsspec

from rl_pipeline_tests.helpers.receivers import free_port
from rl_pipeline_tests.helpers.services import until

KEY = "made-up-key-for-tests"
BUCKET = "lab"


@contextmanager
def object_store(*, refusing: bool = False) -> Iterator[Mapping[str, str]]:
    """A server with one empty bucket, `lab`; gives the variables that lead to it.

    Args:
        refusing: whether it refuses everything; there is no bucket then.
    """
    port = free_port()
    actions = {"INITIAL_NO_AUTH_ACTION_COUNT": "0"} if refusing else {}
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **actions},
        start_new_session=True,
    )
    variables = pointing_at(f"http://127.0.0.1:{port}")
    try:
        until("the S3 server listens", lambda: _listens(port), patience=60)
        with mock.patch.dict(os.environ, variables):
            forget_connections()
            if not refusing:
                fsspec.filesystem("s3").mkdir(BUCKET)
            yield variables
    finally:
        server.kill()
        server.wait()
        forget_connections()


def pointing_at(endpoint: str) -> dict[str, str]:
    """The variables that S3 clients read."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": KEY,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def forget_connections() -> None:
    """Let clients made with other variables go."""
    for protocol in ("s3", "gs", "sftp"):
        if protocol in fsspec.registry:
            fsspec.registry[protocol].clear_instance_cache()


def _listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
