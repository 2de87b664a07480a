"""Which code made something that is kept: changed code makes it anew."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from rl_pipeline import __version__


@cache
def code_version(*patterns: str) -> str:
    """A digest of the program's version and of the modules that match, in hex.

    Args:
        patterns: globs below the package, e.g. `reader/*.py`.
    """
    package = Path(__file__).parent
    digest = hashlib.blake2b(__version__.encode(), digest_size=8)
    for pattern in patterns:
        for path in sorted(package.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()
