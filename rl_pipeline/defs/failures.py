"""Errors of the pipeline as Dagster tells them: what, where, what to do; tried again only where that helps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from rl_pipeline.errors import PipelineError

RETRIES = 3
WAIT_SECONDS = 10.0


@contextmanager
def told_to_dagster() -> Iterator[None]:
    """Turn errors into failures of the step.

    Trouble with the data or the configuration is final and told in full. A log that is gone is final
    too. Any other error of the file system may pass (a shared disk that is away), so the step waits
    and tries again.
    """
    try:
        yield
    except PipelineError as error:
        parts = {"what": error.what, "where": error.where, "expected": error.expected, "do": error.do}
        metadata = {name: dg.MetadataValue.text(text) for name, text in parts.items() if text}
        raise dg.Failure(description=str(error), metadata=metadata, allow_retries=False) from error
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise dg.Failure(description=missing_file(error), allow_retries=False) from error
    except OSError as error:
        raise dg.RetryRequested(max_retries=RETRIES, seconds_to_wait=WAIT_SECONDS) from error


def missing_file(error: OSError) -> str:
    """What a person reads when a file of the partition cannot be opened."""
    return (
        f"a file of this partition cannot be read\n  where: {error.filename} ({error.strerror})\n"
        "  do: if it was moved, register its new place: rl-pipeline discover ROOT --register; "
        "if it was deleted, nothing: the tables made from it stay"
    )
