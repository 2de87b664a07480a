"""Streams that are mixed line by line come out as they went in."""

from __future__ import annotations

import pprint

from hypothesis import given, settings
from hypothesis import strategies as st

from rl_pipeline.reader.literals import parse_literal
from rl_pipeline_tests.reader.reading import LOGURU, read_lines

SOURCES = (
    "(T pid=1) ",
    "(T pid=1, ip=10.0.0.2) ",
    "(Shard(rank=2) pid=3) ",
    " 3: (T pid=1) ",
    "",
    "\x1b[36m(pid=9)\x1b[0m ",
)
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=120)
scalars = st.one_of(
    st.integers(-(10**12), 10**12),
    st.booleans(),
    st.none(),
    words,
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.4f}"),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=12), st.dictionaries(words, inner, max_size=6)),
    max_leaves=20,
)
dicts = st.dictionaries(words, values, min_size=1, max_size=12)


@given(st.lists(st.tuples(st.sampled_from(SOURCES), dicts), min_size=1, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_dicts_of_several_processes_mixed_line_by_line_come_out_whole(blocks, random):
    streams: dict[str, list[str]] = {}
    for step, (source, metrics) in enumerate(blocks):
        lines = [f"{LOGURU}Step {step}: ", *pprint.pformat(metrics).split("\n")]
        streams.setdefault(source, []).extend(source + line for line in lines)
    expected = {source: [metrics for other, metrics in blocks if other == source] for source in streams}
    mixed, heads = [], {}
    while streams:
        source = random.choice(sorted(streams))
        mixed.append(streams[source].pop(0))
        if "Step " in mixed[-1] and LOGURU in mixed[-1]:
            heads[len(mixed)] = source
        if not streams[source]:
            del streams[source]

    found: dict[str, list[object]] = {source: [] for source in expected}
    for message in read_lines(*mixed):
        assert message.complete
        found[heads[message.line]].append(parse_literal(message.payload.split("\n", 1)[1]))

    assert found == expected


FOREIGN = st.sampled_from(
    ("hello", "Done", "42", "1.0", "None", "'", "12: 3", "f(x", "}", " }", "]", ")", "{", "{}", "{'a': 1}", "'x'", "")
)  # fmt: skip
metrics = st.dictionaries(
    st.text("abc_", min_size=1, max_size=9).map("group/{}".format), st.one_of(scalars, values), min_size=1, max_size=8
)


@given(metrics, FOREIGN, st.integers(1, 60))
@settings(max_examples=300, deadline=None)
def test_one_foreign_line_anywhere_in_a_dict_of_metrics_changes_nothing(written, foreign, place):
    lines = ["Step 7: ", *pprint.pformat(written).split("\n")]
    lines[0] = LOGURU + lines[0]
    lines.insert(min(place, len(lines)), foreign)

    (message,) = read_lines(*(f"(T pid=1) {line}" for line in lines))

    assert (message.complete, parse_literal(message.payload.split("\n", 1)[1])) == (True, written)
