"""`rl-pipeline demo`: the bundled sample through the real Dagster assets, to a report."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from rl_pipeline.commands.progress import Progress
from rl_pipeline.errors import DataError
from rl_pipeline.settings import Settings


def run(folder: Path | None) -> None:
    """Copy the sample, register it, materialize every asset, and say where the report is.

    Raises:
        ConfigurationError: the folder cannot be written.
        DataError: an asset failed; its own words are shown.
    """
    from rl_pipeline.commands.sample_copy import copied_sample
    from rl_pipeline.defs.index_assets import record_index
    from rl_pipeline.defs.instance import open_instance
    from rl_pipeline.defs.materialize import FAILED, materialize_experiments, report_of
    from rl_pipeline.defs.registration import register
    from rl_pipeline.discovery import discover

    progress = Progress()
    settings = settings_for(folder)
    sample = copied_sample(settings.home)
    discovered = discover([sample])
    found = discovered.some()
    partitions = sum(len(item.jobs) for item in found) + len(found)
    with open_instance(settings) as instance:
        registration = register(found, store_url=settings.store, instance=instance)
        record_index(instance, discovered, registration, [str(sample)])
        with progress.bar(f"materializing {partitions} partitions", partitions, " partitions") as advance:
            outcomes = materialize_experiments(
                found, settings=settings, instance=instance, force=True, tell=lambda _: advance(1)
            )
    failed = [outcome for outcome in outcomes if outcome.outcome == FAILED]
    if failed:
        raise DataError(
            f"{len(failed)} of {len(outcomes)} partitions failed",
            where=failed[0].key,
            expected="every asset of the sample materialized",
            do=failed[0].reason,
            slug="demo-failed",
        )
    click.echo("\n".join(closing_words(settings, report_of(settings, found[0].key), folder)))


def settings_for(folder: Path | None) -> Settings:
    """The usual settings, or everything below one folder."""
    settings = Settings.from_environment(os.environ)
    if folder is None:
        return settings
    home = folder.absolute()
    return replace(settings, home=home, store=str(home / "store"), reports=home / "reports")


def closing_words(settings: Settings, report: Path, folder: Path | None) -> list[str]:
    """What a person can do next."""
    prefix = f"RL_PIPELINE_HOME={settings.home} " if folder is not None else ""
    command = "rl-pipeline" if shutil.which("rl-pipeline") else str(Path(sys.executable).with_name("rl-pipeline"))
    return [
        "",
        f"page:     {report.parent / 'report.html'}",
        f"report:   {report}",
        f"tables:   {report.parent / 'tables'}",
        f"Dagster:  {prefix}{command} ui    (then http://127.0.0.1:3000, Catalog)",
    ]
