"""Thresholds are read once, from whatever kind of file, and nobody waits for ever."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rl_pipeline import thresholds_file
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.thresholds_file import ThresholdsFile, read_thresholds_file

TEXT = "R1: {wait_share_high: 0.5}\n"


def test_a_file_is_read_with_its_name(tmp_path: Path):
    file = tmp_path / "caf\udce9.yaml"
    file.write_text(TEXT)

    assert read_thresholds_file(file) == ThresholdsFile(f"{tmp_path}/caf\\xe9.yaml", TEXT)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes that have names")
def test_a_pipe_is_read_to_its_end(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as other:
        read = other.submit(read_thresholds_file, pipe)
        with pipe.open("w") as writer:  # waits for the reader
            for line in ("# ä\n" * 50_000, TEXT):
                writer.write(line)

        assert read.result(30).text == "# ä\n" * 50_000 + TEXT


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a system without such files")
def test_what_a_shell_gives_for_the_output_of_a_command_is_read():
    reader, writer = os.pipe()
    os.write(writer, TEXT.encode())
    os.close(writer)

    assert read_thresholds_file(Path(f"/dev/fd/{reader}")) == ThresholdsFile(f"/dev/fd/{reader}", TEXT)
    os.close(reader)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes that have names")
@pytest.mark.parametrize("has_writer", [False, True])
def test_a_pipe_that_nobody_writes_to_is_told(tmp_path: Path, has_writer: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(thresholds_file, "WAIT_S", 0.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR) if has_writer else None

    with pytest.raises(ConfigurationError, match="nobody wrote to it"):
        read_thresholds_file(pipe)

    if held is not None:
        os.close(held)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a system without terminals")
def test_a_terminal_is_told():
    held, terminal = os.openpty()

    with pytest.raises(ConfigurationError, match="a terminal"):
        read_thresholds_file(Path(os.ttyname(terminal)))

    os.close(held)
    os.close(terminal)


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "Is a directory"), ("nowhere", "No such file"), ("a" * 300, "name too long"), ("bytes", "utf-8")],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str, words: str):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigurationError, match=words):
        read_thresholds_file(tmp_path / name)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a system without such files")
def test_a_file_without_end_is_told():
    with pytest.raises(ConfigurationError, match="more than"):
        read_thresholds_file(Path("/dev/zero"))
