"""Many trials at once: the facts of their files as columns.

The usual files are decoded one by one and told together. Anything else is told by `harbor_trial`, a file at a time, and
takes its place among them.
"""

from __future__ import annotations

from typing import Any

from rl_pipeline.dialects.harbor_json import is_text
from rl_pipeline.dialects.harbor_trial import trial_facts
from rl_pipeline.dialects.harbor_usual import Result, usual_columns, usual_result
from rl_pipeline.dialects.parsed_trial import ParsedTrial
from rl_pipeline.dialects.token_ids import WORTH_IT

NO_FACTS = (None,) * len(ParsedTrial._fields)


class TrialColumns:
    """Takes files one after the other, keeps none but small ones, and tells of all of them.

    Nothing raises: a file that nobody foresaw must not cost the others.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._usual: list[Result] = []
        self._usual_rows: list[int] = []
        self._usual_data: list[bytes] = []
        self._others: dict[int, tuple[Any, ...]] = {}
        self._reasons: dict[int, str] = {}

    def add(self, data: bytes) -> None:
        """A file's content; one row."""
        result = None
        if len(data) < WORTH_IT and data[:1] == b"{" and is_text(data):
            result = usual_result(data)
        if result is None:
            self._tell(self._rows, data)
        else:
            self._usual.append(result)
            self._usual_rows.append(self._rows)
            self._usual_data.append(data)
        self._rows += 1

    def add_unread(self) -> None:
        """A row without facts."""
        self._others[self._rows] = NO_FACTS
        self._rows += 1

    def told(self) -> tuple[list[list[Any]], dict[int, str]]:
        """One list for each field of `ParsedTrial` as of `trial_facts`, and why a row is no trial."""
        try:
            columns, unusual = usual_columns(self._usual)
        except Exception:
            columns, unusual = [], set(range(len(self._usual)))
        if not self._others and not unusual:
            return columns, self._reasons
        told = dict(zip(self._usual_rows, zip(*columns, strict=True), strict=False))
        for place in unusual:
            self._tell(self._usual_rows[place], self._usual_data[place])
        told.update(self._others)
        return [list(column) for column in zip(*(told[row] for row in range(self._rows)), strict=True)], self._reasons

    def _tell(self, row: int, data: bytes) -> None:
        """What the file holds, taken by itself."""
        try:
            facts = trial_facts(data)
        except Exception as error:
            facts = f"the trial reader failed on it ({type(error).__name__}); please report this file"
        if isinstance(facts, str):
            self._reasons[row], facts = facts, NO_FACTS
        self._others[row] = facts
