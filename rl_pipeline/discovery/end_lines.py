"""How a job ended, told by the last lines of its log.

Three kinds of line count: the trainer's own words at its end (SkyRL, MarinSkyRL), the tails that
slurmstepd, srun and a shell write, and Ray's verdict on a submitted job. A line counts only while
nothing of the training comes after it, since a step of a job can be cancelled and a requeued job appends
its next attempt to the same file. Trials print whole transcripts, which can quote any of these lines, so
each kind is accepted only where its program prints it: tails at the start of a line or glued to a
progress bar, the trainer's words as a whole message.

The control sequences and prefixes removed here are those needed to see such a line; the full reading
of envelopes belongs to `reader`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rl_pipeline.discovery.tail import Tail
from rl_pipeline.redaction import redact

END_LINE, SCHEDULER_TAIL = "end_line", "scheduler_tail"

_LONGEST_LINE = 16 * 1024
_EVIDENCE = 300

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_LABEL = re.compile(r" {0,6}(?:P\d{1,4} +)?\d{1,6}: |\[\d\d:\d\d:\d\d\] task=\S{1,200}(?: attempt=\d+)? \| ")
_ACTOR = re.compile(r"\((?:[^()]{0,200}(?:\([^()]{0,100}\)[^()]{0,100})? )?pid=\w+(?:, ip=[^)]{1,60})?\) ?")
_LOGGER = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3}(?: ?(?:Z|[+-]\d{4}))? (?:\| [A-Z]+ *\| [^ ]{1,200} - |\S+ \S+ -- )"
)
_DATED = re.compile(r"\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)")
_BAR_END = re.compile(r"(?:\d+(?:/\d+|it) \[[^\]]{0,200}\]|\d%\|[^|]{0,200}\|?)\s*$")

# slurmstepd, as printed for a job or one of its steps; see the SLURM sources, slurmstepd/req.c.
_SLURM = re.compile(
    r"slurmstepd(?:-[\w.-]{1,80})?: error: \*\*\* "
    r"(?:(?:JOB|STEP) \S{1,40} (?:ON \S{1,200} )?)?(?P<what>CANCELLED|FAILED|STEPD TERMINATED)(?P<why>[^*]{0,300})"
)
_OOM = re.compile(
    r"(?:slurmstepd(?:-[\w.-]{1,80})?|srun): error: .{0,300}?(?:oom.?kill|Out Of Memory|OUT_OF_MEMORY)", re.IGNORECASE
)
_SRUN = re.compile(r"srun: error: (?:Node failure on |\S{1,200}: tasks? [\d,-]{1,200}: (?P<exit>[^\n]{1,120}))")
_RAY_JOB = re.compile(r"Job '[^']{1,80}' (?P<verdict>succeeded|failed|was stopped)")
_SHELL = re.compile(
    r"(?:\S{1,200}: line \d+: +\d+ )?(?P<word>Killed|Terminated|Segmentation fault|Bus error|Aborted)\b[^\n]{0,200}"
)

# The trainer's words: the second value says that nothing can fail after it.
_TRAINER_ENDS: tuple[tuple[re.Pattern[str], str, bool], ...] = (
    (re.compile(r"Training done!$"), "completed", True),
    (re.compile(r"Training already complete on resume\b"), "completed", True),
    (re.compile(r"Process still alive [\d.]+s after teardown"), "completed", True),
    (re.compile(r"Saved final (?:checkpoint|model)\.$"), "completed", False),
    (re.compile(r"Reached max(?: training steps \(\d+\)|_training_steps=\d+)"), "completed", False),
    (re.compile(r"Training failed at step \d+ with \w"), "failed", False),
    (re.compile(r"Train loop failed at global_step \d+"), "failed", False),
)
_TRAINING = re.compile(
    r"Step \d+: *$|Started: '|Step \d+: effective_batch=|Resuming from global_step: \d|WANDB_MIRROR kind=train"
    r"|No checkpoint found, starting training"
)
_WHY = (
    ("TIME LIMIT", "time_limit"),
    ("PREEMPTION", "preempted"),
    ("NODE FAILURE", "node_failure"),
    ("REQUEUE", "requeued"),
    ("TASK FAILURE", "failed"),
)
# A cause says more than what follows from it: exit codes and cancelled steps come after the cause, and a
# limit that was reached can still be followed by a failed save.
_STRENGTH = {(SCHEDULER_TAIL, "cancelled"): 1, (SCHEDULER_TAIL, "failed"): 0, (END_LINE, "completed"): -1}
_CAUSE, _TRAINERS_FAILURE = 3, 2
# Behind the tail of a whole job comes nothing more; a step's tail with more behind it ended only that step.
_MOST_LINES_AFTER_A_TAIL = 50


@dataclass(frozen=True, slots=True)
class EndLine:
    """A line that shows how the job ended. `final`: the training was complete, whatever came after."""

    state: str
    by: str
    text: str
    byte: int
    line: int | None
    final: bool = False


def find_end(tail: Tail) -> EndLine | None:
    """The line that decides how the job ended, or None when the tail does not say.

    A completed training stays completed when its program is killed afterwards. Otherwise a scheduler's
    tail decides over the trainer's words, and among tails the last cause.
    """
    best: EndLine | None = None
    lines_after = 0
    for number, (offset, raw) in enumerate(tail.lines(), 1):
        text = _readable(raw)
        message = _message(text)
        if _TRAINING.match(message):
            best = None
        found = _classify(text, message, offset, number if tail.whole else None)
        if found is not None and (best is None or _strength(found) >= _strength(best)):
            best, lines_after = found, 0
        elif text and found is None:
            lines_after += 1
    if best is not None and best.by == SCHEDULER_TAIL and lines_after > _MOST_LINES_AFTER_A_TAIL:
        best = None
    return best or _last_traceback(tail)


def _strength(end: EndLine) -> int:
    """How much an end line says; of two that say as much the later one counts."""
    if end.final:
        return 9
    default = _TRAINERS_FAILURE if end.by == END_LINE else _CAUSE
    return _STRENGTH.get((end.by, end.state), default)


def _readable(raw: bytes) -> str:
    """Text of a line without control sequences and labels; a very long line keeps both its ends."""
    if len(raw) > _LONGEST_LINE:
        raw = raw[: _LONGEST_LINE // 2] + b"\r" + raw[-_LONGEST_LINE // 2 :]
    text = _CONTROL.sub("", raw.replace(b"\x00", b"").decode("utf-8", "replace"))
    return _without_label(text.rsplit("\r", 1)[-1].strip())


def _without_label(text: str) -> str:
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def _without_actors(text: str) -> str:
    for _ in range(3):  # Ray's prefix, vLLM's, and one to spare
        prefix = _ACTOR.match(text)
        if prefix is None:
            break
        text = text[prefix.end() :]
    return text


def _message(text: str) -> str:
    """The words of a logger's message, behind actor prefixes and the head; empty without a head.

    Lines of a transcript come without one, so nothing in them is taken for the trainer's words.
    """
    text = _without_actors(text)
    head = _LOGGER.search(text) if "it]" in text else _LOGGER.match(text)  # a head can be glued to a progress bar
    return text[head.end() :] if head else ""


def _classify(text: str, message: str, offset: int, line: int | None) -> EndLine | None:
    tail = _scheduler_tail(text)
    if tail is not None:
        state, words = tail
        return EndLine(state, SCHEDULER_TAIL, _evidence(words), offset, line)
    end = _trainer_end(message)
    if end is None:
        return None
    state, final = end
    return EndLine(state, END_LINE, _evidence(message), offset, line, final)


def _evidence(words: str) -> str:
    """The words without credentials, cut."""
    safe = redact(words[: 4 * _EVIDENCE]).text
    return safe if len(safe) <= _EVIDENCE else safe[:_EVIDENCE] + "…"


def _trainer_end(message: str) -> tuple[str, bool] | None:
    for pattern, state, final in _TRAINER_ENDS:
        if pattern.match(message):
            return state, final
    return None


def _scheduler_tail(text: str) -> tuple[str, str] | None:
    """End state told by SLURM or Ray's job client, and its words; None when the line is none of theirs."""
    for pattern, read in _TAILS:
        match = pattern.search(text)
        if match is not None and _stands_free(text[: match.start()]):
            return read(match), text[match.start() :]
    return None


