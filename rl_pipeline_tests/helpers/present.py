"""A value that a test knows to be there."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """The value; a failing test when it is missing."""
    assert value is not None
    return value
