"""Engine lines in bins of equal length on one clock."""

from __future__ import annotations

from datetime import datetime, timedelta

from rl_pipeline.analysis.engine_bins import MAX_BINS, EngineBin, engine_bins
from rl_pipeline.schema import VllmStat
from rl_pipeline_tests.helpers.frames import frame_of

NOON = datetime(2026, 6, 3, 12, 0, 0)


def bins_of(*lines: tuple[str, float, int | None]) -> tuple[EngineBin, ...]:
    rows = [
        {
            "job": job,
            "line": number,
            "logged_at": NOON + timedelta(minutes=minutes),
            "running": running,
            "waiting": 1,
            "repeat_count": 1,
            "scope": "engine",
        }
        for number, (job, minutes, running) in enumerate(lines)
    ]
    return engine_bins(frame_of(VllmStat, rows))


def test_a_bin_holds_the_means_of_its_lines():
    made = bins_of(("job_1", 0.1, 4), ("job_1", 0.5, 8), ("job_1", 1.5, 2))

    assert [(b.minutes, b.lines, b.running, b.max_waiting, b.kv_cache_usage) for b in made] == [
        (1.0, 2, 6.0, 1.0, None),
        (1.0, 1, 2.0, 1.0, None),
    ]
    assert made[0].started_at == NOON


def test_jobs_do_not_share_a_bin():
    assert [b.job for b in bins_of(("job_1", 0.1, 4), ("job_2", 0.2, 8))] == ["job_1", "job_2"]


def test_bins_grow_with_the_run_so_that_there_are_few():
    for days in (1, 30, 3000):
        made = bins_of(*(("job_1", days * 1440.0 * part / 1000, 1) for part in range(1001)))
        assert len(made) <= MAX_BINS + 1


def test_lines_without_a_time_are_not_drawn():
    rows = [{"job": "job_1", "line": 1, "running": 3, "repeat_count": 1, "scope": "engine"}]

    assert engine_bins(frame_of(VllmStat, rows)) == ()
