"""Which checkpoint to keep, and which others cannot be told apart from it."""

from __future__ import annotations

from rl_pipeline.analysis.checkpoints import Candidate, CheckpointChoice
from rl_pipeline.report.formatting import ABSENT, count, fixed
from rl_pipeline.report.views.section import Block, SectionView, not_measurable, section, sentence
from rl_pipeline.report.views.table import table


def checkpoint_section(choice: CheckpointChoice) -> SectionView | None:
    """The choice, or why there is none."""
    if choice.step is None:
        return section("Which Checkpoint to Keep", (not_measurable("", choice.reason),))
    return section("Which Checkpoint to Keep", (_choice(choice),))


def _choice(choice: CheckpointChoice) -> Block:
    rows = (
        (
            count(entry.global_step),
            fixed(entry.ema, 4),
            fixed(entry.reward, 4),
            {True: "yes", False: "no", None: "not looked"}[entry.on_disk],
            _standing(entry, choice),
        )
        for entry in choice.candidates
    )
    tied = ", ".join(str(step) for step in choice.tied_steps)
    notes = [
        f"Step {choice.step}: exponential moving average of the reward {fixed(choice.ema, 4)} "
        f"(standard error {fixed(choice.standard_error, 4)}); the step's own reward is {fixed(choice.reward, 4)}.",
        f"Not to be told apart from it: {tied}. Evaluate the set."
        if tied
        else "No other candidate is within the noise.",
    ]
    notes += [sentence(choice.warning)] if choice.warning else []
    return Block(
        table=table("Step | Moving Average | Reward of the Step | On Disk | Standing", rows, words=0),
        notes=tuple(notes),
    )


def _standing(entry: Candidate, choice: CheckpointChoice) -> str:
    if entry.excluded:
        return f"left out: {entry.excluded}"
    if entry.global_step == choice.step:
        return "chosen"
    return "not told apart" if entry.tied else ABSENT
