"""Functions of this package run in a process of their own, whose memory ends with it.

A process that cannot be started, or dies, costs only time: what it was asked for is done here. What is asked and
answered travels as MessagePack, read by the annotations of the function: nothing in a message can be run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, get_type_hints

import msgspec

from rl_pipeline.errors import ConfigurationError, DataError, PipelineError
from rl_pipeline.processes import Helper

PROGRAM = "rl_pipeline.commands.other_process"
ERRORS: dict[str, type[PipelineError]] = {error.__name__: error for error in (ConfigurationError, DataError)}
PARTS_OF_ERROR = ("where", "expected", "do", "slug")
ARROW_TABLE = ("pyarrow.lib", "Table")

Given = TypeVar("Given")


class OtherProcess:
    """A process that runs functions one after the other.

    Args:
        without: modules that count as not installed there.
        environment: variables that are set there unless they are here.
    """

    def __init__(self, *, without: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> None:
        self._helper = Helper(PROGRAM, without=without, environment=environment)
        self._is_closed = False

    def __enter__(self) -> OtherProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=error is not None)

    def call(self, function: str, *arguments: Any, gives: type[Given]) -> Given:  # noqa: ANN401 - whatever it takes
        """What a function gives, run there.

        Args:
            function: `module:name`; annotations of the function say how values are read on the other side.
            arguments: what it takes: plain values, dataclasses, paths, Arrow tables.
            gives: type of its value.

        Raises:
            PipelineError: as the function raised it.
            OSError: likewise.
        """
        told = self._helper.ask(ENCODE([function, ENCODE(arguments)]))
        if told is None and self._is_closed:
            raise CancelledError
        if told is None:
            done: Given = _function(function)(*arguments)
            return done
        value, error = msgspec.msgpack.decode(told, type=tuple[bytes, list[Any] | None])
        if error is not None:
            raise _error(*error)
        given: Given = _decoded(value, gives)
        return given

    def close(self, *, at_once: bool = False) -> None:
        """End the process; `at_once` in the middle of its work."""
        self._is_closed = True
        self._helper.close(at_once=at_once)


class PreparedProcess:
    """Another process that begins with its imports, and the one thread that talks to it.

    Args:
        prepare: `module:name` of a function that does nothing; calling it imports what later calls need.
        without: modules that count as not installed there.
        environment: variables that are set there unless they are here.
    """

    def __init__(
        self, prepare: str, *, without: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> None:
        self.process = OtherProcess(without=without, environment=environment)
        self.thread = ThreadPoolExecutor(1, thread_name_prefix=prepare)
        self.thread.submit(self.process.call, prepare, gives=type(None))

    def __enter__(self) -> PreparedProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=error is not None)

    def close(self, *, at_once: bool = False) -> None:
        """End the process; what it is at is lost with `at_once`."""
        self.process.close(at_once=at_once)
        self.thread.shutdown(cancel_futures=True)


def answer(message: bytes) -> bytes:
    """Run what is asked for; its value, or the error that a person should read."""
    function, arguments = msgspec.msgpack.decode(message, type=tuple[str, bytes])
    work = _function(function)
    kinds = list(get_type_hints(work).values())
    values = msgspec.msgpack.decode(arguments, type=list[msgspec.Raw])
    value: Any = None
    told: list[Any] | None = None
    try:
        value = work(*(_decoded(one, kind) for one, kind in zip(values, kinds, strict=False)))
    except PipelineError as error:
        kind = next((name for name, known in ERRORS.items() if isinstance(error, known)), DataError.__name__)
        told = [kind, error.what, {name: getattr(error, name) for name in PARTS_OF_ERROR}]
    except OSError as error:
        told = [OSError.__name__, error.strerror or str(error), {"errno": error.errno or 0}]
    return ENCODE([ENCODE(value), told])


def _error(kind: str, what: str, parts: dict[str, Any]) -> Exception:
    return OSError(parts["errno"], what) if kind == OSError.__name__ else ERRORS[kind](what, **parts)


def _encoded(value: Any) -> bytes | dict[Any, Any]:  # noqa: ANN401 - what MessagePack does not know by itself
    if isinstance(value, Path):
        return os.fsencode(value)
    if isinstance(value, Mapping):
        return dict(value)
    import pyarrow as pa

    if isinstance(value, pa.Table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as writer:
            writer.write_table(value)
        return bytes(sink.getvalue())
    raise TypeError(f"a {type(value).__name__} does not travel")


ENCODE = msgspec.msgpack.Encoder(enc_hook=_encoded).encode


def _decoded(content: bytes | msgspec.Raw, kind: Any) -> Any:  # noqa: ANN401 - any type
    return msgspec.msgpack.decode(content, type=kind, dec_hook=_restored)


def _restored(kind: type[Any], value: bytes) -> Any:  # noqa: ANN401 - as above
    if issubclass(kind, Path):
        return Path(os.fsdecode(value))
    if (kind.__module__, kind.__name__) == ARROW_TABLE:
        import pyarrow as pa

        return pa.ipc.open_stream(value).read_all()
    raise TypeError(f"a {kind.__name__} does not travel")


def _function(function: str) -> Any:  # noqa: ANN401 - any function
    module, name = function.split(":")
    return getattr(import_module(module), name)
