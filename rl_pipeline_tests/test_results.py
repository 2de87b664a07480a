"""Frames from tables: all columns, or those that an analysis and its pages read."""

from __future__ import annotations

import pandas as pd
import pytest

from rl_pipeline.analysis.inputs import UNREAD, ExperimentFrames
from rl_pipeline.analysis.summary import analyse_experiment
from rl_pipeline.report.bundle import drafted
from rl_pipeline.report.page.stand_ins import stand_ins
from rl_pipeline.results import frames_of
from rl_pipeline.schema import TABLES_BY_NAME
from rl_pipeline.tables.frames import from_frame
from rl_pipeline_tests.helpers import small_runs
from rl_pipeline_tests.helpers.small_runs import blocks, engine_lines, trial_rows


def small_experiment() -> ExperimentFrames:
    running = [3, 5, 8, 2] * 8
    return small_runs.frames_of(
        step_metrics=blocks({"reward/avg_raw_reward": [0.1 * (step % 7) for step in range(24)]}),
        vllm_stats=engine_lines(running, [0] * len(running)),
        trials=trial_rows(
            [0.0, 1.0, None, 0.5] * 20,
            exceptions=[None, ("AgentTimeoutError", "agent_limit")] * 40,
            tasks=list("abcde") * 16,
        ),
    )


def pages_of(frames: ExperimentFrames) -> dict[str, str]:
    return drafted(analyse_experiment(frames), frames, lambda charts: stand_ins(charts, "secret"))[0]


def tables_of(frames: ExperimentFrames) -> dict[str, pd.DataFrame]:
    return {name: getattr(frames, name) for name in TABLES_BY_NAME}


def test_nobody_reads_the_columns_that_are_left_out():
    frames = small_experiment()
    arrow = {name: from_frame(frame, TABLES_BY_NAME[name]) for name, frame in tables_of(frames).items()}

    few = frames_of(frames.experiment, arrow, without=UNREAD)

    assert pages_of(few) == pages_of(frames)


@pytest.mark.parametrize("table", UNREAD)
def test_only_the_columns_that_are_left_out_are_missing(table: str):
    frames = small_experiment()
    arrow = {name: from_frame(frame, TABLES_BY_NAME[name]) for name, frame in tables_of(frames).items()}

    few, every = frames_of("e", arrow, without=UNREAD), frames_of("e", arrow)

    assert [*getattr(few, table).columns] == [
        name for name in getattr(every, table).columns if name not in UNREAD[table]
    ]
