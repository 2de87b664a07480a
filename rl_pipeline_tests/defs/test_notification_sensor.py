"""What happens reaches people: a run that really failed, by file, webhook and mail, once, without a credential."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.factory import build_definitions, build_resources
from rl_pipeline.defs.memory import Memory, Stall
from rl_pipeline.defs.notification_sensor import channels_of
from rl_pipeline.defs.runs import READ_LOG
from rl_pipeline.settings import Settings
from rl_pipeline_tests.helpers.lab import Lab
from rl_pipeline_tests.helpers.receivers import mail_receiver, web_receiver

TOKEN = "hf_" + "a1B2c3D4e5" * 4  # the form of a Hugging Face token, made up


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


def tick(settings: Settings, instance: dg.DagsterInstance) -> str | None:
    definitions = build_definitions(settings)
    context = dg.build_sensor_context(
        instance=instance,
        instance_ref=instance.get_ref(),
        repository_def=definitions.get_repository_def(),
        resources=build_resources(settings),
    )
    return definitions.resolve_sensor_def("notifications").evaluate_tick(context).skip_message


def test_a_run_that_failed_reaches_every_channel_once(tmp_path: Path, instance: dg.DagsterInstance):
    lab = Lab(tmp_path)
    path = lab.write_job("demo", 101)
    lab.register(instance)
    path.unlink()
    with web_receiver() as web, mail_receiver() as mail:
        settings = replace(
            lab.settings,
            notify_webhook=web.url,
            notify_smtp=f"smtp://127.0.0.1:{mail.port}",
            notify_from="rl@lab.example",
            notify_to=("a@lab.example",),
        )
        job = build_definitions(settings).resolve_job_def(READ_LOG)
        job.execute_in_process(partition_key="demo_101", instance=instance, raise_on_error=False)
        told = [tick(settings, instance) for _ in range(3)]

    [body] = web.bodies
    assert body["title"] == "run demo_101 failed"
    assert "a file of this partition cannot be read" in body["text"]
    assert len(mail.messages) == 1
    assert len((settings.home / "notifications" / "notifications.jsonl").read_text().splitlines()) == 1
    assert told[1:] == ["nothing new; 1 matters stand"] * 2


def test_a_webhook_that_is_away_stops_nothing_and_is_told_later(tmp_path: Path, instance: dg.DagsterInstance):
    settings = Lab(tmp_path).settings
    Memory(settings.home / "sensors").remember_stalls([Stall(job_key="demo_7", text="silence")])
    with web_receiver() as web:
        url = web.url
    away = replace(settings, notify_webhook=url)

    tick(away, instance)
    with web_receiver() as web:
        tick(replace(settings, notify_webhook=web.url), instance)

    assert [body["title"] for body in web.bodies] == ["job demo_7 does not move"]
    assert len((settings.home / "notifications" / "notifications.jsonl").read_text().splitlines()) == 1


def test_a_stall_is_not_over_when_the_memory_of_it_is_lost(tmp_path: Path, instance: dg.DagsterInstance):
    settings, stall = Lab(tmp_path).settings, Stall(job_key="demo_7", text="silence")
    memory = Memory(settings.home / "sensors")
    memory.remember_stalls([stall])
    tick(settings, instance)
    shutil.rmtree(settings.home / "sensors")
    tick(settings, instance)
    memory.remember_stalls([stall])
    tick(settings, instance)
    memory.remember_stalls([])
    tick(settings, instance)

    lines = (settings.home / "notifications" / "notifications.jsonl").read_text().splitlines()
    assert [json.loads(line)["state"] for line in lines] == ["stalled", "resolved"]


def test_no_credential_from_a_log_is_sent_or_kept(tmp_path: Path, instance: dg.DagsterInstance):
    settings = Lab(tmp_path).settings
    Memory(settings.home / "sensors").remember_stalls([Stall(job_key="demo_7", text=f"last line: HF_TOKEN={TOKEN}")])

    tick(settings, instance)

    kept = "".join(path.read_text() for path in (settings.home / "notifications").iterdir())
    assert TOKEN not in kept
    assert "does not move" in kept


def test_addresses_are_in_no_resource_that_the_pages_show(tmp_path: Path):
    settings = replace(
        Lab(tmp_path).settings,
        notify_webhook="https://hooks.example/secret-part",
        postgres_url="postgresql://u:secret-part@db/rl",
    )

    shown = json.dumps({name: found.model_dump(mode="json") for name, found in build_resources(settings).items()})

    assert "secret-part" not in shown
    assert len(channels_of(settings)) == 2
