"""What `notifications` knows between looks: matters that stand, and how far it has looked.

One file, written beside and renamed, so that what stands and how far was looked never disagree. When it
is lost, runs of the last days are looked at again; the outbox knows what was told and repeats nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from rl_pipeline.notifications import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchList:
    """Matters that stand.

    `failing`: notices of failed runs by subject, from runs up to `since`. `findings`: notices by subject,
    for each experiment, from the report of `versions`.
    """

    failing: Mapping[str, Notice] = field(default_factory=dict)
    since: datetime | None = None
    findings: Mapping[str, Mapping[str, Notice]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def all_findings(self) -> list[Notice]:
        """The notices of all experiments."""
        return [notice for notices in self.findings.values() for notice in notices.values()]


def read_watch_list(file: Path) -> WatchList:
    """The list, or an empty one when it is missing or damaged."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return WatchList(
            failing=_notices(told["failing"]),
            since=datetime.fromisoformat(told["since"]) if told["since"] else None,
            findings={str(key): _notices(found) for key, found in told["findings"].items()},
            versions={str(key): str(version) for key, version in told["versions"].items()},
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return WatchList()


def _notices(told: Mapping[str, Any]) -> dict[str, Notice]:
    return {str(subject): Notice(**record) for subject, record in told.items()}


def write_watch_list(file: Path, watched: WatchList) -> None:
    """Replace the list."""
    told = {
        "failing": {subject: asdict(notice) for subject, notice in watched.failing.items()},
        "since": watched.since.isoformat() if watched.since else None,
        "findings": {
            key: {subject: asdict(notice) for subject, notice in notices.items()}
            for key, notices in watched.findings.items()
        },
        "versions": dict(watched.versions),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(
        json.dumps(told, ensure_ascii=False, separators=(",", ":")), encoding="utf-8", errors="backslashreplace"
    )
    beside.replace(file)
