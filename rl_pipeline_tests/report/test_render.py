"""Templates escape by default and refuse names they do not get."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment, UndefinedError

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.report import render
from rl_pipeline.report.page.render import page_environment
from rl_pipeline.report.render import compile_templates, markdown_environment, templates_folder
from rl_pipeline.report.views.table import table


def rendered(tmp_path: Path, text: str, **values: object) -> str:
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    return str(markdown_environment.__wrapped__(tmp_path).get_template("page.md").render(**values))


def test_an_experiment_called_like_a_script_is_only_a_name(tmp_path: Path):
    assert rendered(tmp_path, "# {{ name }}", name="</code><script>") == "# &lt;/code&gt;&lt;script&gt;"


def test_what_a_macro_made_is_not_escaped_again(tmp_path: Path):
    text = "{% macro bold(x) %}**{{ x }}**{% endmacro %}{{ bold(name) }}"

    assert rendered(tmp_path, text, name="a*b") == "**a\\*b**"


def test_a_name_that_the_page_does_not_get_is_an_error(tmp_path: Path):
    with pytest.raises(UndefinedError):
        rendered(tmp_path, "{{ missing }}")


def test_the_table_macro_writes_one_line_per_row():
    view = table("Name | Value", [("a|b", "1"), ("c", "—")])
    page = markdown_environment().from_string('{% from "parts/macros.md" import table %}{{ table(view) }}')

    assert page.render(view=view) == "| Name | Value |\n|---|---:|\n| a\\|b | 1 |\n| c | — |\n"


def test_the_checkout_has_its_templates_beside_the_package():
    assert (templates_folder() / "parts" / "overview.md").is_file()


def test_an_installation_without_templates_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(render, "TEMPLATE_FOLDERS", (tmp_path,))

    with pytest.raises(ConfigurationError, match="install the package again"):
        templates_folder()


def test_runs_of_empty_lines_become_one():
    assert render._tidy("\n\na  \n\n\n\nb\n\n") == "a\n\nb\n"


@pytest.mark.parametrize(
    ("environment", "page"),
    [(markdown_environment, "metrics_report.md"), (page_environment, "report.html")],
)
def test_a_page_and_its_parts_are_compiled_before_they_are_written(environment, page, monkeypatch: pytest.MonkeyPatch):
    own: Environment = environment.__wrapped__()
    parts = [name for name in own.list_templates() if name.startswith("parts/") and name.endswith(Path(page).suffix)]

    compile_templates(own, page)

    monkeypatch.setattr(own, "compile", lambda *_, **__: pytest.fail("compiled again"))
    assert len([own.get_template(name) for name in [page, *parts]]) > 5
