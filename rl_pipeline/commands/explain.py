"""`rl-pipeline explain SLUG`: what an error message means and what helps."""

from __future__ import annotations

import difflib
import textwrap

import click

from rl_pipeline.errors import ConfigurationError, shown
from rl_pipeline.messages import MESSAGES


def run(slug: str | None) -> None:
    """Print one explanation, or the list of all.

    Raises:
        ConfigurationError: the slug names no message; the nearest ones are offered.
    """
    if slug is None:
        for name, message in sorted(MESSAGES.items()):
            click.echo(f"{name:<32} {message.title}")
        return
    if slug not in MESSAGES:
        near = difflib.get_close_matches(slug, MESSAGES, n=3)
        raise ConfigurationError(
            f"No message is called {shown(slug)}",
            expected="one of those that `rl-pipeline explain` lists",
            do=f"did you mean {', '.join(near)}?" if near else "run `rl-pipeline explain` without a name",
            slug="unknown-message",
        )
    message = MESSAGES[slug]
    click.echo(f"{message.title}\n\n{textwrap.fill(message.text, 100, break_on_hyphens=False)}")
