"""One message per change of state, channel by channel, also across restarts and outages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from rl_pipeline.notifications import ChannelError, JsonLines, Notice, Outbox

KINDS = frozenset({"run_failed"})
FAILED = Notice.of(subject="job a: run", state="failed 1", title="job a failed")


@dataclass
class Listener:
    """A receiver that can be away."""

    name: str = "listener"
    away: bool = False
    heard: list[tuple[str, str]] = field(default_factory=list)

    def deliver(self, notice: Notice) -> None:
        if self.away:
            raise ChannelError("away")
        self.heard.append((notice.subject, notice.state))


def test_the_same_state_is_told_once_however_often_it_is_seen(tmp_path: Path):
    listener = Listener()

    for _ in range(5):
        Outbox(tmp_path, [listener]).tell([FAILED], known_kinds=KINDS)  # each time as after a restart

    assert listener.heard == [("job a: run", "failed 1")]


def test_another_state_and_the_end_of_it_are_told(tmp_path: Path):
    listener, again = Listener(), Notice.of(subject="job a: run", state="failed 2", title="job a failed")
    outbox = Outbox(tmp_path, [listener])

    outbox.tell([FAILED], known_kinds=KINDS)
    outbox.tell([again], known_kinds=KINDS)
    outbox.tell([], known_kinds=KINDS)
    outbox.tell([], known_kinds=KINDS)

    assert listener.heard == [("job a: run", "failed 1"), ("job a: run", "failed 2"), ("job a: run", "resolved")]


def test_a_sensor_that_knows_other_kinds_does_not_end_what_it_cannot_see(tmp_path: Path):
    listener = Listener()
    outbox = Outbox(tmp_path, [listener])

    outbox.tell([FAILED], known_kinds=KINDS)
    outbox.tell([], known_kinds=frozenset({"stalled"}))

    assert listener.heard == [("job a: run", "failed 1")]


def test_a_channel_that_is_away_is_told_later_and_the_others_do_not_repeat_themselves(tmp_path: Path):
    good, bad = Listener("good"), Listener("bad", away=True)
    outbox = Outbox(tmp_path, [bad, good])

    first = outbox.tell([FAILED], known_kinds=KINDS)
    bad.away = False
    outbox.tell([FAILED], known_kinds=KINDS)

    assert first.problems == ("away",)
    assert first.told == {"good": 1}
    assert good.heard == bad.heard == [("job a: run", "failed 1")]


def test_a_damaged_memory_tells_again_rather_than_never(tmp_path: Path):
    listener = Listener()
    Outbox(tmp_path, [listener]).tell([FAILED], known_kinds=KINDS)
    for file in tmp_path.glob("told-*.json"):
        file.write_text("{half a rec")

    Outbox(tmp_path, [listener]).tell([FAILED], known_kinds=KINDS)

    assert listener.heard == [("job a: run", "failed 1")] * 2


def test_the_memory_keeps_no_excerpt(tmp_path: Path):
    notice = Notice.of(subject="job a: run", state="failed", title="job a failed", text="an excerpt of a log")

    Outbox(tmp_path, [JsonLines(tmp_path / "out.jsonl")]).tell([notice], known_kinds=KINDS)

    [memory] = tmp_path.glob("told-*.json")
    assert "excerpt" not in memory.read_text()
    assert json.loads((tmp_path / "out.jsonl").read_text())["text"] == "an excerpt of a log"
