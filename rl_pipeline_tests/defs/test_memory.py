"""What sensors remember comes back, and damage only makes them look again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.defs.memory import Memory, Standing
from rl_pipeline.discovery import Inventory, scan

STANDING = Standing(
    at=12.5,
    waiting={"demo": ("demo_1", "demo_2")},
    running={"demo_3": 99},
    unchanged={"demo_1": (10, 20)},
    left_out={"demo_5": (7, 8)},
    unregistered=("other",),
    failed=("demo_4",),
)


def test_what_was_seen_is_remembered(tmp_path: Path):
    Memory(tmp_path / "sensors").remember_standing(STANDING)

    assert Memory(tmp_path / "sensors").standing() == STANDING


def test_an_inventory_is_remembered(tmp_path: Path):
    logs = tmp_path / "demo" / "logs"
    logs.mkdir(parents=True)
    (logs / "demo_123456.out").write_text("a line\n")
    look = scan([tmp_path], now=1.0)

    Memory(tmp_path / "sensors").remember_inventory(look)

    assert Memory(tmp_path / "sensors").inventory().files() == look.files()
    assert len(look.files()) == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 2}', '{"format": 1, "at": "x"}', "null"])
def test_damage_is_forgetting(tmp_path: Path, damage: str):
    for name in ("inventory.json", "standing.json", "stalls.json"):
        (tmp_path / name).write_text(damage)

    assert Memory(tmp_path).standing() == Standing()
    assert Memory(tmp_path).inventory() == Inventory()
    assert not Memory(tmp_path).stalls()


def test_stalls_are_known_once_somebody_has_looked(tmp_path: Path):
    unknown = Memory(tmp_path).stalls()
    Memory(tmp_path).remember_stalls([])

    assert (unknown, Memory(tmp_path).stalls()) == (None, [])


def test_no_temporary_file_is_left(tmp_path: Path):
    Memory(tmp_path).remember_standing(STANDING)

    assert [path.name for path in tmp_path.iterdir()] == ["standing.json"]
