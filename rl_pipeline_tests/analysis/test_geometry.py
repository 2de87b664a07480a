"""How many GPUs a run used, or that nobody can tell."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.geometry import gpu_geometry
from rl_pipeline.schema import JobEvent
from rl_pipeline_tests.helpers.frames import frame_of

NODES, PER_NODE = "trainer.placement.policy_num_nodes", "trainer.placement.policy_num_gpus_per_node"
ENGINES, WIDTH = "generator.num_inference_engines", "generator.inference_engine_tensor_parallel_size"


def _geometry(configuration, **settings):
    events = [
        JobEvent(
            job="job_1",
            line=line,
            byte_offset=0,
            kind="configuration",
            name=name,
            value=None if isinstance(value, str) else value,
            detail=str(value),
        )
        for line, (name, value) in enumerate(configuration.items(), 1)
    ]
    return gpu_geometry(frame_of(JobEvent, events), **settings)


def test_training_and_engines_on_their_own_gpus_are_added():
    geometry = _geometry({NODES: 2, PER_NODE: 4, ENGINES: 24, WIDTH: 2})

    assert (geometry.gpus, geometry.evidence) == (56, "2 × 4 for training, 24 × 2 for generation")


def test_engines_on_the_training_gpus_are_not_added():
    assert _geometry({NODES: 2, PER_NODE: 4, ENGINES: 8, WIDTH: 1, "trainer.placement.colocate_all": "true"}).gpus == 8


def test_engines_that_span_nodes_take_all_their_gpus():
    wide = {
        "generator.inference_engine.pipeline_parallel_size": 2,
        "generator.inference_engine.tensor_parallel_size": 4,
    }

    assert _geometry({NODES: 1, PER_NODE: 4, "generator.inference_engine.num_engines": 2, **wide}).gpus == 20


def test_a_setting_goes_before_the_log():
    assert _geometry({NODES: 2, PER_NODE: 4}, setting=16).gpus == 16


def test_the_last_value_of_a_repeated_key_counts():
    geometry = _geometry(
        {NODES: 1, PER_NODE: 4, "placement.policy_num_nodes": 3, "trainer.placement.colocate_all": "true"}
    )

    assert geometry.gpus == 12


@pytest.mark.parametrize("configuration", [{}, {NODES: 2}, {NODES: 0, PER_NODE: 4}, {NODES: 2, PER_NODE: 4}])
def test_without_the_placement_the_number_is_unknown(configuration):
    geometry = _geometry(configuration)

    assert geometry.gpus is None
    assert geometry.evidence
