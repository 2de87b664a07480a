"""What the reader hands on: one message, unwrapped, with everything needed to find it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Source:
    """Who printed a line: the chain of prefixes around it. Equal sources are one stream of text.

    `pid`/`ip` are those of the outermost process prefix (Ray's actor, else vLLM's process);
    a cluster-wide identity is (`ip`, `pid`), never `pid` alone. All null: a bare line of the driver.
    """

    actor: str | None = None
    pid: int | None = None
    ip: str | None = None
    process: str | None = None  # inner vLLM process, e.g. EngineCore_DP0
    process_pid: int | None = None
    label: str | None = None  # srun task rank, iris task, pod
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        """Sources are keys of many look-ups: the hash is made once."""
        names = (self.actor, self.pid, self.ip, self.process, self.process_pid, self.label)
        object.__setattr__(self, "_hash", hash(names))

    def __hash__(self) -> int:
        """Of all names."""
        return self._hash

    def __reduce__(self) -> tuple[type[Source], tuple[str | int | None, ...]]:
        """Another process hashes text otherwise, so the hash is made anew there."""
        return Source, (self.actor, self.pid, self.ip, self.process, self.process_pid, self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of one source.

    `payload` is the text after all prefixes, logger head, control sequences and Ray's repeat suffix
    are gone; a multi-line message has its lines joined by newlines. `logged_at` has its year
    resolved and is naive local time, or UTC with `zone` "UTC". `complete` is False when the file, or
    the source, went on before the message's syntax was closed.
    """

    line: int
    byte_offset: int
    source: Source
    payload: str
    logged_at: datetime | None = None
    zone: str | None = None
    logger: str | None = None  # loguru, vllm, stdlib, json; null for a bare line
    level: str | None = None
    origin: str | None = None  # module:function or file name the head names
    repeat_count: int = 1
    complete: bool = True
    after_bar: bool = False  # glued to a progress bar: whoever wrote it need not be the process that drew the bar
