"""Logger heads: what a logging library puts before a message.

loguru (with and without offset), vLLM's formatter (current, V0 and with milliseconds), the usual formats of the
standard library and its default, vLLM's JSON formatter, SGLang, slime, transformers, Ray's own two. Heads are
recognised only where the text begins, never inside it: rollouts print transcripts that quote log lines.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

LEVELS = "TRACE|DEBUG|INFO|SUCCESS|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL"
DAY = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"

LOGURU = re.compile(
    rf"({DAY}(?:\.\d{{1,9}})?(?: ?(?:Z|[+-]\d\d:?\d\d))?) \| ([A-Z]{{1,12}}) *\| "
    r"([^:|\s]{0,200}):([^:|\s]{0,200}):(\d{1,8}|\?) - "
)
VLLM = re.compile(
    r"([A-Z]{4,8}) (\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?) "
    r"(?:\[([^\]\s]{1,300}?):\d{1,8}\]|([^\]\s\[]{1,300}?):\d{1,8}\])(?: |$)"
)
VLLM_PREFIX = re.compile(r"""[^\s"'{}()]{1,64} ?(?=[A-Z]{4,8} \d\d-\d\d \d\d:\d\d:\d\d)""")  # VLLM_LOGGING_PREFIX
STDLIB = re.compile(rf"({DAY},\d{{3}}) - (\S{{1,200}}) - ({LEVELS}) - ")
RAY = re.compile(rf"({DAY},\d{{3}})\s({LEVELS})\s(\S{{1,200}}):\d{{1,8}} -- ")
RAY_CORE = re.compile(
    rf"\[({DAY},\d{{3}}) ([A-Z]) \d{{1,10}} \d{{1,10}}\] (?:\(\S{{1,60}}\) )?(\S{{1,200}}):\d{{1,8}}: "
)
BRACKETED = re.compile(
    rf"\[({DAY})(?:[.,]\d{{1,6}})?((?: (?:DP|TP|PP|EP)\d{{1,5}})*)\] (?:(\S{{1,100}}):\d{{1,8}} - )?"
)
TRANSFORMERS = re.compile(rf"\[({LEVELS})\|(\S{{1,200}}):\d{{1,8}}\] ({DAY},\d{{3}}) >> ")
DEFAULT = re.compile(rf"({LEVELS}):([\w.]{{1,200}}):(?=\S)")
MAX_JSON = 4 * 1024 * 1024


class Head(NamedTuple):
    """A logger head; `end` is where the message begins in the text, or `message` holds it (JSON)."""

    logger: str
    level: str | None
    origin: str | None
    stamp: str | None
    dated: bool
    end: int
    message: str | None = None
    process: str | None = None
    process_pid: int | None = None

    def same_call(self, other: Head) -> bool:
        """Whether both heads stand before lines of one logging call."""
        return (self.logger, self.level, self.origin) == (other.logger, other.level, other.origin)


def find_head(text: str, start: int = 0) -> Head | None:
    """The head at `start`, or None for a bare line."""
    first = text[start : start + 1]
    if first.isdigit():
        return _dated_head(text, start)
    if "A" <= first <= "Z":
        return _level_head(text, start) or _prefixed_vllm(text, start)
    if first == "[":
        return _bracketed_head(text, start)
    if first == "{":
        return _json_head(text, start)
    return _prefixed_vllm(text, start) if first else None


def _dated_head(text: str, start: int) -> Head | None:
    found = LOGURU.match(text, start)
    if found is not None:
        stamp, level, module, function, _ = found.groups()
        return Head("loguru", level, f"{module}:{function}", stamp, True, found.end())
    found = STDLIB.match(text, start)
    if found is not None:
        return Head("stdlib", found.group(3), found.group(2), found.group(1), True, found.end())
    found = RAY.match(text, start)
    if found is not None:
        return Head("ray", found.group(2), found.group(3), found.group(1), True, found.end())
    return _prefixed_vllm(text, start)


def _level_head(text: str, start: int) -> Head | None:
    found = VLLM.match(text, start)
    if found is not None:
        level, stamp, new, old = found.groups()
        return Head("vllm", level, new or old, stamp, False, found.end())
    found = DEFAULT.match(text, start)
    if found is not None:
        return Head("stdlib", found.group(1), found.group(2), None, False, found.end())
    return None


def _prefixed_vllm(text: str, start: int) -> Head | None:
    """A head of vLLM behind a word that the user configured."""
    junk = VLLM_PREFIX.match(text, start)
    return _level_head(text, junk.end()) if junk is not None else None


def _bracketed_head(text: str, start: int) -> Head | None:
    found = RAY_CORE.match(text, start)
    if found is not None:
        return Head("ray", found.group(2), found.group(3), found.group(1), True, found.end())
    found = BRACKETED.match(text, start)
    if found is not None:
        return Head(
            "sglang" if found.group(3) is None else "slime", None, found.group(3), found.group(1), True, found.end()
        )
    found = TRANSFORMERS.match(text, start)
    if found is not None:
        return Head("transformers", found.group(1), found.group(2), found.group(3), True, found.end())
    return _prefixed_vllm(text, start)


def _json_head(text: str, start: int) -> Head | None:
    """A record of a JSON formatter: it has a message and a level, or a time."""
    if '"message"' not in text or len(text) - start > MAX_JSON:
        return None
    try:
        record = json.loads(text[start:], parse_int=_bounded_int)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("message"), str):
        return None
    level = record.get("levelname", record.get("level"))
    stamp = record.get("asctime", record.get("timestamp"))
    if not isinstance(level, str) and not isinstance(stamp, str):
        return None
    name, process, pid = record.get("name"), record.get("processName"), record.get("process")
    return Head(
        "json",
        level if isinstance(level, str) else None,
        name if isinstance(name, str) else None,
        stamp if isinstance(stamp, str) else None,
        isinstance(stamp, str),
        len(text),
        record["message"],
        process if isinstance(process, str) else None,
        pid if isinstance(pid, int) and not isinstance(pid, bool) and 0 <= pid < 10**17 else None,
    )


def _bounded_int(digits: str) -> int | float:
    """Numbers too long for an int: their conversion would take quadratic time."""
    return int(digits) if len(digits) < 19 else float(digits)
