"""Places that inputs lie in: this machine's file systems as they are, and object stores and SSH servers by fsspec.

Nothing local goes through fsspec: every function asks once whether the path is one of `addresses`, and else does what
the standard library does. What lies elsewhere is listed and read in ranges where that is enough, and brought to this
disk (`spool`) where a program has to read all of it.
"""

from rl_pipeline.places.elsewhere import (
    Entry,
    PlaceError,
    entries,
    exists,
    fetch_many,
    file_facts,
    is_file,
    is_folder,
    open_binary,
    walk_files,
)
from rl_pipeline.places.spool import on_disk
from rl_pipeline.places.trouble import trouble

__all__ = [
    "Entry",
    "PlaceError",
    "entries",
    "exists",
    "fetch_many",
    "file_facts",
    "is_file",
    "is_folder",
    "on_disk",
    "open_binary",
    "trouble",
    "walk_files",
]
