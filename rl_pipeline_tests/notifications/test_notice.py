"""What a notice says is safe to send."""

from __future__ import annotations

from rl_pipeline.notifications.notice import TEXT_LIMIT, TITLE_LIMIT, Notice

TOKEN = "hf_" + "a1B2c3D4e5" * 4  # the form of a Hugging Face token, made up


def test_a_credential_in_an_excerpt_never_becomes_part_of_a_notice():
    notice = Notice.of(subject="job a", state="failed", title=f"failed with {TOKEN}", text=f"export HF_TOKEN={TOKEN}")

    assert TOKEN not in notice.title + notice.text


def test_a_notice_is_short_and_has_no_control_characters():
    notice = Notice.of(subject="job a", state="failed", title="x" * 500, text="\x1b[31mred\x00\n" + "y" * 9000)

    assert len(notice.title) == TITLE_LIMIT
    assert len(notice.text) == TEXT_LIMIT
    assert "\x1b" not in notice.text
    assert "\x00" not in notice.text


def test_a_resolved_notice_is_about_the_same_subject_and_repeats_no_excerpt():
    notice = Notice.of(subject="job a", state="failed", title="job a failed", text="an excerpt", job="a").resolved()

    assert (notice.subject, notice.state, notice.title, notice.text, notice.severity, notice.job) == (
        "job a", "resolved", "over: job a failed", "", "low", "a",
    )  # fmt: skip
