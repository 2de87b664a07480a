"""File-system calls are counted, and trouble is data."""

from __future__ import annotations

import os

import pytest

from rl_pipeline.discovery.disk import Disk


def test_a_listing_tells_files_from_folders_and_leaves_hidden_names_out(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / ".hidden").write_text("x")
    disk = Disk()

    listing = disk.listing(str(tmp_path))

    assert listing is not None
    assert listing.files == {"file": (tmp_path / "file").stat().st_ino}
    assert (listing.folders, disk.calls) == (("folder",), 1)


def test_what_is_missing_or_no_folder_is_none_without_an_error(tmp_path):
    (tmp_path / "file").write_text("x")
    disk = Disk()

    assert disk.listing(str(tmp_path / "missing")) is None
    assert disk.listing(str(tmp_path / "file")) is None
    assert disk.facts(str(tmp_path / "missing")) is None
    assert disk.facts(str(tmp_path)) is None
    assert (disk.errors, disk.calls) == ({}, 4)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_rights_is_an_error_as_data(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    disk = Disk()

    assert disk.listing(str(tmp_path / "closed")) is None
    assert disk.errors == {str(tmp_path / "closed"): "Permission denied"}


def test_a_link_in_a_circle_is_an_error_as_data(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    disk = Disk()

    assert disk.facts(str(tmp_path / "loop")) is None
    assert list(disk.errors) == [str(tmp_path / "loop")]
