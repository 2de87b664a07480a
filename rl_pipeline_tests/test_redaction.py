"""Credentials are taken out, ordinary text stays. All values are made up."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.redaction import KINDS, SK, STEMS, redact, redacted_start, secret_needles

LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"key sk-ant-api03-{LETTERS} used", "anthropic_key"),
        (f"key sk-proj-{LETTERS} used", "openai_key"),
        (f"key sk-or-v1-{LETTERS} used", "openai_key"),
        (f"key hf_{LETTERS[:34]} used", "huggingface_token"),
        (f"key ghp_{LETTERS[:36]} used", "github_token"),
        (f"key glpat-{LETTERS[:20]} used", "gitlab_token"),
        ("key AKIAABCDEFGHIJKLMNOP used", "aws_key_id"),
        (f"key AIza{LETTERS[:35]} used", "google_key"),
        ("key xoxb-123456789012-abcdef used", "slack_token"),
        ("key https://hooks.slack.com/services/T000/B000/abcdefgh used", "slack_token"),
        (f"key dtn_{LETTERS} used", "provider_token"),
        (f"key eyJ{LETTERS[:20]}.eyJ{LETTERS[:20]}.{LETTERS[:20]} used", "jwt"),
        (f"key -----BEGIN PRIVATE KEY-----\n{LETTERS}\n-----END PRIVATE KEY----- used", "private_key"),
        (f"key WANDB_API_KEY={LETTERS} used", "named_secret"),
        ("key 'password': 'hunter22' used", "named_secret"),
        (f'key "api_key": "{LETTERS}" used', "named_secret"),
        (f"key HF_TOKEN={LETTERS[:20]} used", "named_secret"),
        (f'key \\"api_key\\": \\"{LETTERS}\\" used', "named_secret"),
        (f"key Authorization: Bearer {LETTERS} used", "bearer_token"),
        ("key postgresql://ada:s3cret@db/runs used", "url_password"),
        (f"key X-Api-Key: {LETTERS} used", "named_secret"),
        (f"key Api_Key: {LETTERS} used", "named_secret"),
        (f"key APIKEY={LETTERS} used", "named_secret"),
        (f"key OPENAI_KEY={LETTERS} used", "named_secret"),
        (f"key private_key={LETTERS} used", "named_secret"),
        (f'key "SessionToken": "{LETTERS}" used', "named_secret"),
        (f"key x-amz-security-token={LETTERS} used", "named_secret"),
        (f"key token: {LETTERS} used", "named_secret"),
        (f"key --hf-token {LETTERS} used", "named_secret"),
        ("key --password hunter22 used", "named_secret"),
        ("key PassWord: hunter22 used", "named_secret"),
        (f"key Authorization: token {LETTERS} used", "bearer_token"),
        (f"key https://{LETTERS}@db/runs used", "url_password"),
    ],
    ids=lambda value: value[:30].replace("\n", " "),
)
def test_a_credential_is_replaced_and_counted(text, kind):
    redacted = redact(text)

    assert redacted.found == {kind: 1}
    assert redacted.text.startswith("key ")
    assert redacted.text.rstrip("/ used").endswith("]") or redacted.text.endswith(("db/runs used", "' used", '" used'))
    assert not any(
        part in redacted.text for part in (LETTERS[:16], "hunter22", "s3cret", "ABCDEFGHIJKL", "123456789012")
    )
    assert redact(redacted.text).text == redacted.text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"sk-{LETTERS}", LETTERS),
        (f"(sk-{LETTERS})", LETTERS),
        (f"loss_ghp_{LETTERS[:36]}", LETTERS[:36]),
        (f"\\nhf_{LETTERS[:34]}", LETTERS[:34]),
        (f"q=%3Dsk-{LETTERS}", LETTERS),
        (f"hf_{LETTERS * 5}", LETTERS),
        ("password=x9Kd83hfKQpw0", "Kd83"),
        ("password=$k9Kd83hf", "Kd83"),
        ("password={k9Kd83hf", "Kd83"),
        ("password=<k9Kd83hf", "Kd83"),
        ("password=redacted9Kd83hf", "Kd83"),
        ("password=none-9Kd83hf", "Kd83"),
        ("password=env9Kd83hf", "Kd83"),
        *((f"aws_secret_access_key={first}k9{LETTERS[:36]}", "k9") for first in "/~.$(%*x"),
        (f"password={'Ab1' * 3000}", "Ab1"),
        ("postgresql://ada:xs3cret@db/runs", "s3cret"),
        ("postgresql://ada:/s3cret@db/runs", "s3cret"),
        ("postgresql://ada:p@s3cret@db/runs", "s3cret"),
    ],
)
def test_nothing_of_a_credential_stays_whatever_it_begins_with(text, secret):
    redacted = redact(text)

    assert sum(redacted.found.values()) == 1
    assert secret not in redacted.text


@pytest.mark.parametrize(
    "value",
    ["xxxx", "****", "x-x-x", "<token>", "<your token>", "${HF_TOKEN}", "${X1:-}", "$HF_TOKEN", "%TOKEN%", "{token}",
     "redacted", "[redacted]", "/run/secrets/key1", "none"],
)  # fmt: skip
def test_a_whole_placeholder_stays(value):
    assert redact(f"password={value}").text == f"password={value}"


@pytest.mark.parametrize("limit", [200, 300])
@pytest.mark.parametrize("before", range(0, 60, 7))
def test_of_a_credential_across_the_cut_nothing_is_shown(before, limit):
    shrinking = f"eyJ{LETTERS}.eyJ{LETTERS}.{LETTERS} " * 20
    text = (shrinking[: 4 * limit - before].rpartition(" ")[0] + " ").ljust(4 * limit - before, "=") + f" ghp_{LETTERS}"

    shown = redacted_start(text, limit)

    assert len(shown) <= limit
    assert "ghp_" not in shown
    assert "a1B2" not in shown


def test_a_text_without_a_credential_keeps_its_start():
    assert redacted_start("a" * 10**6, 200) == "a" * 200
    assert redacted_start("ab " * 10**5, 200) == ("ab " * 67)[:200]


@pytest.mark.parametrize("text", ["sk-ant-", "WANDB_API_KEY=", "Authorization: Bearer ", "-----BEGIN PRIVATE KEY-----"])
def test_needles_find_lines_with_credentials(text):
    assert any(needle in text.encode() for needle in secret_needles)


def test_every_mark_holds_a_stem():
    marks = [mark.lower() for kind in KINDS for mark in (*kind.marks, *kind.stems) if mark != "://"]

    assert [mark for mark in marks if not any(stem in mark for stem in STEMS) and SK.search(mark) is None] == []


@pytest.mark.parametrize(
    "text", ['"n_input_tokens": 5', "MAX_TOKENS=5", "max_token_len", "task-1 disk-2", "https://x.y"]
)
def test_ordinary_words_hold_no_needle(text):
    assert not any(needle in text.encode() for needle in secret_needles)


@pytest.mark.parametrize(
    "text",
    [
        "n_input_tokens: 123456789012, max_token: 4096, tokens_per_second: 12.5",
        "Finished: 'save_hf_model', time cost: 41.20s",
        "HF_TOKEN=${HF_TOKEN} api_key: null password: **** secret=<redacted>",
        "bos_token: '<|im_start|>1234567890', eos_token=a1b2c3d4e5f6g7",
        "sort_key=a1b2c3d4e5f6g7, monkey: a1b2c3d4e5f6g7",
        "--password --user ada1, --token-limit 4096x4096x4096, --max-token a1, git@github.com/ada, https://a1@db/runs",
        "WANDB_API_KEY=your-key-here-1234567890 api_key=os.environ['X1234567890']",
        "task-abcdefghijklmnop1234567890 disk-usage risk-free",
        "Resuming from https://huggingface.co/org/model:main and s3://bucket/key@v1",
        "the secret of success: practice makes perfect",
        "git@github.com:org/repo.git",
        "",
    ],
)
def test_ordinary_text_stays(text):
    assert redact(text).text == text
    assert redact(text).found == {}


@given(st.text(st.sampled_from("sk-hf_eyJ.AKIA=:'\"\n {}Bearer password0aZ/@"), max_size=200))
def test_redaction_of_redacted_text_changes_nothing(text):
    once = redact(text).text

    assert redact(once).text == once


@pytest.mark.parametrize(
    "text",
    [
        "api_key=",
        "sk-",
        " sk-proj-a",
        "://a:",
        "eyJ",
        "Bearer ",
        "secret",
        "-----BEGIN PRIVATE KEY-----",
        "a.b-c_",
        "password=a",
    ],
)
def test_hostile_text_costs_no_more_than_its_length(text):
    began = time.process_time()

    redact(text * 50_000 + " hf_ secret= :// Bearer ")

    assert time.process_time() - began < 20  # not a speed test: quadratic work would need minutes
