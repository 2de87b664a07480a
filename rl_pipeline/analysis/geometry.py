"""How many GPUs the run used, from the configuration that its log prints.

A setting of the deployment goes before. Without the trainer's own placement keys the number is unknown:
it is never guessed from engine lines or host names.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

CONFIGURATION = "configuration"
POLICY_NODES = "trainer.placement.policy_num_nodes"
POLICY_GPUS = "trainer.placement.policy_num_gpus_per_node"
COLOCATED = "trainer.placement.colocate_all"
ENGINES = "generator.num_inference_engines"
TENSOR_PARALLEL = "generator.inference_engine_tensor_parallel_size"


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """GPUs of the run, and where the number is from; `gpus` is None when it can not be told."""

    gpus: int | None
    evidence: str


def gpu_geometry(job_events: pd.DataFrame, *, setting: int | None = None) -> Geometry:
    """GPUs by the setting, else by the configuration events."""
    if setting is not None and setting > 0:
        return Geometry(gpus=setting, evidence="setting")
    events = job_events[job_events["kind"] == CONFIGURATION]
    nodes, per_node = _number(events, POLICY_NODES), _number(events, POLICY_GPUS)
    if nodes is None or per_node is None:
        return Geometry(gpus=None, evidence=f"the logs do not show {POLICY_NODES} and {POLICY_GPUS}")
    training = nodes * per_node
    if _flag(events, COLOCATED):
        return Geometry(gpus=training, evidence=f"{nodes} nodes × {per_node} GPUs, engines on the same GPUs")
    engines, width = _number(events, ENGINES), _number(events, TENSOR_PARALLEL)
    if engines is None or width is None:
        return Geometry(gpus=None, evidence=f"{training} GPUs train; the logs do not show {ENGINES}")
    total = training + engines * width
    return Geometry(gpus=total, evidence=f"{nodes} × {per_node} for training, {engines} × {width} for generation")


def _last(events: pd.DataFrame, key: str) -> pd.DataFrame:
    own = events[events["name"].astype(str).map(lambda name: name == key or key.endswith("." + name))]
    return own.tail(1)


def _number(events: pd.DataFrame, key: str) -> int | None:
    row = _last(events, key)
    if row.empty or pd.isna(row["value"].iloc[0]) or row["value"].iloc[0] <= 0:
        return None
    return int(row["value"].iloc[0])


def _flag(events: pd.DataFrame, key: str) -> bool:
    row = _last(events, key)
    return not row.empty and str(row["detail"].iloc[0]).strip().lower() in ("true", "1", "yes")