def _stands_free(before: str) -> bool:
    """Whether a tail begins its line, or is glued to a progress bar, rather than quoted in a message."""
    return not before.strip(" -#*") or _LABEL.fullmatch(before) is not None or _BAR_END.search(before) is not None


def _slurm_state(match: re.Match[str]) -> str:
    if match["what"] != "CANCELLED":
        return "failed"
    why = match["why"].upper()
    return next((state for words, state in _WHY if words in why), "cancelled")


def _srun_state(match: re.Match[str]) -> str:
    return "failed" if match["exit"] else "node_failure"


def _ray_state(match: re.Match[str]) -> str:
    return {"succeeded": "completed", "failed": "failed"}.get(match["verdict"], "cancelled")


_TAILS = (
    (_SLURM, _slurm_state),
    (_OOM, lambda _: "out_of_memory"),
    (_SRUN, _srun_state),
    (_RAY_JOB, _ray_state),
)


def _last_traceback(tail: Tail) -> EndLine | None:
    """A traceback or a shell's word that the driver printed at the very end, with nothing after it."""
    lines = [(offset, _readable(raw)) for offset, raw in tail.lines()]
    numbered = [(number, offset, text) for number, (offset, text) in enumerate(lines, 1) if text]
    if not numbered:
        return None
    number, offset, text = numbered[-1]
    if not (_SHELL.fullmatch(text) or _ends_a_traceback([line for _, _, line in numbered])):
        return None
    return EndLine("failed", END_LINE, _evidence(text), offset, number if tail.whole else None)


def _ends_a_traceback(texts: list[str]) -> bool:
    """Whether the last line is an exception's, under a traceback of bare (driver's) lines."""
    if not re.match(r"[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit|Timeout)\b", texts[-1]):
        return False
    for text in reversed(texts[-200:-1]):
        if text.startswith("Traceback (most recent call last):"):
            return True
        if _ACTOR.match(text) or _LOGGER.match(text):
            return False
    return False


def dated_times(text: str) -> Iterator[str]:
    """Every full date and time that stands at the head of a line of the text, as printed."""
    for line in text.split("\n"):
        message = _without_label(_CONTROL.sub("", line[:600]).rsplit("\r", 1)[-1].strip())
        found = _DATED.match(_without_actors(message))
        if found:
            yield found[1]
