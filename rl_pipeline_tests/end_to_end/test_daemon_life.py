"""The life of a small laboratory under the real daemon: logs are dropped, end in every way, grow, are written anew,
touched, moved and deleted; the daemon is stopped and forgets. Each content is read once, reported once and told once.

One story, told once, of which the tests look at the parts. It waits for what the instance and the receivers have,
never for time.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.log_files import AS_OF_TAG, FINISHED_BY_TAG
from rl_pipeline.defs.runs import INDEX, READ_LOG, REPORT
from rl_pipeline.defs.versions import LOG_ASSET, recorded_versions
from rl_pipeline.discovery import discover
from rl_pipeline_tests.helpers.lab import NO_END, TIME_LIMIT, Lab, job_writer
from rl_pipeline_tests.helpers.ledger_of_runs import (
    assert_nothing_twice_and_nothing_half,
    counts,
    made_of_what_is_on_disk,
    runs,
    several_looks_later,
)
from rl_pipeline_tests.helpers.receivers import MailReceiver, WebReceiver, mail_receiver, web_receiver
from rl_pipeline_tests.helpers.services import daemon, until

pytestmark = [pytest.mark.dagster, pytest.mark.daemon]
SUCCESS, FAILURE = dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE
PATIENCE = 600.0
PARTITION = "dagster/partition"
SENSORS = ("finished_jobs", "finished_experiments", "running_jobs", "notifications")


class Life:
    """The laboratory, its instance, its receivers, and what was seen at the end of each part of the story."""

    def __init__(self, lab: Lab, instance: dg.DagsterInstance, web: WebReceiver, mail: MailReceiver) -> None:
        self.lab, self.instance, self.web, self.mail = lab, instance, web, mail
        self.archive = lab.folder / "archive"
        self.by: dict[str, str] = {}
        self.states: dict[str, str] = {}
        self.runs_of: dict[str, Counter[str]] = {}

    def environment(self) -> dict[str, str]:
        return {
            **self.lab.environment(),
            "HOME": str(self.lab.folder),
            "RL_PIPELINE_ROOTS": f"{self.lab.root}:{self.archive}",
            "RL_PIPELINE_RUNNING_MINUTES": "0.05",
            "RL_PIPELINE_STALL_MINUTES": "20",
            "RL_PIPELINE_NOTIFY_WEBHOOK": self.web.url,
            "RL_PIPELINE_NOTIFY_SMTP": f"smtp://127.0.0.1:{self.mail.port}",
            "RL_PIPELINE_NOTIFY_FROM": "rl@lab.example",
            "RL_PIPELINE_NOTIFY_TO": "a@lab.example",
        }

    def made(self, *left_out: str) -> None:
        until(
            "every job and report is made of what is on disk",
            lambda: made_of_what_is_on_disk(self.instance, self.lab, running=left_out),
            patience=PATIENCE,
        )

    def several_looks(self) -> None:
        until("looks of every sensor", several_looks_later(self.instance, *SENSORS), patience=PATIENCE)

    def version(self, job_key: str) -> str:
        return recorded_versions(self.instance, LOG_ASSET).get(job_key, "")

    def told(self, subject: str) -> list[str]:
        """The states that the webhook was told about a subject."""
        return [body["state"] for body in self.web.bodies if body["subject"] == subject]

    def keep(self, part: str) -> None:
        """Remember how many runs there are by now, by Dagster job, outcome and partition."""
        self.runs_of[part] = Counter(
            f"{run.job_name} {run.status.value} {run.tags.get(PARTITION, '-')}" for run in self.instance.get_runs()
        )


def written_before(path: Path, minutes: float) -> None:
    moment = time.time() - 60 * minutes
    os.utime(path, (moment, moment))


def write_at_once(path: Path, text: str, how: int) -> None:
    """Append or write anew with one call, so that no look falls between two parts of one change."""
    file = os.open(path, os.O_WRONLY | how)
    assert os.write(file, text.encode()) == len(text.encode())
    os.close(file)


def logs_are_dropped(life: Life) -> None:
    """Three jobs of one experiment end together; one is silent, one is stuck, one file is no job's log."""
    lab = life.lab
    lab.write_trials("demo", 4)
    lab.write_job("demo", 101, steps=(1, 2), end=TIME_LIMIT)
    lab.write_job("demo", 102, steps=(2, 3), end=NO_END, hours=2.0)  # finished by its successor
    lab.write_job("demo", 103, steps=(3, 4), hours=4.0)
    written_before(lab.write_job("silent", 201, end=NO_END), minutes=120)
    written_before(lab.write_job("stuck", 301, end=NO_END), minutes=30)
    odd = lab.log_path("odd", 401)
    odd.parent.mkdir(parents=True)
    odd.write_text("nothing that anybody would recognise\n" * 3)
    (odd.parent / "odd_401_rank1.out").write_text("what a rank worker beside the trainer prints\n")
    written_before(odd, minutes=120)


