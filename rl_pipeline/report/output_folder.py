"""Files that replace an earlier set: written beside, renamed into place, the rest of the folder untouched.

A bundle is a set of files under one folder that may hold other people's files too. The new set is
written into a hidden folder beside the old one; only when all of it is there are the files renamed into
place, and files that only the earlier set had are removed. Which those are says the earlier set's own
list, and nothing outside that list is ever removed.

Writers of one folder take turns where its file system knows locks, so that their sets are not mixed; where it knows
none, or another one takes too long, a writer goes on, and the states that it is given tell whose files lie there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path, PurePosixPath
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # a system that has no such locks
    fcntl = None  # type: ignore[assignment]

from rl_pipeline.errors import ConfigurationError, shown
from rl_pipeline.process_ids import is_alive

LIST_NAME = ".rl_pipeline_files.json"
LIST_VERSION = 1
STAGING_PREFIX = ".rl_pipeline_new_"
KEPT_PREFIX = ".kept_"
LITTER_AGE_S = 86_400.0  # a day: no report takes that long to write
LINK_ERRORS = {ENOENT: "nowhere", ELOOP: "to itself"}
TURN_S, LOOK_S = 10.0, 0.05  # how long another writer is waited for (moving files takes far less), and between looks
WRITER = re.compile(rf"{re.escape(STAGING_PREFIX)}(\d{{1,9}})@([0-9a-f]{{8}})_")


class FileState(NamedTuple):
    """What tells a file from another one in its place; a rename changes none of it."""

    size_bytes: int
    mtime_ns: int
    inode: int


def file_state(path: Path) -> FileState:
    """The state of a file.

    Raises:
        OSError: it cannot be looked at.
    """
    info = path.stat()
    return FileState(info.st_size, info.st_mtime_ns, info.st_ino)


def require_writable(folder: Path) -> None:
    """Fail early where nothing could be written, leaving nothing behind.

    Raises:
        ConfigurationError: the folder, or the nearest one that exists above it, takes no files.
    """
    try:
        existing = _nearest_existing(folder)
        if not existing.is_dir():
            raise NotADirectoryError(f"{existing} is a file")
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise _not_writable(folder, error) from error


def _nearest_existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there.

    Raises:
        OSError: nobody can tell, or a link on the way leads nowhere.
    """
    while folder != folder.parent:
        try:
            folder.stat()
            break
        except OSError as error:
            if folder.is_symlink() and error.errno in LINK_ERRORS:
                raise OSError(f"the link {folder.name} leads {LINK_ERRORS[error.errno]}") from error
            if error.errno not in (ENOENT, ENOTDIR, ELOOP):  # those are told of the link or file above
                raise
            folder = folder.parent
    return folder


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder in `folder` for work on its new files; nothing of it stays.

    Raises:
        ConfigurationError: the disk refuses.
    """
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        work = _staging(folder)
    except OSError as error:
        raise _not_writable(folder, error) from error
    try:
        yield work
    except OSError as error:
        raise _not_writable(folder, error) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if is_new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def replace_files(folder: Path, write: Callable[[Path], None]) -> dict[str, FileState]:
    """Let `write` fill an empty folder, then put its files in the place of the earlier ones.

    Args:
        folder: where the files belong; made if it does not exist.
        write: writes below the folder it is given.

    Returns:
        Names of the files relative to the folder, sorted, with their states as they were written: what another
        writer puts in the place of one of them has another one.

    Raises:
        ConfigurationError: the disk refuses; earlier files are as they were.
    """
    staging: Path | None = None
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        staging = _staging(folder)
        write(staging)
        files = sorted((path.relative_to(staging).as_posix(), path) for path in staging.rglob("*") if path.is_file())
        states = {name: file_state(path) for name, path in files}
        with _turn(folder):
            _put_in_place(staging, folder, tuple(states))
    except OSError as error:
        raise _not_writable(folder, error) from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        if is_new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return states


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Inside, no other writer that knows of turns moves files into a folder.

    The lock is one of the folder itself, so it leaves no file, and it ends with its process. Nobody waits for long: one
    that was stopped in its turn may never go on.
    """
    held: int | None = None
    try:
        with suppress(OSError):  # the file system knows no locks, or the folder may not be read
            held = os.open(folder, os.O_RDONLY) if fcntl is not None else None
            if held is not None:
                _wait_for_turn(held)
        yield
    finally:
        if held is not None:
            os.close(held)


