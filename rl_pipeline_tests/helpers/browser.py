"""A real browser for tests of pages: headless Chromium, and everything a page says or asks for.

Without Chromium the tests say skipped; `conftest.py` turns that into a failure in CI.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, Request, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
# Violations of these impacts stop somebody from using the page.
SERIOUS = ("serious", "critical")


@dataclass
class Visit:
    """One open page: what it said on the console, and what it asked for beyond itself."""

    page: Page
    address: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; skips where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: install it, or set CHROMIUM to its path")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield running
        finally:
            running.close()


@contextmanager
def visit(browser: Browser, address: str | Path, **options: Any) -> Iterator[Visit]:
    """Open a page in a context of its own.

    Args:
        browser: of `chromium`.
        address: URL or file.
        options: of Playwright's `new_context`.
    """
    url = address.as_uri() if isinstance(address, Path) else address
    context = browser.new_context(**{"viewport": DESK, **options})
    page = context.new_page()
    opened = Visit(page=page, address=url)
    listen(opened)
    page.goto(url)
    try:
        yield opened
    finally:
        context.close()


def listen(opened: Visit) -> None:
    """Keep what the page says and asks for."""

    def dismiss(dialog: Dialog) -> None:
        opened.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def note(request: Request) -> None:
        if foreign(request.url, opened.address):
            opened.asked.append(request.url)

    opened.page.on("console", lambda message: opened.said.append(f"{message.type}: {message.text}"))
    opened.page.on("pageerror", lambda error: opened.said.append(f"error: {error}"))
    opened.page.on("dialog", dismiss)
    opened.page.on("request", note)


def foreign(asked: str, url: str) -> bool:
    """Whether a request is for anything but the page itself; data and blobs lie inside it."""
    return asked.partition("#")[0] != url.partition("#")[0] and not asked.startswith(("data:", "blob:"))


def violations(page: Page) -> list[str]:
    """What axe finds that is serious, as rule and first place."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("no axe: install axe-playwright-python")
    script = (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    # Through the debugger, which a page's own policy does not bind.
    page.evaluate(script)
    results = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {rule['nodes'][0]['target']} {rule['nodes'][0]['failureSummary']}"
        for rule in results["violations"]
        if rule["impact"] in SERIOUS
    ]
