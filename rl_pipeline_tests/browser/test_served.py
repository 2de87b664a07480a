"""The same pages through web servers: plain files over HTTP, and Dagster's own pages of the assets."""

from __future__ import annotations

import functools
import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from rl_pipeline_tests.helpers.browser import visit
from rl_pipeline_tests.helpers.lab import Lab
from rl_pipeline_tests.helpers.receivers import free_port
from rl_pipeline_tests.helpers.services import BIN, clean_environment, service, until

pytestmark = pytest.mark.browser


# Assets whose page shows a small picture at once, and a partition of each.
SMALL_PICTURES = {"findings": "demo", "trials": "demo", "step_metrics": "demo_101", "job_events": "demo_101"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing; there is no icon, and no page asks for one by itself."""

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder at an address of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_the_pages_work_from_a_web_server(browser: Browser, reports: Path):
    with served(reports) as address:
        for page in ("index.html", "compare.html", "grpo-shell-tasks-4b/report.html"):
            with visit(browser, f"{address}/{page}") as opened:
                opened.page.wait_for_load_state("networkidle")

                said = [words for words in opened.said if "favicon" not in words and "404" not in words]
                asked = [url for url in opened.asked if not url.endswith("/favicon.ico")]
                assert (said, asked) == ([], [])


def asset_pages(port: int) -> list[str]:
    """Names of the assets, as the server knows them."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        data=b'{"query": "{assetNodes{assetKey{path}}}"}',
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        nodes = json.load(answer)["data"]["assetNodes"]
    return [node["assetKey"]["path"][-1] for node in nodes]


@pytest.mark.dagster
def test_the_pages_of_the_assets_show_charts_and_pictures(browser: Browser, tmp_path: Path):
    lab, port = Lab(tmp_path), free_port()
    lab.write_job("demo", 101, steps=tuple(range(1, 9)))
    lab.write_trials("demo", 6)
    environment = {**lab.environment(), "HOME": str(tmp_path)}
    made = subprocess.run(
        [str(BIN / "rl-pipeline"), "backfill", str(lab.root)],
        env=clean_environment(environment), cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr[-2000:]
    command = [str(BIN / "rl-pipeline"), "ui", "--port", str(port)]
    with service(command, environment, folder=tmp_path, log=tmp_path / "ui.log"):
        names = until("the UI", lambda: asset_pages(port))
        assert "experiment_index" in names
        with visit(browser, f"http://127.0.0.1:{port}/assets/metrics_report?partition=demo") as opened:
            page = opened.page
            # shown at once: the small chart and the bar of time
            page.locator("img[src^='data:image/svg']").nth(1).wait_for(timeout=60_000)
            # behind the button: the picture of the report
            row = page.locator("tr", has_text="picture_reward")
            row.get_by_text("[Show Markdown]").click()
            picture = page.get_by_role("dialog").locator("img[src^='data:image/svg']")
            picture.wait_for(timeout=20_000)
            drawn = picture.evaluate("image => image.complete && image.naturalWidth > 300")

            assert drawn
            # said in words and numbers: the verdict, findings by severity, where the page lies, the mean that counts
            told = page.locator("table").first.inner_text()
            assert all(name in told for name in ("verdict", "is_it_learning", "findings_high", "mean_reward_canonical"))
            assert "demo/report.html" in told
            outside = [url for url in opened.asked if "//127.0.0.1" not in url]
            assert outside == []
        for name, partition in SMALL_PICTURES.items():
            with visit(browser, f"http://127.0.0.1:{port}/assets/{name}?partition={partition}") as opened:
                small = opened.page.locator("img[src^='data:image/svg']").first
                small.wait_for(timeout=60_000)

                assert small.evaluate("image => image.complete && image.naturalWidth > 100"), name
