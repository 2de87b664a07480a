"""Trials to jobs, by time or not at all."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from rl_pipeline.analysis.trial_attribution import attribute_trials, attribution
from rl_pipeline.schema import Job, Trial
from rl_pipeline_tests.helpers.frames import frame_of, job_row

NOON = datetime(2026, 3, 1, 12, 0)
# Three jobs: hours from noon to the first and the last line.
WINDOWS = {"job_1": (0, 3), "job_2": (3.2, 9), "job_3": (9.1, 14)}


def _jobs(names=tuple(WINDOWS), *, ahead=0.0, zone=None):
    """Job windows on a clock that is `ahead` hours before UTC."""
    times = {name: [NOON + timedelta(hours=h + ahead) for h in WINDOWS[name]] for name in names}
    return frame_of(
        Job,
        [job_row(name, first_logged_at=first, last_logged_at=last, zone=zone) for name, (first, last) in times.items()],
    )


def _trials(n=900, *, seed=1, zone="UTC"):
    """Trials of 5–25 minutes that begin ten minutes after their job and end within it, spread over all jobs."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        name = list(WINDOWS)[number % 3]
        first, last = WINDOWS[name]
        length = generator.uniform(5, 25) / 60
        start = NOON + timedelta(hours=generator.uniform(first + 1 / 6, last - length))
        end = start + timedelta(hours=length)
        rows.append(
            Trial(trial=name, task=None, path="", started_at=start, finished_at=end, zone=zone, outcome="solved")
        )
    return frame_of(Trial, rows)


def _right(filled):
    """Share of the attributed trials whose job is the one they were made for (kept as their name)."""
    placed = filled[filled["job"].notna()]
    return float((placed["job"] == placed["trial"]).mean())


def test_known_zones_give_exact_jobs():
    filled = attribute_trials(_trials(), _jobs(zone="UTC"))

    assert (_right(filled), set(filled["job_confidence"])) == (1.0, {"exact"})


@pytest.mark.parametrize("ahead", [-8, -5, 1, 5.5, 12.75])
def test_an_unknown_zone_is_estimated_in_quarter_hours(ahead):
    filled = attribute_trials(_trials(), _jobs(ahead=ahead))

    found = attribution(_trials(), _jobs(ahead=ahead))
    assert found.offset_hours == ahead
    assert (_right(filled), set(filled["job_confidence"])) == (1.0, {"estimated_zone"})
    assert (found.attributed, found.by_job) == (900, {"job_1": 300, "job_2": 300, "job_3": 300})


def test_logs_that_run_on_utc_are_assumed_to():
    found = attribution(_trials(), _jobs())

    assert (found.offset_hours, found.by_confidence) == (0.0, {"assumed_utc": 900})
    assert found.method == "the logs' zone is unknown; UTC+0 h holds 100.0% of the trials, better than any other offset"


@pytest.mark.parametrize("names", [("job_2",), ("job_1", "job_3"), ("job_3",)])
def test_with_logs_missing_no_trial_gets_a_wrong_job(names):
    filled = attribute_trials(_trials(), _jobs(names, ahead=-5))

    placed = filled[filled["job"].notna()]
    assert placed.empty or _right(filled) == 1.0


def test_without_a_clear_offset_nothing_is_said():
    generator = np.random.default_rng(5)
    starts = [NOON + timedelta(hours=generator.uniform(-20, 40)) for _ in range(2000)]
    trials = frame_of(
        Trial,
        [
            Trial(
                trial="x",
                task=None,
                path="",
                started_at=s,
                finished_at=s + timedelta(minutes=20),
                zone="UTC",
                outcome="solved",
            )
            for s in starts
        ],
    )

    found = attribution(trials, _jobs(("job_2",)))

    assert (found.attributed, found.offset_hours) == (0, None)
    assert found.reason is not None
    assert found.reason.startswith("logs are missing, or their clock runs otherwise")


def test_a_trial_in_two_jobs_at_once_is_of_neither():
    jobs = frame_of(
        Job,
        [
            job_row("job_1", first_logged_at=NOON, last_logged_at=NOON + timedelta(hours=3), zone="UTC"),
            job_row(
                "job_2", first_logged_at=NOON + timedelta(hours=1), last_logged_at=NOON + timedelta(hours=4), zone="UTC"
            ),
        ],
    )
    spans = {"a": (0.2, 0.5), "b": (1.2, 2), "c": (3.2, 3.5), "d": (0.5, 1.5), "e": (8, 9)}
    trials = frame_of(
        Trial,
        [
            Trial(
                trial=name,
                task=None,
                path="",
                started_at=NOON + timedelta(hours=start),
                finished_at=NOON + timedelta(hours=end),
                zone="UTC",
                outcome="solved",
            )
            for name, (start, end) in spans.items()
        ],
    )

    filled = attribute_trials(trials, jobs)

    assert [None if x is None else str(x) for x in filled["job"]] == ["job_1", None, "job_2", "job_1", None]
    assert filled["job_confidence"].tolist() == ["exact", "overlap", "exact", "exact", "none"]


def test_one_time_of_a_trial_is_enough():
    trials = _trials(30)
    trials.loc[:9, "started_at"] = None
    trials.loc[10:19, "finished_at"] = None

    assert _right(attribute_trials(trials, _jobs(zone="UTC"))) == 1.0


def test_columns_and_index_of_the_trials_stay():
    trials = _trials(30).sample(frac=1, random_state=2)

    filled = attribute_trials(trials, _jobs(zone="UTC"))

    assert list(filled.columns) == list(trials.columns)
    assert filled.index.equals(trials.index)
    assert filled["trial"].tolist() == filled["job"].tolist()


def test_without_times_nothing_is_attributed():
    timeless = (
        _trials(5)
        .assign(started_at=None, finished_at=None)
        .astype({"started_at": "datetime64[us]", "finished_at": "datetime64[us]"})
    )

    assert attribution(timeless, _jobs()).reason == "no trial has a time"
    assert attribution(_trials(5), frame_of(Job, [job_row("job_1")])).reason == "no log has times"
    assert attribution(frame_of(Trial, []), frame_of(Job, [])).reason == "no trial has a time"
    assert attribute_trials(timeless, _jobs())["job_confidence"].tolist() == ["none"] * 5
