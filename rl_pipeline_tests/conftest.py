"""What all tests share: Hypothesis without deadlines, slow files first, skips that fail where they must not happen."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


# Tests that need a program which .ci/run installs. A skip for another reason (root may read everything) stays one.
NEED_A_PROGRAM = ("browser", "postgres", "daemon")


SLOW_FIRST = ("daemon", "reference", "postgres", "dagster", "browser")


def pytest_collection_modifyitems(items):
    """Files with slow tests come first, each file in one piece, so that no worker is left with one at the end."""
    rank: dict[object, int] = {}
    for item in items:
        ranks = [place for place, name in enumerate(SLOW_FIRST) if item.get_closest_marker(name)]
        rank[item.path] = min([rank.get(item.path, len(SLOW_FIRST)), *ranks])
    items.sort(key=lambda item: rank[item.path])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI a skip for want of a program is a failure: there everything is installed."""
    outcome = yield
    report = outcome.get_result()
    needs = any(item.get_closest_marker(name) for name in NEED_A_PROGRAM)
    if needs and report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped: {report.longrepr}"
