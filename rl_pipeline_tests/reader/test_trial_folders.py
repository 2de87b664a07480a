"""Every trial below a root is found once, and what is not read says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rl_pipeline.reader import folder_calls
from rl_pipeline.reader.trial_folders import NO_RESULT, NOTHING, NotRead, TrialFile, find_trials


@pytest.fixture(params=["with", "without"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the compiled calls, and as where nobody could compile them."""
    if request.param == "without":
        monkeypatch.setattr(folder_calls, "load", lambda: None)


def add_trial(root: Path, folder: str, content: str = "{}") -> Path:
    path = root / folder / "result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def found(root: Path, **known: object) -> tuple[list[str], dict[str, str]]:
    """Folders of trial files in the order found, and reasons by path."""
    everything = list(find_trials(root, **known))  # type: ignore[arg-type] # a set of names
    files = [item.folder for item in everything if isinstance(item, TrialFile)]
    return files, {item.path: item.reason for item in everything if isinstance(item, NotRead)}


def test_a_trial_file_tells_all_that_shows_whether_it_changed(tmp_path: Path):
    path = add_trial(tmp_path, "t__abcdefg", "{ }")
    info = path.stat()

    assert list(find_trials(tmp_path)) == [
        TrialFile(
            path=str(path.resolve()), folder="t__abcdefg", size=3, mtime_ns=info.st_mtime_ns, inode=info.st_ino,
            is_eval=False, leaf_mtime_ns=path.parent.stat().st_mtime_ns,
        )
    ]  # fmt: skip


def test_trials_in_nested_folders_are_found(tmp_path: Path):
    folders = ["a/a/trace_jobs/t1", "job", "job/inner/t2", "job/t3", "t4"]
    for folder in folders:
        add_trial(tmp_path, folder)

    assert found(tmp_path) == (folders, {})


def test_a_root_that_is_itself_a_trial_is_found(tmp_path: Path):
    add_trial(tmp_path, ".")

    assert found(tmp_path) == (["."], {})


def test_trials_of_evaluations_are_marked(tmp_path: Path):
    add_trial(tmp_path, "trace_jobs/eval_sessions/run_eval_step20/t1")
    add_trial(tmp_path, "trace_jobs/t2")

    marks = {item.folder: item.is_eval for item in find_trials(tmp_path) if isinstance(item, TrialFile)}

    assert marks == {"trace_jobs/eval_sessions/run_eval_step20/t1": True, "trace_jobs/t2": False}
    below = list(find_trials(tmp_path / "trace_jobs" / "eval_sessions"))
    assert [item.is_eval for item in below if isinstance(item, TrialFile)] == [True]


def test_a_trials_own_folders_are_not_searched(tmp_path: Path):
    add_trial(tmp_path, "t1")
    add_trial(tmp_path, "t1/agent/episode-0")
    add_trial(tmp_path, "t1/verifier")

    assert found(tmp_path) == (["t1"], {})


def test_a_job_folder_is_searched_although_it_has_a_result(tmp_path: Path):
    add_trial(tmp_path, "job")
    (tmp_path / "job" / "job.log").touch()
    (tmp_path / "job" / "config.json").touch()
    add_trial(tmp_path, "job/agent")

    assert found(tmp_path) == (["job", "job/agent"], {})


def test_known_trials_are_looked_at_without_listing_their_folder(tmp_path: Path):
    add_trial(tmp_path, "t1")
    add_trial(tmp_path, "t1/agent_of_another_kind")  # nobody would look here again
    add_trial(tmp_path, "t2")

    assert found(tmp_path, known={"t1", "gone"}) == (["t1", "t2"], {})


def test_files_that_nobody_asks_for_are_found_without_a_question(tmp_path: Path):
    add_trial(tmp_path, "t1")
    add_trial(tmp_path, "t2")

    sizes = {item.folder: item.size for item in find_trials(tmp_path, asked={"t2"}) if isinstance(item, TrialFile)}

    assert sizes == {"t1": None, "t2": 2}


def test_a_known_trial_that_lost_its_result_is_told(tmp_path: Path):
    (tmp_path / "t1__abcdefg").mkdir()

    assert found(tmp_path, known={"t1__abcdefg"}) == ([], {"t1__abcdefg": NO_RESULT})


@pytest.mark.parametrize("sign", ["trial.log", "config.json", "exception.txt"])
def test_a_trial_without_result_is_told(tmp_path: Path, sign: str):
    folder = tmp_path / "job" / "any_name"
    folder.mkdir(parents=True)
    (folder / sign).touch()

    assert found(tmp_path) == ([], {"job/any_name": NO_RESULT})


