"""Addresses: paths and URLs as one kind of path, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.addresses import address, as_path, is_elsewhere, refuse_password, split_roots
from rl_pipeline.errors import ConfigurationError


@pytest.mark.parametrize(
    "url",
    [
        "s3://bucket",
        "s3://bucket/a b/run=1/x.out",
        "gs://bucket/logs",
        "sftp://me@host:2222/data/runs",
        "memory://logs",
    ],
)
def test_a_url_comes_back_from_the_path_that_stands_for_it(url: str):
    path = as_path(url)

    assert address(path) == url
    assert is_elsewhere(path)
    assert path.is_absolute()
    assert address(path / "logs") == f"{url}/logs"


@pytest.mark.parametrize(
    ("url", "same"),
    [("s3a://b/x", "s3://b/x"), ("gcs://b/x", "gs://b/x"), ("ssh://h/x", "sftp://h/x"), ("s3://b//x/", "s3://b/x")],
)
def test_names_of_one_kind_are_one(url: str, same: str):
    assert address(as_path(url)) == same


@pytest.mark.parametrize("text", ["/data/logs", "logs/a.out", "C:/logs", "/s3/x", "a:b"])
def test_a_path_stays_a_path(text: str):
    assert as_path(text) == Path(text)
    assert not is_elsewhere(as_path(text))
    assert address(Path(text)) == text


def test_a_file_url_is_a_path_of_this_machine():
    assert as_path("file:///data/logs") == Path("/data/logs")


@pytest.mark.parametrize("url", ["ftp://host/x", "http://host/x", "s3://", "sftp:///data"])
def test_an_address_that_nothing_can_open_is_told(url: str):
    with pytest.raises(ConfigurationError) as told:
        as_path(url)

    assert told.value.slug == "address-unknown"


@pytest.mark.parametrize(
    "url", ["sftp://me:hunter22@host/x", "s3://AKIAX:hunter22@bucket/x", "ssh://:hunter22@host", "s3://hunter22@bucket"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(url: str):
    for refuse in (as_path, refuse_password):
        with pytest.raises(ConfigurationError) as told:
            refuse(url)
        assert told.value.slug == "address-with-password"
        assert "hunter22" not in str(told.value)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("/a:/b", ["/a", "/b"]),
        ("s3://b/x:/a", ["s3://b/x", "/a"]),
        ("/a:s3://b/x:sftp://me@h:22/c", ["/a", "s3://b/x", "sftp://me@h:22/c"]),
        (" /a : ~/b :", ["/a", "~/b"]),
        ("sftp://h:22/a:gs://b", ["sftp://h:22/a", "gs://b"]),
        ("", []),
    ],
)
def test_roots_are_split_at_colons_that_stand_between_them(text: str, items: list[str]):
    assert split_roots(text) == items
