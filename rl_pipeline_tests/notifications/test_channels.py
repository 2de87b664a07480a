"""Notices arrive at real servers, and an error never shows an address with its secret."""

from __future__ import annotations

import email
import json
from email import policy
from pathlib import Path

import pytest

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.notifications import ChannelError, JsonLines, Mail, Notice, Webhook
from rl_pipeline_tests.helpers.receivers import mail_receiver, web_receiver

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # on the loopback address

NOTICE = Notice.of(
    subject="job demo_7: run", state="failed", title="job demo_7: run failed", text="what: <!channel> & more",
    experiment="demo", job="demo_7", link="http://127.0.0.1:3000/runs/1",
)  # fmt: skip


def test_a_file_gets_one_line_per_notice(tmp_path: Path):
    channel = JsonLines(tmp_path / "new" / "notifications.jsonl")

    channel.deliver(NOTICE)
    channel.deliver(NOTICE.resolved())

    records = [json.loads(line) for line in channel.path.read_text().splitlines()]
    assert [(record["subject"], record["state"]) for record in records] == [
        ("job demo_7: run", "failed"),
        ("job demo_7: run", "resolved"),
    ]
    assert records[0]["told_at"].endswith("+00:00")


def test_a_webhook_gets_the_notice_as_json():
    with web_receiver() as receiver:
        Webhook(receiver.url).deliver(NOTICE)

    [body] = receiver.bodies
    assert {name: body[name] for name in ("subject", "state", "severity", "kind", "job", "link")} == {
        "subject": "job demo_7: run",
        "state": "failed",
        "severity": "high",
        "kind": "run_failed",
        "job": "demo_7",
        "link": "http://127.0.0.1:3000/runs/1",
    }


def test_slack_gets_text_that_cannot_ping_a_channel():
    with web_receiver() as receiver:
        Webhook(receiver.url, format="slack").deliver(NOTICE)

    assert receiver.bodies == [
        {"text": "*job demo_7: run failed*\n```what: &lt;!channel&gt; &amp; more```\nhttp://127.0.0.1:3000/runs/1"}
    ]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_an_answer_that_is_not_success_is_a_failure_without_the_secret_part_of_the_address(status: int):
    with web_receiver(status=status) as receiver, pytest.raises(ChannelError) as told:
        Webhook(receiver.url).deliver(NOTICE)

    assert str(told.value) == f"webhook 127.0.0.1 answered {status}"


def test_a_webhook_that_is_away_is_a_failure():
    with web_receiver() as receiver:
        url = receiver.url

    with pytest.raises(ChannelError, match=r"webhook 127\.0\.0\.1: URLError"):
        Webhook(url).deliver(NOTICE)


@pytest.mark.parametrize(
    ("url", "kind"), [("file:///etc/passwd", "json"), ("https://", "json"), ("https://a.b", "xml")]
)
def test_a_webhook_that_could_never_work_is_refused_when_it_is_configured(url: str, kind: str):
    with pytest.raises(ConfigurationError):
        Webhook(url, format=kind)


def test_mail_arrives_at_every_receiver():
    with mail_receiver() as receiver:
        Mail(f"smtp://127.0.0.1:{receiver.port}", "rl@lab.example", ("a@lab.example", "b@lab.example")).deliver(NOTICE)

    [raw] = receiver.messages
    message = email.message_from_string(raw, policy=policy.default)
    assert message["Subject"] == "[rl-pipeline] job demo_7: run failed"
    assert message["To"] == "a@lab.example, b@lab.example"
    body = message.get_body()
    assert body is not None
    assert "what: <!channel> & more" in body.get_content()


def test_mail_logs_in_with_the_user_of_the_address():
    with mail_receiver(user="lab", password="p@ss/word") as receiver:
        Mail(f"smtp://lab:p%40ss%2Fword@127.0.0.1:{receiver.port}", "rl@lab.example", ("a@lab.example",)).deliver(
            NOTICE
        )

    assert len(receiver.messages) == 1


def test_a_wrong_password_is_a_failure_that_does_not_show_it():
    with mail_receiver(user="lab", password="right") as receiver, pytest.raises(ChannelError) as told:
        Mail(f"smtp://lab:wrong@127.0.0.1:{receiver.port}", "rl@lab.example", ("a@lab.example",)).deliver(NOTICE)

    assert str(told.value) == "mail 127.0.0.1 to a@lab.example: SMTPAuthenticationError"


def test_a_refused_receiver_is_a_failure():
    refused = frozenset({"b@lab.example"})

    with mail_receiver(refused=refused) as receiver, pytest.raises(ChannelError, match="1 receivers refused"):
        Mail(f"smtp://127.0.0.1:{receiver.port}", "rl@lab.example", ("a@lab.example", "b@lab.example")).deliver(NOTICE)


@pytest.mark.parametrize(
    ("url", "sender", "receivers"),
    [
        ("http://mail", "a@b.example", ("c@d.example",)),
        ("smtp://mail", "", ("c@d.example",)),
        ("smtp://mail", "a@b.example", ()),
    ],
    ids=["not smtp", "no sender", "no receiver"],
)
def test_mail_that_could_never_work_is_refused_when_it_is_configured(url: str, sender: str, receivers: tuple[str, ...]):
    with pytest.raises(ConfigurationError):
        Mail(url, sender, receivers)


def test_secrets_of_an_address_are_not_in_its_repr():
    assert "secret" not in repr(Webhook("https://hooks.example/secret")) + Webhook("https://hooks.example/secret").name
    assert "word" not in repr(Mail("smtp://u:word@mail", "a@b.example", ("c@d.example",)))
