"""Whatever a report depends on changes the digest of its inputs, and only an untouched report is current."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rl_pipeline.commands import report_state
from rl_pipeline.commands.report_state import (
    LIBRARIES,
    PROGRAM,
    PROGRAM_FILES,
    Inputs,
    KnownLeaves,
    ReportState,
    trials_now,
)
from rl_pipeline.commands.state_names import STATE_FOLDER
from rl_pipeline.discovery import discover
from rl_pipeline.reader import folder_calls
from rl_pipeline.report.output_folder import FileState, file_state
from rl_pipeline.thresholds_file import ThresholdsFile
from rl_pipeline.trial_files.seen import Seen
from rl_pipeline.trial_ledger import read_trials
from rl_pipeline_tests.dialects.trial_files import trial_file

ROOT = Path(__file__).resolve().parents[2]
LOG = b"2026-01-09 11:22:33.444 | INFO     | skyrl_train.trainer:train:301 - Started: 'step'\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    for name in ("logs", "trace_jobs/t1__abcdefg", "trace_jobs/t2__abcdefg"):
        (folder / name).mkdir(parents=True)
    (folder / "logs" / "demo_1001.out").write_bytes(LOG)
    (folder / "logs" / "demo_1002.out").write_bytes(LOG * 2)
    for trial in (folder / "trace_jobs").iterdir():
        (trial / "result.json").write_bytes(trial_file())
    return folder


def digest(run: Path, thresholds: ThresholdsFile | None = None, leaves: KnownLeaves | None = None) -> str:
    found = discover([run]).only()
    return Inputs(found, thresholds).digest(trials_now(found.trial_roots, leaves or KnownLeaves()))


def read(run: Path, ledger: Path | None = None) -> Seen:
    seen = Seen()
    read_trials(discover([run]).only().trial_roots, None if ledger is None else str(ledger), seen=seen)
    return seen


def grow(run: Path) -> None:
    with (run / "logs" / "demo_1002.out").open("ab") as log:
        log.write(LOG)


def touch(run: Path) -> None:
    log = run / "logs" / "demo_1001.out"
    os.utime(log, ns=(log.stat().st_atime_ns, log.stat().st_mtime_ns + 1))


def replace(run: Path) -> None:
    log = run / "logs" / "demo_1001.out"
    before = log.stat()
    (run / "new").write_bytes(LOG.replace(b"step", b"eval"))
    (run / "new").replace(log)
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))


def add_job(run: Path) -> None:
    (run / "logs" / "demo_1003.out").write_bytes(LOG * 3)


def remove_job(run: Path) -> None:
    (run / "logs" / "demo_1001.out").unlink()


def add_trial(run: Path) -> None:
    shutil.copytree(run / "trace_jobs" / "t1__abcdefg", run / "trace_jobs" / "t3__abcdefg")


def remove_trial(run: Path) -> None:
    shutil.rmtree(run / "trace_jobs" / "t1__abcdefg")


def change_trial(run: Path) -> None:
    (run / "trace_jobs" / "t1__abcdefg" / "result.json").write_bytes(trial_file(trial_name="other"))


def start_trial(run: Path) -> None:
    (run / "trace_jobs" / "t9__abcdefg").mkdir()


def save_checkpoint(run: Path) -> None:
    (run / "checkpoints" / "global_step_10").mkdir(parents=True)
    (run / "checkpoints" / "latest_ckpt_global_step.txt").write_text("10")


CHANGES = [
    grow, touch, replace, add_job, remove_job, add_trial, remove_trial, change_trial, start_trial, save_checkpoint,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_every_change_of_an_input_is_seen(run: Path, change: Callable[[Path], None]):
    before = digest(run)
    assert digest(run) == before

    change(run)

    assert digest(run) != before


@pytest.mark.parametrize("change", [lambda _: None, *CHANGES], ids=lambda change: change.__name__)
def test_what_is_known_of_folders_changes_no_digest(run: Path, change: Callable[[Path], None], tmp_path: Path):
    KnownLeaves(tmp_path / "names").write(read(run).leaves)
    root = (run / "trace_jobs").resolve()
    assert KnownLeaves(tmp_path / "names").below(root) == {"t1__abcdefg", "t2__abcdefg"}

    change(run)

    assert digest(run, leaves=KnownLeaves(tmp_path / "names")) == digest(run)


@pytest.mark.parametrize("change", [lambda _: None, *CHANGES], ids=lambda change: change.__name__)
def test_whoever_read_the_trials_says_what_a_walk_says(run: Path, change: Callable[[Path], None], tmp_path: Path):
    read(run, tmp_path / "ledger")
    change(run)

    roots = discover([run]).only().trial_roots

    for seen in (read(run), read(run, tmp_path / "ledger"), read(run, tmp_path / "ledger")):
        assert seen.digest() == trials_now(roots, KnownLeaves())


def test_odd_trials_are_told_alike(run: Path, tmp_path: Path):
    jobs = run / "trace_jobs"
    for name in ("ä \udcff__abcdefg", "eval_sessions/t2__abcdefg", "no_trial", "broken__abcdefg", "link__abcdefg"):
        (jobs / name).mkdir(parents=True)
    (jobs / "ä \udcff__abcdefg" / "result.json").write_bytes(trial_file(trial_name="other"))
    (jobs / "eval_sessions" / "t2__abcdefg" / "result.json").write_bytes(trial_file())
    (jobs / "broken__abcdefg" / "result.json").write_bytes(b"{")
    (jobs / "link__abcdefg" / "result.json").symlink_to(jobs / "t1__abcdefg" / "result.json")
    (jobs / "loop").symlink_to(jobs)
    (jobs / "packed.tar.gz").write_bytes(b"")
    roots = discover([run]).only().trial_roots

    told = [read(run).digest(), read(run, tmp_path / "ledger").digest(), read(run, tmp_path / "ledger").digest()]

    assert told == [trials_now(roots, KnownLeaves())] * 3
    (jobs / "link__abcdefg" / "result.json").unlink()
    assert trials_now(roots, KnownLeaves()) != told[0]


def test_trials_of_several_roots_are_told_alike(run: Path, tmp_path: Path):
    shutil.copytree(run / "trace_jobs", tmp_path / "more")
    (tmp_path / "more" / "t3__abcdefg").mkdir()
    (run / "trace_jobs" / "t4__abcdefg").mkdir()
    roots, seen = [tmp_path / "more", run / "trace_jobs", run / "trace_jobs" / "t1__abcdefg"], Seen()

    read_trials(roots, seen=seen)

    assert seen.digest() == trials_now(roots, KnownLeaves())
    assert seen.digest() != trials_now(roots[:1], KnownLeaves())


def test_a_file_that_nobody_may_read_is_told_as_a_walk_tells_it(run: Path, monkeypatch: pytest.MonkeyPatch):
    trial = run / "trace_jobs" / "t1__abcdefg" / "result.json"

    def refuse(path: str | bytes, flags: int) -> int:
        if os.fspath(path) == str(trial):
            raise PermissionError(13, "Permission denied")
        return opened(path, flags)

    opened = os.open
    monkeypatch.setattr(folder_calls, "load", lambda: None)
    monkeypatch.setattr("rl_pipeline.trial_files.reading.os.open", refuse)  # root may read everything

    assert read(run).digest() == trials_now(discover([run]).only().trial_roots, KnownLeaves())


def test_folders_whose_name_holds_a_credential_are_not_kept(run: Path):
    name = "hf_" + "aB3" * 12 + "__abcdefg"
    shutil.copytree(run / "trace_jobs" / "t1__abcdefg", run / "trace_jobs" / name)

    leaves = read(run).leaves

    assert {root: sorted(folders) for root, folders in leaves.items()} == {
        (run / "trace_jobs").resolve(): ["t1__abcdefg", "t2__abcdefg"]
    }


def test_other_thresholds_and_another_program_are_seen(run: Path, monkeypatch: pytest.MonkeyPatch):
    before = digest(run)

    digests = {digest(run, ThresholdsFile(name, text)) for name in ("a.yaml", "b.yaml") for text in ("", "R1: {}")}
    assert len(digests | {before}) == 5  # the name is printed in the report
    monkeypatch.setattr(report_state, "__version__", "9.9")
    assert digest(run) != before


def test_a_name_of_another_experiment_is_seen(run: Path):
    assert Inputs(discover([run / "logs"], experiment="other").only(), None).digest("") != Inputs(
        discover([run / "logs"]).only(), None
    ).digest("")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out" / "charts").mkdir(parents=True)
    (tmp_path / "out" / "report.json").write_text("{}")
    (tmp_path / "out" / "charts" / "reward.png").write_bytes(b"png")
    return tmp_path / "out"


def files_of(out: Path) -> dict[str, FileState]:
    return {name: file_state(out / name) for name in ("charts/reward.png", "report.json")}


def test_a_report_is_current_for_the_inputs_it_was_made_from(out: Path):
    assert ReportState(out).current_since("a") is None

    ReportState(out).remember("a", files_of(out))

    assert ReportState(out).current_since("a") is not None
    assert ReportState(out).current_since("b") is None


def test_a_report_that_somebody_touched_is_not_current(out: Path):
    for change in (lambda path: path.unlink(), lambda path: path.write_text("{ }")):
        (out / "report.json").write_text("{}")
        ReportState(out).remember("a", files_of(out))
        change(out / "report.json")

        assert ReportState(out).current_since("a") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"version": 2, "inputs": "a", "files": 5}', "\0"])
def test_a_damaged_state_is_none(out: Path, content: str):
    ReportState(out).remember("a", files_of(out))
    (out / STATE_FOLDER / "report.json").write_text(content)

    assert ReportState(out).current_since("a") is None


def test_a_folder_that_takes_no_state_is_no_error(out: Path):
    (out / STATE_FOLDER).write_text("a file where the folder belongs")

    ReportState(out).remember("a", files_of(out))

    assert ReportState(out).current_since("a") is None


def test_a_report_that_another_one_replaced_meanwhile_is_not_current(out: Path):
    written = files_of(out)
    theirs = out / "theirs"
    theirs.write_text("{}")
    os.utime(theirs, ns=(0, written["report.json"].mtime_ns))
    theirs.replace(out / "report.json")

    ReportState(out).remember("a", written)

    assert ReportState(out).current_since("a") is None


def test_a_file_that_somebody_removed_meanwhile_is_no_error(out: Path):
    written = files_of(out)
    (out / "report.json").unlink()

    ReportState(out).remember("a", written)

    assert ReportState(out).current_since("a") is None


NO_PART_OF_A_REPORT = {"dagster", "dagster-webserver", "click", "tqdm"}  # they start the program and show its progress


def test_every_library_that_makes_a_report_counts():
    listed = re.search(
        r"\ndependencies = \[\n(.*?)\n\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.DOTALL
    )
    assert listed is not None
    needed = set(re.findall(r'^ *"([a-z0-9-]+)', listed[1], re.MULTILINE))
    of_others = {"markupsafe"}  # what jinja2 escapes with

    assert set(LIBRARIES) == needed - NO_PART_OF_A_REPORT | of_others
    assert "-" not in map(report_state._version, LIBRARIES)


def test_every_kind_of_file_of_the_program_counts():
    files = [path for folder in PROGRAM for path in folder.rglob("*") if path.is_file()]
    kinds = {path.suffix for path in files if "__pycache__" not in path.parts and not path.name.startswith(".")}

    assert kinds - {".typed"} <= PROGRAM_FILES
    assert {".c", ".so", ".digest"} <= PROGRAM_FILES


@pytest.mark.parametrize("name", ["loops.c", "loops.so", "loops.digest", "__init__.py"])
def test_a_file_of_the_program_that_changed_is_seen(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(report_state, "PROGRAM", (tmp_path,))
    (tmp_path / name).write_bytes(b"1")
    before = report_state.program_state()
    assert report_state.program_state() == before

    (tmp_path / name).write_bytes(b"22")

    assert report_state.program_state() != before
