"""Every error has a slug, every slug an explanation, and no explanation is left without an error."""

from __future__ import annotations

import re
from pathlib import Path

from rl_pipeline.messages import MESSAGES

PACKAGE = Path(__file__).resolve().parents[2] / "rl_pipeline"


def slugs_in_code() -> set[str]:
    return {
        slug
        for path in PACKAGE.rglob("*.py")
        for slug in re.findall(r"\bslug=\"([a-z0-9-]+)\"", path.read_text(encoding="utf-8"))
        if "findings" not in path.parts
    }


def test_every_error_is_explained_and_nothing_else():
    assert set(MESSAGES) == slugs_in_code()


def test_an_explanation_says_what_to_do():
    short = [slug for slug, message in MESSAGES.items() if len(message.text) < 60]

    assert short == []
