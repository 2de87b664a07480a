"""Recall and false alarms on simulated runs with known truth.

The small test runs every time; the large one is marked `simulation` and judges 250 runs: recall of the rule that
each scenario is about, and how many healthy runs are called worse than healthy with notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from rl_pipeline.analysis.findings import Finding, Verdict, build_context, evaluate, verdict
from rl_pipeline_tests.helpers.simulated_plan import (
    ALL_ZERO,
    BURST,
    COLLAPSE,
    FAULTS,
    GROWING_WAIT,
    HEALTHY,
    KV_PRESSURE,
    LEAK,
    OVERFLOW,
    PLATEAU,
    SCENARIOS,
    SPIKE,
    STALL,
    STARVATION,
    STEADY,
    THRASH,
    TOO_SHORT,
)
from rl_pipeline_tests.helpers.simulated_runs import simulate

# The rules that must fire, all of them.
EXPECTED = {
    COLLAPSE: ("R27",), ALL_ZERO: ("R27",), SPIKE: ("R7",), PLATEAU: ("R26",), STARVATION: ("R1", "R2"),
    THRASH: ("R3",), KV_PRESSURE: ("R4",), LEAK: ("R23",), STALL: ("R24",), GROWING_WAIT: ("R13",), BURST: ("R17",),
    STEADY: ("R18",), FAULTS: ("R20",), OVERFLOW: ("R15",),
}  # fmt: skip
WELL = ("healthy", "healthy with notes")
STOPPED = (COLLAPSE, ALL_ZERO)
HEALTHY_RUNS, SICK_RUNS = 50, 10


def judged(scenario: str, seed: int) -> tuple[dict[str, Finding], Verdict]:
    run = simulate(scenario, seed)
    context = build_context(run.frames, now=run.now)
    findings = evaluate(context, strict=True)
    return {finding.id: finding for finding in findings}, verdict(findings, context)


def is_recognised(scenario: str, seed: int) -> bool:
    findings, line = judged(scenario, seed)
    if scenario == TOO_SHORT:
        return line.status == "not enough evidence"
    fires = all(findings[rule].status == "fired" for rule in EXPECTED[scenario])
    return fires and (scenario not in STOPPED or line.status == "stop recommended")


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in HEALTHY])
def test_a_sick_run_is_recognised(scenario: str):
    assert is_recognised(scenario, 1)


@pytest.mark.parametrize("scenario", HEALTHY)
def test_a_healthy_run_is_called_healthy(scenario: str):
    assert judged(scenario, 1)[1].status in WELL


def test_the_same_seed_gives_the_same_findings():
    assert judged(COLLAPSE, 3) == judged(COLLAPSE, 3)


def missed(scenario: str, seeds: Iterable[int]) -> list[int]:
    return [seed for seed in seeds if not is_recognised(scenario, seed)]


@pytest.mark.simulation
@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in HEALTHY])
def test_nine_of_ten_sick_runs_are_recognised(scenario: str):
    assert len(missed(scenario, range(100, 100 + SICK_RUNS))) <= SICK_RUNS // 10


@pytest.mark.simulation
@pytest.mark.parametrize("scenario", HEALTHY)
def test_at_most_one_in_fifty_healthy_runs_is_called_sick(scenario: str):
    lines = Counter(judged(scenario, seed)[1].status for seed in range(100, 100 + HEALTHY_RUNS))

    assert sum(count for status, count in lines.items() if status not in WELL) <= HEALTHY_RUNS * 0.02, lines
