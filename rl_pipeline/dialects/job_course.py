"""Lines of SkyRL trainers that tell the course of a job: start, resume, saves, plan, rewards, end.

Printed by the trainers' loggers, each on one line. What a line proves is narrow: `Resuming from global_step: {N}` names
the last *completed* step; `Resumed training from global_step {N}` is printed on fresh starts too, with 0; of a save
only the `Successfully saved …` line means that it is complete; the data loader's `Total steps` ignores a step limit.
An end line says that the training loop ended by itself, not that the program left without an error.
"""

from __future__ import annotations

import re

from rl_pipeline.dialects.contract import JobContext, Sample
from rl_pipeline.dialects.event_rows import LineEvents, LinePattern
from rl_pipeline.schema import JobEvent

NAME = "job_course"
NEEDLES = (
    b"No checkpoint found",
    b"Checkpoint resumption disabled",
    b"Resuming from global_step",
    b"checkpoint state from global_step_",
    b"Resumed training from global_step",
    b"Total steps: ",
    b"Total training steps: ",
    b"reward/avg_pass_at_",
    b"Discarding stale group ",
    b"Saving checkpoint at step ",
    b"Successfully saved checkpoint for ",
    b"Successfully saved model weights",
    b"Saved final ",
    b"Training done!",
    b"Reached max",
    b"Training already complete on resume",
    b"Process still alive ",
)
HEADED = True

NUMBER = r"-?\d{1,15}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?"
LINES = (
    LinePattern(
        "fresh_start", re.compile(r"No checkpoint found, starting training from scratch|Checkpoint resumption disabled")
    ),
    LinePattern("resume", re.compile(r"Resuming from global_step: ?(?P<step>\d+)\s*\Z"), open_end=True),
    LinePattern(
        "checkpoint_loaded",
        re.compile(r"Successfully loaded complete checkpoint state from global_step_(?P<step>\d+)\s*\Z"),
        open_end=True,
    ),
    LinePattern(
        "loop_started", re.compile(r"Resumed training from global_step:? ?(?P<step>\d+)\.?\s*\Z"), open_end=True
    ),
    LinePattern(
        "planned_steps", re.compile(r"Total steps: (?P<value>\d{1,15})\s*\Z"), name="data_loader", open_end=True
    ),
    LinePattern(
        "planned_steps", re.compile(r"Total training steps: (?P<value>\d{1,15})\s*\Z"), name="training", open_end=True
    ),
    LinePattern(
        "batch_reward",
        re.compile(
            rf"reward/avg_pass_at_\d{{1,9}}: (?:{NUMBER}|nan), (?P<name>reward/avg_raw_reward): (?P<value>{NUMBER})"
            r"(?: \(effective_batch=[^()\n]{1,40}\))?\s*\Z"
        ),
        open_end=True,
    ),
    LinePattern(
        "stale_group",
        re.compile(rf"Discarding stale group uid=.{{0,200}}? staleness=(?P<value>{NUMBER}) > max={NUMBER}"),
    ),
    LinePattern("checkpoint_saving", re.compile(r"Saving checkpoint at step (?P<step>\d+) to .")),
    LinePattern("checkpoint_saved", re.compile(r"Successfully saved checkpoint for global_step_(?P<step>\d+) to: .")),
    LinePattern("checkpoint_saved", re.compile(r"Saved final checkpoint\."), name="final"),
    LinePattern("export_saved", re.compile(r"Successfully saved model weights\."), name="weights"),
    LinePattern("export_saved", re.compile(r"Saved final model\."), name="final"),
    LinePattern("end", re.compile(r"Training done!"), name="training_done"),
    LinePattern("end", re.compile(r"Reached max training steps \((?P<value>\d{1,15})\)"), name="step_limit"),
    LinePattern(
        "end", re.compile(r"Reached max_training_steps=(?P<value>\d{1,15}), stopping early"), name="step_limit"
    ),
    LinePattern("end", re.compile(r"Training already complete on resume\b"), name="already_complete"),
    LinePattern("teardown_hang", re.compile(rf"Process still alive (?P<value>{NUMBER}) ?s after teardown")),
)
PATTERNS = tuple(line.pattern for line in LINES)


def parser(context: JobContext) -> LineEvents:
    """A fresh parser for one job."""
    return LineEvents(context, LINES)


def _sample(
    payload: str, kind: str, *, step: int | None = None, name: str | None = None, value: float | None = None
) -> Sample:
    row = JobEvent(
        job="job_1", line=1, byte_offset=0, kind=kind, step=step, name=name, value=value, detail=payload
    )  # fmt: skip
    return Sample(payload, (row,))


SAMPLES = (
    _sample("No checkpoint found, starting training from scratch", "fresh_start"),
    _sample("Checkpoint resumption disabled, starting training from scratch", "fresh_start"),
    _sample("Resuming from global_step: 40", "resume", step=40),
    _sample("Successfully loaded complete checkpoint state from global_step_40", "checkpoint_loaded", step=40),
    _sample("Resumed training from global_step 0", "loop_started", step=0),
    _sample("Total steps: 5120", "planned_steps", name="data_loader", value=5120.0),
    _sample("Total training steps: 80", "planned_steps", name="training", value=80.0),
    _sample(
        "reward/avg_pass_at_8: 0.453125, reward/avg_raw_reward: 0.3359375 (effective_batch=512 samples)",
        "batch_reward",
        name="reward/avg_raw_reward",
        value=0.3359375,
    ),
    _sample("Discarding stale group uid=ab12 staleness=9 > max=8", "stale_group", value=9.0),
    _sample("Saving checkpoint at step 40 to /data/run/checkpoints", "checkpoint_saving", step=40),
    _sample(
        "Successfully saved checkpoint for global_step_40 to: /data/run/checkpoints/global_step_40",
        "checkpoint_saved",
        step=40,
    ),
    _sample("Saved final checkpoint.", "checkpoint_saved", name="final"),
    _sample("Successfully saved model weights.", "export_saved", name="weights"),
    _sample("Saved final model.", "export_saved", name="final"),
    _sample("Training done!", "end", name="training_done"),
    _sample("Reached max training steps (80)", "end", name="step_limit", value=80.0),
    _sample("Reached max_training_steps=80, stopping early.", "end", name="step_limit", value=80.0),
    _sample("Training already complete on resume — exiting cleanly.", "end", name="already_complete"),
    _sample("Process still alive 120s after teardown, exiting", "teardown_hang", value=120.0),
)
