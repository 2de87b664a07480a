"""Files to messages: bytes, lines, envelopes, heads, and multi-line messages put together per source.

The room knows no table and no metric. Its modules in the order in which text goes through them: `sources` (stored
bytes), `windows` (lines), `scan` (needles), `containers`, `control_sequences`, `envelopes`, `heads`, `years`,
`demultiplexer` with `continuation` and `literal_grammar`; `messages` puts them on one string. `literals` reads the
values of a literal.

Importing this imports none of them before one is asked for: processes that only list folders start in less time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

MODULES = {
    "Message": "message",
    "Needles": "read_report",
    "OrderedLines": "ordered",
    "OrderedRun": "ordered",
    "Plan": "regular",
    "PlannedMessages": "regular",
    "ReadReport": "read_report",
    "Resume": "resume",
    "Source": "message",
    "fingerprint": "sources",
    "read_messages": "messages",
    "read_planned": "messages",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of the types above
    """The names above, from their modules when they are first asked for."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
