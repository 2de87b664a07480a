"""R26, R27, R37: does reward rise, has it collapsed, and which checkpoint to keep."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rl_pipeline.analysis.checkpoints import Candidate
from rl_pipeline.analysis.findings.context import REWARD, RunContext
from rl_pipeline.analysis.findings.finding import (
    CRITICAL,
    HIGH,
    INFO,
    MEDIUM,
    Answer,
    Evidence,
    clear,
    fired,
    not_measurable,
)
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent, signed, significant
from rl_pipeline.analysis.power import detectable_gain
from rl_pipeline.analysis.series import settled, steps_of, values_of
from rl_pipeline.analysis.trends import Trend, trend
from rl_pipeline.analysis.trial_outcomes import has_outcome
from rl_pipeline.schema import SOLVED, UNSCORED
from rl_pipeline.wording import plural

POPULATION = "canonical steps, warm-up left out"
WINDOW = 10


@rule(
    "R26",
    "no-reward-trend",
    severity=HIGH,
    title="No reward gain demonstrated",
    threshold="≥ {minimum_steps}: the 95 % interval of the Theil–Sen slope contains 0, or Hamed–Rao p ≥ .05, with or "
    "without the warm-up steps (medium where the smallest detectable gain > {detectable_share} of the mean reward)",
    action="Stop or change the data if more steps cannot help; evaluate checkpoints on held-out tasks.",
    overturned_by="A held-out evaluation that shows the gain, or more steps.",
)
def no_reward_trend(context: RunContext) -> Answer:
    """Whether the mean reward of training rises, by a slope and a test that know about autocorrelation.

    Reads `reward/avg_raw_reward`. The headline leaves out warm-up steps; all steps stand beside, and a gain counts as
    shown only when both show it, since leaving steps out is a choice made after looking. Needs the stated number of
    settled steps. The smallest gain the run could have shown (80 % power) is printed with it. Thresholds are proposals.
    """
    rows = context.steps.rows
    rows = rows[np.isfinite(values_of(rows, REWARD))] if REWARD in rows else rows.iloc[:0]
    calm = settled(rows)
    n, needed = len(calm), context.count("R26", "minimum_steps")
    if n < needed:
        return not_measurable(f"{needed} settled steps with {REWARD}; there are {n}", n=n, population=POPULATION)
    headline = trend(values_of(calm, REWARD), steps_of(calm), population=POPULATION)
    beside = trend(values_of(rows, REWARD), steps_of(rows), population="all canonical steps")
    gain = detectable_gain(headline.residual_spread, steps_of(rows).astype(np.float64))
    evidence = [_trend_evidence(context, found) for found in (headline, beside)]
    if gain.over_run is not None:
        windows = ", ".join(
            f"{number(value)} between two {length}-step windows" for length, value in gain.between_windows.items()
        )
        text = (
            f"with a residual SD of {number(gain.residual_spread, 4)} the run could show a gain of ≥ "
            f"{number(gain.over_run)}"
        )
        evidence.append(
            context.over_steps(
                f"{text} over its steps{f', ≥ {windows}' if windows else ''}", key=REWARD, value=gain.over_run
            )
        )
    directions = {_direction(headline), _direction(beside)}
    text = f"{_trend_text(headline)} ({plural(n, 'settled step')}); all {len(rows)} steps {_trend_text(beside)}"
    if directions == {1}:
        return clear(f"Reward rises: {text}.", evidence, n=n, population=POPULATION)
    if -1 in directions and 1 not in directions:
        return fired(f"Reward falls: {text}.", evidence, n=n, population=POPULATION, title="Reward declines")
    detectable = (
        f" The run could show a gain of ≥ {number(gain.over_run)} (80 % power)." if gain.over_run is not None else ""
    )
    mean = float(np.mean(values_of(calm, REWARD)))
    weak = gain.over_run is not None and gain.over_run > context.value("R26", "detectable_share") * abs(mean)
    return fired(
        f"A gain is not shown: {text}.{detectable}",
        evidence,
        n=n,
        population=POPULATION,
        severity=MEDIUM if weak else HIGH,
        notes=_window_notes(calm),
    )


def _direction(found: Trend) -> int:
    """1 rises, −1 falls, 0 not shown: interval and corrected test must agree."""
    lower, upper = found.slope.lower, found.slope.upper
    p = found.test.p_value if found.test.corrected_p_value is None else found.test.corrected_p_value
    if lower is None or upper is None or p is None or p >= 0.05:
        return 0
    return 1 if lower > 0 else -1 if upper < 0 else 0


def _trend_text(found: Trend) -> str:
    slope = found.slope
    if slope.value is None:
        return "no slope"
    low, high = (None if bound is None else 10 * bound for bound in (slope.lower, slope.upper))
    return (
        f"{signed(10 * slope.value, 4)} per 10 steps [{signed(low, 4)}, {signed(high, 4)}], Mann–Kendall p = "
        f"{significant(found.test.p_value)}, corrected {significant(found.test.corrected_p_value)}"
    )


def _trend_evidence(context: RunContext, found: Trend) -> Evidence:
    first, last = found.first_step or 0, found.last_step or 0
    return Evidence(
        text=f"{found.population} (n = {found.test.n}): {_trend_text(found)}, τ = {number(found.test.tau)}, S = "
        f"{found.test.s}",
        step_range=(first, last),
        key=REWARD,
        value=found.slope.value,
    )


def _window_notes(calm: pd.DataFrame) -> tuple[str, ...]:
    values = values_of(calm, REWARD)
    if len(values) < 2 * WINDOW:
        return ()
    first, last = float(values[:WINDOW].mean()), float(values[-WINDOW:].mean())
    return (f"Mean of the first ten settled steps {number(first)}, of the last ten {number(last)}.",)


@rule(
    "R27",
    "reward-collapse",
    severity=CRITICAL,
    title="Reward collapse",
    threshold="< {solved_share} of the last {last_trials} that were scored are solved; or mean reward of the last "
    "ten steps < {best_ratio} of the best ten; or 0 in all of the first ≥ {zero_steps}",
    action="Read five rollouts: incoherent text points at the weight sync, one turn per trial at a dead engine, no "
    "reward file at sandbox or verifier. Keep a checkpoint from before the fall.",
    overturned_by="Tasks that were this hard from the beginning.",
)
def reward_collapse(context: RunContext) -> Answer:
    """Reward has fallen to nothing, or never was.

    Reads `reward/avg_raw_reward`, and outcome and end time of trial files. Each part needs its own number: 100 scored
    trials, twenty steps, ten steps. Where few trials were solved all along and reward does not fall, the tasks are
    hard: severity high and no recommendation to stop. Shares from operating notes.
    """
    parts = [_last_trials(context), _against_best(context), _all_zero(context)]
    known = [(holds, text, evidence) for holds, text, evidence in parts if holds is not None]
    missing = tuple(text for holds, text, _ in parts if holds is None)
    n, population = len(context.steps), "canonical steps"
    if not known:
        return not_measurable(*missing, n=n, population=population)
    evidence = [item for _, _, item in known if item is not None]
    hits = [text for holds, text, _ in known if holds]
    if not hits:
        summary = f"No collapse: {'; '.join(text for _, text, _ in known)}."
        return clear(summary, evidence, n=n, population=population, missing=missing)
    summary = f"{'; '.join(hits)}."
    summary = summary[0].upper() + summary[1:]
    if [holds for holds, _, _ in parts] == [True, False, False] and _was_always_low(context):
        notes = ("Reward is not far below its best and was never higher in the trials: hard tasks, not a collapse.",)
        title = "Few trials are solved"
        return fired(summary, evidence, n=n, population=population, severity=HIGH, title=title, notes=notes)
    return fired(summary, evidence, n=n, population=population, notes=_turn_notes(context))


def _was_always_low(context: RunContext) -> bool:
    """Whether some, but over the whole run less than the threshold of the scored trials were solved."""
    scored = ~has_outcome(context.trials, UNSCORED)
    solved = has_outcome(context.trials, SOLVED)[scored]
    return solved.size > 0 and 0 < float(solved.mean()) < context.value("R27", "solved_share")


Part = tuple[bool | None, str, Evidence | None]


def _last_trials(context: RunContext) -> Part:
    needed = context.count("R27", "last_trials")
    scored = context.trials[["finished_at", "outcome"]][~has_outcome(context.trials, UNSCORED)]
    scored = scored[scored["finished_at"].notna()]
    if len(scored) < needed:
        return None, f"{needed} scored trials with an end time; there are {len(scored)}", None
    last = scored.sort_values("finished_at", kind="stable").tail(needed)
    share = float((last["outcome"] == SOLVED).mean())
    text = f"{percent(share)} of the last {needed} scored trials are solved"
    return share < context.value("R27", "solved_share"), text, Evidence(text=text, key="outcome", value=share)


def _against_best(context: RunContext) -> Part:
    values = context.steps.column(REWARD).dropna()
    if len(values) < 2 * WINDOW:
        return None, f"{2 * WINDOW} steps with {REWARD}", None
    means = values.rolling(WINDOW).mean().dropna()
    best, last = float(means.max()), float(means.iloc[-1])
    text = f"mean reward of the last ten steps {number(last)}, of the best ten {number(best)}"
    evidence = context.over_steps(text, values.index[-WINDOW:], key=REWARD, value=last)
    return best > 0 and last < context.value("R27", "best_ratio") * best, text, evidence


def _all_zero(context: RunContext) -> Part:
    values = context.steps.column(REWARD).dropna()
    needed = context.count("R27", "zero_steps")
    leading = int((values != 0).to_numpy().argmax()) if (values != 0).any() else len(values)
    if len(values) < needed and leading == len(values):
        return None, f"{needed} steps with {REWARD}", None
    text = f"the first {leading} steps have reward 0" if leading else "reward is above 0 from the first step"
    evidence = context.over_steps(text, values.index[: max(leading, 1)], key=REWARD, value=float(leading))
    return leading >= needed, text, evidence


def _turn_notes(context: RunContext) -> tuple[str, ...]:
    turns = (
        context.trials.sort_values("finished_at", kind="stable")["n_turns"]
        .dropna()
        .tail(context.count("R27", "last_trials"))
    )
    if turns.empty:
        return ()
    return (
        f"Mean turns of the last {plural(len(turns), 'trial')}: {number(float(turns.astype('float64').mean()), 1)}.",
    )


@rule(
    "R37",
    "checkpoint-choice",
    severity=INFO,
    title="Which checkpoint to keep",
    threshold="largest moving average of reward (weight of the newest step {ema_alpha}) among steps that are "
    "multiples of five (but the first) and the last one that a log says was saved; those within "
    "one standard error of the difference cannot be told apart",
    action="Evaluate the whole set on held-out tasks, with the base model beside it.",
    overturned_by="A held-out evaluation.",
)
def checkpoint_choice(context: RunContext) -> Answer:
    """The checkpoint with the best trailing reward, and the ones that are as good for all that is known.

    Reads `reward/avg_raw_reward` of canonical steps, the last save that a log tells, and which checkpoints are on disk
    where the pipeline may look. Always tells a choice; warns when the run has collapsed. The rule is the one of the
    people who train these models.
    """
    choice = context.checkpoints
    n = len(context.steps)
    if choice.step is None:
        return not_measurable(choice.reason or "a checkpoint to choose", n=n, population="canonical steps")
    evidence = [_candidate_evidence(candidate) for candidate in choice.candidates]
    tied = f", not separable from {', '.join(map(str, choice.tied_steps))}" if choice.tied_steps else ""
    summary = (
        f"Step {choice.step} (moving average {number(choice.ema, 4)}, SE {number(choice.standard_error, 4)}){tied}."
    )
    on_disk = any(candidate.on_disk is not None for candidate in choice.candidates)
    notes = (f"{choice.warning}.",) if choice.warning else ()
    missing = () if on_disk else ("which checkpoints are on disk",)
    return fired(summary, evidence, n=n, population="canonical steps", missing=missing, notes=notes)


def _candidate_evidence(candidate: Candidate) -> Evidence:
    remark = f" ({candidate.excluded})" if candidate.excluded else " (cannot be told apart)" if candidate.tied else ""
    numbers = f"average {number(candidate.ema, 4)}, reward {number(candidate.reward, 4)}"
    return Evidence(
        text=f"step {candidate.global_step}: {numbers}{remark}",
        step_range=(candidate.global_step, candidate.global_step),
        key=REWARD,
        value=candidate.ema,
    )
