"""Errors of the pipeline as Dagster tells them: what, where, what to do; tried again only where that helps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from rl_pipeline.errors import ConfigurationError, PipelineError

RETRIES = 3
WAIT_SECONDS = 10.0
SURROUNDINGS_TAG = "rl_pipeline/failed_by_surroundings"  # a full disk, say: worth another run, later


@contextmanager
def told_to_dagster(context: dg.AssetExecutionContext) -> Iterator[None]:
    """Turn errors into failures of the step.

    Trouble with the data is final and told in full; so is a log that is gone. Any other error of the
    file system may pass (a shared disk that is away), so the step waits and tries again. When it does
    not pass, and when the configuration is at fault, the run is tagged, so that sensors ask for it
    once more after a while: what failed was not the content.
    """
    try:
        yield
    except PipelineError as error:
        if isinstance(error, ConfigurationError):
            _blame_surroundings(context)
        raise _failure(str(error), error) from error
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise _failure(missing_file(error), None) from error
    except OSError as error:
        if context.retry_number < RETRIES:
            raise dg.RetryRequested(max_retries=RETRIES, seconds_to_wait=WAIT_SECONDS) from error
        _blame_surroundings(context)
        raise _failure(f"the file system failed {RETRIES + 1} times: {error}", None) from error


def _blame_surroundings(context: dg.AssetExecutionContext) -> None:
    context.instance.add_run_tags(context.run.run_id, {SURROUNDINGS_TAG: "true"})


def _failure(words: str, error: PipelineError | None) -> dg.Failure:
    parts = {"what": error.what, "where": error.where, "expected": error.expected, "do": error.do} if error else {}
    metadata = {name: dg.MetadataValue.text(text) for name, text in parts.items() if text}
    return dg.Failure(description=words, metadata=metadata, allow_retries=False)


def missing_file(error: OSError) -> str:
    """What a person reads when a file of the partition cannot be opened."""
    return (
        f"a file of this partition cannot be read\n  where: {error.filename} ({error.strerror})\n"
        "  do: if it was moved, register its new place: rl-pipeline discover ROOT --register; "
        "if it was deleted, nothing: the tables made from it stay"
    )
