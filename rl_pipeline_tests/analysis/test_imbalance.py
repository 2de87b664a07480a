"""Load over engines: bins of ten minutes, and the same engine at the same end."""

from __future__ import annotations

from datetime import timedelta

from rl_pipeline.analysis.imbalance import Imbalance, imbalance_of
from rl_pipeline.analysis.thresholds import default_thresholds
from rl_pipeline.schema import VllmStat
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.small_runs import START


def load(*bins: tuple[int, ...], lines: int = 3) -> list[VllmStat]:
    """Running requests of engines 0, 1, … in successive ten minutes."""
    return [
        VllmStat(
            job="job_1",
            line=1,
            logged_at=START + timedelta(minutes=10 * place, seconds=60 * number),
            pid=engine,
            ip="10.0.0.1",
            prompt_throughput=None,
            generation_throughput=None,
            running=running,
            waiting=0,
            kv_cache_usage=None,
        )
        for place, engines in enumerate(bins)
        for engine, running in enumerate(engines)
        for number in range(lines)
    ]


def judged(rows: list[VllmStat], folded_share: float = 0.0) -> Imbalance:
    return imbalance_of(frame_of(VllmStat, rows), folded_share, default_thresholds())


def test_two_uneven_bins_in_a_row_are_one_run():
    found = judged(load((10, 30), (10, 30), (20, 20)))

    assert (found.bins, len(found.uneven), len(found.longest_run)) == (3, 2, 2)
    assert found.longest_run[0].ratio == 3.0


def test_uneven_bins_apart_are_two_runs():
    assert len(judged(load((10, 30), (20, 20), (10, 30))).longest_run) == 1


def test_bins_that_differ_by_chance_have_no_engine_in_common():
    found = judged(load((10, 30, 20, 20), (20, 20, 30, 10), (30, 20, 10, 20)))

    assert (len(found.uneven), len(found.longest_run)) == (3, 1)


def test_an_engine_that_does_nothing_is_infinitely_uneven():
    assert judged(load((0, 30), (0, 30))).longest_run[0].ratio == float("inf")


def test_engines_with_two_lines_are_left_out():
    assert not judged(load((10, 30), (10, 30), lines=2)).measurable


def test_mostly_folded_lines_can_not_be_compared():
    found = judged(load((10, 30), (10, 30)), folded_share=0.7)

    assert not found.measurable
    assert "folded" in found.reason
