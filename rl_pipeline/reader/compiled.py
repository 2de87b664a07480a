"""Libraries of functions in C that are compiled when the program is installed; used only as they were made.

Beside a source lies what was compiled from it, and a digest: by that a library is known that was not written whole.
"""

from __future__ import annotations

import ctypes
import hashlib
from pathlib import Path
from typing import Any


class NotUsable(Exception):  # noqa: N818 - a reason, for the one that says what happens without it
    """Why a library is not used."""


def digest_of(content: bytes) -> str:
    """What a library says that it was compiled from; what stands beside a library that is whole."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def digest_file(library: Path) -> Path:
    """Where the digest of a library stands."""
    return library.with_suffix(".digest")


def open_library(source: Path, library: Path) -> Any:  # noqa: ANN401 - ctypes
    """The library.

    Args:
        source: what it must have been compiled from.
        library: where it lies.

    Raises:
        NotUsable: it was not compiled, or from another source, or is not whole.
    """
    try:
        if digest_of(library.read_bytes()) != digest_file(library).read_text("ascii", "replace"):
            # A system that loads half a library may end the process.
            raise NotUsable("is not whole")
        wanted = digest_of(source.read_bytes())
        opened = ctypes.CDLL(str(library))
        opened.source_digest.restype = ctypes.c_char_p
        told = opened.source_digest()
    except (OSError, AttributeError):
        raise NotUsable("was not compiled") from None
    if told.decode("ascii", "replace") != wanted:
        raise NotUsable("is older than its source")
    return opened
