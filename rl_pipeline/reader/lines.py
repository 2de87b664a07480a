"""One physical line to its payloads: bytes out of their envelopes, in the order in which they were put in.

Decode with replacement, drop byte-order marks and NUL runs, remove control sequences and trailing carriage
returns, take prefixes, head and Ray's repeat suffix off. A carriage return inside a line separates frames of a
progress bar: each frame that is wanted is unwrapped for itself, with the prefix of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from rl_pipeline.reader.control_sequences import without_control_sequences
from rl_pipeline.reader.envelopes import BARE, Envelope, open_envelope, source_of_process
from rl_pipeline.reader.heads import Head, find_head
from rl_pipeline.reader.message import Source

MOST_REPEATED = 1_000_000
REPEATED = re.compile(r"\[repeated (\d{1,9})x across cluster\](?: \(Ray deduplicates [^\n]{0,600}\))?\s*$")
# Nine lines of ten in a training log: one process of Ray's, then loguru's or vLLM's head. Nothing else reads them
# differently; `open_envelope` and `find_head` read everything.
USUAL = re.compile(
    r"\((?:([^()\s]{1,300}) )?pid=(\w{1,40})(?:, ip=([^()\s]{1,64}))?\) "
    r"(?:(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \| ([A-Z]{1,12}) *\| ([^:|\s]{0,200}:[^:|\s]{0,200}):\d{1,8} - "
    r"|([A-Z]{4,8}) (\d\d-\d\d \d\d:\d\d:\d\d) \[([^\]\s:]{1,300}):\d{1,8}\] )"
)
REPEATED_MARK = b"x across cluster]"


class Unwrapped(NamedTuple):
    """A payload and what stood around it.

    `unlabelled` is the text if its srun label was none after all; `after_bar`: a progress bar stood in front.
    """

    source: Source
    payload: str
    head: Head | None
    received: str | None = None
    repeat_count: int = 1
    unlabelled: str | None = None
    after_bar: bool = False


def plain_text(raw: bytes) -> str:
    """The text of a line as a person would see it, frames of progress bars apart."""
    text = raw.decode("utf-8", "replace")
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\0" in text:
        text = text.replace("\0", "").removeprefix("\ufeff")
    text = without_control_sequences(text)
    if "\r" not in text:
        return text
    end = len(text.rstrip("\r "))  # a pseudo-terminal makes `\r\r\n` of `\r\n`, some programs end with `\r \n`
    first = text.find("\r", end)
    return text[:first] if first >= 0 else text


def unwrap(raw: bytes, wanted: Callable[[str], bool]) -> list[Unwrapped]:
    """The payloads of a line; of several frames only the last and those that are `wanted`."""
    text = plain_text(raw)
    if "\r" not in text:
        return [unwrap_frame(text)]
    frames = text.split("\r")
    outer = open_envelope(frames[0])
    payloads = []
    for index, frame in enumerate(frames):
        if frame and (index == len(frames) - 1 or wanted(frame)):
            found = unwrap_frame(frame)
            payloads.append(_inside(outer, found) if index else found)
    return payloads


def _inside(outer: Envelope, found: Unwrapped) -> Unwrapped:
    """A later frame belongs to the process that began the line, unless it names one itself."""
    if found.source.actor is None and found.source.pid is None:
        nested = replace(outer.source, process=found.source.process or outer.source.process)
        return found._replace(source=nested, received=found.received or outer.received, after_bar=True)
    return found


def unwrap_frame(text: str) -> Unwrapped:
    """Prefixes, head and repeat suffix off a text without control sequences."""
    if text.startswith("("):
        usual = USUAL.match(text)
        if usual is not None:
            return _unwrap_usual(text, usual)
    envelope = open_envelope(text)
    source, end = envelope.source, envelope.end
    head = find_head(text, end)
    if head is None:
        payload = text[end:] if end else text
    elif head.message is not None:
        payload, source = head.message, _of_process(source, head)
    else:
        payload = text[head.end :]
    payload, count = without_suffix(payload)
    unlabelled = text if source.label is not None and source.pid is None and source.actor is None else None
    return Unwrapped(source, payload, head, envelope.received, count, unlabelled, envelope.bars > 0)


def _unwrap_usual(text: str, usual: re.Match[str]) -> Unwrapped:
    """The same for a line that begins with one process and one of the two usual heads."""
    name, pid, ip, dated, level, origin, short_level, stamp, file = usual.groups()
    end = usual.end()
    if dated is not None:
        head = Head("loguru", level, origin, dated, True, end)
    else:
        head = Head("vllm", short_level, file, stamp, False, end)
    payload, count = without_suffix(text[end:])
    return Unwrapped(source_of_process(name, pid, ip), payload, head, None, count)


def without_suffix(payload: str) -> tuple[str, int]:
    """The payload without Ray's repeat suffix, and its N."""
    begin = payload.rfind("[repeated ", max(0, len(payload) - 700))
    found = REPEATED.match(payload, begin) if begin >= 0 else None
    if found is None:
        return payload, 1
    end = begin - 1 if begin and payload[begin - 1] in " \t" else begin
    return payload[:end], believed_count(found.group(1))


def believed_count(digits: str | bytes) -> int:
    """N as a number; of anyone's text it may be any, and Ray waits for seconds, not for billions of lines."""
    return min(max(1, int(digits)), MOST_REPEATED)


def _of_process(source: Source, head: Head) -> Source:
    """A JSON record may name its process itself."""
    if head.process_pid is None or source.process is not None:
        return source
    pid = source.pid if source != BARE else head.process_pid
    return replace(source, pid=pid, process=head.process, process_pid=head.process_pid)


def repeat_count(raw: bytes) -> int:
    """N of `[repeated Nx across cluster]` at the end of a line, else 1."""
    return without_suffix(plain_text(raw[-1500:]))[1]
