"""What `plain` wrote is read back the same; what does not fit is a ValueError and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.experiment_card import ExperimentCard, experiment_card
from rl_pipeline.analysis.populations import Populations
from rl_pipeline.report.from_json import built
from rl_pipeline.report.plain import plain
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_a_card_and_populations_come_back_the_same():
    result = reference_result()
    card = experiment_card(reference_frames(), result)
    text = json.dumps([plain(card), plain(result.populations.rewards)])

    assert built(ExperimentCard, json.loads(text)[0]) == card
    assert built(Populations, json.loads(text)[1]) == result.populations.rewards


@given(JSON)
def test_anything_else_is_a_value_error(value: Any):
    with pytest.raises(ValueError, match=r"expected|missing"):
        built(ExperimentCard, value)


def test_a_number_is_no_flag_and_a_flag_is_no_number():
    document = plain(experiment_card(reference_frames(), reference_result()))
    assert isinstance(document, dict)

    with pytest.raises(ValueError, match="int expected"):
        built(ExperimentCard, {**document, "last_step": True})
    with pytest.raises(ValueError, match="float expected"):
        built(ExperimentCard, {**document, "goodput": "0.5"})
