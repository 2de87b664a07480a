"""What a person reads of an error can be written anywhere."""

from __future__ import annotations

import pytest

from rl_pipeline.errors import DataError, encodable


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("logs", "logs"),
        ("caf\xe9", "caf\xe9"),
        ("caf\udce9", "caf\\xe9"),
        ("\xe9\udce9", "\xe9\\xe9"),
        ("\ud83d", "\\ud83d"),
    ],
)
def test_every_text_can_be_written(text: str, written: str):
    error = DataError(text, where=text, expected=text, do=text, slug="no-job-logs")

    assert encodable(text) == written
    assert {error.what, error.where, error.expected, error.do} == {written}
    assert str(error).encode("utf-8").decode("utf-8").startswith(written)
