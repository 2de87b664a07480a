"""Settings: one place, whatever the current folder; a wrong one says what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.settings import Settings, described


def test_everything_lies_in_the_home_of_the_user_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    settings = Settings.from_environment({})

    home = tmp_path / ".rl_pipeline"
    assert (settings.home, settings.store, settings.reports) == (home, str(home / "store"), home / "reports")
    assert (settings.roots, settings.postgres_url, settings.quiet_minutes) == ((), None, 60.0)


def test_the_environment_sets_everything(tmp_path: Path):
    settings = Settings.from_environment(
        {
            "RL_PIPELINE_HOME": str(tmp_path),
            "RL_PIPELINE_STORE": "s3://bucket/rl",
            "RL_PIPELINE_ROOTS": f"{tmp_path}/a:{tmp_path}/b:",
            "RL_PIPELINE_LOG_PATTERNS": "{experiment}-{job}.txt\n(?P<experiment>.+)-(?P<job>[0-9]{3,}).log",
            "RL_PIPELINE_RUNS_PER_TICK": "7",
            "RL_PIPELINE_SLURM": "yes",
            "RL_PIPELINE_NOTIFY_TO": "a@lab.example, b@lab.example",
        }
    )

    assert settings.store == "s3://bucket/rl"
    assert settings.roots == (str(tmp_path / "a"), str(tmp_path / "b"))
    assert settings.log_patterns == ("{experiment}-{job}.txt", "(?P<experiment>.+)-(?P<job>[0-9]{3,}).log")
    assert (settings.runs_per_tick, settings.slurm) == (7, True)
    assert settings.notify_to == ("a@lab.example", "b@lab.example")


def test_an_empty_variable_is_an_unset_one(tmp_path: Path):
    settings = Settings.from_environment({"RL_PIPELINE_HOME": str(tmp_path), "RL_PIPELINE_POSTGRES_URL": ""})

    assert settings.postgres_url is None


def test_the_file_sets_what_the_environment_does_not(tmp_path: Path):
    (tmp_path / "settings.yaml").write_text(f"roots: [{tmp_path}/a]\nquiet_minutes: 5\nrunning_minutes: 10\n")

    settings = Settings.from_environment({"RL_PIPELINE_HOME": str(tmp_path), "RL_PIPELINE_QUIET_MINUTES": "20"})

    assert (settings.roots, settings.quiet_minutes, settings.running_minutes) == ((str(tmp_path / "a"),), 20.0, 10.0)


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("RL_PIPELINE_HOME", "here", "an absolute path"),
        ("RL_PIPELINE_ROOTS", "/a:b", "an absolute path"),
        ("RL_PIPELINE_QUIET_MINUTES", "soon", "a number that is not negative"),
        ("RL_PIPELINE_QUIET_MINUTES", "nan", "a number that is not negative"),
        ("RL_PIPELINE_RUNS_PER_TICK", "0", "a whole number from 1"),
        ("RL_PIPELINE_SLURM", "maybe", "true or false"),
    ],
)
def test_a_value_that_cannot_be_understood_is_told_with_its_variable(
    tmp_path: Path, variable: str, value: str, expected: str
):
    with pytest.raises(ConfigurationError) as told:
        Settings.from_environment({"RL_PIPELINE_HOME": str(tmp_path), variable: value})

    assert variable in str(told.value)
    assert expected in str(told.value)


@pytest.mark.parametrize("text", ["roots: [", "- a list", "colour: red", "home: /elsewhere"])
def test_a_file_that_is_wrong_is_told(tmp_path: Path, text: str):
    (tmp_path / "settings.yaml").write_text(text)

    with pytest.raises(ConfigurationError, match=r"settings\.yaml"):
        Settings.from_environment({"RL_PIPELINE_HOME": str(tmp_path)})


def test_a_file_that_was_asked_for_must_exist(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="does not exist"):
        Settings.from_environment(
            {"RL_PIPELINE_HOME": str(tmp_path), "RL_PIPELINE_SETTINGS": str(tmp_path / "no.yaml")}
        )


def test_secrets_are_not_in_the_repr(tmp_path: Path):
    settings = Settings.from_environment(
        {"RL_PIPELINE_HOME": str(tmp_path), "RL_PIPELINE_POSTGRES_URL": "postgresql://u:hidden@db/rl"}
    )

    assert "hidden" not in repr(settings)


def test_every_setting_is_described():
    lines = {variable: default for variable, default, doc in described() if doc}

    assert lines["RL_PIPELINE_HOME"] == "~/.rl_pipeline"
    assert lines["RL_PIPELINE_QUIET_MINUTES"] == "60.0"
    assert len(lines) == len(described())


def test_roots_may_lie_elsewhere(tmp_path: Path):
    settings = Settings.from_environment({"RL_PIPELINE_ROOTS": f"s3://bucket/runs/:{tmp_path}:sftp://me@host:22/data"})

    assert settings.roots == ("s3://bucket/runs", str(tmp_path), "sftp://me@host:22/data")


@pytest.mark.parametrize("variable", ["RL_PIPELINE_ROOTS", "RL_PIPELINE_STORE"])
def test_a_password_in_an_address_is_refused_and_not_repeated(variable: str):
    with pytest.raises(ConfigurationError) as told:
        Settings.from_environment({variable: "sftp://me:hunter22@host/data"})

    assert told.value.slug == "address-with-password"
    assert "hunter22" not in str(told.value)


def test_a_variable_that_is_no_setting_is_told_with_the_one_that_was_meant(caplog):
    environment = {
        "RL_PIPELINE_ROOT": "/a",
        "RL_PIPELINE_ROOTS": "",
        "RL_PIPELINE_ENV": "x",
        "RL_PIPELINE_A_COMPLETELY_OTHER_WORD": "",
    }
    for _ in range(2):
        Settings.from_environment(environment)

    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "'RL_PIPELINE_ROOT' is no setting and has no effect: did you mean RL_PIPELINE_ROOTS?",
        "'RL_PIPELINE_A_COMPLETELY_OTHER_WORD' is no setting and has no effect: all names are in docs/settings.md",
    ]
