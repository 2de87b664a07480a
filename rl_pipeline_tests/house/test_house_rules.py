"""The limits of ARCHITECTURE.md, as tests; messages name the file, the rule, the number and what to do."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rl_pipeline"
TESTS = ROOT / "rl_pipeline_tests"
MODULE_LINES = 400
FUNCTION_LINES = 60
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc"}


def python_files(*roots: Path) -> list[Path]:
    """Files that people read; the reference run's own scripts are kept as published."""
    found = (path for root in roots for path in sorted(root.rglob("*.py")))
    return [path for path in found if "reference" not in path.parts]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    doc = function.body[0]
    if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant) and isinstance(doc.value.value, str):
        lines -= (doc.end_lineno or 0) - doc.lineno + 1
    return lines


def test_no_module_is_longer_than_400_lines():
    long = [
        f"{relative(path)}: {count} lines, limit {MODULE_LINES}; split it by idea"
        for path in python_files(PACKAGE, TESTS)
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MODULE_LINES
    ]

    assert not long, "\n".join(long)


def test_no_function_is_longer_than_60_lines():
    long = [
        f"{relative(path)}:{function.lineno} {function.name}: {body_lines(function)} lines, limit {FUNCTION_LINES}"
        for path in python_files(PACKAGE, TESTS)
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if body_lines(function) > FUNCTION_LINES
    ]

    assert not long, "\n".join(long)


def test_every_module_says_what_it_is():
    silent = [
        f"{relative(path)}: no module docstring"
        for path in python_files(PACKAGE, TESTS)
        if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert not silent, "\n".join(silent)


def test_no_file_is_a_drawer():
    drawers = [
        f"{relative(path)}: name a module by its idea"
        for path in python_files(PACKAGE, TESTS)
        if path.stem in FORBIDDEN_NAMES or (path.parent.name in FORBIDDEN_NAMES and TESTS not in path.parents)
    ]

    assert not drawers, "\n".join(drawers)


def test_only_definitions_and_the_command_line_know_dagster():
    knowing = [
        relative(path)
        for path in python_files(PACKAGE)
        if "dagster" in imported_roots(path)
        and path.relative_to(PACKAGE).parts[0] not in {"defs", "definitions.py", "commands"}
    ]

    assert knowing == []


def imported_roots(path: Path) -> set[str]:
    """First parts of all imported module names, lazy imports included."""
    roots: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            roots.add(node.module.split(".")[0])
    return roots


@pytest.mark.parametrize("word", ["eval(", "exec(", "pickle.load", "os.system(", "shell=True"])
def test_nothing_from_a_log_can_be_run(word: str):
    used = [
        f"{relative(path)}:{number}"
        for path in python_files(PACKAGE)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if f" {word}" in f" {line.strip()}" or f"={word}" in line
    ]

    assert used == []


def test_the_project_names_no_machine():
    """No absolute path of a person's home or of a build machine in a tracked file."""
    here = str(ROOT.parent) + "/"
    listed = subprocess.run(["git", "grep", "-nIF", "-e", here], cwd=ROOT, capture_output=True, text=True, check=False)

    assert listed.stdout == ""