def _wait_for_turn(held: int) -> None:
    until = time.monotonic() + TURN_S
    while not _is_locked(held) and time.monotonic() < until:
        time.sleep(LOOK_S)


def _is_locked(held: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _put_in_place(staging: Path, folder: Path, names: tuple[str, ...]) -> None:
    _require_replaceable(folder, names)
    earlier = earlier_files(folder)
    _move_or_restore(staging, folder, names)
    _remove(folder, sorted(set(earlier) - set(names)))
    _write_list(staging, folder, names)


def earlier_files(folder: Path) -> tuple[str, ...]:
    """Files of the set that stands there, by its own list; none when the list is missing or strange."""
    try:
        listed = json.loads((folder / LIST_NAME).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, TypeError, KeyError):
        return ()
    names = listed if isinstance(listed, list) else []
    return tuple(name for name in names if isinstance(name, str) and _is_inside(name))


def _sweep(folder: Path) -> None:
    """Remove what writers left that were killed: those of this machine that are no more, others after a day."""
    for path in folder.glob(f"{STAGING_PREFIX}*"):
        if not path.is_dir() or path.is_symlink():
            continue
        if _is_of_the_dead(path) or time.time() - path.stat().st_mtime > LITTER_AGE_S:
            shutil.rmtree(path, ignore_errors=True)


def _staging(folder: Path) -> Path:
    """A new hidden folder in a folder; its name tells whose it is."""
    return Path(tempfile.mkdtemp(prefix=f"{STAGING_PREFIX}{os.getpid()}@{_machine()}_", dir=folder))


def _machine() -> str:
    """Where a process id means one process: containers of one machine may count their own."""
    try:
        own_ids = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - no path, the text of a link
    except OSError:
        own_ids = ""
    return hashlib.blake2b(f"{socket.gethostname()} {own_ids}".encode(), digest_size=4).hexdigest()


def _is_of_the_dead(staging: Path) -> bool:
    """Whether its writer was a process of this machine that has ended."""
    told = WRITER.match(staging.name)
    if told is None or told[2] != _machine() or os.name != "posix":
        return False
    return not is_alive(int(told[1]), staging.stat().st_mtime)


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name


def _require_replaceable(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        if (folder / name).is_dir():
            raise IsADirectoryError(f"{folder / name} is a folder where a file of the report belongs")


def _move_or_restore(staging: Path, folder: Path, names: Iterable[str]) -> None:
    """Rename every file into place; when one cannot be, the earlier ones come back.

    Files of the top level go last: these are what people open, and they name the others.
    """
    kept = Path(tempfile.mkdtemp(prefix=KEPT_PREFIX, dir=staging))
    moved: list[str] = []
    try:
        for name in sorted(names, key=lambda name: ("/" not in name, name)):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                (kept / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(target, kept / name)
            os.replace(staging / name, target)  # noqa: PTH105 - one call, atomic on every system
            moved.append(name)
    except OSError:
        for name in reversed(moved):
            if (kept / name).exists():
                os.replace(kept / name, folder / name)  # noqa: PTH105 - as above
            else:
                (folder / name).unlink(missing_ok=True)
        raise


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove files of the earlier set and folders that it leaves empty; links are not followed."""
    for name in names:
        path = folder / name
        inner = [parent for parent in path.parents if parent != folder and folder in parent.parents]
        if any(parent.is_symlink() for parent in inner):
            continue
        path.unlink(missing_ok=True)
        for parent in inner:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()


def _write_list(staging: Path, folder: Path, names: tuple[str, ...]) -> None:
    text = json.dumps({"version": LIST_VERSION, "files": list(names)}, indent=1) + "\n"
    (staging / LIST_NAME).write_text(text, encoding="utf-8")
    os.replace(staging / LIST_NAME, folder / LIST_NAME)  # noqa: PTH105 - as above


def _not_writable(folder: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        "The output folder cannot be written",
        where=str(folder),
        expected=f"a folder that takes files ({shown(error.strerror or str(error))})",
        do="name another folder, or make room or permissions there; what stood there before is unchanged",
        slug="output-not-writable",
    )