def the_first_day(life: Life) -> None:
    logs_are_dropped(life)
    with daemon(life.environment(), life.lab.folder):
        life.made("stuck_301", "odd_401")
        until("tables of the job that runs", lambda: life.version("stuck_301").endswith("open"), patience=PATIENCE)
        until("the stall is told", lambda: life.told("job stuck_301"), patience=PATIENCE)
        until("the failure is told", lambda: life.told("run odd_401"), patience=PATIENCE)
        life.several_looks()
        life.made("stuck_301", "odd_401")
        life.keep("dropped")
        contents_change(life)
        life.keep("changed")
        places_change(life)
        life.keep("moved")


def contents_change(life: Life) -> None:
    """A job is requeued and appends to its log; another log is truncated and written anew."""
    growing = life.lab.log_path("demo", 103)
    write_at_once(growing, job_writer(103, steps=(5, 6), end=NO_END, hours=6.0).text(), os.O_APPEND)
    until(
        "tables as of now of the log that grows", lambda: life.version("demo_103").endswith("open"), patience=PATIENCE
    )
    until(
        "the report of the others", lambda: len(runs(life.instance, REPORT, SUCCESS, partition="demo")) == 2,
        patience=PATIENCE,
    )  # fmt: skip
    write_at_once(growing, job_writer(103, steps=(7,), end=TIME_LIMIT, hours=8.0).text(), os.O_APPEND)
    anew = job_writer(201, steps=(1,), end=TIME_LIMIT).text()
    write_at_once(life.lab.log_path("silent", 201), anew, os.O_TRUNC)
    life.made("stuck_301", "odd_401")
    life.several_looks()


def places_change(life: Life) -> None:
    """A log is touched, another one deleted, a whole experiment moved to the archive."""
    os.utime(life.lab.log_path("demo", 101))
    life.lab.log_path("demo", 102).unlink()
    shutil.move(life.lab.root / "silent", life.archive / "silent")
    moved = str(life.archive / "silent" / "logs" / "silent_201.out")
    index = life.lab.resources()["store"].index()
    until("the new place is known", lambda: index.job("silent_201").path == moved, patience=PATIENCE)
    life.several_looks()


def the_memory_is_lost(life: Life) -> None:
    """What sensors remember goes, and so do their cursors."""
    shutil.rmtree(life.lab.settings.home / "sensors")
    for state in life.instance.all_instigator_state():
        life.instance.delete_instigator_state(state.instigator_origin_id, state.selector_id)


def the_second_day(life: Life) -> None:
    """After a restart: first nothing is new, then what was stuck and what was odd is put right."""
    with daemon(life.environment(), life.lab.folder):
        life.several_looks()
        life.keep("restarted")
        ended = job_writer(301, steps=(3,), end=TIME_LIMIT, hours=1.0).text()
        write_at_once(life.lab.log_path("stuck", 301), ended, os.O_APPEND)
        write_at_once(life.lab.log_path("odd", 401), job_writer(401).text(), os.O_TRUNC)
        until("the stall is over", lambda: len(life.told("job stuck_301")) == 2, patience=PATIENCE)
        until("the failure is over", lambda: len(life.told("run odd_401")) == 2, patience=PATIENCE)
        until("both reports", lambda: reported(life, "stuck") and reported(life, "odd"), patience=PATIENCE)
        life.several_looks()
        life.keep("put right")


def reported(life: Life, experiment: str) -> bool:
    return bool(runs(life.instance, REPORT, SUCCESS, partition=experiment))


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory):
    lab = Lab(tmp_path_factory.mktemp("lab"))
    with web_receiver() as web, mail_receiver() as mail, open_instance(lab.settings) as instance:
        life = Life(lab, instance, web, mail)
        life.archive.mkdir()
        the_first_day(life)
        the_memory_is_lost(life)
        the_second_day(life)
        yield life


def new_runs(life: Life, part: str, before: str | None = None) -> dict[str, int]:
    """The runs of one part of the story."""
    return dict(life.runs_of[part] - (life.runs_of[before] if before else Counter()))


def test_each_job_is_read_once_and_jobs_that_end_together_give_one_report(life: Life):
    made = new_runs(life, "dropped")

    assert {name: count for name, count in made.items() if not name.startswith(INDEX)} == {
        "read_job_log SUCCESS demo_101": 1,
        "read_job_log SUCCESS demo_102": 1,
        "read_job_log SUCCESS demo_103": 1,
        "read_job_log SUCCESS silent_201": 1,
        "read_job_log SUCCESS stuck_301": 1,
        "read_job_log FAILURE odd_401": 1,
        "report_experiment SUCCESS demo": 1,
        "report_experiment SUCCESS silent": 1,
    }
    assert made["index_experiments SUCCESS -"] in {1, 2}  # one for both reports, or one after each


def test_every_end_is_found_by_its_evidence(life: Life):
    first = {run.tags[PARTITION]: run.tags.get(FINISHED_BY_TAG) for run in reversed(runs(life.instance, READ_LOG))}
    by = {run.tags[PARTITION]: run.tags.get(FINISHED_BY_TAG) for run in runs(life.instance, READ_LOG)}

    assert by["demo_101"] == "scheduler_tail"
    assert by["demo_102"] == "successor"
    assert by["demo_103"] == "end_line"
    assert by["silent_201"] == "quiet"
    assert first["silent_201"] == "scheduler_tail"


def test_a_running_job_has_tables_as_of_now(life: Life):
    [as_of, final] = reversed(runs(life.instance, READ_LOG, SUCCESS, partition="stuck_301"))

    assert as_of.tags[AS_OF_TAG]
    assert FINISHED_BY_TAG not in as_of.tags
    assert final.tags[FINISHED_BY_TAG] == "scheduler_tail"


def test_a_log_that_grows_after_its_end_and_one_that_is_written_anew_are_read_again(life: Life):
    made = new_runs(life, "changed", "dropped")

    assert {name: count for name, count in made.items() if not name.startswith(INDEX)} == {
        "read_job_log SUCCESS demo_103": 2,  # as of then, and at its end
        "report_experiment SUCCESS demo": 2,
        "read_job_log SUCCESS silent_201": 1,
        "report_experiment SUCCESS silent": 1,
    }
    store = life.lab.store()
    assert store.read_job("demo_103")["jobs"].to_pylist()[0]["last_step"] == 7
    assert store.read_job("silent_201")["jobs"].to_pylist()[0]["last_step"] == 1


def test_touching_moving_and_deleting_ask_for_nothing(life: Life):
    assert new_runs(life, "moved", "changed") == {}
    assert life.lab.store().read_job("demo_102")["jobs"].num_rows == 1


def test_a_restart_without_memory_and_cursors_asks_for_nothing(life: Life):
    assert new_runs(life, "restarted", "moved") == {}


def test_what_is_put_right_is_made(life: Life):
    made = new_runs(life, "put right", "restarted")

    assert {name: count for name, count in made.items() if not name.startswith(INDEX)} == {
        "read_job_log SUCCESS stuck_301": 1,
        "report_experiment SUCCESS stuck": 1,
        "read_job_log SUCCESS odd_401": 1,
        "report_experiment SUCCESS odd": 1,
    }


@pytest.mark.parametrize(("subject", "title"), [("job stuck_301", "does not move"), ("run odd_401", "failed")])
def test_a_stall_and_a_failed_run_are_told_once_and_their_end_once_on_every_channel(
    life: Life, subject: str, title: str
):
    states = life.told(subject)
    mails = [mail for mail in life.mail.messages if subject in mail.replace("\n ", " ")]
    lines = (life.lab.settings.home / "notifications" / "notifications.jsonl").read_text().splitlines()

    assert len(states) == 2
    assert states[1] == "resolved"
    assert sum(f'"subject": "{subject}"' in line for line in lines) == 2
    assert len(mails) == 2
    assert [title in mail for mail in mails] == [True, True]


def test_nothing_is_there_twice_and_nothing_half(life: Life, record_property: Callable[[str, object], None]):
    for name, count in counts(life.instance).items():
        record_property(name, count)

    assert_nothing_twice_and_nothing_half(life.instance, life.lab, discover([life.lab.root, life.archive]).experiments)
    assert sorted(life.instance.get_dynamic_partitions("rl_jobs")) == [
        "demo_101", "demo_102", "demo_103", "odd_401", "silent_201", "stuck_301",
    ]  # fmt: skip
