"""What sensors remember between looks, in a file of the home; a lost or damaged one costs work, never truth.

Everything that decides whether a job is made again stands in the instance (data versions, runs). The
memory only saves looking: facts of files (the inventory), logs that were touched and found unchanged,
and what one sensor saw that another wants to know without looking at the disk again. It is no sensor
cursor, because Dagster would store a copy of a cursor with every tick.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rl_pipeline.discovery import Inventory

FORMAT = 1
INVENTORY_FILE, STANDING_FILE, STALLS_FILE = "inventory.json", "standing.json", "stalls.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A running job that does not move, and why that is thought."""

    job_key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the last look of `finished_jobs` saw.

    `waiting`: jobs that have finished and are not made yet, or were not looked at yet, by experiment.
    `running`: jobs that have not finished, with the time of their last write (ns). `unchanged`: jobs
    whose log was touched and found to hold what it held, with size and time of that write. `failed`:
    jobs whose run failed and that wait for another content, or for a person. `left_out`: files that
    are no job's log, likewise. `unregistered`: experiments that later looks will register. `turn`:
    where the next look goes on.
    """

    at: float = 0.0
    turn: int = 0
    waiting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    running: Mapping[str, int] = field(default_factory=dict)
    unchanged: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    left_out: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unregistered: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class Memory:
    """The files of the memory, each written beside and renamed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def inventory(self) -> Inventory:
        """The look before; an empty one when there is none."""
        return Inventory.from_json(self._read(INVENTORY_FILE))

    def remember_inventory(self, inventory: Inventory) -> None:
        """Keep a look for the next one."""
        self._write(INVENTORY_FILE, inventory.to_json())

    def standing(self) -> Standing:
        """What the last look saw; nothing when it is unknown."""
        try:
            return _standing(json.loads(self._read(STANDING_FILE) or ""))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return Standing()

    def remember_standing(self, standing: Standing) -> None:
        """Keep what a look saw."""
        told = {name: getattr(standing, name) for name in Standing.__slots__}
        self._write(STANDING_FILE, json.dumps({"format": FORMAT, **told}, separators=(",", ":")))

    def stalls(self) -> list[Stall] | None:
        """The stalled jobs of the last look at running ones; None when that is not known."""
        try:
            told = json.loads(self._read(STALLS_FILE) or "")
            return [Stall(**{name: str(stall[name]) for name in Stall.__slots__}) for stall in told]
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def remember_stalls(self, stalls: Sequence[Stall]) -> None:
        """Keep what was seen stalled, to be told."""
        self._write(STALLS_FILE, json.dumps([asdict(stall) for stall in stalls]))

    def _read(self, name: str) -> str | None:
        try:
            return (self._folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def _write(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        beside = self._folder / f".{name}.{os.getpid()}"
        beside.write_text(text, encoding="utf-8")
        beside.replace(self._folder / name)


def _standing(told: Mapping[str, Any]) -> Standing:
    if told["format"] != FORMAT:
        return Standing()
    return Standing(
        at=float(told["at"]),
        turn=int(told["turn"]),
        waiting={str(key): tuple(map(str, jobs)) for key, jobs in told["waiting"].items()},
        running={str(key): int(written) for key, written in told["running"].items()},
        unchanged=_facts(told["unchanged"]),
        left_out=_facts(told["left_out"]),
        unregistered=tuple(map(str, told["unregistered"])),
        failed=tuple(map(str, told["failed"])),
    )


def _facts(told: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    return {str(key): (int(size), int(written)) for key, (size, written) in told.items()}
