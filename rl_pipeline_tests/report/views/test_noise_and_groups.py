"""Views of noise and of trial groups on the published run."""

from __future__ import annotations

from dataclasses import replace

from rl_pipeline.report.views.noise import noise_section
from rl_pipeline.report.views.section import SectionView
from rl_pipeline.report.views.trial_groups import trial_groups_section
from rl_pipeline_tests.helpers.reference_result import reference_result


def texts(section: SectionView | None) -> str:
    assert section is not None
    cells = [cell for block in section.blocks if block.table for row in block.table.rows for cell in row]
    return " | ".join([*cells, *(note for block in section.blocks for note in block.notes)])


def test_the_noise_of_a_step_says_how_many_samples_it_is_worth():
    result = reference_result()

    shown = texts(noise_section(result.noise, result.levels))

    # source: recomputed from the published step table: residual SD .0513 against binomial .0213
    assert all(number in shown for number in ("0.0213", "0.0513", "5.8", "88", "47.7", "22.5"))
    assert "noisier than its number of samples suggests" in shown


def test_less_spread_than_independent_samples_is_not_called_noise():
    result = reference_result()
    calm = replace(result.noise, design=replace(result.noise.design, design_effect=0.4))

    shown = texts(noise_section(calm, result.levels))

    assert "no noise from shared prompts can be seen" in shown
    assert "noisier" not in shown


def test_trials_are_told_by_class_with_their_population():
    result = reference_result()

    shown = texts(trial_groups_section(result.trials, result.tasks))

    # source: published exception table, summed by class: 3,811 context overflows, 2,128 time-outs
    assert all(number in shown for number in ("3811", "2128", "44526"))


def test_without_trials_there_is_no_section_of_trials():
    result = reference_result()
    empty = replace(result.trials, trials=0)

    assert trial_groups_section(empty, result.tasks) is None
