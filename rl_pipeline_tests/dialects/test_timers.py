"""Timer lines of SkyRL trainers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from rl_pipeline.dialects import timers
from rl_pipeline.dialects.contract import JobContext
from rl_pipeline_tests.dialects.feeding import BEGIN, OTHER, feed, message, values


def at(second: float):
    return BEGIN + timedelta(seconds=second)


def test_nested_and_repeated_timers_pair_by_name():
    rows = feed(
        timers,
        message("Started: 'step'", line=1, second=0),
        message("Started: 'generate'", line=2, second=1),
        message("Finished: 'generate', time cost: 2.00s", line=3, second=3),
        message("Started: 'generate'", line=4, second=4),
        message("Finished: 'generate', time cost: 5.00s", line=5, second=9),
        message("Finished: 'step', time cost: 10.00s", line=6, second=10),
    )

    assert values(rows, "name", "line", "started_at", "seconds", "finished") == [
        ("generate", 3, at(1), 2.0, True),
        ("generate", 5, at(4), 5.0, True),
        ("step", 6, at(0), 10.0, True),
    ]


def test_timers_of_two_processes_do_not_mix():
    rows = feed(
        timers,
        message("Started: 'step'", line=1, second=0),
        message("Started: 'step'", line=2, second=5, source=OTHER),
        message("Finished: 'step', time cost: 10.00s", line=3, second=10),
    )

    assert values(rows, "line", "started_at", "finished") == [(3, at(0), True), (2, at(5), False)]


def test_a_timer_without_its_end_is_unfinished():
    (row,) = feed(timers, message("Started: 'policy_train'", line=4, second=3))

    assert (row.line, row.started_at, row.seconds, row.finished) == (4, at(3), None, False)


def test_an_end_without_its_start_begins_a_duration_earlier():
    (row,) = feed(timers, message("Finished: 'generate', time cost: 41.20s", second=100))

    assert row.started_at == at(58.8)


def test_a_start_left_over_from_a_lost_end_does_not_lend_its_time():
    rows = feed(
        timers,
        message("Started: 'eval'", line=1, second=0),
        message("Finished: 'eval', time cost: 3.00s", line=2, second=500),
    )

    assert values(rows, "started_at", "seconds") == [(at(497), 3.0)]


def test_a_folded_line_keeps_its_count():
    (row,) = feed(timers, message("Finished: 'policy_train', time cost: 1.00s", repeat_count=7))

    assert row.repeat_count == 7


def test_very_many_open_timers_are_given_up_oldest_first(monkeypatch):
    monkeypatch.setattr(timers, "OPEN_LIMIT", 2)

    rows = feed(timers, *(message(f"Started: 'timer_{number}'", line=number) for number in range(1, 5)))

    assert values(rows, "name", "finished") == [(f"timer_{number}", False) for number in range(1, 5)]


def test_the_end_of_an_evaluation_is_told_to_the_other_parsers():
    context = JobContext("job_1")

    feed(timers, "Finished: 'eval', time cost: 3.00s", context=context)

    assert context.evaluations_ended == 1


def test_a_timer_that_would_begin_before_all_calendars_has_no_begin():
    end = replace(message("Finished: 'step', time cost: 10.00s", line=1), logged_at=datetime(1, 1, 1))

    assert values(feed(timers, end), "started_at", "seconds") == [(None, 10.0)]
