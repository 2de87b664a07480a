"""What makes an asset's page worth opening: column schemas, previews, small charts, key numbers.

Dagster's UI shows Markdown of fewer than 1,000 characters at once and hides longer text behind a
button, strips HTML, and renders images from data URIs. Everything here keeps to those limits: a
preview loses rows until it fits, a chart is an SVG polyline of a few hundred bytes.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import dagster as dg
import pyarrow as pa

from rl_pipeline.schema import Row, columns_of

INLINE_LIMIT = 1000  # characters of Markdown that the UI shows without a click
CELL_LIMIT = 40  # characters of one cell in a preview
CHART_POINTS = 48
CHART_WIDTH, CHART_HEIGHT = 240, 48
# Columns of previews: those that say something beside the partition's name, as many as the page is wide.
PREVIEWED: Mapping[str, tuple[str, ...]] = {
    "step_metrics": ("global_step", "metric", "value", "text", "state", "line"),
    "rollout_batches": ("logged_at", "successful", "total", "failed_groups", "masked", "line"),
    "vllm_stats": ("logged_at", "pid", "running", "waiting", "generation_throughput", "kv_cache_usage"),
    "phase_timings": ("started_at", "name", "seconds", "finished", "line"),
    "job_events": ("logged_at", "kind", "step", "name", "value", "detail"),
    "unparsed": ("line", "dialect", "reason", "excerpt"),
    "trials": ("trial", "outcome", "reward", "n_turns", "n_output_tokens", "exception_type"),
}


def column_schema(row: type[Row]) -> dg.TableSchema:
    """The columns of a table with type, unit and meaning, as Dagster shows them."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=column.name,
                type=str(column.type).replace(" | None", ""),
                description=f"{column.metadata['doc']} [{column.metadata['unit'].value}]",
                constraints=dg.TableColumnConstraints(nullable="None" in str(column.type)),
            )
            for column in columns_of(row)
        ]
    )


def spec_metadata(row: type[Row]) -> dict[str, dg.MetadataValue]:
    """Metadata that a table's asset has before it was ever made."""
    return {"dagster/column_schema": dg.TableSchemaMetadataValue(column_schema(row))}


def table_metadata(table: pa.Table, row: type[Row], *, path: str) -> dict[str, dg.MetadataValue]:
    """Row count, columns, a preview and where the table lies."""
    return {
        "dagster/row_count": dg.MetadataValue.int(table.num_rows),
        **spec_metadata(row),
        "preview": dg.MetadataValue.md(preview(table, PREVIEWED.get(row.TABLE, ()))),
        "file": dg.MetadataValue.path(path),
    }


def numbers_metadata(numbers: Mapping[str, float | None]) -> dict[str, dg.MetadataValue]:
    """Key numbers as numeric metadata, which the UI plots over partitions; missing ones are left out."""
    shown: dict[str, dg.MetadataValue] = {}
    for name, number in numbers.items():
        if number is None or not math.isfinite(number):
            continue
        shown[name] = dg.MetadataValue.int(number) if isinstance(number, int) else dg.MetadataValue.float(float(number))
    return shown


def preview(table: pa.Table, chosen: Sequence[str] = (), *, rows: int = 6, columns: int = 7) -> str:
    """The first rows as a Markdown table; columns without any value in them are left out.

    Args:
        table: what is shown.
        chosen: columns in the order in which they are shown; the first ones of the table when empty.
        rows: at most so many.
        columns: at most so many.
    """
    if not table.num_rows:
        return "no rows"
    head = table.slice(0, rows).to_pylist()
    names = [name for name in chosen or table.column_names if any(row[name] is not None for row in head)][:columns]
    for shown in range(len(head), 0, -1):
        text = markdown_table(names, [[row[name] for name in names] for row in head[:shown]])
        if len(text) < INLINE_LIMIT:
            return text
    return f"{table.num_rows} rows"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; cells can hold anything and stay inside their cell."""
    lines = [header, ["---"] * len(header), *[[cell(value) for value in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(value: object) -> str:
    """One value as inert Markdown text: no line breaks, no markup, no links."""
    if value is None:
        return "—"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    text = " ".join(text.split())
    text = text if len(text) <= CELL_LIMIT else text[: CELL_LIMIT - 1] + "…"
    return "".join(f"\\{char}" if char in "\\|`*_[]<>!#" else char for char in text)


def sparkline(values: Sequence[float | None], title: str) -> dg.MetadataValue | None:
    """A small line chart as Markdown with an SVG in a data URI; None with fewer than two numbers."""
    numbers = _thinned([value for value in values if value is not None and math.isfinite(value)])
    if len(numbers) < 2:
        return None
    low, high = min(numbers), max(numbers)
    spread = (high - low) or 1.0
    last = len(numbers) - 1
    points = " ".join(
        f"{round(index * (CHART_WIDTH - 4) / last) + 2},{round((high - value) / spread * (CHART_HEIGHT - 4)) + 2}"
        for index, value in enumerate(numbers)
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{CHART_WIDTH}" height="{CHART_HEIGHT}">'
        f'<polyline fill="none" stroke="#4477aa" stroke-width="1.5" points="{points}"/></svg>'
    )
    image = base64.b64encode(svg.encode()).decode()
    return dg.MetadataValue.md(f"![{title}](data:image/svg+xml;base64,{image})\n\n{title}: {low:.4g} to {high:.4g}")


def _thinned(values: Sequence[float]) -> list[float]:
    """At most `CHART_POINTS` values: means of equal stretches, so that no part is left out."""
    if len(values) <= CHART_POINTS:
        return list(values)
    edges = [round(index * len(values) / CHART_POINTS) for index in range(CHART_POINTS + 1)]
    return [sum(values[start:stop]) / (stop - start) for start, stop in pairwise(edges)]


def without_missing(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that have a value."""
    return {name: value for name, value in metadata.items() if value is not None}
