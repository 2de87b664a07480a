"""The picture of the README: the first screen of the sample's report, as a browser shows it.

    python examples/make_picture.py        # writes docs/report.png

Needs Chromium (`CHROMIUM`, else /usr/bin/chromium) and the development extras. The page is made from the
bundled sample, so the picture changes only when the report does.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from rl_pipeline import pipeline
from rl_pipeline.discovery import discover
from rl_pipeline.report.vega import packed

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 1160, 1240
LARGEST = 300_000


def main() -> int:
    """Write the picture; 1 when there is no browser."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if browser is None:
        print("no Chromium: set CHROMIUM to its path", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        page = sample_page(Path(folder))
        PICTURE.write_bytes(packed(screenshot(page, browser)))
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")
    return 0 if PICTURE.stat().st_size < LARGEST else 1


def sample_page(folder: Path) -> Path:
    """The sample's report."""
    experiment = discover([ROOT / "examples" / "sample"]).only()
    jobs = [pipeline.parse_job(log) for log in experiment.jobs]
    trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs)
    frames = pipeline.load_frames(experiment.experiment, jobs, trials)
    pipeline.render_report(pipeline.analyse_experiment(frames), frames, folder)
    return folder / "report.html"


def screenshot(page: Path, browser: str) -> bytes:
    """Its first screen in light colours, with findings of low severity left folded."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        view = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        view.goto(page.as_uri())
        picture = view.screenshot()
        chromium.close()
        return bytes(picture)


if __name__ == "__main__":
    sys.exit(main())
