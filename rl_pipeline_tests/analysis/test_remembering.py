"""What is remembered of frames: made once, for each frame on its own, and gone when the frame is."""

from __future__ import annotations

import gc
import weakref

import pandas as pd

from rl_pipeline.analysis.remembering import remembered


def test_a_result_is_made_once_for_each_frame_and_value():
    calls: list[int] = []

    @remembered
    def length(frame: pd.DataFrame, factor: int = 1) -> list[int]:
        calls.append(len(frame))
        return [len(frame) * factor]

    one, equal = pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})
    results = [length(one), length(one), length(equal), length(one, 3), length(one, factor=3), length(one, factor=3)]

    assert results == [[2], [2], [2], [6], [6], [6]]
    assert results[0] is results[1]
    assert results[0] is not results[2]
    assert len(calls) == 4


def test_a_result_goes_with_its_frame():
    @remembered
    def kept(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["a"] > 1]

    frame = pd.DataFrame({"a": [1, 2]})
    result = weakref.ref(kept(frame))
    assert result() is not None

    del frame
    gc.collect()

    assert result() is None


def test_a_frame_that_is_its_own_result_is_not_kept():
    @remembered
    def same(frame: pd.DataFrame) -> pd.DataFrame:
        return frame

    frame = pd.DataFrame({"a": [1, 2]})
    alive = weakref.ref(same(frame))

    del frame
    gc.collect()

    assert alive() is None
