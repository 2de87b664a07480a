"""Templates to text. Knows where templates lie and how each kind of page escapes; knows no section.

A name that a template does not get is an error (`StrictUndefined`), and everything printed is
escaped for the kind of the page, so that nothing from a log becomes markup.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.report.markdown_escape import markdown_finalize

PACKAGE = Path(__file__).resolve().parents[1]
# In a wheel the templates lie inside the package, in a checkout beside it.
TEMPLATE_FOLDERS = (PACKAGE / "templates", PACKAGE.parent / "templates")


def templates_folder() -> Path:
    """The folder of the templates.

    Raises:
        ConfigurationError: the installation has none.
    """
    for folder in TEMPLATE_FOLDERS:
        if (folder / "metrics_report.md").is_file():
            return folder
    raise ConfigurationError(
        "The report's templates are missing",
        where=" or ".join(str(folder) for folder in TEMPLATE_FOLDERS),
        expected="a folder with metrics_report.md",
        do="install the package again",
        slug="templates-missing",
    )


@cache
def markdown_environment(folder: Path | None = None) -> Environment:
    """Templates of Markdown pages."""
    return Environment(
        loader=FileSystemLoader(folder or templates_folder()),
        autoescape=True,  # macros then give Markup, which is not escaped twice
        finalize=markdown_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def compile_templates(environment: Environment, page: str) -> None:
    """Compile a page and the parts of its kind, so that they are ready when it is written."""
    kind = Path(page).suffix
    for name in environment.list_templates():
        if name == page or (name.startswith("parts/") and name.endswith(kind)):
            environment.get_template(name)


def render_markdown(name: str, **values: Any) -> str:  # noqa: ANN401 - views of any kind
    """One page from its template; runs of empty lines become one."""
    text = markdown_environment().get_template(name).render(**values)
    return _tidy(text)


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    kept = [line for place, line in enumerate(lines) if line or (place and lines[place - 1])]
    return "\n".join(kept).strip("\n") + "\n"
