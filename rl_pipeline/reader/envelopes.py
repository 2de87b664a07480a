"""Prefixes around a line: who printed it, and when a collector received it.

Peeled repeatedly, in whatever order they stand: times of `kubectl --timestamps`, `srun --label` ranks, iris tasks,
pods, `torchrun` ranks, Ray's `(Name pid=1, ip=…)`, `(raylet)`, `(autoscaler +1m)`, vLLM's `(EngineCore_DP0 pid=2)`.
Exactly one space belongs to a prefix: what follows keeps its indentation. Names of Ray actors are free text and may
hold brackets; the first balanced `… pid=N)` counts. A progress bar ends without a line feed, so a whole line, with
its prefixes, may be glued behind one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from rl_pipeline.reader.heads import find_head
from rl_pipeline.reader.message import Source

MAX_PREFIXES = 12
MAX_SPLITS = 12
LITERAL_ENDS = (",", "}", "'", '"', "]", ")", "{", "[", "(")  # of a line, in front of a bar
MAX_NAME = 300  # characters of an actor's name

PROCESS = re.compile(r"\((?:([^()]{1,300}) )?pid=(\w{1,40})(?:, ip=([^()\s]{1,64}))?\)(?: |$)")
PROCESS_END = re.compile(r" ?pid=(\w{1,40})(?:, ip=([^()\s]{1,64}))?\)(?: |$)")
RAY_SYSTEM = re.compile(r"\((raylet|autoscaler(?: \+[\dhms.]{1,20})?)(?:, ip=([^()\s]{1,64}))?\)(?: |$)")
VLLM_PROCESS = re.compile(r"(?:APIServer|EngineCore|Worker|DPCoordinator|MainProcess|ApiServer|Coordinator)(?:_\w+)?")
LABEL = re.compile(r" {0,8}((?:P\d{1,4} +)?\d{1,6}): ")
RANK = re.compile(r"\[(rank\d{1,6})\]: ?")
IRIS = re.compile(r"\[\d\d:\d\d:\d\d\] (task=\S{1,400}(?: attempt=\d{1,6})?) \| ?")
POD = re.compile(r"\[(pod/[^\]\s]{1,400})\](?: |$)")
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))(?: |$)")

# A frame of tqdm, with a total or without one; the description may be anything short.
BAR = re.compile(
    r"[^|\r\n]{0,200}?\d{1,3}%\|[^|\r\n]{0,400}\| *[\d.]{1,20}[kMGT]?/[\d.?]{1,20}[kMGT]? \[[^\]\r\n]{0,200}\] *"
    r"|[^|\[\r\n]{0,200}?\d[\d.]{0,20}[kMGT]?it \[\d[\d:]*, [^\]\r\n]{0,100}\] *"
)


class Envelope(NamedTuple):
    """What stood around a text: its source, where the rest begins, and a collector's time if there was one."""

    source: Source
    end: int
    received: str | None = None
    bars: int = 0  # progress frames dropped in front


@lru_cache(maxsize=8192)
def source_of(
    actor: str | None, pid: str | None, ip: str | None, process: str | None, process_pid: str | None, label: str | None
) -> Source:
    """The source with these names; pids that are words (`gcs_server`) serve as the actor's name."""
    if pid is not None and not pid.isdecimal():
        actor, pid = actor or pid, None
    return Source(actor=actor, pid=_number(pid), ip=ip, process=process, process_pid=_number(process_pid), label=label)


def _number(pid: str | None) -> int | None:
    return int(pid) if pid is not None and pid.isdecimal() and len(pid) < 18 else None


BARE = source_of(None, None, None, None, None, None)


def open_envelope(text: str) -> Envelope:
    """All prefixes of a line without control sequences."""
    first = text[:1]
    if first == "(" and "%|" not in text and "it [" not in text:
        found = PROCESS.match(text)
        if found is not None and text[found.end() : found.end() + 1] not in ("(", "[", ""):  # the only prefix
            return Envelope(source_of_process(*found.groups()), found.end())
    elif first not in ("(", "[", " ", "P") and not first.isdigit() and not _may_hold_bar(text):
        return Envelope(BARE, 0)
    return _Peeler(text).peel()


