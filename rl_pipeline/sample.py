"""The bundled sample experiment: three chained job logs and some hundred trials, to try everything on.

In a checkout it lies in `examples/sample` (made by `examples/make_sample.py`); a wheel carries it inside
the package.
"""

from __future__ import annotations

from pathlib import Path

from rl_pipeline.errors import DataError

EXPERIMENT = "grpo-shell-tasks-4b"

_PACKAGE = Path(__file__).resolve().parent
_PLACES = (_PACKAGE / "sample_data", _PACKAGE.parent / "examples" / "sample")


def sample_path() -> Path:
    """The experiments root of the sample; it holds one experiment.

    Raises:
        DataError: the installation lacks it.
    """
    for place in _PLACES:
        if (place / EXPERIMENT / "logs").is_dir():
            return place
    raise DataError(
        "the sample experiment is missing from this installation",
        where=" and ".join(str(place) for place in _PLACES),
        do="install the wheel again, or write the sample in a checkout: python examples/make_sample.py",
        slug="missing-sample",
    )
