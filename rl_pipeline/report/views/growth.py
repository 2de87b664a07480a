"""A quantity that grows inside the links and falls back at a restart."""

from __future__ import annotations

from rl_pipeline.analysis.growth import Growth
from rl_pipeline.report.formatting import count, fixed, interval, p_equals, p_value, percent, signed
from rl_pipeline.report.views.section import Block, not_measurable
from rl_pipeline.report.views.table import table


def growth_block(growth: Growth) -> Block:
    """Pooled and by link, with what happens at the restarts."""
    heading = f"Growth Inside the Links: {growth.metric}"
    if growth.slope.value is None:
        return not_measurable(heading, growth.reason or growth.slope.reason)
    rows = (
        (
            link.job,
            count(link.trend.slope.n),
            f"{signed(link.trend.slope.value, 2)} {interval(link.trend.slope.lower, link.trend.slope.upper, 2)}",
            p_value(link.trend.test.p_value),
            fixed(link.median, 1),
            percent(link.growth),
        )
        for link in growth.links
    )
    notes = [
        f"Pooled over the links {signed(growth.slope.value, 2)} per step "
        f"{interval(growth.slope.lower, growth.slope.upper, 2)}, "
        f"τ = {fixed(growth.tau, 3)}, {p_equals(growth.p_value)}."
    ]
    notes += [
        f"At the restart before step {reset.restart_step}: median {fixed(reset.median_before, 1)} before, "
        f"{fixed(reset.median_after, 1)} after ({p_equals(reset.p_value)})."
        for reset in growth.resets
    ]
    titles = "Link | n | Change per Step (95 % interval) | p | Median | Growth over the Link"
    return Block(heading=heading, table=table(titles, rows), notes=tuple(notes))
