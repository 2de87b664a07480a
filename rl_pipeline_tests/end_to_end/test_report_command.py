"""The installed command on real files: what it writes, what it says, and how it ends."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rl_pipeline.commands.state_names import STATE_FOLDER
from rl_pipeline.sample import sample_path

COMMAND = str(Path(sys.executable).with_name("rl-pipeline"))
DONE, DATA_TROUBLE, WRONG_USE = 0, 1, 2


def run(*arguments: object, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RL_PIPELINE_HOME": str(home), "PYTHONWARNINGS": "default"}
    command = [COMMAND, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=home)


def digests(folder: Path) -> dict[str, str]:
    """The files of a report; what is remembered beside them tells where things lie and when they were written."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and STATE_FOLDER not in path.parts
    }


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample's experiment that a test may not change."""
    target = tmp_path_factory.mktemp("sample")
    shutil.copytree(sample_path(), target, dirs_exist_ok=True)
    return next(path for path in target.iterdir() if (path / "logs").is_dir())


@pytest.fixture(scope="module")
def bundle(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    done = run("report", sample, out, home=tmp_path_factory.mktemp("home"))
    assert done.returncode == DONE, done.stderr
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr
    return out


def test_the_bundle_is_whole(bundle: Path):
    document = json.loads((bundle / "report.json").read_text(encoding="utf-8"))

    assert document["schema_version"] == 1
    assert [job["job"] for job in document["jobs"]] == ["job_410231", "job_410236", "job_410244"]
    assert [finding["id"] for finding in document["findings"]] == [f"R{number}" for number in range(1, 41)]
    assert {"metrics_table.csv", "vllm_metrics_table.csv", "trial_results.csv", "metrics_job_410231.csv"} <= {
        path.name for path in (bundle / "tables").iterdir()
    }
    assert len(list((bundle / "charts").glob("*.png"))) >= 5


def test_the_same_input_gives_the_same_bytes(sample: Path, bundle: Path, tmp_path: Path):
    again = tmp_path / "again"

    done = run("report", sample / "logs", again, "--quiet", home=tmp_path)

    assert done.returncode == DONE
    assert done.stderr == ""
    assert digests(again) == digests(bundle)


def test_a_compressed_log_gives_the_same_metrics(sample: Path, bundle: Path, tmp_path: Path):
    packed = tmp_path / sample.name
    shutil.copytree(sample, packed)
    for log in (packed / "logs").glob("*.out"):
        log.with_suffix(".out.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))
        log.unlink()

    done = run("report", packed, tmp_path / "out", "--quiet", home=tmp_path)

    assert done.returncode == DONE
    for name in ("metrics_table.csv", "vllm_metrics_table.csv", "trial_results.csv"):
        assert (tmp_path / "out" / "tables" / name).read_bytes() == (bundle / "tables" / name).read_bytes()


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def missing(folder: Path) -> Path:
    return folder / "nowhere"


def empty(folder: Path) -> Path:
    (folder / "logs").mkdir()
    return folder / "logs"


def unrelated(folder: Path) -> Path:
    write(folder / "logs" / "web_1001.out", b"GET / 200\nPOST /login 302\n" * 500)
    return folder / "logs"


def binary(folder: Path) -> Path:
    return write(folder / "logs" / "model_1001.out", bytes(range(256)) * 4096).parent


def without_metrics(folder: Path) -> Path:
    line = b"2026-01-09 11:22:33.444 | INFO     | skyrl_train.trainer:train:301 - Training done!\n"
    return write(folder / "logs" / "early_1001.out", line).parent


def damaged(folder: Path) -> Path:
    line = b"2026-01-09 11:22:33.444 | INFO     | skyrl_train.trainer:train:301 - Started: 'step'\n"
    packed = gzip.compress(line * 2000, mtime=0)
    return write(folder / "logs" / "early_1001.out.gz", packed[: len(packed) - 20]).parent


def two_experiments(folder: Path) -> Path:
    sample_logs = next(path for path in sample_path().iterdir() if (path / "logs").is_dir()) / "logs"
    log = next(iter(sorted(sample_logs.glob("*.out")))).read_bytes()
    write(folder / "flat" / "first_1001.out", log)
    write(folder / "flat" / "second_1002.out", log + b"\n")
    return folder / "flat"


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (missing, WRONG_USE, "no such file or folder"),
        (empty, DATA_TROUBLE, "no job log"),
        (unrelated, DATA_TROUBLE, "No recognised line"),
        (binary, DATA_TROUBLE, "no job log"),
        (without_metrics, DATA_TROUBLE, "No metric block"),
        (damaged, DATA_TROUBLE, "gzip ends early at stored byte"),
        (two_experiments, WRONG_USE, "2 experiments"),
    ],
)
def test_bad_input_is_told_and_earlier_output_stays(make, code: int, words: str, bundle: Path, tmp_path: Path):
    out = tmp_path / "out"
    shutil.copytree(bundle, out)
    before = digests(out)

    done = run("report", make(tmp_path), out, home=tmp_path)

    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "where:" in done.stderr
    assert "do:" in done.stderr
    assert "Traceback" not in done.stderr
    assert digests(out) == before


def test_an_output_that_is_a_file_is_refused_before_any_work(sample: Path, tmp_path: Path):
    out = write(tmp_path / "out", b"mine")

    done = run("report", sample, out, home=tmp_path)

    assert done.returncode == WRONG_USE
    assert "Traceback" not in done.stderr
    assert out.read_bytes() == b"mine"


@pytest.mark.parametrize("arguments", [["report"], ["report", "logs"], ["nonsense"], ["discover"]])
def test_wrong_use_ends_with_two(arguments: list[str], tmp_path: Path):
    assert run(*arguments, home=tmp_path).returncode == WRONG_USE


def test_help_imports_neither_dagster_nor_plotting_nor_pandas(tmp_path: Path):
    heavy = {"dagster", "pandas", "pyarrow", "numpy", "scipy", "vl_convert", "altair", "matplotlib", "plotly"}
    program = (
        "import sys\nfrom click.testing import CliRunner\nfrom rl_pipeline.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        f"print(sorted({{name.split('.')[0] for name in sys.modules}} & {heavy}))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert done.stdout.strip() == "[]"


def _hear_all_signals() -> None:
    """Whoever started the tests may ignore some."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_report_that_is_ended_leaves_nothing_behind(number: signal.Signals, sample: Path, tmp_path: Path):
    out = tmp_path / "out"
    command = [COMMAND, "report", str(sample), str(out)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=_hear_all_signals
    )
    assert process.stderr is not None
    while "reading trials" not in (line := process.stderr.readline()):
        assert line

    process.send_signal(number)

    told = process.stderr.read()  # ends with the last process that can still write there
    assert process.wait() == 128 + number
    assert "Traceback" not in told
    assert {path.name for path in out.glob("*")} <= {STATE_FOLDER}
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
