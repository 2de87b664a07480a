"""Rules that compare columns, rows or tables with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline.schema import BELOW_RESOLUTION, CONSOLE, JSONL, MEASURED, MIRROR, PARTIAL, TRAIN
from rl_pipeline.tables.frames import to_frame
from rl_pipeline.tables.violations import Flags, Found, Tables, both, flags_of, found_where

KEYS = {
    "jobs": ("job",),
    "step_metrics": ("job", "block", "metric"),
    "trials": ("path", "trial"),
}
# A console block prints floats with four decimals: half of the last one, and a little for the binary number.
PRINT_RESOLUTION = 0.5e-4 * (1 + 1e-6)
RELATIVE_RESOLUTION = 1e-9
BLOCK_DIALECTS = ("step_block", "wandb_mirror")
BLOCK_SOURCES = (CONSOLE, MIRROR, JSONL)  # a block told by several of them counts once, by the first
UNPARSED_SHARE = 0.01


def repeated_keys(tables: Tables) -> Iterator[Found]:
    """Rows whose key another row has too."""
    for name, keys in KEYS.items():
        if name in tables:
            counted = tables[name].select(keys).group_by(list(keys)).aggregate([([], "count_all")])
            flags = counted["count_all"].to_numpy() > 1
            yield found_where(name, counted, flags, f"several rows for one {', '.join(keys)}", *keys)


def impossible_batches(tables: Tables) -> Iterator[Found]:
    """Batches with more successes than trials, or numbers below 0."""
    if "rollout_batches" in tables:
        batches = tables["rollout_batches"]
        successful, total, failed_groups = (
            _integers(batches, name) for name in ("successful", "total", "failed_groups")
        )
        flags = (successful > total) | (successful < 0) | (failed_groups < 0)
        yield found_where("rollout_batches", batches, flags, "numbers no batch can have", "successful", "total")


def odd_breakdowns(tables: Tables) -> Iterator[Found]:
    """Batches whose exceptions, masked trials or failed prompts do not fit their failed trials.

    More exceptions than failed trials are usual: a trial that raised and was scored all the same
    succeeded. Fewer are not, except in the forms that print no breakdown (nor `masked`).
    """
    if "rollout_batches" not in tables:
        return
    batches = tables["rollout_batches"]
    failed = _integers(batches, "total") - _integers(batches, "successful")
    listed = _sums_of_maps(batches["exceptions"])
    prints_breakdown = flags_of(pc.is_valid(batches["masked"]), batches.num_rows)
    shown = ("successful", "total")
    lacking = (listed < failed) & ((listed > 0) | prints_breakdown)
    yield found_where("rollout_batches", batches, lacking, "fewer exceptions than failed trials", *shown)
    masked = batches["masked"].fill_null(0).to_numpy()
    yield found_where("rollout_batches", batches, masked > failed, "more masked than failed trials", "masked", *shown)
    groups = _integers(batches, "failed_groups")
    odd = (groups > failed) | ((groups == 0) & (failed > 0))
    yield found_where(
        "rollout_batches", batches, odd, "failed prompts do not fit failed trials", "failed_groups", *shown
    )


def lost_blocks(tables: Tables) -> Iterator[Found]:
    """Complete blocks that the log had when it was read and the table has no more."""
    if not both(tables, ("jobs", "step_metrics")) or tables["jobs"].num_rows != 1:
        return
    metrics = tables["step_metrics"]
    whole = metrics.filter(pc.not_equal(metrics["kind"], PARTIAL))
    counts = (len(pc.unique(whole.filter(pc.equal(whole["source"], source))["block"])) for source in BLOCK_SOURCES)
    present, expected = next((count for count in counts if count), 0), tables["jobs"]["blocks"][0].as_py()
    yield Found("step_metrics", abs(expected - present), f"{present} complete blocks of {expected} in the log")


def silent_heads(tables: Tables) -> Iterator[Found]:
    """Blocks that a dialect recognised and that left neither a row nor a word in `unparsed`."""
    if not both(tables, ("jobs", "step_metrics", "unparsed")) or tables["jobs"].num_rows != 1:
        return
    recognised = dict(tables["jobs"]["dialect_lines"][0].as_py() or ())
    metrics, unparsed = tables["step_metrics"], tables["unparsed"]
    broken = unparsed.filter(pc.is_in(unparsed["dialect"], value_set=pa.array(BLOCK_DIALECTS)))
    lines = pa.concat_tables([metrics.select(["line"]), broken.select(["line"])])
    told, begun = len(pc.unique(lines["line"])), sum(recognised.get(name, 0) for name in BLOCK_DIALECTS)
    yield Found("step_metrics", max(0, begun - told), f"{begun} metric blocks begun, {told} told")


def disagreeing_mirrors(tables: Tables) -> Iterator[Found]:
    """Values of a console block that differ from the mirror line before it by more than is printed."""
    if "step_metrics" not in tables:
        return
    metrics = tables["step_metrics"]
    if MIRROR not in pc.unique(metrics["source"]).to_pylist():
        return
    pairs = _pairs_of_sources(metrics)
    allowed = PRINT_RESOLUTION + RELATIVE_RESOLUTION * pairs["value_mirror"].abs()
    differing = pairs[(pairs["value"] - pairs["value_mirror"]).abs() > allowed]
    places = [
        f"step {row.global_step}, line {row.line}, {row.metric}: {row.value:g}, in the mirror {row.value_mirror:g}"
        for row in differing.head(5).itertuples()
    ]
    yield Found("step_metrics", len(differing), "console and mirror differ", tuple(places))


def _pairs_of_sources(metrics: pa.Table) -> pd.DataFrame:
    """Each console value with the one of the nearest mirror line of the same step before it."""
    columns = ["job", "block", "line", "kind", "global_step", "metric", "value", "state", "source"]
    frame = to_frame(metrics.select(columns))
    frame = frame[frame["state"].isin([MEASURED, BELOW_RESOLUTION]) & frame["global_step"].notna()]
    console, mirror = (frame[frame["source"] == source] for source in (CONSOLE, MIRROR))
    keys = ["job", "kind", "global_step", "metric"]
    pairs = console.merge(mirror[[*keys, "block", "value"]], on=keys, suffixes=("", "_mirror"))
    pairs = pairs[pairs["block"] > pairs["block_mirror"]]
    return pairs.sort_values(["block", "metric", "block_mirror"]).drop_duplicates(
        ["job", "block", "metric"], keep="last"
    )


def steps_going_back(tables: Tables) -> Iterator[Found]:
    """Training blocks with a smaller step than one before them in the same log."""
    if "step_metrics" not in tables:
        return
    metrics = tables["step_metrics"]
    trained = metrics.filter(pc.and_(pc.equal(metrics["kind"], TRAIN), pc.is_valid(metrics["global_step"])))
    blocks = trained.group_by(["job", "block"]).aggregate([("global_step", "min"), ("line", "min")])
    blocks = blocks.rename_columns(["job", "block", "global_step", "line"]).sort_by(
        [("job", "ascending"), ("block", "ascending")]
    )
    frame = to_frame(blocks)
    highest = frame.groupby("job")["global_step"].cummax()
    flags: Flags = (frame["global_step"] < highest).to_numpy(dtype=bool)
    yield found_where("step_metrics", blocks, flags, "steps go back", "global_step")


def odd_trial_times(tables: Tables) -> Iterator[Found]:
    """Trials that end before they begin, or before their verifier does."""
    if "trials" in tables:
        trials = tables["trials"]
        backwards = flags_of(pc.less(trials["finished_at"], trials["started_at"]), trials.num_rows)
        yield found_where("trials", trials, backwards, "the trial ends before it begins")
        overrun = flags_of(pc.greater(trials["verifier_overrun_s"], 0), trials.num_rows)
        yield found_where("trials", trials, overrun, "the verifier ended after the trial", "verifier_overrun_s")


def share_of_unparsed(tables: Tables) -> Iterator[Found]:
    """More broken messages than damage at the edges of a log explains."""
    if not both(tables, ("jobs", "unparsed")) or tables["jobs"].num_rows != 1:
        return
    recognised = sum(dict(tables["jobs"]["dialect_lines"][0].as_py() or ()).values())
    unparsed = tables["unparsed"]
    if unparsed.num_rows > UNPARSED_SHARE * recognised and unparsed.num_rows > 1:
        flags = np.ones(unparsed.num_rows, dtype=bool)
        what = f"{unparsed.num_rows} of {recognised} recognised messages are broken"
        yield found_where("unparsed", unparsed, flags, what, "reason")


def _integers(table: pa.Table, column: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    numbers: np.ndarray[Any, np.dtype[np.int64]] = table[column].to_numpy()
    return numbers


def _sums_of_maps(maps: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Shape (rows,): the sum of the numbers in each map."""
    sums = [np.zeros(0, dtype=np.int64)]
    for chunk in maps.chunks:
        running = np.concatenate([[0], np.cumsum(chunk.items.to_numpy(zero_copy_only=False))]).astype(np.int64)
        offsets = chunk.offsets.to_numpy()
        sums.append(running[offsets[1:]] - running[offsets[:-1]])
    return np.concatenate(sums)
