"""A log that has grown is gone on with; what comes out is what a full reading gives."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_pipeline import growing_log, pipeline
from rl_pipeline.discovery import JobLog
from rl_pipeline.tables.parquet import write_parquet
from rl_pipeline.tables.store import TableStore
from rl_pipeline_tests.properties.test_regular_lines import ENGINE, FIRST, LINES, ROUND

# Only what lies behind the first megabyte is gone on with: before it, the whole file is in the light of its beginning.
CHATTER = "(Engine pid=77) 2026-06-03 11:22:31.000 | DEBUG    | pkg.agent:run:7 - episode finished, nothing to see\n"
BEGINNING = (FIRST + CHATTER * (1_100_000 // len(CHATTER))).encode()
KEY = "run_1"


def log_at(path: Path) -> JobLog:
    """The log with the facts of its file now."""
    facts = path.stat()
    return JobLog(
        experiment="run", experiment_key="run", job="job_1", job_key=KEY, path=path,
        size_bytes=facts.st_size, mtime_ns=facts.st_mtime_ns,
    )  # fmt: skip


def file_bytes(job: pipeline.JobTables) -> dict[str, bytes]:
    """Each table as the file it is stored in."""
    files = {}
    for name in job.tables:
        buffer = io.BytesIO()
        write_parquet(buffer, job.tables[name], job.tables[name].schema)
        files[name] = buffer.getvalue()
    return files


def read_on(path: Path, store: TableStore) -> tuple[pipeline.JobTables, int]:
    """Read what is new since the store's tables, keep the result; and how many bytes were read."""
    read: list[int] = []
    earlier = pipeline.earlier_reading(store, KEY)
    job = pipeline.parse_job(log_at(path), on_bytes=read.append, earlier=earlier)
    store.write_job(KEY, job.tables, job.provenance, state=job.state)
    return job, sum(read)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(LINES), ROUND), min_size=5, max_size=40),
    st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_growing_in_steps_gives_the_files_of_a_full_reading(lines, cuts):
    end = "".join(line.format(**values) + "\n" for line, values in lines).encode() * 3
    with tempfile.TemporaryDirectory() as folder:
        path, store = Path(folder) / "run_1.out", TableStore(f"{folder}/store")
        for cut in sorted(cuts):
            path.write_bytes(BEGINNING + end[: int(cut * len(end))])
            read_on(path, store)
        path.write_bytes(BEGINNING + end)

        grown, _ = read_on(path, store)
        full = pipeline.parse_job(log_at(path))

        assert file_bytes(grown) == file_bytes(full)
        assert grown.provenance == full.provenance


@pytest.fixture
def grown(tmp_path):
    """A log, the store with its tables, and a longer version of the log in its place."""
    path, store = tmp_path / "run_1.out", TableStore(str(tmp_path / "store"))
    path.write_bytes(BEGINNING + CHATTER.encode() * 40_000 + b"cut lin")
    read_on(path, store)
    with path.open("ab") as file:
        file.write(b"e\n" + CHATTER.encode() * 10)
    return path, store


def test_only_what_is_new_is_read(grown):
    path, store = grown

    _, read = read_on(path, store)

    assert read == len(b"cut line\n" + CHATTER.encode() * 10)


@pytest.mark.parametrize("changed", [slice(10, 12), slice(60_000, 60_001), slice(1_000_000, 1_200_000)])
def test_a_changed_beginning_is_noticed_and_all_is_read_again(grown, changed):
    path, store = grown
    content = bytearray(path.read_bytes())
    content[changed] = b"#" * (changed.stop - changed.start)
    path.write_bytes(content)

    job, read = read_on(path, store)

    assert read == len(content)
    assert file_bytes(job) == file_bytes(pipeline.parse_job(log_at(path)))


def test_a_truncated_log_is_read_again(grown):
    path, store = grown
    path.write_bytes(path.read_bytes()[:2_000_000])

    assert read_on(path, store)[1] == 2_000_000


