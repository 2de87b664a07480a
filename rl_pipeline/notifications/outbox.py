"""One message per change of state: compares what is with what was told, channel by channel.

The memory is a JSON file per channel, written beside and renamed after each notice, so a process that
dies has told at most one notice that it will tell again, and a channel that is down for a day makes
neither the others repeat themselves nor itself forget.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rl_pipeline.notifications.channels import Channel, ChannelError
from rl_pipeline.notifications.notice import Notice

Told = dict[str, Notice]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one round did: notices told by channel name, and what went wrong."""

    told: Mapping[str, int]
    problems: tuple[str, ...]


class Outbox:
    """Tells each channel what changed since it was last told."""

    def __init__(self, folder: Path, channels: Sequence[Channel]) -> None:
        self._folder = folder
        self._channels = channels

    def tell(self, current: Iterable[Notice], *, known_kinds: frozenset[str]) -> Delivery:
        """Deliver what is new, what changed and what is over.

        Args:
            current: the notices that hold now; a subject that is absent is well.
            known_kinds: the kinds that `current` speaks of in full; told subjects of other kinds are left alone.
        """
        now = {notice.subject: notice for notice in current}
        told: dict[str, int] = {}
        problems: list[str] = []
        for channel in self._channels:
            before = self._told(channel)
            try:
                told[channel.name] = self._tell(channel, now, before, known_kinds)
            except ChannelError as error:
                problems.append(str(error))
        return Delivery(told=told, problems=tuple(problems))

    def _tell(self, channel: Channel, now: Told, before: Told, kinds: frozenset[str]) -> int:
        changed = [notice for subject, notice in now.items() if not _same(before.get(subject), notice)]
        over = [notice for subject, notice in before.items() if subject not in now and notice.kind in kinds]
        for notice in changed:
            channel.deliver(notice)
            before[notice.subject] = notice
            self._remember(channel, before)
        for notice in over:
            channel.deliver(notice.resolved())
            del before[notice.subject]
            self._remember(channel, before)
        return len(changed) + len(over)

    def _file(self, channel: Channel) -> Path:
        digest = hashlib.blake2b(channel.name.encode(), digest_size=6).hexdigest()
        return self._folder / f"told-{digest}.json"

    def _told(self, channel: Channel) -> Told:
        try:
            records = json.loads(self._file(channel).read_text(encoding="utf-8"))
            return {subject: Notice(**record) for subject, record in records.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}  # nothing told yet, or a damaged memory: tell again rather than never

    def _remember(self, channel: Channel, told: Told) -> None:
        file = self._file(channel)
        beside = file.with_suffix(f".{os.getpid()}.tmp")
        records = {subject: asdict(replace(notice, text="")) for subject, notice in sorted(told.items())}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(records, ensure_ascii=False, indent=1)
            beside.write_text(text, encoding="utf-8", errors="backslashreplace")
            beside.replace(file)
        except OSError as error:
            raise ChannelError(f"{file}: {error.strerror}") from error


def _same(before: Notice | None, now: Notice) -> bool:
    return before is not None and before.state == now.state
