"""What a person reads when a place does not do as asked: what to do, and never a secret."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rl_pipeline.addresses import as_path
from rl_pipeline.discovery import discover
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.tables.store import TableStore
from rl_pipeline_tests.helpers.object_store import KEY, forget_connections, object_store, pointing_at
from rl_pipeline_tests.helpers.ssh_server import SshServer

Ask = Callable[[str], object]
ASKING = [lambda url: discover([as_path(url)]), lambda url: TableStore(url).job_index()]


def told(ask: Ask, url: str) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as error:
        ask(url)
    assert KEY not in str(error.value)
    return error.value


WITHOUT_LIBRARIES = """
import sys
for name in ("s3fs", "gcsfs", "paramiko"):
    sys.modules[name] = None
from rl_pipeline.addresses import as_path
from rl_pipeline.discovery import discover
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.tables.store import TableStore
for url in ("s3://lab/x", "gs://lab/x", "sftp://127.0.0.1:1/x"):
    for ask in (lambda: discover([as_path(url)]), lambda: TableStore(url).job_index()):
        try:
            ask()
        except ConfigurationError as error:
            print(error.slug, error.do)
"""


def test_a_missing_library_is_told_with_the_extra_that_brings_it():
    done = subprocess.run([sys.executable, "-c", WITHOUT_LIBRARIES], capture_output=True, text=True, timeout=120)

    assert done.stdout.splitlines() == [
        f"place-not-installed pip install 'rl-pipeline[{extra}]'" for extra in ("s3", "gcs", "sftp") for _ in range(2)
    ], done.stderr


@pytest.mark.parametrize("ask", ASKING, ids=["inputs", "store"])
def test_a_server_that_refuses_is_told(ask: Ask):
    with object_store(refusing=True):
        error = told(ask, "s3://lab/x")

    assert error.slug == "place-denied"
    assert "AWS_" in error.do


@pytest.mark.parametrize("ask", ASKING, ids=["inputs", "store"])
def test_a_host_that_nobody_knows_is_told(monkeypatch: pytest.MonkeyPatch, ask: Ask):
    for name, value in {**pointing_at("http://store.invalid:9"), "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    forget_connections()

    assert told(ask, "s3://lab/x").slug == "place-unreachable"
    assert told(ask, "sftp://host.invalid/x").slug == "place-unreachable"
    forget_connections()


def test_a_bucket_that_is_not_there_is_told(s3: Mapping[str, str]):
    error = told(ASKING[0], "s3://no-such-bucket/logs")

    assert error.where == "s3://no-such-bucket/logs"
    assert "s3://no-such-bucket does not exist either" in error.do


def test_a_store_in_a_bucket_that_is_not_there_is_told(s3: Mapping[str, str]):
    with pytest.raises(ConfigurationError) as error:
        TableStore("s3://no-such-bucket/store").write_job("demo_1", {}, {})

    assert "s3://no-such-bucket/store" in error.value.where


def test_an_ssh_server_with_another_key_is_refused(ssh: SshServer, tmp_path: Path):
    other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFRWyHUhhBZLd6z5N9Uwj0dgAZQ5bTDq0yN5pP8IkQfA"
    ssh.know(other)
    forget_connections()
    try:
        assert told(ASKING[0], ssh.url(tmp_path)).slug == "place-changed-key"
    finally:
        ssh.know(ssh.host_key())
        forget_connections()


def test_a_login_that_an_ssh_server_does_not_accept_is_told(ssh: SshServer, tmp_path: Path):
    url = ssh.url(tmp_path).replace("://", "://nobody-here-").replace("nobody-here-root", "nobody-here")

    error = told(ASKING[0], url)

    assert error.slug == "place-denied"


def test_a_password_in_the_address_of_a_store_is_refused(tmp_path: Path):
    with pytest.raises(ConfigurationError) as error:
        TableStore("sftp://me:hunter22@host/store")

    assert error.value.slug == "address-with-password"
    assert "hunter22" not in str(error.value)
