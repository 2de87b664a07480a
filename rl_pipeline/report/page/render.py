"""HTML templates to text, with styles and scripts inside and a policy that lets nothing else in.

The page forbids every request and every script but its own, which its hash names; so even a hole in the
escaping could neither run nor load anything. `JSON` data is written so that it cannot end its element.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rl_pipeline.report.formatting import grouped, sentence_case, typographic
from rl_pipeline.report.page.colours import colour_styles
from rl_pipeline.report.page.findings import metric_anchor
from rl_pipeline.report.plain import JsonValue
from rl_pipeline.report.render import templates_folder


@cache
def page_environment(folder: Path | None = None) -> Environment:
    """Templates of HTML pages; everything printed is escaped."""
    environment = Environment(
        loader=FileSystemLoader(folder or templates_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["json"] = json_data
    environment.filters |= {"typographic": typographic, "grouped": grouped, "sentence_case": sentence_case}
    environment.globals["anchor"] = metric_anchor
    return environment


def render_page(template: str, styles: tuple[str, ...], scripts: tuple[str, ...], **values: Any) -> str:  # noqa: ANN401
    """One page.

    Args:
        template: its file.
        styles: files of `assets/` that go into it, in order.
        scripts: likewise.
        values: what the template prints.
    """
    script = asset(scripts)
    style = colour_styles() + asset(styles)
    page = page_environment().get_template(template)
    return page.render(policy=content_policy(script), script=Markup(script), style=Markup(style), **values)


def asset(names: tuple[str, ...]) -> str:
    """Files of `assets/` as one text."""
    folder = templates_folder() / "assets"
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)


def content_policy(script: str) -> str:
    """The page's content security policy: its own script by hash, its own styles, pictures inside it, nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def json_data(value: JsonValue) -> Markup:
    """JSON for a data element: no text of it can end the element or begin another one."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)
