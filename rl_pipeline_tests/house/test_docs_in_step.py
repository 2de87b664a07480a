"""Generated pages say what the code says; README and command line know the same commands."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

from rl_pipeline.cli import main

ROOT = Path(__file__).resolve().parents[2]
MAKER = runpy.run_path(str(ROOT / "docs" / "make_docs.py"))


@pytest.mark.parametrize("name", sorted(MAKER["DOCUMENTS"]))
def test_generated_pages_are_fresh(name: str):
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")

    assert written == MAKER["DOCUMENTS"][name](), "run: python docs/make_docs.py"


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_is_in_the_readme_and_has_help(command: str):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    shown = CliRunner().invoke(main, [command, "--help"])

    assert f"rl-pipeline {command}" in readme or f"make {command}" in readme
    assert shown.exit_code == 0
    assert "Usage:" in shown.output


def test_files_named_in_the_readme_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = [part.split(")")[0] for part in readme.split("](")[1:]]

    assert [name for name in named if not name.startswith("http") and not (ROOT / name).exists()] == []


def test_the_list_of_commands_says_whole_sentences():
    shown = CliRunner().invoke(main, ["--help"]).output

    listed = shown.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == sorted(main.commands)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []
