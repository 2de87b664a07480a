"""The sensor `notifications`: tells once what changed for the worse, and once that it is over.

It asks for no run. Addresses with their passwords and tokens stay in the settings; they are in no
resource, since Dagster's pages show the configuration of resources. (No `from __future__ import
annotations` here: Dagster reads the annotations.)
"""

import dagster as dg

from rl_pipeline.defs.notices import FINDING, RUN_FAILED, STALLED, failing_runs, stalled_jobs, weighty_findings
from rl_pipeline.defs.resources import Reports, Sensing
from rl_pipeline.defs.versions import REPORT_ASSET, recorded_versions
from rl_pipeline.defs.watch_list import WatchList, read_watch_list, write_watch_list
from rl_pipeline.notifications import Channel, JsonLines, Mail, Outbox, Webhook
from rl_pipeline.settings import Settings

FOLDER, FILE = "notifications", "notifications.jsonl"
KINDS = frozenset({RUN_FAILED, STALLED, FINDING})
MOST_REPORTS = 50  # reports looked into at one look


def channels_of(settings: Settings) -> list[Channel]:
    """The file, and what else is configured."""
    channels: list[Channel] = [JsonLines(settings.home / FOLDER / FILE)]
    if settings.notify_webhook:
        channels.append(Webhook(settings.notify_webhook, settings.notify_webhook_format))
    if settings.notify_smtp:
        channels.append(Mail(settings.notify_smtp, settings.notify_from, settings.notify_to))
    return channels


def notifications_sensor(settings: Settings) -> dg.SensorDefinition:
    """Tells the configured channels."""
    outbox = Outbox(settings.home / FOLDER, channels_of(settings))
    file = settings.home / FOLDER / "watch_list.json"

    @dg.sensor(
        name="notifications",
        minimum_interval_seconds=settings.tick_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells failed runs, stalled jobs and weighty findings: to a file always, to a webhook and by "
        "mail where they are configured. One message for each change of state.",
    )
    def notifications(context: dg.SensorEvaluationContext, sensing: Sensing, reports: Reports) -> dg.SkipReason:
        before = read_watch_list(file)
        now = looked_again(before, context.instance, reports, settings.ui_url)
        write_watch_list(file, now)
        stalls = sensing.memory().stalls()
        stalled = stalled_jobs(stalls or [], ui_url=settings.ui_url)
        current = [*now.failing.values(), *stalled.values(), *now.all_findings()]
        # What nobody has looked at (again) is not over.
        delivery = outbox.tell(current, known_kinds=KINDS if stalls is not None else KINDS - {STALLED})
        for problem in delivery.problems:
            context.log.warning(f"a notification could not be delivered, it will be tried again: {problem}")
        told = ", ".join(f"{count} to {name}" for name, count in delivery.told.items() if count)
        return dg.SkipReason(f"told {told}" if told else f"nothing new; {len(current)} matters stand")

    return notifications


def looked_again(before: WatchList, instance: dg.DagsterInstance, reports: Reports, ui_url: str) -> WatchList:
    """The watch list as of now: runs that ended since, reports that were made since."""
    failing, since = failing_runs(instance, before.failing, before.since, ui_url=ui_url)
    versions, findings = dict(before.versions), dict(before.findings)
    changed = [
        (key, made) for key, made in recorded_versions(instance, REPORT_ASSET).items() if versions.get(key) != made
    ]
    for key, made in changed[:MOST_REPORTS]:
        try:
            findings[key] = weighty_findings(key, reports.of(key) / "report.json", ui_url=ui_url)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # being replaced, or written by another version: looked at again
        versions[key] = made
    return WatchList(failing=failing, since=since, findings=findings, versions=versions)
