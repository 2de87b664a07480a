"""Writes a job log as a SkyRL run under Ray and SLURM would, from calls that say what happened.

    log = LogWriter(seed=1).fresh_start()
    log.step(1, {"reward/avg_raw_reward": 0.25}, seconds={"generate": 30.0, "run_training": 12.0})
    log.time_limit("918273").write(folder / "demo_918273.out")

Time goes on by `tick` and by timers alone. Nothing is random without a seed, and equal calls give equal
bytes. Options of `text` decide how the same lines look: coloured, folded, labelled, interleaved.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from rl_pipeline_tests.helpers.ray_output import (
    DRIVER,
    Actor,
    Line,
    console_block,
    fold,
    loguru_lines,
    rendered,
    srun_label,
    vllm_line,
)

START = datetime(2026, 1, 9, 11, 0, 0)
TRAINER = Actor("skyrl_entrypoint", 51002)
LOOP = "skyrl_train.fully_async_trainer:_train_loop:658"
GENERATOR = "examples.terminal_bench.terminal_bench_generator:generate"


def engine_actors(count: int, *, first_pid: int = 70211) -> tuple[Actor, ...]:
    """Inference engines as SkyRL starts them: one Ray actor each, two to a node, the first on the driver's."""
    return tuple(
        Actor("AsyncVLLMInferenceEngine", first_pid + 97 * index, None if index < 2 else f"10.1.0.{7 + index // 2}")
        for index in range(count)
    )


