"""Where the reading of a growing file stands: everything that what comes later depends on."""

from __future__ import annotations

from dataclasses import dataclass

from rl_pipeline.reader.demultiplexer import Demultiplexer
from rl_pipeline.reader.evidence import Times
from rl_pipeline.reader.read_report import ReadReport
from rl_pipeline.reader.sources import Earlier
from rl_pipeline.reader.years import YearResolver


@dataclass(frozen=True, slots=True)
class Resume:
    """A reading that ended behind a whole line of a plain file.

    `report` has the counts so far; `demultiplexer` the messages that have not ended, `years` and `times` what was
    learned from stamps, `tail` the last bytes that were seen.
    """

    earlier: Earlier
    report: ReadReport
    years: YearResolver
    times: Times
    demultiplexer: Demultiplexer
    tail: bytes
