"""`index.html` and `compare.html`: all experiments below one folder, made from their `report.json` alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from rl_pipeline import __version__
from rl_pipeline.analysis.estimates import Estimate
from rl_pipeline.analysis.experiment_card import ExperimentCard
from rl_pipeline.analysis.first_numbers import (
    REWARD_NUMBER,
    SOLVED_NUMBER,
    SPEED_NUMBER,
    WAIT_NUMBER,
    FirstNumber,
)
from rl_pipeline.report.formatting import ABSENT, count, fixed, moment, percent, typographic
from rl_pipeline.report.output_folder import replace_files, require_writable
from rl_pipeline.report.page.experiments import Listed, Unlisted, reports_below
from rl_pipeline.report.page.first_screen import TONES
from rl_pipeline.report.page.pairs import PairView, pairs_of
from rl_pipeline.report.page.render import render_page
from rl_pipeline.report.page.spark import spark
from rl_pipeline.report.plain import JsonValue, plain

INDEX_PAGE, COMPARISON_PAGE = "index.html", "compare.html"
DIGITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberView:
    """A number with its interval; `value` is what a table sorts by."""

    text: str
    interval: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRow:
    """One experiment in the table."""

    key: str
    experiment: str
    links: tuple[tuple[str, str], ...]
    verdict: str
    tone: str
    findings: str
    state: str
    last_step: NumberView
    reward: NumberView
    spark: Markup
    solved: NumberView
    wait: NumberView
    goodput: NumberView
    last_seen: str
    last_seen_iso: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What was written: how many experiments, which reports could not be read, the files."""

    folder: Path
    experiments: tuple[Listed, ...]
    unread: tuple[Unlisted, ...]
    files: tuple[str, ...]


def write_index(folder: Path) -> Index:
    """Read every report below the folder and write both pages into it.

    Raises:
        ConfigurationError: the folder takes no files.
    """
    require_writable(folder)
    entries, unread = reports_below(folder)
    entries = told_apart(entries)
    pages = {INDEX_PAGE: index_page(entries, unread), COMPARISON_PAGE: comparison_page(entries, pairs_of(entries))}

    def write(target: Path) -> None:
        for name, text in pages.items():
            (target / name).write_text(text, encoding="utf-8", newline="\n")

    return Index(folder=folder, experiments=entries, unread=unread, files=tuple(replace_files(folder, write)))


def told_apart(entries: Sequence[Listed]) -> tuple[Listed, ...]:
    """The experiments, with their folder behind the name where several have that name."""
    times = Counter(entry.experiment for entry in entries)
    return tuple(
        entry if times[entry.experiment] == 1 else replace(entry, experiment=f"{entry.experiment} · {entry.key}")
        for entry in entries
    )


def index_page(entries: Sequence[Listed], unread: Sequence[Unlisted]) -> str:
    """The table of all experiments."""
    return render_page(
        "index.html",
        ("base.css", "index.css"),
        ("theme.js", "tables.js", "index.js"),
        rows=tuple(experiment_row(entry) for entry in entries),
        unread=tuple(unread),
        version=__version__,
    )


def comparison_page(entries: Sequence[Listed], pairs: Sequence[PairView]) -> str:
    """Curves of chosen experiments on one axis, behind the gate."""
    names = {entry.key: entry.experiment for entry in entries}
    return render_page(
        "compare.html",
        ("base.css", "index.css"),
        ("theme.js", "tables.js", "compare.js"),
        rows=tuple(experiment_row(entry) for entry in entries),
        pairs=tuple(pairs),
        names=names,
        data={"experiments": [curves(entry) for entry in entries], "pairs": plain(list(pairs))},
        version=__version__,
    )


def experiment_row(entry: Listed) -> ExperimentRow:
    """One experiment as text."""
    card = entry.card
    numbers = {number.name: number for number in card.numbers}
    reward = numbers.get(REWARD_NUMBER)
    last = card.last_logged_at
    return ExperimentRow(
        key=entry.key,
        experiment=entry.experiment,
        links=links(entry),
        verdict=entry.verdict,
        tone=TONES.get(entry.verdict, "quiet"),
        findings=" · ".join(f"{number}\u00a0{severity}" for severity, number in entry.findings.items()),
        state=card.state.replace("_", " "),
        last_step=NumberView(text=count(card.last_step), interval="", value=card.last_step),
        reward=_number(reward),
        spark=spark(reward.course if reward else (), width=100, height=22),
        solved=_number(numbers.get(SOLVED_NUMBER)),
        wait=_number(numbers.get(WAIT_NUMBER)),
        goodput=NumberView(text=typographic(percent(card.goodput)), interval="", value=card.goodput),
        last_seen=moment(last, card.zone)[:16] if last else ABSENT,
        last_seen_iso=f"{last.isoformat()}{'Z' if card.zone == 'UTC' and last.tzinfo is None else ''}" if last else "",
    )


def links(entry: Listed) -> tuple[tuple[str, str], ...]:
    """(address, name) of the files of one experiment; addresses are relative and quoted."""
    names = [("report.html", "report")] if entry.has_page else []
    names += [("metrics_report.md", "Markdown"), ("report.json", "JSON")]
    return tuple((quote(f"{entry.key}/{file}"), name) for file, name in names)


def _number(number: FirstNumber | None) -> NumberView:
    estimate: Estimate | None = number.estimate if number else None
    if number is None or estimate is None or estimate.value is None:
        return NumberView(text=ABSENT, interval="", value=None)
    written = _written(estimate.value, number.name)
    bounds = ""
    if estimate.lower is not None and estimate.upper is not None:
        low, high = _written(estimate.lower, number.name), _written(estimate.upper, number.name)
        bounds = f"{low.removesuffix('%').rstrip()}–{high}"
    return NumberView(text=typographic(written), interval=typographic(bounds), value=estimate.value)


def _written(value: float, name: str) -> str:
    if name == REWARD_NUMBER:
        return fixed(value, 3)
    return fixed(value, 1) if name == SPEED_NUMBER else percent(value)


def curves(entry: Listed) -> JsonValue:
    """Series of one experiment for the comparison's pictures."""
    card: ExperimentCard = entry.card
    series = card.curves
    return {
        "key": entry.key,
        "name": entry.experiment,
        "gpus": card.gpus,
        "hoursAre": series.hours_are,
        "steps": list(series.steps),
        "reward": _rounded(series.reward),
        "pass": _rounded(series.pass_at_k),
        "samples": list(series.samples),
        "hours": _rounded(series.hours),
        "warm": [int(flag) for flag in series.is_warm_up],
    }


def _rounded(values: Sequence[float | None]) -> list[JsonValue]:
    return [None if value is None else float(f"{value:.{DIGITS}g}") for value in values]
