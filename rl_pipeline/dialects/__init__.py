"""Messages to rows: one file per format, all listed in `registry`, and the parser that deals out a job's messages.

Importing this needs neither pandas nor pyarrow, and no dialect before one is asked for: the processes that read
trial files start in the time that one of these takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rl_pipeline.dialects.registry import BLOCK_HEAD, DIALECTS, NEEDLES, TRACEBACK_HEAD, JobParser

__all__ = ["BLOCK_HEAD", "DIALECTS", "NEEDLES", "TRACEBACK_HEAD", "JobParser"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of the types above
    """The names above, from the list of all dialects when they are first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rl_pipeline.dialects import registry  # noqa: PLC0415

    return getattr(registry, name)
