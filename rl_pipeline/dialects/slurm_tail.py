"""What SLURM's `slurmstepd` and `srun` write into a job's output when it ends badly.

    slurmstepd[-{node}]: error: *** {JOB|STEP} {id} [ON {node}] {CANCELLED AT {t} [DUE TO {cause}]|FAILED (…)} ***
    slurmstepd: error: Detected {n} oom_kill event(s) in StepId={id}. …
    srun: error: {nodes}: task(s) {ranks}: {Exited with exit code {n}|Out Of Memory|Killed|…}
    srun: error: Node failure on {node}        srun: Job step aborted: …

A good end writes nothing. The tail is often glued to a progress bar, so it is searched in the whole line, but only
in lines that no process of the job prefixed, or behind such a bar: a transcript may quote it. The same end is told for
JOB and STEP, and once per node. A step may end while the job goes on. Exit codes 137 and 143, and an aborted step,
follow from an end told elsewhere. Text that a step "hit memory limit at least once" is not fatal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import event
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import JobEvent, JobRow

NAME = "slurm_tail"
NEEDLES = (b"slurmstepd", b"srun: ")
HEADED = False

HEAD = re.compile(r"(?:slurmstepd(?:-[\w.-]{1,100})?|srun): (?:error: )?")
STARS = re.compile(
    r"\*\*\* (?:(?P<scope>JOB|STEP) (?P<id>[\w.+\[\]-]{1,80}) )?(?:ON (?P<node>[\w.,\[\]-]{1,200}) )?"
    r"(?P<what>CANCELLED(?: AT (?P<at>[^\s*]{1,40}))?(?: DUE [Tt][Oo] (?P<cause>[^*]{1,120}?))?"
    r"|FAILED \([^)]{0,120}\)|STEPD TERMINATED [^*]{1,200}?) \*\*\*"
)
OUT_OF_MEMORY = re.compile(
    r"Detected (?P<value>\d{1,9}) oom[_-]?kill events?\b|[^\n]{0,300}?\boom[_-]?kill", re.IGNORECASE
)
TASK = re.compile(
    r"(?P<nodes>[\w.,\[\]-]{1,300}): tasks? (?P<ranks>[\d,\[\]-]{1,300}): (?P<what>[A-Za-z][^\n]{0,120}?)\s*\Z"
)
EXIT_CODE = re.compile(r"Exited with exit code (\d{1,5})\Z")
NODE_FAILURE = re.compile(r"Node failure on \S")
ABORTED = re.compile(r"Job step aborted\b")
PATTERNS = (HEAD, STARS, OUT_OF_MEMORY, TASK, EXIT_CODE, NODE_FAILURE, ABORTED)

# The cause in the tail, in capitals, by what it begins with. A signal, or no cause: something cancelled it.
CAUSES = {
    "TIME LIMIT": "time_limit",
    "PREEMPTION": "preempted",
    "NODE FAILURE": "node_failure",
    "JOB REQUEUE": "requeued",
    "TASK FAILURE": "failed",
    "SIGNAL": "cancelled",
}
CONSEQUENCES = {137, 143}  # 128 + SIGKILL, 128 + SIGTERM: what the killed task reports


class SlurmTails:
    """Reads SLURM's lines one by one."""

    def __init__(self, context: JobContext) -> None:
        self.context = context

    def parse(self, message: Message) -> Outcome:
        """The event of the line; the class of the end is its name."""
        inside_process = message.source.actor is not None or message.source.process is not None
        if message.logger is not None or (inside_process and not message.after_bar):
            return None
        head = HEAD.match(message.payload) if inside_process else HEAD.search(message.payload)
        if head is None:
            return None
        text = message.payload[head.end() :]
        if (stars := STARS.match(text)) is not None:
            kind = "slurm_job" if stars.group("scope") == "JOB" else "slurm_step"
            return self._event(message, kind, end_state(stars), head.start())
        if text.startswith("*** ") and not text.rstrip().endswith("***"):
            return Broken("tail of a SLURM job cut")
        return self._other(message, text, head.start())

    def _other(self, message: Message, text: str, start: int) -> Outcome:
        if (memory := OUT_OF_MEMORY.match(text)) is not None:
            count = memory.group("value")
            return self._event(message, "slurm_task", "out_of_memory", start, float(count) if count else None)
        if NODE_FAILURE.match(text):
            return self._event(message, "slurm_task", "node_failure", start)
        if ABORTED.match(text):
            return self._event(message, "slurm_consequence", None, start)
        if not message.complete:
            return Broken("words of SLURM cut")
        if (task := TASK.match(text)) is not None:
            return self._task(message, task.group("what"), start)
        return self._event(message, "slurm_notice", None, start)

    def _task(self, message: Message, what: str, start: int) -> Outcome:
        if (code := EXIT_CODE.match(what)) is not None:
            number = int(code.group(1))
            kind = "slurm_consequence" if number in CONSEQUENCES else "slurm_task"
            return self._event(message, kind, "failed" if kind == "slurm_task" else None, start, float(number))
        if what.upper() == "OUT OF MEMORY":
            return self._event(message, "slurm_task", "out_of_memory", start)
        if what in ("Killed", "Terminated"):
            return self._event(message, "slurm_consequence", None, start)
        return self._event(message, "slurm_task", "failed", start)

    def _event(
        self, message: Message, kind: str, name: str | None, start: int, value: float | None = None
    ) -> Sequence[JobRow]:
        detail = message.payload[start:].strip()
        return (event(self.context, message, kind, name=name, value=value, detail=detail),)

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()


