"""Errors become failures that say what to do; only what may pass is tried again."""

from __future__ import annotations

import errno

import dagster as dg
import pytest

from rl_pipeline.defs import failures
from rl_pipeline.defs.failures import SURROUNDINGS_TAG, told_to_dagster
from rl_pipeline.errors import ConfigurationError, DataError

BUSY = OSError(errno.EIO, "Input/output error", "/shared/log.out")


def attempt(errors: list[Exception]) -> tuple[dg.ExecuteInProcessResult, int, bool]:
    """A run whose step meets these errors one after another: its result, its attempts, and who is blamed."""
    met = iter(errors)
    attempts = []

    def step(context: dg.AssetExecutionContext) -> None:
        attempts.append(context.retry_number)
        with told_to_dagster(context):
            error = next(met, None)
            if error is not None:
                raise error

    step.__annotations__ = {"context": dg.AssetExecutionContext, "return": None}
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([dg.asset(name="step")(step)], instance=instance, raise_on_error=False)
        run = instance.get_run_by_id(result.run_id)
        return result, len(attempts), run is not None and SURROUNDINGS_TAG in run.tags


def words(result: dg.ExecuteInProcessResult) -> str:
    [event] = [event for event in result.all_events if event.is_step_failure]
    return str(event.step_failure_data.error_display_string)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "WAIT_SECONDS", 0.0)


def test_trouble_with_the_data_is_final_and_told_in_full():
    result, attempts, blamed = attempt([DataError("nothing readable", where="a.out", do="look", slug="x")])

    assert (result.success, attempts, blamed) == (False, 1, False)
    assert "do: look" in words(result)


def test_a_wrong_configuration_is_final_and_blamed():
    result, attempts, blamed = attempt([ConfigurationError("the store cannot be written", do="free space", slug="x")])

    assert (result.success, attempts, blamed) == (False, 1, True)
    assert "do: free space" in words(result)


def test_a_log_that_is_gone_is_final():
    result, attempts, blamed = attempt([FileNotFoundError(errno.ENOENT, "No such file", "/logs/a.out")])

    assert (result.success, attempts, blamed) == (False, 1, False)
    assert "/logs/a.out" in words(result)


def test_a_file_system_that_comes_back_is_waited_for():
    result, attempts, blamed = attempt([BUSY, BUSY])

    assert (result.success, attempts, blamed) == (True, 3, False)


def test_a_file_system_that_stays_away_is_blamed():
    result, attempts, blamed = attempt([BUSY] * 9)

    assert (result.success, attempts, blamed) == (False, 4, True)
    assert "the file system failed 4 times" in words(result)
