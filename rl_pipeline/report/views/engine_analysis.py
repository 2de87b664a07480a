"""What the engines' numbers mean: class per job with its reason, engine by engine, spread of the load."""

from __future__ import annotations

from rl_pipeline.analysis.engines import EngineAnalysis, LoadReading
from rl_pipeline.report.formatting import ABSENT, count, fixed, percent
from rl_pipeline.report.views.section import Block, SectionView, section, sentence
from rl_pipeline.report.views.table import table
from rl_pipeline.wording import plural

ENGINES_SHOWN = 64


def engine_section(analysis: EngineAnalysis) -> SectionView | None:
    """None without engine lines."""
    if not analysis.overall.lines:
        return None
    return section("Were the Engines Fed", (_classes(analysis), _each(analysis), _imbalance(analysis)))


def _classes(analysis: EngineAnalysis) -> Block:
    loads = (*analysis.jobs, analysis.overall)
    rows = ((*_load_row(load), load.verdict) for load in loads)
    titles = (
        "Log | Running (mean) | of Capacity | No Waiting (lines) | KV Cache | Throughput of Own Peak | Trainer Waits "
        "| Lines Kept | Class"
    )
    capacity = {load.capacity_source for load in loads if load.capacity_source}
    notes = [f"{load.job or 'all jobs'}: {sentence(load.reason)}" for load in loads if load.reason]
    notes += [f"Capacity is the {source} of an engine." for source in sorted(capacity)]
    return Block(table=table(titles, rows), notes=tuple(dict.fromkeys(notes)))


def _load_row(load: LoadReading) -> tuple[str, ...]:
    kept = load.lines / load.printed_lines if load.printed_lines else None
    return (
        load.job or "all",
        fixed(load.running_mean, 1),
        percent(load.running_share),
        percent(load.empty_queue_share),
        percent(load.kv_cache_mean),
        percent(load.throughput_share),
        percent(load.wait_share),
        percent(kept),
    )


def _each(analysis: EngineAnalysis) -> Block | None:
    if not analysis.engines:
        return None
    rows = (
        (
            engine.job,
            engine.label,
            count(engine.lines),
            fixed(engine.running_mean, 1),
            fixed(engine.waiting_mean, 2),
            percent(engine.kv_cache_mean),
            fixed(engine.throughput_mean, 1),
            fixed(engine.throughput_peak, 1),
        )
        for engine in analysis.engines[:ENGINES_SHOWN]
    )
    hidden = len(analysis.engines) - ENGINES_SHOWN
    titles = "Log | Engine | Lines | Running | Waiting | KV Cache | Tokens/s | Peak Tokens/s"
    return Block(
        heading="Engine by Engine",
        table=table(titles, rows, words=2),
        notes=(f"{plural(hidden, 'further engine')} in report.json.",) if hidden > 0 else (),
    )


def _imbalance(analysis: EngineAnalysis) -> Block:
    found = analysis.imbalance
    if not found.measurable:
        return Block(heading="Spread of the Load", notes=(f"Not measurable: {sentence(found.reason)}",))
    notes = [f"{plural(len(found.uneven), 'uneven bin')} of {found.bins} bins of ten minutes that could be compared."]
    if found.longest_run:
        start = found.longest_run[0]
        low = f"{fixed(start.lowest, 1)} on {start.lowest_engine}"
        high = f"{fixed(start.highest, 1)} on {start.highest_engine}"
        notes.append(
            f"Longest run: {plural(len(found.longest_run), 'bin')} from {start.started_at}, {start.quantity} "
            f"{low} against {high}."
        )
    return Block(heading="Spread of the Load", notes=tuple(notes) or (ABSENT,))
