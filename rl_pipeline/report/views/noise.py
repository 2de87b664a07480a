"""How far one step's reward can be trusted: noise, groups with gradient, levels between restarts."""

from __future__ import annotations

from rl_pipeline.analysis.comparison import Difference
from rl_pipeline.analysis.level_breaks import LevelBreaks
from rl_pipeline.analysis.step_noise import StepNoise
from rl_pipeline.report.formatting import fixed, interval, p_value, percent, signed
from rl_pipeline.report.views.section import Block, SectionView, not_measurable, section
from rl_pipeline.report.views.table import table


def noise_section(noise: StepNoise, levels: LevelBreaks) -> SectionView | None:
    """Design effect, gradient-carrying groups, levels at restarts."""
    return section("How Noisy Is One Step", [_design(noise), _groups(noise), _levels(levels)])


def _design(noise: StepNoise) -> Block:
    design, heading = noise.design, "Samples That Share a Prompt"
    if design.design_effect is None:
        return not_measurable(heading, design.reason)
    rows = (
        ("Spread of a step if its samples were independent", fixed(design.binomial_error, 4)),
        ("Spread seen, trend taken out", fixed(design.observed_spread, 4)),
        ("Design effect (ratio, squared)", fixed(design.design_effect, 1)),
        ("Samples per step", fixed(design.samples, 0)),
        ("Effective samples per step", fixed(design.effective_n, 0)),
        ("Correlation within a prompt that explains it", fixed(design.correlation, 2)),
    )
    note = (
        "Samples of one prompt resemble each other, so a step's mean is noisier than its number of samples suggests."
        if design.design_effect > 1
        else "Steps spread no more than independent samples would: no noise from shared prompts can be seen."
    )
    over = "Over the steps that count; spreads without the first steps after a start."
    return Block(heading=heading, table=table("What | Value", rows), notes=(over, note))


def _groups(noise: StepNoise) -> Block:
    groups, heading = noise.groups, "Groups That Carry Gradient"
    if groups.all_fail is None:
        return not_measurable(heading, groups.reason)
    model = groups.model
    rows = [
        ("All samples fail, at least (1 − pass@k)", percent(groups.all_fail)),
        ("Both outcomes, at most (pass@k)", percent(groups.mixed_at_most)),
    ]
    if model.mixed is not None:
        rows += [
            ("Both outcomes, by the model", percent(model.mixed)),
            ("All fail, by the model", percent(model.none_solved)),
            ("All succeed, by the model", percent(model.all_solved)),
            ("Groups with both outcomes per step, by the model", fixed(groups.mixed_per_step, 0)),
        ]
    note = (
        "Means over the steps that count. "
        f"The model is a beta-binomial with the run's mean and pass@{model.group_size}; the bounds need no model."
    )
    return Block(heading=heading, table=table("Groups | Share", rows), notes=(note,))


def _levels(levels: LevelBreaks) -> Block | None:
    pairs = [*levels.at_restarts, *([levels.last_against_first] if levels.last_against_first else [])]
    if not pairs:
        return None
    titles = "Compared | Steps | Difference of Means (95 % interval) | p, permutation"
    note = "Steps without warm-up. A difference at a restart has an open cause: the run also went on training."
    return Block(heading=f"Levels of {levels.metric}", table=table(titles, map(_level, pairs)), notes=(note,))


def _level(pair: Difference) -> tuple[str, ...]:
    found = pair.mean_difference
    bounds = interval(found.lower, found.upper, 3)
    return (
        f"{pair.a} with {pair.b}",
        f"{pair.n_a} and {pair.n_b}",
        f"{signed(found.value, 3)} {bounds}",
        p_value(pair.permutation_p),
    )
