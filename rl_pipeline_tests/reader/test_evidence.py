"""What beginnings and ends of logs tell about time."""

from __future__ import annotations

from datetime import datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from rl_pipeline.reader import evidence
from rl_pipeline.reader.demultiplexer import stream_of
from rl_pipeline.reader.evidence import Times, last_moment, look_at_beginning
from rl_pipeline.reader.message import Source
from rl_pipeline.reader.read_report import ReadReport
from rl_pipeline.reader.years import Moment, YearResolver

DATED = "2026-01-09 11:22:33.444 | INFO     | a:b:1 - x"
AT = datetime(2026, 1, 9, 11, 22, 33, 444000)


def look(folder, *lines: str):
    path = folder / "job.out"
    path.write_text("\n".join(lines), encoding="utf-8")
    return look_at_beginning(path)


def test_the_first_dated_head_and_the_stamp_before_it(tmp_path):
    found = look(tmp_path, "x", "INFO 01-09 11:22:30 [a.py:1] y", f"it said {DATED}", f"(T pid=1) {DATED}")

    assert found.dated == Moment(AT, None)
    assert found.undated == "01-09 11:22:30"


def test_a_launchers_date_serves_for_the_year_when_no_head_has_one(tmp_path):
    found = look(tmp_path, "=== job 1 started 2026-06-03 15:21:07 ===", "INFO 06-03 15:24:27 [a.py:1] y")

    assert (found.dated, found.preamble) == (None, datetime(2026, 6, 3, 15, 21, 7))


def test_a_container_log_is_recognised(tmp_path):
    assert look(tmp_path, "x", "2026-01-09T11:22:33.444Z stderr F y").in_container
    assert not look(tmp_path, "x", "2026-01-09T11:22:33.444Z y").in_container


def test_the_last_time_is_found_from_the_end():
    years = YearResolver(AT, None)

    assert last_moment(f"{DATED}\nbare\n".encode(), years) == Moment(AT, None)
    assert last_moment(f"{DATED}\nINFO 01-10 00:00:00 [a.py:1] y\n".encode(), years) == Moment(
        datetime(2026, 1, 10), None
    )
    assert last_moment(b"bare\n", years) is None


def test_local_times_count_before_those_of_collectors():
    times, report = Times(), ReadReport()
    times.saw(datetime(2026, 1, 9, 10), "UTC")
    times.saw(datetime(2026, 1, 9, 12), None)
    times.saw(datetime(2026, 1, 9, 11), None)

    times.into(report)

    assert (report.first_logged_at, report.last_logged_at, report.zone) == (
        datetime(2026, 1, 9, 11),
        datetime(2026, 1, 9, 12),
        None,
    )


def test_the_streams_that_log_are_known_from_the_beginning(tmp_path):
    found = look(tmp_path, "(T pid=1) x", f"(T pid=2) {DATED}", f"(T pid=3) it said {DATED}")

    assert found.logging == {stream_of(Source(actor="T", pid=2))}


LOGGING_PIECES = [
    b"(a pid=1) ", b"\x1b[36m(a pid=1)\x1b[0m ", b"(b pid=2, ip=10.0.0.1) ", b"(Worker pid=3) ", b"0: ", b"",
    b"2026-06-03 11:22:33.123 | INFO     | pkg.a:run:7 - ", b"INFO 06-03 11:22:33 [loggers.py:248] ",
    b"2026-06-03 11:22:33 text ", b"06-03 11:22:33 ", b"hello", b"\r", b"\x1b[0m", b"\0", b" 50%|", b"\xff",
    b'{"process": "EngineCore", "time": "2026-06-03 11:22:33"} ', b"2026-06-03 11:22:33,123 - INFO - name - text",
]  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.lists(st.sampled_from(LOGGING_PIECES), max_size=5).map(b"".join), max_size=30))
def test_streams_that_log_are_those_that_looking_at_each_line_finds(lines):
    each = {stream for line in lines for stream in evidence._logging([line])}

    assert set(evidence._logging(lines * 2)) == each
