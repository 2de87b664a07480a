"""The watch list comes back as it was; damage only makes it look again."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from rl_pipeline.defs.watch_list import WatchList, read_watch_list, write_watch_list
from rl_pipeline.notifications import Notice

NOTICE = Notice.of(subject="run demo_7", state="failed", title="run demo_7 failed")
WATCHED = WatchList(
    failing={"run demo_7": NOTICE},
    since=datetime(2026, 1, 9, tzinfo=timezone.utc),
    findings={"demo": {"experiment demo: R27": NOTICE}},
    versions={"demo": "v1"},
)


def test_what_stood_is_read_again(tmp_path: Path):
    write_watch_list(tmp_path / "new" / "list.json", WATCHED)

    assert read_watch_list(tmp_path / "new" / "list.json") == WATCHED
    assert WATCHED.all_findings() == [NOTICE]


@pytest.mark.parametrize("damage", [None, "", "{", "[]", '{"failing": {}}', '{"failing": {"a": {"b": 1}}}'])
def test_damage_is_forgetting(tmp_path: Path, damage: str | None):
    if damage is not None:
        (tmp_path / "list.json").write_text(damage)

    assert read_watch_list(tmp_path / "list.json") == WatchList()
