"""A section of the report: blocks of a heading, a table and sentences, each of which may be missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rl_pipeline.report.views.table import TableView


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Part of a section; any of the three may be missing."""

    heading: str | None = None
    table: TableView | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionView:
    """A section under its title."""

    title: str
    blocks: tuple[Block, ...]


def section(title: str, blocks: Iterable[Block | None]) -> SectionView | None:
    """The section with the blocks that exist; None without any."""
    kept = tuple(block for block in blocks if block is not None and (block.table or block.notes))
    return SectionView(title=title, blocks=kept) if kept else None


def not_measurable(heading: str, reason: str | None) -> Block:
    """A block that says what is missing, in the place of its numbers."""
    return Block(heading=heading, notes=(f"Not measurable: {reason or 'the inputs do not show it'}.",))


def sentence(text: str) -> str:
    """Text that ends like a sentence."""
    stripped = text.strip()
    return stripped if not stripped or stripped[-1] in ".!?…:" else f"{stripped}."
