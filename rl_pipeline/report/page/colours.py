"""The palette as CSS variables: light, dark where the reader's system or choice says so, print always light."""

from __future__ import annotations

from rl_pipeline.report.palette import DARK, LIGHT, Theme, variables


def colour_styles() -> str:
    """Rules for all three."""
    dark = _declared(DARK, "dark")
    return (
        f":root{{{_declared(LIGHT, 'light')}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )


def _declared(theme: Theme, scheme: str) -> str:
    return f"color-scheme:{scheme};" + "".join(f"{name}:{colour};" for name, colour in variables(theme))
