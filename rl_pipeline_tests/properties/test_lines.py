"""Any bytes at all: the reader never raises, and where a file is cut into pieces leaves no trace."""

from __future__ import annotations

import gzip

import zstandard
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rl_pipeline.reader.messages import read_messages
from rl_pipeline.reader.read_report import ReadReport
from rl_pipeline.reader.sources import UTF16_MARKS, compression_of
from rl_pipeline.reader.windows import windows
from rl_pipeline_tests.reader.reading import LOGURU, NEEDLES, RAY, read_bytes

FRAGMENTS = (
    b"\n", b"\r", b"\r\n", b"\0", b"\x1b[36m", b"\x1b]8;;", b"\x1b", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x96",
    b"Step 7: ", b"{", b"}", b"{'a': 1,\n", b" 'b': '0.5',\n", b" 'c': 2}\n", b"'", b'"', b"\\", b"(", b")",
    b"pid=5", b"(T pid=5) ", b"3: ", b"Traceback (most recent call last):\n", b"  File\n", b'{"log":"',
    b'","stream":"stderr","time":"2026-01-09T11:22:33Z"}\n', b"2026-01-09T10:22:33.4Z stderr P ",
    b"2026-01-09T10:22:33.4Z stderr F ", b" [repeated 3x across cluster]\n", b"[32m",
    b"INFO 01-09 11:22:33 [a.py:1] ", b"13/60 [2:10:40<7:52:27, 603.1s/it]", b"22%|#| ", b"slurmstepd",
    b"global_step: ", LOGURU.encode(), RAY.encode(), b"9" * 30, b"[pod/a/b] ", b"[04:05:06] task=/a/0 | ",
    b"np.float32(", b"nan", b",", b": ", b'{"asctime": "2026-02-11 04:05:06,123", "message": "Step 1: "}\n',
)  # fmt: skip
anything = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=8)), max_size=60).map(b"".join)


@given(anything)
@settings(max_examples=400, deadline=None)
def test_any_bytes_are_read_without_an_exception_and_places_are_right(data):
    assume(compression_of(data) is None and not data.startswith(UTF16_MARKS))

    messages, report = read_bytes(data)

    starts = [0, *(at + 1 for at in range(len(data)) if data[at : at + 1] == b"\n")]
    assert report.lines == len(data.split(b"\n")) - (1 if data.endswith(b"\n") or not data else 0)
    assert report.bytes_read == len(data)
    for message in messages:
        assert message.byte_offset == starts[message.line - 1]
        assert message.repeat_count >= 1


@given(anything, st.integers(1, 40))
@example(b"\x1f\x8b\r\n", 1)  # where it is damaged was told by how it was read
@settings(max_examples=300, deadline=None)
def test_pieces_of_any_size_give_the_same_messages_and_report(data, chunk_bytes):
    whole = read_bytes(data)

    assert read_bytes(data, chunk_bytes=chunk_bytes) == whole


@given(anything, st.integers(1, 40), st.integers(8, 60))
@settings(max_examples=200, deadline=None)
def test_windows_put_together_are_the_file_and_no_line_is_too_long(data, chunk_bytes, max_line):
    chunks = (data[at : at + chunk_bytes] for at in range(0, len(data), chunk_bytes))

    found = list(windows(chunks, ReadReport(), max_line=max_line))

    assert b"".join(window.data for window in found) == data
    assert all(len(line) <= max_line for window in found for line in window.data.split(b"\n"))
    offset, line = 0, 1
    for window in found:
        assert (window.offset, window.line) == (offset, line)
        offset, line = offset + len(window.data), line + window.data.count(b"\n")


@given(anything, st.integers(0, 400), st.sampled_from(["gzip", "zstd"]))
@settings(max_examples=200, deadline=None)
def test_a_cut_archive_gives_a_beginning_of_its_text(tmp_path_factory, data, cut, kind):
    packed = gzip.compress(data) if kind == "gzip" else zstandard.ZstdCompressor().compress(data)
    path = tmp_path_factory.mktemp("cut") / "job.out"
    path.write_bytes(packed[: max(4, len(packed) - cut)])
    report = ReadReport()

    list(read_messages(path, NEEDLES, report))

    assert report.bytes_read <= len(data)
    assert (report.read_error is None) == (cut == 0)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_log_cut_anywhere_loses_only_what_was_not_yet_written(data):
    lines = [f"{RAY}{LOGURU}Resuming from global_step: {step}:" for step in range(5)]
    lines[2:2] = [f"{RAY}{LOGURU}Step 7: ", f"{RAY}{{'a': 1,", f"{RAY} 'b': 2}}"]
    text = "\n".join(lines).encode()
    cut = data.draw(st.integers(0, len(text)))
    whole, _ = read_bytes(text)

    part, _ = read_bytes(text[:cut])

    complete = text[:cut].count(b"\n")
    ends = {message.line + message.payload.count("\n"): message for message in whole}
    for line, message in ends.items():
        assert line > complete or message in part
