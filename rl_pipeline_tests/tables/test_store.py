"""The store: what was written is read, all of it or none of it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from rl_pipeline.errors import ConfigurationError, DataError
from rl_pipeline.schema import Job, StepMetric, Trial, VllmStat
from rl_pipeline.tables.frames import RowSink, arrow_schema, to_arrow, to_rows
from rl_pipeline.tables.store import TableStore

JOB = Job(
    experiment="exp", job="job_7", job_key="exp_7", path="exp_7.out", size_bytes=10, fingerprint="ab",
    first_logged_at=datetime(2026, 1, 9, 11, 22, 33, 444000), lines=3, printed_lines=3, blocks=1, broken_blocks=0,
    dialect_lines={"vllm": 2},
)  # fmt: skip
METRIC = StepMetric(
    job="job_7", block=0, line=3, kind="train", global_step=1, metric="loss", value=0.5, state="measured",
    source="console",
)  # fmt: skip
TABLES = {"jobs": to_arrow([JOB], Job), "step_metrics": to_arrow([METRIC], StepMetric)}
PROVENANCE = {"fingerprint": "ab", "parser_version": "1"}


@pytest.fixture
def store(tmp_path: Path) -> TableStore:
    return TableStore(str(tmp_path / "store"))


def test_what_was_written_is_read(store: TableStore):
    store.write_job("exp_7", TABLES, PROVENANCE)

    read = store.read_job("exp_7")

    assert list(read) == ["jobs", "step_metrics"]
    assert to_rows(read["jobs"], Job) == [JOB]
    assert to_rows(read["step_metrics"], StepMetric) == [METRIC]
    assert store.job_provenance("exp_7") == PROVENANCE


def test_a_table_read_back_tells_its_columns(store: TableStore):
    store.write_job("exp_7", TABLES, PROVENANCE)

    table = store.read_job_table("exp_7", "step_metrics")

    assert table.schema.equals(arrow_schema(StepMetric), check_metadata=True)
    assert store.read_job_table("exp_7", "step_metrics", ["metric"]).to_pylist() == [{"metric": "loss"}]


def test_a_stream_of_batches_is_stored_like_a_table(store: TableStore):
    sink = RowSink([StepMetric, VllmStat], batch_rows=1)
    sink.append([METRIC, METRIC])

    streamed = store.write_job("exp_7", sink.readers(), PROVENANCE)

    assert store.write_job("exp_7", sink.tables(), PROVENANCE) == streamed


def test_equal_content_has_an_equal_version_and_other_content_another(store: TableStore):
    first = store.write_job("exp_7", TABLES, PROVENANCE)

    assert store.write_job("exp_7", TABLES, PROVENANCE) == first
    assert store.write_job("exp_8", TABLES, PROVENANCE) == first
    assert store.write_job("exp_7", TABLES, {**PROVENANCE, "parser_version": "2"}) != first


def test_the_index_lists_all_jobs_without_opening_a_table(store: TableStore, tmp_path: Path):
    store.write_job("exp_7", TABLES, PROVENANCE)
    store.write_job("exp_10", {"step_metrics": TABLES["step_metrics"]}, PROVENANCE)
    for parquet in tmp_path.rglob("*.parquet"):
        parquet.unlink()

    assert store.list_jobs() == ["exp_10", "exp_7"]
    assert to_rows(store.job_index(), Job) == [JOB]


def test_an_empty_store_has_no_jobs(store: TableStore):
    assert store.list_jobs() == []
    assert store.job_provenance("exp_7") is None
    assert store.job_index().schema.equals(arrow_schema(Job), check_metadata=True)


def test_reading_what_is_not_there_says_what_to_do(store: TableStore):
    store.write_job("exp_7", TABLES, PROVENANCE)

    for read in (lambda: store.read_job("other"), lambda: store.read_job_table("exp_7", "trials")):
        with pytest.raises(DataError, match="There are no stored tables") as raised:
            read()
        assert raised.value.slug == "tables-missing"


def test_experiments_have_tables_of_their_own(store: TableStore):
    trial = Trial(trial="t__1", task="t", path="t__1", outcome="solved", reward=1.0, rewards={"reward": 1.0})

    store.write_experiment("exp", {"trials": to_arrow([trial], Trial)}, {"n": 1})

    assert to_rows(store.read_experiment("exp", "trials"), Trial) == [trial]
    assert store.experiment_provenance("exp") == {"n": 1}
    assert store.list_experiments() == ["exp"]
    assert store.list_jobs() == []


@pytest.mark.parametrize("key", ["", "../up", "a/b", ".hidden", "x" * 121, "a\n", "ümlaut"])
def test_a_key_that_is_no_slug_is_refused(store: TableStore, key: str):
    with pytest.raises(ConfigurationError) as raised:
        store.write_job(key, TABLES, PROVENANCE)

    assert raised.value.slug == "bad-partition-key"


def test_a_table_with_other_columns_is_refused_and_leaves_the_old_set(store: TableStore):
    store.write_job("exp_7", TABLES, PROVENANCE)
    wrong = TABLES["step_metrics"].drop_columns(["line"])

    with pytest.raises(DataError) as raised:
        store.write_job("exp_7", {"jobs": TABLES["jobs"], "step_metrics": wrong}, PROVENANCE)

    assert raised.value.slug == "table-schema"
    assert to_rows(store.read_job_table("exp_7", "step_metrics"), StepMetric) == [METRIC]


def test_nothing_where_a_value_must_stand_is_refused(store: TableStore):
    schema = arrow_schema(StepMetric)
    columns = [pa.nulls(1, field.type) for field in schema]

    with pytest.raises(DataError, match="job is empty"):
        store.write_job("exp_7", {"step_metrics": pa.Table.from_arrays(columns, names=schema.names)}, {})


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")

    with pytest.raises(ConfigurationError) as raised:
        TableStore(str(tmp_path / "file" / "store")).write_job("exp_7", TABLES, PROVENANCE)

    assert raised.value.slug == "store-not-writable"


def test_an_address_of_an_unknown_kind_says_so():
    with pytest.raises(ConfigurationError) as raised:
        TableStore("nowhere://bucket/folder")

    assert raised.value.slug == "store-address-unknown"


def test_the_ledger_of_an_experiment_lies_in_the_store(tmp_path: Path):
    assert TableStore(str(tmp_path)).ledger_url("exp") == f"{tmp_path}/trial_ledgers/exp"


def test_the_trials_of_a_job_lie_apart_from_its_other_tables(store: TableStore):
    trials = arrow_schema(Trial).empty_table()

    store.write_job_trials("exp_7", trials, PROVENANCE)

    assert store.read_job_trials("exp_7").equals(trials)
    assert store.list_jobs() == []


def test_the_comparison_of_an_experiment_lies_apart_from_its_trials(store: TableStore):
    rows = pa.table({"job": ["job_7"], "total_steps": [19]})

    store.write_comparison("exp", rows, PROVENANCE)

    assert store.read_comparison("exp").to_pylist() == [{"job": "job_7", "total_steps": 19}]
    assert store.list_experiments() == []
