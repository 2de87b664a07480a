"""What Ray, loguru, vLLM and srun make of a printed line: heads, prefixes, colours, folding, labels.

Written from the documented behaviour of these programs, so that a log can be made of which every line's
origin is known. Standard library only, and quick: whole simulated runs are written with it.
"""

from __future__ import annotations

import pprint
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

CYAN, GREEN, BOLD, RESET = "\x1b[36m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
FOLD_WINDOW_S = 5.0
FIRST_FOLD_HINT = (
    " (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or see "
    "https://docs.ray.io/ for more options.)"
)


class Actor(NamedTuple):
    """A process whose lines reach the driver's log. Without a name: the driver itself, no prefix."""

    name: str | None = None
    pid: int = 0
    ip: str | None = None
    process: str | None = None  # vLLM's own prefix behind Ray's, e.g. EngineCore_DP0
    process_pid: int = 0

    def prefix(self, *, colours: bool) -> str:
        """What stands before each line of the process."""
        ray = vllm = ""
        if self.name is not None:
            ray = f"({self.name} pid={self.pid}{f', ip={self.ip}' if self.ip else ''})"
            ray = f"{CYAN}{ray}{RESET} " if colours else f"{ray} "
        if self.process is not None:
            vllm = f"({self.process} pid={self.process_pid})"
            vllm = f"{CYAN}{vllm}{RESET} " if colours else f"{vllm} "
        return ray + vllm


DRIVER = Actor()


class Line(NamedTuple):
    """One printed line, before Ray and srun have seen it."""

    at: datetime
    actor: Actor
    text: str


def loguru_lines(at: datetime, origin: str, message: str, level: str = "INFO", *, colours: bool = False) -> list[str]:
    """The physical lines of one loguru message; `origin` is module:function:line.

    With colours the level's colour opens before the message and closes behind its last line.
    """
    stamp = f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}"
    if not colours:
        return f"{stamp} | {level:<8} | {origin} - {message}".split("\n")
    places = ":".join(f"{CYAN}{part}{RESET}" for part in origin.split(":"))
    head = f"{GREEN}{stamp}{RESET} | {BOLD}{level:<8}{RESET} | {places} - "
    return f"{head}{BOLD}{message}{RESET}".split("\n")


def vllm_line(at: datetime, place: str, message: str, level: str = "INFO") -> str:
    """One line of vLLM's logger, which prints no year; `place` is file.py:line."""
    return f"{level} {at:%m-%d %H:%M:%S} [{place}] {message}"


def console_block(metrics: Mapping[str, object]) -> str:
    """The metrics dictionary as SkyRL's console logger prints it: floats as text with four decimals."""
    shown = {key: _four_decimals(value) for key, value in metrics.items()}
    items = [f"{key!r}: {shown[key]!r}" for key in sorted(shown)]
    one_per_line = sum(map(len, items)) + 2 * len(items) > 80 and all(len(item) < 70 for item in items)
    if one_per_line and not any(isinstance(value, dict | list | tuple) for value in shown.values()):
        return "{" + ",\n ".join(items) + "}"  # what pprint does, forty times as fast
    return pprint.pformat(shown, width=80)


def _four_decimals(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, dict):
        return {key: _four_decimals(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_four_decimals(inner) for inner in value)
    return value


class _Held:
    """Lines of one likeness that Ray holds back."""

    __slots__ = ("count", "last", "since", "sources")

    def __init__(self, since: datetime, source: tuple[str | None, int]) -> None:
        self.since, self.sources, self.count, self.last = since, {source}, 0, Line(since, DRIVER, "")


def fold(lines: Iterable[Line], *, colours: bool = False) -> Iterator[Line]:
    """Lines as Ray's deduplication lets them through, `[repeated Nx across cluster]` included.

    Two lines are alike when their words without digits are. The first is printed; once a second process
    prints one like it, further ones are held, and told as a count when the key is five seconds old and
    more output arrives. A count of one is printed late, without a suffix.
    """
    known: dict[str, _Held] = {}
    hint = FIRST_FOLD_HINT
    latest: datetime | None = None
    for line in lines:
        if line.actor.name is None:
            yield line
            continue
        if latest is None or line.at > latest:
            latest = line.at
            for told in _due(known, line.at, FOLD_WINDOW_S):
                yield _told(told, hint, colours=colours)
                hint = "" if told.lines > 1 else hint
        key = " ".join(word for word in line.text.split() if not any(c.isdigit() for c in word))
        source = (line.actor.ip, line.actor.pid)
        held = known.get(key)
        if held is None or not key:
            known[key] = _Held(line.at, source)
            yield line
        elif held.sources == {source}:
            yield line
        else:
            held.sources.add(source)
            held.count, held.last = held.count + 1, line
    if latest is not None:
        for told in _due(known, latest, 0.0):
            yield _told(told, hint, colours=colours)
            hint = "" if told.lines > 1 else hint


class _Told(NamedTuple):
    line: Line
    lines: int


def _due(known: dict[str, _Held], now: datetime, age_s: float) -> list[_Told]:
    """Take out what is old enough; a key that was held twice or more stays known."""
    told: list[_Told] = []
    for key in [key for key, held in known.items() if (now - held.since).total_seconds() >= age_s]:
        held = known[key]
        if held.count:
            told.append(_Told(held.last, held.count))
        if held.count > 1:
            held.since, held.count = now, 0
        else:
            del known[key]
    return told


def _told(told: _Told, hint: str, *, colours: bool) -> Line:
    if told.lines == 1:
        return told.line
    suffix = f" [repeated {told.lines}x across cluster]"
    suffix = f"{GREEN}{suffix}{RESET}" if colours else suffix
    return told.line._replace(text=told.line.text + suffix + hint)


def rendered(line: Line, *, colours: bool = False, label: str = "") -> str:
    """The physical line of the file, without its line end."""
    return f"{label}{line.actor.prefix(colours=colours)}{line.text}"


def srun_label(rank: int, tasks: int) -> str:
    """What `srun --label` puts before each line: the rank, right-aligned to the largest one's width."""
    return f"{rank:>{len(str(tasks - 1))}}: "
