"""Files to messages: bytes, lines, envelopes, heads, and multi-line messages put together per source.

The room knows no table and no metric. Its modules in the order in which text goes through them: `sources` (stored
bytes), `windows` (lines), `scan` (needles), `containers`, `control_sequences`, `envelopes`, `heads`, `years`,
`demultiplexer` with `continuation` and `literal_grammar`; `messages` puts them on one string. `literals` reads the
values of a literal.
"""

from __future__ import annotations

from rl_pipeline.reader.message import Message, Source
from rl_pipeline.reader.messages import read_messages, read_planned
from rl_pipeline.reader.ordered import OrderedLines, OrderedRun
from rl_pipeline.reader.read_report import Needles, ReadReport
from rl_pipeline.reader.regular import Plan, PlannedMessages
from rl_pipeline.reader.resume import Resume
from rl_pipeline.reader.sources import fingerprint

__all__ = [
    "Message",
    "Needles",
    "OrderedLines",
    "OrderedRun",
    "Plan",
    "PlannedMessages",
    "ReadReport",
    "Resume",
    "Source",
    "fingerprint",
    "read_messages",
    "read_planned",
]