def end_state(stars: re.Match[str]) -> str:
    """Which end a tail between stars tells of."""
    what, cause = stars.group("what"), (stars.group("cause") or "").upper()
    if what.startswith("FAILED"):
        return "failed"
    if what.startswith("STEPD"):
        return "node_failure"  # processes that could not be killed: the node's trouble
    return next((state for beginning, state in CAUSES.items() if cause.startswith(beginning)), "cancelled")


def parser(context: JobContext) -> SlurmTails:
    """A fresh parser for one job."""
    return SlurmTails(context)


def _sample(
    payload: str, kind: str, name: str | None, value: float | None = None, *, detail: str | None = None
) -> Sample:
    row = JobEvent(
        job="job_1", line=1, byte_offset=0, kind=kind, name=name, value=value, detail=detail or payload
    )  # fmt: skip
    return Sample(payload, (row,), bare=True)


JOB_TAIL = "slurmstepd: error: *** JOB 918273 ON node0412 CANCELLED AT 2026-01-10T03:00:12"
STEP_TAIL = "slurmstepd-node0412: error: *** STEP 918273.0 ON node0412 CANCELLED AT 2026-01-10T03:00:12"
SAMPLES = (
    _sample(f"{JOB_TAIL} DUE TO TIME LIMIT ***", "slurm_job", "time_limit"),
    _sample(f"{STEP_TAIL} DUE TO PREEMPTION ***", "slurm_step", "preempted"),
    _sample(f"{JOB_TAIL} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***", "slurm_job", "node_failure"),
    _sample(f"{JOB_TAIL} DUE TO JOB REQUEUE ***", "slurm_job", "requeued"),
    _sample(f"{JOB_TAIL} ***", "slurm_job", "cancelled"),
    _sample(f"{STEP_TAIL} DUE to SIGNAL Killed ***", "slurm_step", "cancelled"),
    _sample(f"{STEP_TAIL} DUE TO TASK FAILURE ***", "slurm_step", "failed"),
    _sample(
        "slurmstepd: error: *** STEP 918273.0 ON node0412 FAILED (non-zero exit code or other failure mode) ***",
        "slurm_step",
        "failed",
    ),
    _sample(
        "slurmstepd: error: *** JOB 918273 STEPD TERMINATED ON node0412 AT 2026-01-10T03:00:12 "
        "DUE TO JOB NOT RUNNING ***",
        "slurm_job",
        "node_failure",
    ),
    _sample(
        "slurmstepd: error: Detected 2 oom_kill events in StepId=918273.batch. "
        "Some of the step tasks have been OOM Killed.",
        "slurm_task",
        "out_of_memory",
        2.0,
    ),
    _sample("srun: error: node[0412-0413]: tasks 3,7-9: Out Of Memory", "slurm_task", "out_of_memory"),
    _sample("srun: error: node0412: task 0: Exited with exit code 1", "slurm_task", "failed", 1.0),
    _sample("srun: error: node0412: task 0: Exited with exit code 143", "slurm_consequence", None, 143.0),
    _sample("srun: error: Node failure on node0413", "slurm_task", "node_failure"),
    _sample("srun: Job step aborted: Waiting up to 32 seconds for job step to finish.", "slurm_consequence", None),
    _sample("slurmstepd: error: *** REASON: node drained ***", "slurm_notice", None),
    _sample(
        f"Training Batches Processed:  22%|██▏  | 13/60 [2:10:40<7:52:27, 603.1s/it]{JOB_TAIL} DUE TO TIME LIMIT ***",
        "slurm_job",
        "time_limit",
        detail=f"{JOB_TAIL} DUE TO TIME LIMIT ***",
    ),
    Sample(JOB_TAIL, (), broken=True, complete=False, bare=True),
)
