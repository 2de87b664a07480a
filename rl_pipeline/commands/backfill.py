"""`rl-pipeline backfill`: every partition below a folder that is not current, one run each, in this process."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import click

from rl_pipeline.commands.interrupted import tell_interruptions_once
from rl_pipeline.commands.named_experiment import only_named
from rl_pipeline.commands.progress import Progress
from rl_pipeline.errors import DataError
from rl_pipeline.settings import Settings
from rl_pipeline.wording import plural

SHOWN_FAILURES = 10


def run(root: Path, *, experiment: str | None, force: bool) -> None:
    """Register what lies below `root`, then make what is missing or old; a stopped backfill goes on where it was.

    Raises:
        ConfigurationError: the folder does not exist.
        DataError: no job log below it, or some partitions failed; the others are made all the same.
    """
    from rl_pipeline.defs.index_assets import record_index
    from rl_pipeline.defs.instance import foreign_home, open_instance
    from rl_pipeline.defs.materialize import CURRENT, FAILED, MADE, Outcome, materialize_experiments
    from rl_pipeline.defs.registration import notes, register, told
    from rl_pipeline.discovery import discover, parse_log_pattern

    tell_interruptions_once()
    progress, settings = Progress(), Settings.from_environment(os.environ)
    patterns = [parse_log_pattern(text) for text in settings.log_patterns]
    found = only_named(discover([root], patterns=patterns), experiment)
    for problem in found.problems:
        progress.warn(f"note: {problem}")
    if warning := foreign_home(os.environ):
        progress.warn(f"note: {warning}")
    experiments = found.some()
    partitions = sum(len(item.jobs) for item in experiments) + len(experiments)
    with open_instance(settings) as instance:
        registration = register(experiments, store_url=settings.store, instance=instance)
        record_index(instance, found, registration, [str(root)])
        for note in notes(registration):
            progress.warn(f"note: {note}")
        progress.say(told(registration))
        with progress.bar(
            f"{plural(partitions, 'partition')} of {plural(len(experiments), 'experiment')}", partitions, ""
        ) as advance:

            def tell(outcome: Outcome) -> None:
                advance(1)
                if outcome.outcome == FAILED:
                    progress.warn(f"failed: {outcome.kind} {outcome.key}: {outcome.reason}")

            outcomes = materialize_experiments(
                experiments, settings=settings, instance=instance, force=force, tell=tell
            )
    counts = Counter(outcome.outcome for outcome in outcomes)
    click.echo(f"{counts[MADE]} made, {counts[CURRENT]} current already, {counts[FAILED]} failed")
    click.echo(f"reports: {settings.reports}")
    if counts[FAILED]:
        raise DataError(
            f"{counts[FAILED]} of {len(outcomes)} partitions failed",
            where=", ".join(outcome.key for outcome in outcomes if outcome.outcome == FAILED)[:500],
            expected="every partition made",
            do="read the reasons above, or open the failed runs in `rl-pipeline ui`; then run the same command again",
            slug="backfill-failed",
        )