@lru_cache(maxsize=8192)
def source_of_process(name: str | None, pid: str, ip: str | None) -> Source:
    """The source with one process prefix."""
    if name is not None and VLLM_PROCESS.fullmatch(name):
        return source_of(None, pid, ip, name, pid, None)
    return source_of(name, pid, ip, None, None, None)


def _may_hold_bar(text: str) -> bool:
    return "%|" in text or "it [" in text


def before_bar(text: str) -> list[str]:
    """What may stand in front of a progress frame that was glued to the end of a literal's line, longest first."""
    mark = max(text.rfind("%|"), text.rfind("it ["))
    found: list[str] = []
    at = mark
    for _ in range(MAX_SPLITS if mark > 0 else 0):
        at = max(text.rfind(end, max(0, mark - MAX_NAME), at) for end in LITERAL_ENDS)
        if at < 0:
            break
        is_open_string = text[at] in "'\"" and text.count(text[at], 0, at) % 2 == 0
        if not is_open_string and BAR.fullmatch(text, at + 1):
            found.append(text[: at + 1])
    return found


class _Peeler:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.actor: str | None = None
        self.pid: str | None = None
        self.ip: str | None = None
        self.process: str | None = None
        self.process_pid: str | None = None
        self.labels: list[str] = []
        self.received: str | None = None
        self.bars = 0
        self.may_hold_bar = _may_hold_bar(text)

    def peel(self) -> Envelope:
        for _ in range(MAX_PREFIXES):
            first = self.text[self.at : self.at + 1]
            if not ((first == "(" and self._process()) or self._collector(first) or self._bar()):
                break
        source = source_of(self.actor, self.pid, self.ip, self.process, self.process_pid, " ".join(self.labels) or None)
        return Envelope(source, self.at, self.received, self.bars)

    def _process(self) -> bool:
        """Ray's or vLLM's process prefix, or one of Ray's own."""
        found = PROCESS.match(self.text, self.at)
        if found is not None:
            return self._name(found.group(1), found.group(2), found.group(3), found.end())
        system = RAY_SYSTEM.match(self.text, self.at)
        if system is not None:
            return self._name(system.group(1).split(" ")[0], None, system.group(2), system.end())
        for end in PROCESS_END.finditer(self.text, self.at, self.at + MAX_NAME):
            name = self.text[self.at + 1 : end.start()]
            if name.count("(") == name.count(")"):
                return self._name(name, end.group(1), end.group(2), end.end())
        return False

    def _name(self, name: str | None, pid: str | None, ip: str | None, end: int) -> bool:
        self.at = end
        nested = self.pid is not None or self.actor is not None
        if name is not None and VLLM_PROCESS.fullmatch(name):
            self.process, self.process_pid = name, pid
            if not nested:
                self.pid, self.ip = pid, ip
        elif nested and not self.bars:
            self.process, self.process_pid = name, pid
        else:
            self.actor, self.pid, self.ip = name, pid, ip
        return True

    def _collector(self, first: str) -> bool:
        """Prefixes of whatever collected the lines of several tasks."""
        if first == "[":
            found = IRIS.match(self.text, self.at) or POD.match(self.text, self.at) or RANK.match(self.text, self.at)
        elif self.actor is not None or self.pid is not None:
            return False  # a collector stands outside of Ray
        elif first == " " or first == "P" or first.isdigit():
            stamp = TIMESTAMP.match(self.text, self.at) if first != "P" else None
            if stamp is not None:
                self.received, self.at = stamp.group(1), stamp.end()
                return True
            found = LABEL.match(self.text, self.at)
        else:
            return False
        if found is None:
            return False
        self.labels.append(found.group(1))
        self.at = found.end()
        return True

    def _bar(self) -> bool:
        """A progress frame in front of more text; alone, or inside a logger's message, it is the text itself."""
        if not self.may_hold_bar or find_head(self.text, self.at) is not None:
            return False
        found = BAR.match(self.text, self.at)
        if found is None or found.end() >= len(self.text.rstrip()):
            return False
        self.at = found.end()
        self.bars += 1
        return True
