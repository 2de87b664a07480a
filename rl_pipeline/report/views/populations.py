"""Whose reward is it: one row per population, then what each of them leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from rl_pipeline.analysis.estimates import Estimate
from rl_pipeline.analysis.pass_at_k import PassAtK
from rl_pipeline.analysis.populations import Coverage, MaskedShare, Populations
from rl_pipeline.analysis.summary import PopulationReport
from rl_pipeline.analysis.token_means import TokenMeans
from rl_pipeline.analysis.trial_attribution import Attribution
from rl_pipeline.report.formatting import ABSENT, count, fixed, interval, p_equals, percent, thousands
from rl_pipeline.report.views.section import Block, SectionView, section, sentence
from rl_pipeline.report.views.table import table
from rl_pipeline.wording import plural


def populations_section(report: PopulationReport) -> SectionView | None:
    """Rewards by population, coverage of the logs, pass@k, tokens, attribution."""
    return section(
        "Whose Reward Is It",
        (
            _rewards(report.rewards),
            _coverage(report.rewards.coverage),
            _pass_at_k(report.pass_at_k),
            _tokens(report.tokens),
            _attribution(report.attribution),
        ),
    )


def _rewards(found: Populations) -> Block:
    rows = [
        _estimate("Mean reward of trained samples, unscored ones as 0, every row", found.trained),
        _estimate("The same over the steps that count", found.canonical),
        _estimate("Solved of scored trials", found.scored),
        ("Solved of scored samples, from the log alone", fixed(found.scored_from_log, 4), ABSENT, ABSENT, ABSENT),
        _estimate("Solved of all trials (lower bound: no unscored one solved)", found.solved_of_all),
        ("Upper bound (every unscored one solved)", fixed(found.upper_bound, 4), ABSENT, ABSENT, ABSENT),
        _estimate("Unscored trials of all", found.unscored),
    ]
    notes = [_masked(found.masked)]
    if found.partial_credit:
        notes.append("Some trials have rewards between 0 and 1, so a mean reward is not a success rate.")
    return Block(
        table=table("Population | Value | 95 % Interval | n | Interval by", rows),
        notes=tuple(notes),
    )


def _estimate(name: str, found: Estimate) -> tuple[str, ...]:
    method = found.method if found.value is not None else found.reason or ABSENT
    return (name, fixed(found.value, 4), interval(found.lower, found.upper, 4), thousands(found.n), method)


def _masked(masked: MaskedShare) -> str:
    if masked.share is None:
        return f"Masked samples: not measurable, {sentence(masked.reason or 'no line prints them')}"
    return (
        f"Masked samples: {thousands(masked.masked)} of {thousands(masked.instances)} in batch lines "
        f"({percent(masked.share)}); by step {count(masked.step_min)} to {count(masked.step_max)}, "
        f"{percent(masked.step_share_min)} to {percent(masked.step_share_max)} of the step's samples at least "
        f"(same share everywhere: {p_equals(masked.chi_square_p)})."
    )


def _of_steps(found: Coverage) -> str:
    return " of steps with a metric block" if found.unbooked else ""


def _coverage(found: Coverage) -> Block:
    notes = [
        f"Batch lines{_of_steps(found)} hold {thousands(found.logged)} trials in {plural(found.batches, 'line')}"
        + (f" (folded lines hide up to {thousands(found.hidden)} more)" if found.hidden else "")
        + f": {percent(found.logged_of_trained)} of the {thousands(found.trained)} trained samples, "
        f"{percent(found.logged_of_trials)} of the {plural(found.trials, 'trial file')}.",
        f"Of these {thousands(found.completed)} ended without a counted failure, {thousands(found.failed)} with one; "
        f"{thousands(found.exceptions)} exceptions are printed beside them, "
        f"in {thousands(found.failed_groups)} failed groups.",
    ]
    if found.unbooked:
        notes.append(
            f"With the lines of steps without a metric block: {thousands(found.logged + found.unbooked)} trials, "
            f"{percent(found.all_lines_of_trials)} of the {plural(found.trials, 'trial file')}."
        )
    if found.beyond_trained is not None:
        notes.append(
            f"Trials beyond those trained: {thousands(found.beyond_trained)} ({percent(found.beyond_trained_share)}); "
            f"beyond those of the steps that count: {thousands(found.beyond_canonical)} "
            f"({percent(found.beyond_canonical_share)})."
        )
    return Block(heading="How Much of the Run the Logs Show", notes=tuple(notes))


def _pass_at_k(entries: Sequence[PassAtK]) -> Block | None:
    measured = [entry for entry in entries if entry.estimate.value is not None]
    if not measured:
        return None
    rows = (
        (
            f"pass@{entry.k}",
            fixed(entry.estimate.value, 4),
            interval(entry.estimate.lower, entry.estimate.upper, 4),
            count(entry.tasks),
            count(entry.tasks_left_out),
            entry.estimate.population,
        )
        for entry in measured
    )
    titles = "Metric | Value | 95 % Interval | Tasks | Tasks with Fewer Attempts | Population"
    return Block(heading="pass@k from Trials", table=table(titles, rows))


def _tokens(tokens: TokenMeans) -> Block | None:
    if tokens.logged is None:
        return None
    if tokens.corrected is None:
        if not tokens.placeholder_rows:
            return None
        return Block(heading="Tokens per Sample", notes=(sentence(tokens.reason or "no correction is possible"),))
    longer = {True: "failures are longer than successes", False: "failures are not longer than successes"}
    notes = (
        f"Logged {fixed(tokens.logged, 0)} tokens per sample with one-token placeholders of masked samples in "
        f"{tokens.placeholder_rows} of {tokens.rows} steps; without them about {fixed(tokens.corrected, 0)}.",
        f"Without reward: logged {fixed(tokens.logged_zero, 0)}, corrected about {fixed(tokens.corrected_zero, 0)}; "
        f"with reward {fixed(tokens.logged_non_zero, 0)}"
        + (f": {longer[tokens.failures_longer]}." if tokens.failures_longer is not None else "."),
    )
    return Block(heading="Tokens per Sample", notes=notes)


def _attribution(found: Attribution) -> Block | None:
    if not found.trials:
        return None
    notes = [
        f"{thousands(found.attributed)} of {plural(found.trials, 'trial')} given to a job by time: {found.method}."
    ]
    notes += [sentence(found.reason)] if found.reason else []
    if found.by_job:
        notes.append(
            "By job: " + ", ".join(f"{job} {thousands(number)}" for job, number in sorted(found.by_job.items())) + "."
        )
    if found.by_confidence:
        shares = ", ".join(f"{name} {thousands(number)}" for name, number in sorted(found.by_confidence.items()))
        notes.append(f"Confidence: {shares}.")
    return Block(heading="Which Job Ran a Trial", notes=tuple(notes))
