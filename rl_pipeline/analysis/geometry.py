"""How many GPUs the run used, from the configuration that its log prints.

A setting of the deployment goes before. Without the trainer's own placement keys the number is unknown:
it is never guessed from engine lines or host names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

CONFIGURATION = "configuration"
# Last parts of the dotted keys, older name first.
POLICY_NODES = ("policy_num_nodes",)
POLICY_GPUS = ("policy_num_gpus_per_node",)
COLOCATED = ("colocate_all",)
ENGINES = ("num_inference_engines", "num_engines")
WIDTHS = (
    ("inference_engine_tensor_parallel_size", "tensor_parallel_size"),
    ("inference_engine_pipeline_parallel_size", "pipeline_parallel_size"),
    ("inference_engine_data_parallel_size", "data_parallel_size"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """GPUs of the run, and where the number is from; `gpus` is None when it cannot be told."""

    gpus: int | None
    evidence: str


def gpu_geometry(job_events: pd.DataFrame, *, setting: int | None = None) -> Geometry:
    """GPUs by the setting, else by the configuration events."""
    if setting is not None and setting > 0:
        return Geometry(gpus=setting, evidence="setting")
    events = job_events[job_events["kind"] == CONFIGURATION]
    nodes, per_node = _number(events, POLICY_NODES), _number(events, POLICY_GPUS)
    if nodes is None or per_node is None:
        return Geometry(gpus=None, evidence=f"the logs do not show {POLICY_NODES[0]} and {POLICY_GPUS[0]}")
    training = nodes * per_node
    if _flag(events, COLOCATED):
        return Geometry(gpus=training, evidence=f"{nodes} nodes × {per_node} GPUs, engines on the same GPUs")
    engines, tensor = _number(events, ENGINES), _number(events, WIDTHS[0])
    if engines is None or tensor is None:
        return Geometry(gpus=None, evidence=f"{training} GPUs train; the logs do not show how many generate")
    width = tensor * math.prod(_number(events, names) or 1 for names in WIDTHS[1:])
    total = training + engines * width
    return Geometry(gpus=total, evidence=f"{nodes} × {per_node} for training, {engines} × {width} for generation")


def _last(events: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """The last entry whose key ends in one of the names."""
    leaf = events["name"].map(lambda name: str(name).rsplit(".", 1)[-1])
    return events[leaf.isin(names)].tail(1)


def _number(events: pd.DataFrame, names: tuple[str, ...]) -> int | None:
    row = _last(events, names)
    if row.empty or pd.isna(row["value"].iloc[0]) or row["value"].iloc[0] <= 0:
        return None
    return int(row["value"].iloc[0])


def _flag(events: pd.DataFrame, names: tuple[str, ...]) -> bool:
    row = _last(events, names)
    if row.empty:
        return False
    return row["value"].iloc[0] == 1 or str(row["detail"].iloc[0]).strip().lower() in ("true", "1", "yes")
