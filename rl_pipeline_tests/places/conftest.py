"""One server of each kind for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from rl_pipeline_tests.helpers.object_store import object_store
from rl_pipeline_tests.helpers.ssh_server import SshServer, ssh_server


@pytest.fixture(scope="package")
def s3() -> Iterator[Mapping[str, str]]:
    with object_store() as variables:
        yield variables


@pytest.fixture(scope="package")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as server:
        yield server
