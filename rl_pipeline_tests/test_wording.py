"""Counts in sentences."""

import pytest

from rl_pipeline.wording import plural


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 trials"), (1, "1 trial"), (2, "2 trials"), (44_526, "44,526 trials")]
)
def test_one_is_not_many(number: int, text: str):
    assert plural(number, "trial") == text


def test_some_words_have_a_plural_of_their_own():
    assert plural(2, "entry", "entries") == "2 entries"
    assert plural(1, "entry", "entries") == "1 entry"
