"""The report as people open it: in a browser, from a file, with and without scripts, on paper and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from rl_pipeline_tests.helpers.browser import PHONE, violations, visit

pytestmark = pytest.mark.browser
LARGEST_PAGE = 3_000_000  # bytes


# Texts that stick out of their picture by more than half a pixel, and texts that cover each other, halos left out.
STICKING_OUT = """() => [...document.querySelectorAll('.canvas svg')].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return frame.width === 0 ? [] : [...svg.querySelectorAll('text')].filter((text) => {
        const box = text.getBoundingClientRect();
        const beyond = [frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom];
        return Math.max(...beyond) > 0.5;
    }).map((text) => svg.closest('figure').id + ': ' + text.textContent);
})"""
COVERED = """() => [...document.querySelectorAll('.canvas svg')].flatMap((svg) => {
    const texts = svg.getBoundingClientRect().width === 0 ? [] : [...svg.querySelectorAll('text')];
    const boxes = texts.map((text) => text.getBoundingClientRect());
    return texts.flatMap((text, a) => texts.slice(a + 1).filter((other, after) => {
        const one = boxes[a], two = boxes[a + 1 + after];
        const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        const apart = [text, other].every((label) => /^[\\d.,%−]+$/.test(label.textContent)) ? 3 : 0;  // ticks
        return text.textContent !== other.textContent && across > -apart && down > 3;
    }).map((other) => svg.closest('figure').id + ': ' + text.textContent + ' | ' + other.textContent));
})"""
WIDE_FONT = (
    "() => { for (const svg of document.querySelectorAll('.canvas svg')) svg.style.fontFamily = 'DejaVu Sans'; }"
)


def column(page: Page, table: str, place: int) -> list[str]:
    """Texts of one column of a table, hidden rows left out."""
    texts: list[str] = page.eval_on_selector_all(
        f"{table} tbody tr:not([hidden])", f"rows => rows.map(row => row.cells[{place}].textContent.trim())"
    )
    return texts


def test_it_opens_without_a_word_and_without_a_request(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        opened.page.wait_for_load_state("networkidle")

        assert opened.page.title() == "grpo-shell-tasks-4b · run report"
        assert (opened.said, opened.asked) == ([], [])


def test_it_is_small_enough_to_send(report: Path):
    assert report.stat().st_size < LARGEST_PAGE


def test_verdict_and_five_numbers_stand_on_the_first_screen(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        page = opened.page
        seen = page.locator(".tile dd strong").all_text_contents()

        assert page.locator(".verdict strong").first.text_content() == "Needs attention."
        # source: 18 settled steps, rewards of the sample's first and last nine of them
        assert (
            page.locator(".learning")
            .inner_text()
            .startswith("Is it learning? Too early to say (R26). A trend needs 30 settled steps")
        )
        assert "0.324 in the first 9 settled steps, 0.509 in the last 9" in page.locator(".learning").inner_text()
        # source: the sample's report.json
        assert seen == ["0.542", "47.1\u202f%", "41.3\u202f%", "14.4\u202f%", "16.9"]
        assert all(text.strip() for text in page.locator(".tile dd small").all_text_contents())
        assert page.locator(".tiles").bounding_box()["y"] < 500  # type: ignore[index]


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_texts_of_pictures_stand_inside_them_and_apart_in_a_wide_font(
    browser: Browser, report: Path, width: int, media: Literal["screen", "print"]
):
    with visit(browser, report, viewport={"width": width, "height": 900}) as opened:
        opened.page.emulate_media(media=media)
        opened.page.evaluate(WIDE_FONT)

        assert opened.page.locator(".canvas svg:visible").count() > 15
        assert opened.page.evaluate(STICKING_OUT) == []
        assert opened.page.evaluate(COVERED) == []


def test_a_finding_unfolds_to_evidence_threshold_action_and_what_would_overturn_it(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        opened.page.locator("#R1 summary").click()
        told = opened.page.locator("#R1 .told")

        assert told.is_visible()
        words = told.locator("dt").all_text_contents()
        assert {"Evidence", "Threshold", "What to do", "Overturned by"} <= set(words)


def test_a_deep_link_opens_its_finding_even_a_folded_one(browser: Browser, report: Path):
    with visit(browser, f"{report.as_uri()}#R37") as opened:
        assert opened.page.locator("#R37 .told").is_visible()
        assert not opened.page.locator("#R1 .told").is_visible()


def test_links_of_findings_lead_to_pictures_that_can_be_seen(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        anchors = opened.page.eval_on_selector_all(".see a", "links => links.map(link => link.hash)")

        assert anchors
        for anchor in set(anchors):
            assert opened.page.locator(anchor).count() == 1, anchor


def test_metrics_sort_by_number_and_not_by_text(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        page = opened.page
        page.locator("#metric-table thead button", has_text="Mean").click()
        values = page.eval_on_selector_all(
            "#metric-table tbody tr", "rows => rows.map(row => row.cells[3].dataset.v).filter(Boolean).map(Number)"
        )

        assert values == sorted(values)
        assert len(values) > 30
        assert page.locator("#metric-table th[aria-sort=ascending]").text_content() == "Mean"


def test_times_with_units_sort_by_their_length(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        opened.page.evaluate(
            """() => {
                const table = document.querySelector('#picture-waterfall .numbers table');
                table.tBodies[0].innerHTML = '';
                for (const text of ['2.1 min', '−3 s', '—', '41 s', '1.2 h', '1,000 s'])
                    table.tBodies[0].insertRow().insertCell().textContent = text;
                sortBy(table, 0, false);
            }"""
        )

        assert column(opened.page, "#picture-waterfall .numbers table", 0) == [
            "−3 s", "41 s", "2.1 min", "1,000 s", "1.2 h", "—",
        ]  # fmt: skip


def test_the_search_finds_by_name_meaning_and_unit(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        opened.page.locator("#metric-search").fill("entropy nats")

        assert [name.split()[0] for name in column(opened.page, "#metric-table", 0)] == ["policy/policy_entropy"]
        assert opened.page.locator("#metric-search-count").text_content() == "1 of 45"


def test_a_mark_tells_its_step_job_value_and_samples(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        opened.page.locator("#picture-reward").scroll_into_view_if_needed()
        opened.page.locator("#picture-reward .wide [data-r='3']").first.hover(force=True)
        told = opened.page.locator("#tip").inner_text()

        assert opened.page.locator("#tip").is_visible()
        for words in ("job\tjob_410231", "global step\t4", "reward\t0.1667", "samples\t12"):
            assert words in told


def test_arrows_go_from_mark_to_mark_and_shift_chooses_steps(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        page = opened.page
        page.locator("#picture-reward .canvas").focus()
        for key in ("Home", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"):
            page.keyboard.press(key)

        assert page.locator("#tip").is_visible()
        assert page.locator("#picture-reward .chosen-steps").text_content().startswith("Steps 3–5, means of")  # type: ignore[union-attr]
        assert page.locator("#picture-entropy .chosen-steps").count() == 1
        page.keyboard.press("Escape")
        assert page.locator(".chosen-steps").count() == 0


def test_dark_colours_follow_the_system_and_the_button(browser: Browser, report: Path):
    ground = "getComputedStyle(document.body).backgroundColor"
    with visit(browser, report, color_scheme="dark") as opened:
        assert opened.page.evaluate(ground) == "rgb(17, 20, 23)"
        for _ in range(2):
            opened.page.locator("#theme").click()
        assert opened.page.locator("#theme").get_attribute("aria-label") == "Colours: light"
        assert opened.page.evaluate(ground) == "rgb(248, 247, 244)"
        assert opened.said == []


def test_paper_is_light_and_shows_what_is_folded(browser: Browser, report: Path):
    with visit(browser, report, color_scheme="dark") as opened:
        opened.page.emulate_media(media="print")
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")

        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert opened.page.locator("#R37 .told").is_visible()
        assert not opened.page.locator(".contents").is_visible()


def test_no_column_of_the_time_tree_is_cut_on_paper(browser: Browser, report: Path):
    paper = {"width": 695, "height": 1000}  # A4 between the page's margins
    with visit(browser, report, viewport=paper) as opened:
        opened.page.emulate_media(media="print")

        assert opened.page.evaluate("document.querySelector('.tree').getBoundingClientRect().right <= innerWidth")


def test_without_scripts_it_still_tells_its_story(browser: Browser, report: Path):
    with visit(browser, report, java_script_enabled=False) as opened:
        page = opened.page

        assert page.locator(".verdict").is_visible()
        assert page.locator("#picture-reward .wide svg").is_visible()
        assert page.locator("#metric-table tbody tr").count() == 45
        assert not page.locator("#metric-search").is_visible()
        page.locator("#R1 summary").click()
        assert page.locator("#R1 .told").is_visible()
        page.locator("#picture-reward .numbers summary").click()
        assert page.locator("#picture-reward .numbers td").first.is_visible()


def test_a_phone_needs_no_sideways_scrolling_and_gets_pictures_of_its_own(browser: Browser, report: Path):
    with visit(browser, report, viewport=PHONE, is_mobile=True, has_touch=True) as opened:
        page = opened.page

        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert page.locator("#picture-reward .narrow svg").is_visible()
        assert not page.locator("#picture-reward .wide svg").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_assistive_programs(browser: Browser, report: Path, scheme: str):
    with visit(browser, report, color_scheme=scheme) as opened:
        opened.page.evaluate("for (const node of document.querySelectorAll('details')) node.open = true")

        assert violations(opened.page) == []


def test_the_csv_comes_out_of_the_page_itself(browser: Browser, report: Path, tmp_path: Path):
    alone = tmp_path / "sent.html"
    alone.write_bytes(report.read_bytes())
    with visit(browser, alone) as opened:
        opened.page.locator("#picture-jobs_reward .numbers summary").click()
        with opened.page.expect_download() as download:
            opened.page.locator("#picture-jobs_reward .files a").click()
        text = download.value.path().read_text(encoding="utf-8")

        assert download.value.suggested_filename == "jobs_reward.csv"
        assert text.splitlines()[0] == "job,mean,low,high,steps"
        assert len(text.splitlines()) == 4


def test_every_anchor_is_there_once(browser: Browser, report: Path):
    with visit(browser, report) as opened:
        ids = opened.page.eval_on_selector_all("[id]", "nodes => nodes.map(node => node.id)")
        targets = opened.page.eval_on_selector_all("a[href^='#']", "links => links.map(link => link.hash.slice(1))")

        assert len(ids) == len(set(ids))
        assert set(targets) <= set(ids)
