"""Nothing from a log becomes markup or script: names of everything, written to break out, stay text."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from rl_pipeline import pipeline
from rl_pipeline.schema import StepMetric
from rl_pipeline_tests.helpers.browser import visit
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row

pytestmark = pytest.mark.browser
SCRIPT = "</script><script>window.owned=1</script>"
HOSTILE = f"{SCRIPT}<img src=x onerror=window.owned=1><!--\"'`{{{{7*7}}}}<svg onload=window.owned=1>&lt;\u2028"
START = datetime(2026, 3, 1, 8, 0)
OWN_SCRIPTS = 1


JOB = f"job {HOSTILE}"


def hostile_frames() -> pipeline.ExperimentFrames:
    """An experiment in which every text is the hostile one."""
    job = job_row(
        JOB,
        path=HOSTILE,
        end_state="failed",
        end_evidence=HOSTILE,
        first_logged_at=START,
        last_logged_at=START + timedelta(hours=1),
    )
    return experiment_frames(
        f"experiment {HOSTILE}",
        jobs=[job],
        step_metrics=[row for step in range(1, 13) for row in hostile_step(step)],
        trials=[hostile_trial(number) for number in range(60)],
        vllm_stats=[hostile_stat(number) for number in range(40)],
        job_events=[hostile_event(1, "configuration"), hostile_event(2, "failure")],
        unparsed=[{"job": JOB, "line": 3, "byte_offset": 3, "dialect": HOSTILE, "reason": HOSTILE, "excerpt": HOSTILE}],
        skipped_trials=[{"path": HOSTILE, "reason": HOSTILE}],
    )


def hostile_step(step: int) -> list[StepMetric]:
    metrics = {"reward/avg_raw_reward": 0.3 + step / 100, "timing/step": 60.0, f"policy/{HOSTILE}": float(step)}
    return block_rows(JOB, step, step, metrics, logged_at=START + timedelta(minutes=step))


def hostile_trial(number: int) -> dict[str, Any]:
    failed = bool(number % 3)
    return {
        "trial": f"{HOSTILE}{number}",
        "task": HOSTILE,
        "path": HOSTILE,
        "outcome": "unscored" if failed else "solved",
        "reward": None if failed else 1.0,
        "exception_type": HOSTILE if failed else None,
        "exception_class": HOSTILE if failed else None,
        "n_turns": number % 7 + 1,
        "n_output_tokens": 100 + number,
        "finished_at": START + timedelta(minutes=number),
        "rewards": {},
        "secrets_redacted": 0,
    }


def hostile_stat(number: int) -> dict[str, Any]:
    return {
        "job": JOB,
        "line": number,
        "logged_at": START + timedelta(minutes=number),
        "pid": 7,
        "ip": HOSTILE,
        "running": 3,
        "waiting": 0,
        "scope": "engine",
        "repeat_count": 1,
        "generation_throughput": 5.0,
        "kv_cache_usage": 0.1,
    }


def hostile_event(line: int, kind: str) -> dict[str, Any]:
    place = {"job": JOB, "line": line, "byte_offset": line, "repeat_count": 1}
    return {**place, "kind": kind, "name": HOSTILE, "detail": HOSTILE}


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
