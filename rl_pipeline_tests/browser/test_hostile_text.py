"""Nothing from a log becomes markup or script: names of everything, written to break out, stay text."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from rl_pipeline import pipeline
from rl_pipeline_tests.helpers.browser import visit
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row

pytestmark = pytest.mark.browser
SCRIPT = "</script><script>window.owned=1</script>"
HOSTILE = f"{SCRIPT}<img src=x onerror=window.owned=1><!--\"'`{{{{7*7}}}}<svg onload=window.owned=1>&lt;\u2028"
START = datetime(2026, 3, 1, 8, 0)
OWN_SCRIPTS = 1


def hostile_frames() -> pipeline.ExperimentFrames:
    """An experiment in which every text is the hostile one."""
    rows = []
    for step in range(1, 13):
        metrics = {"reward/avg_raw_reward": 0.3 + step / 100, "timing/step": 60.0, f"policy/{HOSTILE}": float(step)}
        rows += block_rows(f"job {HOSTILE}", step, step, metrics, logged_at=START + timedelta(minutes=step))
    trials: list[dict[str, Any]] = [
        {
            "trial": f"{HOSTILE}{n}",
            "task": HOSTILE,
            "path": HOSTILE,
            "outcome": "unscored" if n % 3 else "solved",
            "reward": None if n % 3 else 1.0,
            "exception_type": HOSTILE if n % 3 else None,
            "exception_class": HOSTILE if n % 3 else None,
            "n_turns": n % 7 + 1,
            "n_output_tokens": 100 + n,
            "finished_at": START + timedelta(minutes=n),
            "rewards": {},
            "secrets_redacted": 0,
        }
        for n in range(60)
    ]
    stats = [
        {
            "job": f"job {HOSTILE}",
            "line": n,
            "logged_at": START + timedelta(minutes=n),
            "pid": 7,
            "ip": HOSTILE,
            "running": 3,
            "waiting": 0,
            "scope": "engine",
            "repeat_count": 1,
            "generation_throughput": 5.0,
            "kv_cache_usage": 0.1,
        }
        for n in range(40)
    ]
    events = [
        {
            "job": f"job {HOSTILE}",
            "line": 1,
            "byte_offset": 1,
            "repeat_count": 1,
            "kind": "configuration",
            "name": HOSTILE,
            "detail": HOSTILE,
        },
        {
            "job": f"job {HOSTILE}",
            "line": 2,
            "byte_offset": 2,
            "repeat_count": 1,
            "kind": "failure",
            "name": HOSTILE,
            "detail": HOSTILE,
        },
    ]
    unparsed = [
        {
            "job": f"job {HOSTILE}",
            "line": 3,
            "byte_offset": 3,
            "dialect": HOSTILE,
            "reason": HOSTILE,
            "excerpt": HOSTILE,
        }
    ]
    job = job_row(
        f"job {HOSTILE}",
        path=HOSTILE,
        end_state="failed",
        end_evidence=HOSTILE,
        first_logged_at=START,
        last_logged_at=START + timedelta(hours=1),
    )
    return experiment_frames(
        f"experiment {HOSTILE}",
        jobs=[job],
        step_metrics=rows,
        trials=trials,
        vllm_stats=stats,
        job_events=events,
        unparsed=unparsed,
        skipped_trials=[{"path": HOSTILE, "reason": HOSTILE}],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Path:
    reports = tmp_path_factory.mktemp("hostile")
    frames = hostile_frames()
    result = pipeline.analyse_experiment(frames)
    for name in ("one", "a'b&c<d>"):
        pipeline.render_report(result, frames, reports / name)
    pipeline.write_index(reports)
    return reports


def everything_opened(page: Page) -> None:
    """Unfold all and walk over the marks, so that every text was shown once."""
    page.evaluate("for (const node of document.querySelectorAll('details')) node.open = true")
    page.evaluate(
        """() => { for (const canvas of document.querySelectorAll('.canvas[tabindex]')) {
            canvas.focus();
            for (const key of ['Home', 'ArrowRight', 'End'])
                canvas.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, shiftKey: key === 'End'}));
        } }"""
    )


@pytest.mark.parametrize("name", ["one/report.html", "index.html", "compare.html"])
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts on", "scripts off"])
def test_hostile_text_stays_text(browser: Browser, folder: Path, name: str, scripts: bool):
    with visit(browser, folder / name, java_script_enabled=scripts) as opened:
        if scripts:
            everything_opened(opened.page)
            opened.page.wait_for_load_state("networkidle")

        assert (opened.said, opened.asked) == ([], [])
        if scripts:
            assert opened.page.evaluate("window.owned") is None
            assert opened.page.locator("script:not([type])").count() == OWN_SCRIPTS
        assert opened.page.locator("img, iframe, object, embed, [onload], [onerror]").count() == 0


def test_the_text_itself_can_be_read(browser: Browser, folder: Path):
    with visit(browser, folder / "one" / "report.html") as opened:
        assert SCRIPT in opened.page.locator("h1").inner_text()
        assert "{{7*7}}" in opened.page.locator("h1").inner_text()


def test_the_policy_forbids_scripts_that_are_not_the_pages_own(browser: Browser, folder: Path):
    with visit(browser, folder / "one" / "report.html") as opened:
        opened.page.evaluate(
            """() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1';
                       document.body.append(s); }"""
        )

        assert opened.page.evaluate("window.owned") is None
        assert any("Content Security Policy" in words for words in opened.said)


def test_links_of_odd_folder_names_lead_to_their_reports(browser: Browser, folder: Path):
    with visit(browser, folder / "index.html") as opened:
        opened.page.locator("#experiments tbody th > a").first.click()

        assert opened.page.title().startswith("experiment ")
