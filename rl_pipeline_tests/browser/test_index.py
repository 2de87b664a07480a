"""The index and the comparison in a browser, over three experiments of which two can be compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from rl_pipeline.report.page.index import write_index
from rl_pipeline_tests.helpers.browser import PHONE, violations, visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample three times: as it is, with lower rewards, and with other groups and tasks."""
    reports = tmp_path_factory.mktemp("index")
    original: dict[str, Any] = json.loads((report.parent / "report.json").read_text(encoding="utf-8"))
    lower, other = json.loads(json.dumps(original)), json.loads(json.dumps(original))
    lower["experiment"] = "lower-rewards"
    lower["card"]["curves"]["reward"] = [value * 0.5 for value in original["card"]["curves"]["reward"]]
    other["experiment"] = "other-groups"
    other["card"] |= {"group_size": 8, "state": "running", "tasks": {}, "last_step": 7, "gpus": 16}
    for document in (original, lower, other):
        path = reports / document["experiment"]
        path.mkdir()
        (path / "report.json").write_text(json.dumps(document), encoding="utf-8")
        shutil.copy(report, path / "report.html")
    write_index(reports)
    return reports


@pytest.mark.parametrize("page", ["index.html", "compare.html"])
def test_it_opens_without_a_word_and_without_a_request(browser: Browser, folder: Path, page: str):
    with visit(browser, folder / page) as opened:
        opened.page.wait_for_load_state("networkidle")

        assert (opened.said, opened.asked) == ([], [])
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_experiments_sort_filter_and_link_to_their_reports(browser: Browser, folder: Path):
    with visit(browser, folder / "index.html") as opened:
        page = opened.page
        page.locator("thead button", has_text="Last step").click()
        names = page.locator("#experiments tbody th > a").all_text_contents()
        page.locator("#find").fill("running")

        assert names[0] == "other-groups"
        assert page.locator("#experiments tbody tr:not([hidden]) th > a").all_text_contents() == ["other-groups"]
        page.locator("#experiments tbody tr:not([hidden]) th > a").click()
        assert page.title() == "grpo-shell-tasks-4b · run report"


def test_chosen_experiments_are_compared(browser: Browser, folder: Path):
    with visit(browser, folder / "index.html") as opened:
        page = opened.page
        for name in ("grpo-shell-tasks-4b", "lower-rewards"):
            page.get_by_label(f"Compare {name}", exact=True).check()
        page.locator("#compare").click()

        assert page.locator("#panels figure").count() == 1
        assert page.locator("#panels polyline").count() == 2
        told = page.locator("#gate").inner_text()
        assert told.startswith("grpo-shell-tasks-4b − lower-rewards: reward +")
        assert opened.said == []


def test_what_is_compared_stands_in_a_table_and_comes_out_as_csv(browser: Browser, folder: Path):
    with visit(browser, f"{(folder / 'compare.html').as_uri()}#grpo-shell-tasks-4b&lower-rewards") as opened:
        page = opened.page
        page.locator("select[name=along]").select_option("samples")
        page.locator("#points summary").click()
        titles = page.locator("#points thead th").all_text_contents()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        text = download.value.path().read_text(encoding="utf-8")

        assert titles == ["experiment", "global step", "samples trained", "mean reward", "smoothed"]
        # source: the sample's 24 steps, twice, and the line of titles
        assert len(text.splitlines()) == page.locator("#points tbody tr").count() + 1 == 49
        assert opened.said == []


def test_experiments_whose_rewards_mean_something_else_are_refused_and_drawn_apart(browser: Browser, folder: Path):
    with visit(browser, f"{(folder / 'compare.html').as_uri()}#grpo-shell-tasks-4b&other-groups") as opened:
        told = opened.page.locator("#gate").inner_text()

        assert "Not comparable" in told
        assert "4 samples per prompt against 8" in told
        assert opened.page.locator("#panels figure").count() == 2


@pytest.mark.parametrize(
    ("along", "title"),
    [("steps", "global step"), ("samples", "samples trained"), ("hours", "hours since the first line")],
)
def test_every_axis_is_drawn(browser: Browser, folder: Path, along: str, title: str):
    with visit(browser, folder / "compare.html") as opened:
        opened.page.locator("select[name=along]").select_option(along)

        assert title in opened.page.locator("#panels svg").first.text_content()  # type: ignore[operator]
        assert opened.page.locator("#panels circle").count() > 20


def test_an_axis_that_the_reports_lack_is_named(browser: Browser, folder: Path):
    with visit(browser, folder / "compare.html") as opened:
        opened.page.locator("select[name=along]").select_option("gpuHours")

        # source: the sample's logs print no placement, so its GPUs are unknown
        assert "Not on this axis" in opened.page.locator("#missing").inner_text()
        assert opened.page.locator("#panels figure").count() == 0


def test_gpu_hours_are_hours_times_the_gpus_that_the_report_knows(browser: Browser, folder: Path):
    with visit(browser, f"{(folder / 'compare.html').as_uri()}#other-groups") as opened:
        page = opened.page
        last = "[...document.querySelectorAll('#points tbody tr')].pop().cells[2].textContent"
        page.locator("select[name=along]").select_option("hours")
        hours = float(page.evaluate(last))
        page.locator("select[name=along]").select_option("gpuHours")

        assert "GPU-hours" in page.locator("#panels svg").first.text_content()  # type: ignore[operator]
        assert float(page.evaluate(last)) == pytest.approx(16 * hours, rel=1e-3)


@pytest.mark.parametrize("page", ["index.html", "compare.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_assistive_programs(browser: Browser, folder: Path, page: str, scheme: str):
    with visit(browser, folder / page, color_scheme=scheme) as opened:
        assert violations(opened.page) == []


@pytest.mark.parametrize("page", ["index.html", "compare.html"])
def test_a_phone_needs_no_sideways_scrolling(browser: Browser, folder: Path, page: str):
    with visit(browser, folder / page, viewport=PHONE, is_mobile=True, has_touch=True) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_without_scripts_the_numbers_are_there(browser: Browser, folder: Path):
    with visit(browser, folder / "index.html", java_script_enabled=False) as opened:
        assert opened.page.locator("#experiments tbody tr").count() == 3
        assert not opened.page.locator("#find").is_visible()
    with visit(browser, folder / "compare.html", java_script_enabled=False) as opened:
        assert opened.page.locator("#pairs tbody tr").count() == 3
        assert not opened.page.locator("#controls").is_visible()
