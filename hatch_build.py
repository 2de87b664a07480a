"""Compiles what is in C when the program is installed or a wheel is built; without a compiler it is left out.

Any C compiler will do; where there is none, one comes from the package index for the build alone. Nothing fails when
compiling does: large logs are then read ten times slower, and the program says so; trials take three quarters longer.
With `RL_PIPELINE_WITHOUT_LOOPS` set nothing is compiled or fetched.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path("rl_pipeline") / "reader" / "loops"
MARKS_FOLDER = FOLDER.parent / "text_marks"
CALLS_FOLDER = FOLDER.parent / "folder_calls"  # names in folders are listed as Linux lists them, so for Linux alone
OPTIONS = ("-O3", "-std=c99", "-shared", "-fPIC", "-fvisibility=hidden")
BUILT_IN_TIME_S = 300
WITHOUT = "RL_PIPELINE_WITHOUT_LOOPS"


def folders() -> list[Path]:
    """Where the sources lie that are compiled on this system; each has the name of its folder."""
    anywhere = [FOLDER, MARKS_FOLDER]
    return [*anywhere, CALLS_FOLDER] if sys.platform == "linux" else anywhere


def library_name(name: str = FOLDER.name) -> str:
    """The name of what is compiled, on this system."""
    return f"{name}.dll" if sys.platform == "win32" else f"{name}.so"


def compilers() -> list[list[str]]:
    """The words that call each C compiler of this machine, the one that the person named first."""
    names = (os.environ.get("CC"), "cc", "gcc", "clang")
    return [name.split() for name in names if name and shutil.which(name.split()[0])]


def digest_of(file: Path) -> str:
    """The digest of a file, as `rl_pipeline.reader.loops` makes it."""
    return hashlib.blake2b(file.read_bytes(), digest_size=12).hexdigest()


def digest_file(library: Path) -> Path:
    """Where the digest of the library stands, by which one is known that was not written to its end."""
    return library.with_suffix(".digest")


def compile_loops(root: Path, folder: Path = FOLDER) -> Path:
    """Compile beside the source, with the first compiler that can; the digest of what was made is put beside it.

    Args:
        root: the checkout.
        folder: where the source lies.

    Raises:
        OSError: there is no compiler.
        subprocess.SubprocessError: none of them could.
    """
    source, target = root / folder / f"{folder.name}.c", root / folder / library_name(folder.name)
    digest = digest_of(source)
    from_index = [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]
    for words in (*compilers(), from_index):
        with tempfile.TemporaryDirectory(dir=target.parent) as beside:
            made = Path(beside) / target.name
            options = [*OPTIONS, f'-DSOURCE_DIGEST="{digest}"', "-o", str(made), str(source)]
            try:
                subprocess.run([*words, *options], check=True, timeout=BUILT_IN_TIME_S, capture_output=True)
                digest_file(target).write_text(digest_of(made), "ascii")
                made.replace(target)
            except (OSError, subprocess.SubprocessError):
                if words is from_index:
                    raise
            else:
                return target
    raise FileNotFoundError("a C compiler")


def hook() -> type[Any]:
    """The class that hatchling asks for; the program itself does without hatchling."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class LoopsHook(BuildHookInterface):  # type: ignore[type-arg, unused-ignore, misc]
        """Compiles before files are put together."""

        PLUGIN_NAME = "custom"

        @property
        def is_wanted(self) -> bool:
            """Whether a wheel is built that is to have the loops."""
            return self.target_name == "wheel" and not os.environ.get(WITHOUT)

        def dependencies(self) -> list[str]:
            """What the build needs beside hatchling."""
            return [] if not self.is_wanted or compilers() else ["ziglang>=0.13"]

        def compiled(self, folder: Path) -> Path | None:
            """What was made of the source in a folder; None, with a warning, when nobody could."""
            try:
                return compile_loops(Path(self.root), folder)
            except (OSError, subprocess.SubprocessError) as error:
                self.app.display_warning(f"{folder.name}.c is not compiled, reading will be slow: {error}")
                return None

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Compile, and say that the wheel is one for this system."""
            if not self.is_wanted:
                return
            targets = [target for folder in folders() if (target := self.compiled(folder)) is not None]
            if not targets:
                return
            for made in (*targets, *map(digest_file, targets)):
                build_data["artifacts"].append(made.relative_to(self.root).as_posix())
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    return LoopsHook


def get_build_hook() -> type[Any]:
    """See `hook`."""
    return hook()


if __name__ == "__main__":
    for folder in folders():
        print(compile_loops(Path(__file__).parent, folder))
