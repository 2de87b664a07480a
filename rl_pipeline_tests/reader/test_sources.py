"""Stored bytes to text: compressions, and what happens to damaged ones."""

from __future__ import annotations

import gzip
import lzma

import pytest
import zstandard

from rl_pipeline.reader.read_report import ReadReport
from rl_pipeline.reader.sources import compression_of, fingerprint, text_chunks, utf16_of

TEXT = b"".join(b"line %d of a log that compresses well\n" % number for number in range(20_000))


def packed(kind: str) -> bytes:
    return gzip.compress(TEXT) if kind == "gzip" else zstandard.ZstdCompressor().compress(TEXT)


def unpack(folder, data: bytes, **options) -> tuple[bytes, ReadReport]:
    path = folder / "job.out.txt"
    path.write_bytes(data)
    report = ReadReport()
    return b"".join(text_chunks(path, report, **options)), report


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_members_one_after_another_and_padding_are_read_whatever_the_name(tmp_path, kind):
    data = packed(kind)

    text, report = unpack(tmp_path, data + data + b"\0" * 700 + data, chunk_bytes=999)

    assert text == TEXT * 3
    assert (report.compression, report.read_error) == (kind, None)
    assert report.fingerprint == fingerprint(tmp_path / "job.out.txt")


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_truncated_archive_gives_its_beginning_and_says_where_it_ends(tmp_path, kind):
    data = packed(kind)
    cut = len(data) // 2

    text, report = unpack(tmp_path, data[:cut])

    assert report.read_error == f"{kind} ends early at stored byte {cut}"
    assert TEXT.startswith(text)
    assert kind == "zstd" or len(text) > 100_000


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_damaged_archive_gives_what_came_before_and_keeps_its_fingerprint(tmp_path, kind):
    data = bytearray(packed(kind) + packed(kind))
    at = len(data) // 2 + 40
    data[at : at + 200] = b"\xff" * 200

    text, report = unpack(tmp_path, bytes(data))

    assert report.read_error is not None
    assert report.read_error.startswith(f"{kind} damaged near stored byte ")
    assert text.startswith(TEXT[: len(TEXT) // 2])
    assert report.fingerprint == fingerprint(tmp_path / "job.out.txt")


def test_garbage_behind_an_archive_is_noted(tmp_path):
    text, report = unpack(tmp_path, gzip.compress(TEXT) + b"garbage")

    assert text == TEXT
    assert report.read_error is not None


def test_xz_is_named_but_not_read(tmp_path):
    text, report = unpack(tmp_path, lzma.compress(TEXT))

    assert (text, report.compression) == (b"", "xz")
    assert report.read_error == "xz compression is not read: unpack the file first (stored byte 0)"


def test_a_bomb_comes_in_bounded_pieces(tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(b"\0" * (256 * 1024 * 1024)))

    largest = max(len(chunk) for chunk in text_chunks(path, ReadReport()))

    assert largest <= 37 * 1024 * 1024


def test_compressions_are_told_apart_by_content():
    assert compression_of(b"\x28\xb5\x2f\xfd....") == "zstd"
    assert compression_of(b"\x50\x2a\x4d\x18....") == "zstd"
    assert compression_of(b"\x1f\x8b\x08") == "gzip"
    assert compression_of(b"Step 7: ") is None
    assert compression_of(b"") is None


def test_a_missing_file_is_an_error_of_the_caller(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(text_chunks(tmp_path / "none", ReadReport()))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_text_saved_as_utf16_is_read_as_utf8(tmp_path, encoding):
    text = ("\ufeff" if encoding == "utf-16-be" else "") + "Step 7: ██▏\r\n"

    found, report = unpack(tmp_path, text.encode(encoding), chunk_bytes=3)

    assert found.decode() == "Step 7: ██▏\r\n"
    assert report.read_error is None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_told_by_its_nuls(tmp_path, encoding):
    text = "(Trainer pid=7) Step 7: 22%|██▏       | 13/60\r\n" * 200

    found, report = unpack(tmp_path, text.encode(encoding), chunk_bytes=3)

    assert found.decode() == text
    assert report.read_error is None


def test_runs_of_nuls_do_not_make_a_text_utf16():
    assert utf16_of(b"\0" * 4096) is None
    assert utf16_of(b"Step 7: \r\n" * 50 + b"\0" * 2000) is None
    assert utf16_of(b"a\0") is None
