"""Chunks to windows of whole lines."""

from __future__ import annotations

from rl_pipeline.reader.read_report import ReadReport
from rl_pipeline.reader.windows import Window, windows


def cut(*chunks: bytes, max_line: int = 100) -> tuple[list[Window], ReadReport]:
    report = ReadReport()
    return list(windows(iter(chunks), report, max_line=max_line)), report


def test_a_line_may_begin_in_one_chunk_and_end_in_another():
    found, report = cut(b"a\nb", b"c", b"d\ne")

    expected = [(b"a\n", 0, 1), (b"bcd\n", 2, 2), (b"e", 6, 3)]
    assert found == [Window(*window, is_ascii=True) for window in expected]
    assert (report.lines, report.bytes_read, report.cut_tail) == (3, 7, True)


def test_a_long_line_is_cut_between_characters_and_keeps_its_number():
    found, report = cut(b"a\n" + "ä".encode() * 8 + b"\nb\n", max_line=5)

    assert [(window.data.decode(), window.offset, window.line) for window in found] == [
        ("a\nää", 0, 1),
        ("ää", 6, 2),
        ("ää", 10, 2),
        ("ää\nb\n", 14, 2),
    ]
    assert (report.lines, report.long_lines, report.cut_tail) == (3, 1, False)


def test_bytes_that_are_no_text_are_cut_at_the_limit():
    found, _ = cut(b"\x80" * 12, max_line=5)

    assert [len(window.data) for window in found] == [2, 2, 2, 2, 4]


def test_a_window_says_whether_it_is_ascii():
    found, report = cut(b"a\n\0\n", "ä\n".encode())

    assert [window.is_ascii for window in found] == [True, False]
    assert report.nul_bytes == 1


def test_nothing_gives_no_window():
    found, report = cut()

    assert found == []
    assert (report.lines, report.cut_tail) == (0, False)


def test_parts_of_a_long_line_but_the_first_are_marked():
    found, _ = cut(b"a\n" + b"x" * 12 + b"\nb\n", max_line=5)

    assert [(window.data, window.is_inside) for window in found] == [
        (b"a\nxxxxx", False),
        (b"xxxxx", True),
        (b"xx\nb\n", True),
    ]