class LogWriter:
    """The lines of one job, in the order in which they are printed.

    Args:
        start: time of the first line, local to the node.
        trainer: the process that trains and prints metrics.
        engines: inference engines.
        colours: loguru's colours inside the messages (Ray's prefix colours are an option of `text`).
        seed: for interleaved lines only.
    """

    def __init__(
        self,
        *,
        start: datetime = START,
        trainer: Actor = TRAINER,
        engines: Sequence[Actor] = (),
        colours: bool = False,
        seed: int = 0,
    ) -> None:
        self.now = start
        self.trainer, self.engines, self.colours = trainer, tuple(engines), colours
        self.lines: list[Line] = []
        self.random = random.Random(seed)

    # -- time and plain lines

    def tick(self, seconds: float) -> LogWriter:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)
        return self

    def raw(self, text: str, actor: Actor = DRIVER) -> LogWriter:
        """Lines as they are, from any process; by default bare lines of the driver."""
        self.lines += [Line(self.now, actor, part) for part in text.split("\n")]
        return self

    def say(
        self, message: str, *, origin: str = LOOP, level: str = "INFO", actor: Actor | None = None, noise: float = 0.0
    ) -> LogWriter:
        """One loguru message; `noise` is the chance of lines of other processes behind each of its lines."""
        for text in loguru_lines(self.now, origin, message, level, colours=self.colours):
            self.lines.append(Line(self.now, actor or self.trainer, text))
            while noise and self.random.random() < noise:
                self.lines.append(self._noise_line())
        return self

    def _noise_line(self) -> Line:
        if self.engines and self.random.random() < 0.5:
            engine = self.random.choice(self.engines)
            message = f"Added request chatcmpl-{self.random.getrandbits(64):016x}."
            return Line(self.now, engine, vllm_line(self.now, "async_llm.py:261", message))
        if self.random.random() < 0.3:
            return Line(self.now, self.trainer, 'trial closed {"reward": 1.0} [other stream]')
        port = self.random.randrange(30000, 60000)
        return Line(self.now, DRIVER, f'INFO:     10.1.0.9:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK')

    # -- training

    def fresh_start(self) -> LogWriter:
        """The words of a run without a checkpoint."""
        return self.say("No checkpoint found, starting training from scratch", origin="skyrl_train.trainer:load:840")

    def resume(self, step: int, path: str = "/ckpt") -> LogWriter:
        """The words of a run that loads the checkpoint of a completed step."""
        origin = "skyrl_train.trainer:load_checkpoints:880"
        self.say(f"Loading checkpoint from: {path}/global_step_{step}", origin=origin)
        self.say(f"Resuming from global_step: {step}", origin=origin)
        return self.say(f"Successfully loaded complete checkpoint state from global_step_{step}", origin=origin)

    def block(
        self, step: int, metrics: Mapping[str, object], *, noise: float = 0.0, cut_after: int | None = None
    ) -> LogWriter:
        """The console logger's block of a step; `cut_after` keeps only so many of its lines."""
        before = len(self.lines)
        head = f"Step {step}: \n{console_block(metrics)}"
        self.say(head, origin="skyrl_train.utils.tracking:log:61", noise=noise)
        if cut_after is not None:
            del self.lines[before + cut_after :]
        return self

    def mirror(self, step: int, metrics: Mapping[str, object], kind: str = "train") -> LogWriter:
        """MarinSkyRL's line with all digits of the same step."""
        text = json.dumps(dict(sorted(metrics.items())), default=str)
        return self.say(
            f"WANDB_MIRROR kind={kind} step={step} metrics={text}", origin="skyrl_train.utils.tracking:log:72"
        )

    def started(self, name: str) -> LogWriter:
        """A timer begins."""
        return self.say(f"Started: '{name}'")

    def finished(self, name: str, seconds: float) -> LogWriter:
        """A timer ends; time is not moved."""
        return self.say(f"Finished: '{name}', time cost: {seconds:.2f}s")

    def timer(self, name: str, seconds: float) -> LogWriter:
        """A whole timer: begins, time passes, ends."""
        return self.started(name).tick(seconds).finished(name, seconds)

    def step(
        self,
        step: int,
        metrics: Mapping[str, object],
        *,
        seconds: Mapping[str, float] | None = None,
        mirror: bool = False,
        noise: float = 0.0,
    ) -> LogWriter:
        """A whole step: its timers one after the other, then its metrics with `timing/…` and the step number."""
        durations = dict(seconds or {})
        total = sum(durations.values())
        self.started("step")
        for name, duration in durations.items():
            self.timer(name, duration)
        self.finished("step", total)
        timings = {f"timing/{name}": duration for name, duration in durations.items()}
        everything = {**metrics, **timings, "timing/step": total, "trainer/epoch": 0, "trainer/global_step": step}
        if mirror:
            self.mirror(step, everything)
        return self.block(step, everything, noise=noise)

    def saved_checkpoint(self, step: int, path: str = "/ckpt") -> LogWriter:
        """The last line of a save."""
        message = f"Successfully saved checkpoint for global_step_{step} to: {path}/global_step_{step}"
        return self.say(message, origin="skyrl_train.trainer:save_checkpoints:1795")

    # -- rollouts and engines

    def batch(
        self,
        successful: int,
        total: int = 8,
        *,
        failed_groups: int = 0,
        masked: int = 0,
        exceptions: Mapping[str, int] | None = None,
        mode: str = "training",
    ) -> LogWriter:
        """The lines around one generated batch."""
        self.say(f"Starting batch generation for {total} trials (mode={mode})", origin=f"{GENERATOR}:713")
        if exceptions:
            self.say(f"Exception breakdown: {dict(exceptions)}", origin=f"{GENERATOR}:984")
        return self.say(
            f"Batch generation complete: {successful}/{total} successful, {failed_groups} failed instances, "
            f"{masked} masked (excluded from baseline)",
            origin=f"{GENERATOR}:988",
        )

    def engine(
        self,
        engine: Actor,
        *,
        prompt: float = 0.0,
        generation: float = 0.0,
        running: int = 0,
        waiting: int = 0,
        kv_percent: float = 0.0,
        prefix_percent: float | None = None,
        index: int = 0,
    ) -> LogWriter:
        """One statistics line of a vLLM engine (V1)."""
        message = (
            f"Engine {index:03d}: Avg prompt throughput: {prompt:.1f} tokens/s, Avg generation throughput: "
            f"{generation:.1f} tokens/s, Running: {running} reqs, Waiting: {waiting} reqs, "
            f"GPU KV cache usage: {kv_percent:.1f}%"
        )
        if prefix_percent is not None:
            message += f", Prefix cache hit rate: {prefix_percent:.1f}%"
        self.lines.append(Line(self.now, engine, vllm_line(self.now, "loggers.py:248", message)))
        return self

    # -- ends

    def progress(self, done: int, total: int, elapsed: str = "2:10:40", *, glue: str = "") -> LogWriter:
        """A progress bar's frames on one line, and whatever is glued to its end."""
        bar = (
            f"Training Step Progress:  {100 * done // total}%|██        | {done}/{total} [{elapsed}<7:52:27, 603.1s/it]"
        )
        return self.raw(f"\r{bar[:40]}\r{bar}{glue}", self.trainer if not glue else DRIVER)

    def training_done(self) -> LogWriter:
        """The trainer's last words."""
        return self.say("Training done!")

    def slurm_tail(self, job_id: str, why: str = " DUE TO TIME LIMIT", *, unit: str = "JOB") -> LogWriter:
        """What slurmstepd writes when it ends a job or a step."""
        return self.raw(slurm_tail(job_id, self.now, why, unit=unit))

    def time_limit(self, job_id: str) -> LogWriter:
        """The end by wall clock, glued to a progress bar as it usually is."""
        return self.progress(3, 60, glue=slurm_tail(job_id, self.now, " DUE TO TIME LIMIT"))

    # -- output

    def text(self, *, ray_colours: bool = False, folded: bool = False, label_of: int | None = None) -> str:
        """The whole log. `label_of`: number of srun tasks, of which this is the first."""
        lines: Iterable[Line] = fold(self.lines, colours=ray_colours) if folded else self.lines
        label = "" if label_of is None else srun_label(0, label_of)
        return "".join(f"{rendered(line, colours=ray_colours, label=label)}\n" for line in lines)

    def write(self, path: Path, *, ray_colours: bool = False, folded: bool = False) -> Path:
        """Write the log, packed when the name ends in .gz; missing folders are made."""
        path.parent.mkdir(parents=True, exist_ok=True)
        data = self.text(ray_colours=ray_colours, folded=folded).encode()
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
        return path


def slurm_tail(job_id: str, at: datetime, why: str, *, unit: str = "JOB", node: str = "node0412") -> str:
    """A tail of slurmstepd."""
    step = ".0" if unit == "STEP" else ""
    return f"slurmstepd: error: *** {unit} {job_id}{step} ON {node} CANCELLED AT {at:%Y-%m-%dT%H:%M:%S}{why} ***"


def interleaved(streams: Sequence[Sequence[str]], seed: int) -> Iterator[str]:
    """The lines of several streams mixed, each stream in its own order."""
    chance = random.Random(seed)
    order = [number for number, stream in enumerate(streams) for _ in stream]
    chance.shuffle(order)
    heads = [iter(stream) for stream in streams]
    for number in order:
        yield next(heads[number])
