"""Groups of rows as places: those that pandas makes, in its order."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.row_groups import row_groups

rows = st.lists(st.tuples(st.sampled_from(["b", "a", None]), st.sampled_from([2, 1, None])), max_size=20)


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("dropna", [True, False])
@given(rows)
def test_the_groups_are_those_of_pandas(sort: bool, dropna: bool, rows: list[tuple[str | None, int | None]]):
    frame = pd.DataFrame(
        {
            "name": pd.Series([name for name, _ in rows], dtype=object),
            "number": pd.Series([number for _, number in rows], dtype="Int64"),
        }
    )

    found = row_groups(frame, ["name", frame["number"]], sort=sort, dropna=dropna)

    groups = frame.groupby(["name", "number"], sort=sort, dropna=dropna)
    assert [places.tolist() for places in found] == [part.index.tolist() for _, part in groups]