def test_a_trial_without_result_is_told_by_its_folders_or_its_name(tmp_path: Path):
    (tmp_path / "job" / "one" / "agent").mkdir(parents=True)
    (tmp_path / "job" / "task__aB3dE9x").mkdir()
    (tmp_path / "job" / "two" / "agent").mkdir(parents=True)
    (tmp_path / "job" / "two" / "of_its_own").mkdir()

    assert found(tmp_path) == (
        [],
        {"job/one": NO_RESULT, "job/task__aB3dE9x": NO_RESULT, "job/two": NO_RESULT},
    )


def test_an_empty_folder_directly_below_the_root_is_told_and_deeper_ones_are_not(tmp_path: Path):
    (tmp_path / "left").mkdir()
    (tmp_path / "exports" / "global_step_10").mkdir(parents=True)

    assert found(tmp_path) == ([], {"left": NOTHING})


def test_links_are_told_and_not_followed(tmp_path: Path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    add_trial(root, "a/t1")
    add_trial(outside, "t9")
    (root / "a" / "loop").symlink_to(root)
    (root / "b").symlink_to(root / "a")
    (root / "c").symlink_to(outside)
    (root / "d").symlink_to(root / "nowhere")
    (root / "self").symlink_to("self")

    files, reasons = found(root)

    assert files == ["a/t1"]
    assert reasons == {
        "a/loop": "a link to a folder above it: a loop; not followed",
        "b": "a link to another folder of the same root, which is read there",
        "c": "a link that leads out of the trial root; not followed",
        "d": "a link to nothing",
        "self": "a link that leads back to itself: a loop; not followed",
    }


def test_a_root_that_is_a_link_is_followed(tmp_path: Path):
    add_trial(tmp_path / "real", "t1")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert found(tmp_path / "link") == (["t1"], {})


def test_results_that_are_links_are_read_only_inside_the_root(tmp_path: Path):
    root = tmp_path / "root"
    inside, outside = add_trial(root, "t1"), add_trial(tmp_path, "outside")
    for folder, target in (("t2", inside), ("t3", outside), ("t4", tmp_path / "nothing")):
        (root / folder).mkdir()
        (root / folder / "result.json").symlink_to(target)

    assert found(root) == (
        ["t1", "t2"],
        {
            "t3/result.json": "a link that leads out of the trial root; not followed",
            "t4/result.json": "a link that leads out of the trial root; not followed",
        },
    )


def test_a_result_that_is_no_file_is_never_opened(tmp_path: Path):
    (tmp_path / "t1" / "result.json").mkdir(parents=True)
    (tmp_path / "t2").mkdir()
    os.mkfifo(tmp_path / "t2" / "result.json")

    assert found(tmp_path) == ([], {"t1/result.json": "not a regular file", "t2/result.json": "not a regular file"})


def test_archives_are_told(tmp_path: Path):
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "step_1.tar.zst").touch()

    assert found(tmp_path)[1]["archives/step_1.tar.zst"] == "an archive: packed trials are not read"


def test_a_root_that_cannot_be_read_is_told(tmp_path: Path):
    (tmp_path / "file").touch()

    assert found(tmp_path / "nowhere") == ([], {".": "No such file or directory"})
    assert found(tmp_path / "file") == ([], {".": "not a folder"})
    assert found(Path("a\0b"))[0] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path):
    (tmp_path / "closed").mkdir(mode=0o000)

    assert found(tmp_path) == ([], {"closed": "no permission to read it"})


def test_folders_too_deep_to_be_real_are_told(tmp_path: Path):
    deep = tmp_path.joinpath(*["d"] * 70)
    deep.mkdir(parents=True)

    files, reasons = found(tmp_path)

    assert files == []
    assert list(reasons.values()) == ["more than 64 folders deep: a loop, or no trial"]


def test_names_that_are_no_text_are_written_with_numbers(tmp_path: Path):
    folder = os.fsencode(tmp_path) + b"/t\xff"
    os.mkdir(folder)  # noqa: PTH102 - a name that no Path would print
    with open(folder + b"/result.json", "wb") as file:  # noqa: PTH123
        file.write(b"{}")

    items = list(find_trials(tmp_path))

    assert [item.folder for item in items if isinstance(item, TrialFile)] == ["t\\xff"]
    assert all(Path(item.path).exists() for item in items)