def test_what_another_program_kept_is_not_used(grown):
    path, store = grown
    earlier = pipeline.earlier_reading(store, KEY)
    assert earlier is not None
    line, _, body = earlier.state.partition(b"\n")
    assert growing_log.standing_of(path, earlier.state) is not None

    for change in ({"program": "other"}, {"format": 99}, {"size": "many"}, {"body": ""}):
        state = json.dumps(json.loads(line) | change).encode() + b"\n" + body
        assert growing_log.standing_of(path, state) is None
    assert growing_log.standing_of(path, b"") is None
    assert growing_log.standing_of(path, earlier.state[:-5]) is None


class Hostile:
    """Calls a function when it is unpickled."""

    def __reduce__(self):
        return (eval, ("1 + 1",))


@pytest.mark.parametrize("thing", [Hostile(), Path("/"), print, pipeline.parse_job])
def test_kept_state_holds_nothing_but_this_programs_classes(thing):
    with pytest.raises(pickle.UnpicklingError, match="has no place here"):
        growing_log.OwnClasses(io.BytesIO(pickle.dumps(thing))).load()


def test_another_jobs_state_is_not_used(grown):
    path, store = grown
    earlier = pipeline.earlier_reading(store, KEY)

    job = pipeline.parse_job(replace(log_at(path), job="job_2"), earlier=earlier)

    assert job.tables["jobs"].column("job").to_pylist() == ["job_2"]


@pytest.mark.parametrize("beginning", [CHATTER.encode() * 100, b"no times at all\n" * 100_000])
def test_nothing_is_kept_of_a_log_whose_beginning_does_not_settle_its_times(tmp_path, beginning):
    path = tmp_path / "run_1.out"
    path.write_bytes(beginning)

    assert pipeline.parse_job(log_at(path)).state is None


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_bytes(file.read_bytes()[:-1] + b"?")])
def test_a_stored_table_that_is_not_what_was_written_makes_all_be_read_again(tmp_path, damage):
    path, store = tmp_path / "run_1.out", TableStore(str(tmp_path / "store"))
    path.write_bytes(BEGINNING + (CHATTER.replace("episode finished, nothing to see", "Started: 'a'") * 3).encode())
    path.write_bytes(path.read_bytes() + CHATTER.replace("episode", "Finished: 'a', time cost: 1.00s\n").encode())
    read_on(path, store)
    (stored,) = (tmp_path / "store").rglob("phase_timings.parquet")
    damage(stored)

    job, read = read_on(path, store)

    assert read == path.stat().st_size
    assert file_bytes(job) == file_bytes(pipeline.parse_job(log_at(path)))


@pytest.mark.parametrize("thing", [5, (1, 2, 3, 4), "rows", [1], re.compile])
def test_kept_state_of_another_form_is_not_used(grown, thing):
    path, store = grown
    earlier = pipeline.earlier_reading(store, KEY)
    assert earlier is not None
    line, _, body = earlier.state.partition(b"\n")
    *standing, _rows = pickle.loads(zstandard.decompress(body))
    other = (*standing, thing) if thing in ("rows", [1]) else thing
    body = zstandard.compress(pickle.dumps(other))
    head = json.loads(line) | {"body": hashlib.blake2b(body, digest_size=16).hexdigest()}

    assert growing_log.standing_of(path, json.dumps(head).encode() + b"\n" + body) is None
    assert growing_log.standing_of(path, b"[" * 100_000) is None


def test_a_row_that_comes_late_and_stands_earlier_has_the_place_that_a_full_reading_gives_it(tmp_path):
    path, store = tmp_path / "run_1.out", TableStore(str(tmp_path / "store"))
    values = {"ray": "(Engine pid=77) ", "month": 6, "day": 3, "e": "0", "x": "1.0", "y": "2.0", "n": 1, "m": 2}
    usual = ENGINE.format(**values, z="3.0", fold="") + "\n"
    record = "2026-06-03T11:22:33.5Z stdout {part} {line}"  # of a container: a part counts when its end has come
    path.write_bytes(BEGINNING + (usual * 50).encode())
    read_on(path, store)
    parts = record.format(part="P", line=usual) + usual + record.format(part="F", line="\n")
    with path.open("ab") as file:
        file.write(parts.encode())

    grown, _ = read_on(path, store)

    lines = grown.tables["vllm_stats"].column("line").to_pylist()
    assert len(lines) == 52
    assert lines == sorted(lines)
    assert file_bytes(grown) == file_bytes(pipeline.parse_job(log_at(path)))
