"""Lines about a crash: the trainer's own words, Ray's about a lost worker, memory, the shell's.

`Training failed at step {N} with {Type}: …` (skyrl 0.4) and `Train loop failed at global_step {N}: …` (MarinSkyRL) come
from the trainer. Ray says `ActorDiedError`, `A worker died or was killed …`, `OutOfMemoryError`,
`ObjectStoreFullError`; PyTorch `CUDA out of memory`; a shell `Killed` or `Segmentation fault`. Three different
memories can be full, and a single lost actor may have been survived: the lines say what was printed, not what
ended the job.
"""

from __future__ import annotations

import re

from rl_pipeline.dialects.contract import JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import LineEvents, LinePattern
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import JobEvent

NAME = "failures"
NEEDLES = (
    b"Training failed at step ",
    b"Train loop failed at global_step ",
    b"ActorDiedError",
    b"A worker died or was killed",
    b"WorkerCrashedError",
    b"NodeDiedError",
    b"OutOfMemoryError",
    b"CUDA out of memory",
    b"CUDA error: out of memory",
    b"ObjectStoreFullError",
    b"Killed",
    b"Segmentation fault",
    b"Terminated",
    b"Aborted",
)
HEADED = False

SHELL = re.compile(
    r"(?:[^\s:]{1,200}: line \d{1,9}: +\d{1,9} +)?(?P<name>Killed|Segmentation fault|Terminated|Aborted)"
    r"(?: +\(core dumped\))?(?: {2,}\S.*|\s*)\Z"
)
LINES = (
    LinePattern(
        "failure", re.compile(r"Training failed at step (?P<step>\d+) with (?P<name>[A-Za-z_][\w.]{0,100}): ?")
    ),
    LinePattern(
        "failure",
        re.compile(
            r"Train loop failed at global_step (?P<step>\d+): ?"
            r"(?:(?P<name>[A-Za-z_][\w.]{0,100}(?:Error|Exception|Interrupt|Exit))(?=[:(]|\s|\Z))?"
        ),
    ),
    LinePattern(
        "out_of_memory",
        re.compile(
            r"(?:torch\.(?:cuda\.)?OutOfMemoryError: |RuntimeError: |OutOfMemoryError: )?CUDA (?:error: )?out of memory"
        ),
        name="cuda",
    ),
    LinePattern("out_of_memory", re.compile(r"torch\.(?:cuda\.)?OutOfMemoryError\b"), name="cuda"),
    LinePattern("out_of_memory", re.compile(r"(?:ray\.exceptions\.)?ObjectStoreFullError\b"), name="object_store"),
    LinePattern("out_of_memory", re.compile(r"(?:ray\.exceptions\.)?OutOfMemoryError\b"), name="host"),
    LinePattern(
        "worker_died",
        re.compile(
            r"(?:ray\.exceptions\.(?:RayTaskError\([^()]{0,80}\): )?)?"
            r"(?P<name>RayActorError|ActorDiedError|WorkerCrashedError|NodeDiedError)\b"
        ),
    ),
    LinePattern("worker_died", re.compile(r"A worker died or was killed while executing"), name="worker"),
)
PATTERNS = (*(line.pattern for line in LINES), SHELL)
KILLED = (LinePattern("killed", SHELL),)


class Failures(LineEvents):
    """The lines above; the shell's words only count where no process prefix stands before them."""

    def parse(self, message: Message) -> Outcome:
        """The event of the line, if it is one of these."""
        bare = message.logger is None and message.source.actor is None and message.source.process is None
        outcome = super().parse(message)
        if outcome is None and bare:
            return KILLED[0].read(self.context, message)
        return outcome


def parser(context: JobContext) -> Failures:
    """A fresh parser for one job."""
    return Failures(context, LINES)


def _sample(payload: str, kind: str, *, step: int | None = None, name: str | None = None, bare: bool = True) -> Sample:
    row = JobEvent(job="job_1", line=1, byte_offset=0, kind=kind, step=step, name=name, detail=payload)
    return Sample(payload, (row,), bare=bare)


SAMPLES = (
    _sample("Train loop failed at global_step 12: ray::Worker.forward() (pid=7)", "failure", step=12, bare=False),
    _sample("Training failed at step 12 with ValueError: bad batch", "failure", step=12, name="ValueError", bare=False),
    _sample(
        "Train loop failed at global_step 12: RuntimeError('no')", "failure", step=12, name="RuntimeError", bare=False
    ),
    _sample("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "out_of_memory", name="cuda"),
    _sample("torch.cuda.OutOfMemoryError: allocation failed", "out_of_memory", name="cuda"),
    _sample("ray.exceptions.ObjectStoreFullError: the store is full", "out_of_memory", name="object_store"),
    _sample(
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        "out_of_memory",
        name="host",
    ),
    _sample(
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
        "worker_died",
        name="ActorDiedError",
    ),
    _sample(
        "A worker died or was killed while executing a task by an unexpected system error.",
        "worker_died",
        name="worker",
    ),
    _sample("run.sh: line 12: 4711 Killed                  python train.py", "killed", name="Killed"),
)
