"""Writes the generated pages of docs/ (see DOCUMENTS) from the code: `python docs/make_docs.py`.

A test compares the files with what this would write.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from rl_pipeline.analysis.findings.catalogue import catalogue_markdown
from rl_pipeline.report.schema_document import schema_markdown
from rl_pipeline.schema import ALL_TABLES, EVENT_KINDS, SCHEMA_VERSION, columns_of
from rl_pipeline.settings import FILE_NAME, FILE_VARIABLE, described

HERE = Path(__file__).resolve().parent


def cell(text: str) -> str:
    """Text that cannot break a table."""
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def type_name(annotation: object) -> str:
    """A column's type as people say it; null is told apart."""
    return re.sub(r"\s*\|\s*None$", "", str(annotation)).replace("datetime", "time")


def tables() -> str:
    """All tables with their columns."""
    parts = [
        "# Tables\n",
        f"Schema version {SCHEMA_VERSION}. Every Parquet file carries these descriptions and units inside.\n",
        "Times are UTC where `zone` says so, else local to the node that printed them. A missing value is null.\n",
    ]
    for row in ALL_TABLES:
        parts.append(f"## {row.TABLE}\n\n{(row.__doc__ or '').splitlines()[0]}\n")
        lines = ["| column | type | null | unit | meaning |", "|---|---|---|---|---|"]
        for column in columns_of(row):
            nullable = "yes" if "None" in str(column.type) else ""
            unit, doc = str(column.metadata["unit"].value), str(column.metadata["doc"])
            lines.append(f"| {column.name} | {cell(type_name(column.type))} | {nullable} | {unit} | {cell(doc)} |")
        parts.append("\n".join(lines) + "\n")
    kinds = "\n".join(f"| {kind} | {cell(text)} |" for kind, text in EVENT_KINDS.items())
    parts.append(f"## Kinds of job events\n\n| kind | columns |\n|---|---|\n{kinds}\n")
    return "\n".join(parts)


def settings() -> str:
    """All settings."""
    rows = "\n".join(f"| `{name}` | {cell(default)} | {cell(doc)} |" for name, default, doc in described())
    return (
        "# Settings\n\n"
        "Environment variables; the same names in small letters, without `RL_PIPELINE_`, stand in "
        f"`{FILE_NAME}` in the home (or where `{FILE_VARIABLE}` says), a line each: `quiet_minutes: 30`. "
        "The variable wins.\n\n"
        f"| variable | default | meaning |\n|---|---|---|\n{rows}\n"
    )


DOCUMENTS = {
    "tables.md": tables,
    "settings.md": settings,
    "report_schema.md": schema_markdown,
    "findings.md": catalogue_markdown,
}

if __name__ == "__main__":
    for name, make in DOCUMENTS.items():
        (HERE / name).write_text(make(), encoding="utf-8")
