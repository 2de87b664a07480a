"""The experiment that a person named, among those that were found."""

from __future__ import annotations

from rl_pipeline.addresses import address
from rl_pipeline.discovery import Discovery
from rl_pipeline.discovery.found import printable
from rl_pipeline.errors import ConfigurationError, shown


def only_named(found: Discovery, name: str | None) -> Discovery:
    """The experiment of this name, by name or key; all of them without a name.

    Raises:
        DataError: no job log at all.
        ConfigurationError: no experiment has this name.
    """
    experiments = found.some()
    if name is None:
        return found
    named = tuple(item for item in experiments if printable(name) in (item.experiment, item.key))
    if not named:
        known = ", ".join(item.experiment for item in experiments[:20])
        raise ConfigurationError(
            f"No experiment is called {shown(name)}",
            where=address(experiments[0].jobs[0].path.parent),
            expected=f"one of: {known}",
            do="give one of these names, or leave --experiment out to take all",
            slug="unknown-experiment",
        )
    return Discovery(named, found.problems)
