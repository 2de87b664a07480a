"""Writes the bundled sample experiment: three chained job logs and the trials behind them.

    python examples/make_sample.py [FOLDER]        by default examples/sample beside this file

Standard library only; every run writes the same bytes. All numbers come from one simulated timeline
(`simulated_run`), so they agree: timings add up, rewards are those of the trial files with unscored
trials as 0, token counts are those of the samples. The logs hold what real ones hold: coloured lines of
other processes inside metric blocks, folded engine lines, a progress bar glued to a block's head,
an overlap of steps at each resume, a scheduler's tail.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from sample_metrics import metrics_of  # noqa: E402 - the script's own folder has to be on the path first
from sample_trials import write_trials  # noqa: E402
from simulated_run import Group, SimulatedJob, Step, Trial, simulate  # noqa: E402

from rl_pipeline_tests.helpers.log_writer import GENERATOR, LOOP, LogWriter, engine_actors, slurm_tail  # noqa: E402
from rl_pipeline_tests.helpers.ray_output import Actor, Line, loguru_lines  # noqa: E402

EXPERIMENT = "grpo-shell-tasks-4b"
RUN = "grpo-shell-tasks-4b-run1"
START = datetime(2026, 2, 11, 21, 40, 0)
CHECKPOINTS = f"/scratch/{EXPERIMENT}/{RUN}/checkpoints"
ENGINE_COUNT, ENGINE_INTERVAL_S, SEED = 4, 10.0, 24
NODES = "node[0412-0413]"

CONFIGURATION = """algorithm:
  advantage_estimator: grpo
  eps_clip_low: 0.2
  use_kl_loss: false
trainer:
  policy:
    optimizer_config:
      lr: 1.0e-06
  train_batch_size: 3
  max_staleness_steps: 4
  ckpt_interval: 5
  max_training_steps: 24
generator:
  n_samples_per_prompt: 4
  num_inference_engines: 4
  sampling_params:
    max_generate_length: 8192"""


class JobScript:
    """Collects what one job prints, in any order, and writes it in the order of time."""

    def __init__(self, job: SimulatedJob, number: int) -> None:
        self.job, self.number = job, number
        self.random = random.Random(f"{SEED}/{job.job_id}")
        trainer = Actor("skyrl_entrypoint", 51002 + 613 * number)
        engines = engine_actors(ENGINE_COUNT, first_pid=70211 + 1009 * number)
        self.log = LogWriter(start=START, trainer=trainer, engines=engines, colours=True, seed=SEED + number)
        self.events: list[tuple[float, int, Callable[[], object]]] = []

    def at(self, seconds: float, action: Callable[[], object]) -> None:
        """Print something so many seconds after the start of the chain, unless the job is dead by then."""
        if seconds < self.job.end:
            self.events.append((seconds, len(self.events), action))

    def write(self, path: Path) -> None:
        """Play everything and write the log."""
        self.prologue()
        for group in self.job.groups:
            self.rollout(group)
        for step in self.job.steps:
            self.step(step)
        self.engine_statistics()
        self.chatter()
        for seconds, _, action in sorted(self.events, key=lambda event: event[:2]):
            self.log.now = START + timedelta(seconds=seconds)
            action()
        self.epilogue()
        self.log.write(path, ray_colours=True, folded=True)

    # -- parts of a job

    def prologue(self) -> None:
        """Launcher, configuration, checkpoint, engines."""
        log, job, load = self.log, self.job, "skyrl_train.trainer:load_checkpoints:880"
        self.at(job.start, lambda: log.raw(f"Job {job.job_id} ({EXPERIMENT}) on {NODES}, 8 GPUs"))
        self.at(job.start + 21, lambda: log.say(CONFIGURATION, origin="skyrl_train.entrypoints.main_base:main:301"))
        self.at(job.start + 24, lambda: log.say("Total training steps: 24", origin="skyrl_train.trainer:build:205"))
        if job.resumed is None:
            self.at(job.start + 40, log.fresh_start)
        else:
            self.at(job.start + 40, lambda: log.resume(job.resumed or 0, CHECKPOINTS))
        for place, engine in enumerate(log.engines):
            self.at(job.start + 60 + 3 * place, self.loading(engine))
        self.at(job.start + 140, lambda: log.say("Weight sync state is ready.", origin=load))

    def loading(self, engine: Actor) -> Callable[[], object]:
        """The first line of an engine."""
        text = "Initializing a V1 LLM engine with model='policy-4b', max_seq_len=16384"

        def print_it() -> None:
            self.log.lines.append(Line(self.log.now, engine, f"INFO {self.log.now:%m-%d %H:%M:%S} [core.py:77] {text}"))

        return print_it

    def rollout(self, group: Group) -> None:
        """What the generator prints about one group."""
        log = self.log
        begun = min(trial.started for trial in group.trials)
        start = f"Starting batch generation for {len(group.trials)} trials (mode=training)"
        self.at(begun - 0.05, lambda: log.say(start, origin=f"{GENERATOR}:713"))
        failed = [trial for trial in group.trials if trial.failed]
        for number, trial in enumerate(group.trials):
            if trial.exception:
                self.at(trial.finished + 0.2, self.trajectory(trial, number))
        kinds = sorted({str(trial.exception) for trial in failed})
        breakdown = {kind: sum(trial.exception == kind for trial in failed) for kind in kinds}
        if breakdown:
            told = f"Exception breakdown: {breakdown}"
            self.at(group.finished, lambda: log.say(told, origin=f"{GENERATOR}:984"))
        complete = (
            f"Batch generation complete: {len(group.trials) - len(failed)}/{len(group.trials)} successful, "
            f"{int(bool(failed))} failed instances, {sum(t.masked for t in failed)} masked (excluded from baseline)"
        )
        self.at(group.finished, lambda: log.say(complete, origin=f"{GENERATOR}:988"))

    def trajectory(self, trial: Trial, number: int) -> Callable[[], object]:
        """The warning about one failed trajectory, or the note that its verdict counts."""
        who = f"Trajectory TrajectoryID(instance_id='{trial.task}', repetition_id={number})"
        if trial.failed:
            text = f"{who} failed with exception: {trial.exception} (type={trial.exception}, "
            text += f"exclude_from_baseline={trial.masked})"
        else:
            text = f"{who}: {trial.exception} classified as PASSTHROUGH, using verifier reward"
        return lambda: self.log.say(text, origin=f"{GENERATOR}:1269", level="WARNING")

    def step(self, step: Step) -> None:
        """Timers, marker, block and saves of one step."""
        log = self.log
        train = step.start + step.wait + step.convert
        marker = f"Step {step.number}: effective_batch=12 samples (3/3 groups), discard_rate=0.0%"
        self.timer("wait_for_generation_buffer", step.start, step.wait)
        self.at(step.start + step.wait + 0.02, lambda: log.say(marker, origin=LOOP.replace("658", "1157")))
        self.timer("convert_to_training_input", step.start + step.wait + 0.03, step.convert)
        self.timer("run_training", train, step.run_training)
        self.timer("fwd_logprobs_values_reward", train + 0.05, step.forward)
        self.timer("compute_advantages_and_returns", train + 0.06 + step.forward, step.advantages)
        self.timer("policy_train", train + 0.08 + step.forward + step.advantages, step.policy_train)
        self.timer("sync_weights", train + step.run_training + 0.01, step.sync)
        self.timer("step", step.start - 0.01, step.seconds)
        after = step.start + step.seconds
        if step.save is not None:
            self.timer("save_checkpoints", after + 0.02, step.save)
            self.at(after + step.save, lambda: log.saved_checkpoint(step.number, CHECKPOINTS))
        if step.export is not None:
            done = after + (step.save or 0.0) + step.export
            self.timer("save_hf_model", done - step.export + 0.03, step.export - 0.05)
            saved, origin = "Successfully saved model weights.", "skyrl_train.trainer:save_models:1948"
            self.at(done, lambda: log.say(saved, origin=origin))
        self.at(step.end + 0.1, lambda: self.block(step))

    def timer(self, name: str, start: float, seconds: float) -> None:
        """Both lines of a timer."""
        self.at(start, lambda: self.log.started(name))
        self.at(start + seconds, lambda: self.log.finished(name, seconds))

    def block(self, step: Step) -> None:
        """The metrics of a step; the last job mirrors them, and some heads stand behind a progress bar."""
        log, metrics = self.log, metrics_of(step, self.random)
        if self.number == 2:
            log.mirror(step.number, metrics)
        before = len(log.lines)
        log.block(step.number, metrics, noise=(0.0, 0.3, 0.1)[self.number])
        bar = f"Training Step Progress:  {step.number / 24:4.0%}|{'█' * (step.number * 10 // 24):<10}| {step.number}/24"
        elapsed = timedelta(seconds=round(step.end - self.job.start))
        bar = f"\r{bar} [{elapsed}<{timedelta(seconds=round((24 - step.number) * 200))}, {step.seconds:.1f}s/it]"
        if step.number % 6 == 3:
            log.lines[before] = log.lines[before]._replace(text=bar + log.lines[before].text)
        else:
            log.raw(bar.lstrip("\r"), log.trainer)

    # -- what other processes print

    def engine_statistics(self) -> None:
        """A line of each engine per interval while it has work, and one of zeros when it runs dry."""
        trials = [trial for group in self.job.groups for trial in group.trials if trial.agent_s]
        for place, engine in enumerate(self.log.engines):
            mine = trials[place::ENGINE_COUNT]
            busy, hits = False, 0.0
            now = self.job.start + 150 + 2.1 * place
            while now < self.job.end:
                running = sum(trial.agent_start <= now < trial.agent_start + trial.agent_s for trial in mine)
                if running or busy:
                    hits += (0.915 - hits) * 0.05
                    self.at(now, self.statistics_line(engine, running, hits))
                busy = running > 0
                now += ENGINE_INTERVAL_S + self.random.uniform(-0.05, 0.4)

    def statistics_line(self, engine: Actor, running: int, hits: float) -> Callable[[], object]:
        """Load of an engine, in proportion to its running requests."""
        prompt, generation = running * self.random.uniform(160, 420), running * self.random.uniform(24, 41)
        kv = running * self.random.uniform(1.8, 3.6)
        return lambda: self.log.engine(
            engine, prompt=prompt, generation=generation, running=running, kv_percent=kv, prefix_percent=100 * hits
        )

    def chatter(self) -> None:
        """Lines that no table needs, from the agents and the engines' servers."""
        now = self.job.start + 170
        trials = [trial for group in self.job.groups for trial in group.trials if trial.turns]
        while now < self.job.end:
            active = [t.name for t in trials if t.agent_start <= now < t.agent_start + t.agent_s]
            if active:
                self.at(now, self.chat(self.random.choice(active)))
            now += self.random.expovariate(1 / 9)

    def chat(self, trial: str) -> Callable[[], object]:
        """A line of an agent, or of a server that it calls."""
        log, kind = self.log, self.random.random()
        keys = self.random.choice(["ls -la", "cat README.md", "make", "python3 solve.py", "wc -l data/*.txt"])
        if kind < 0.5:
            text = f"[{trial}] Sending keys: ['{keys}', 'Enter']"
            origin = "harbor.agents.terminus_2.tmux_session:send_keys:551"
            return lambda: log.lines.extend(
                Line(log.now, log.trainer, line) for line in loguru_lines(log.now, origin, text, "DEBUG", colours=True)
            )
        port = self.random.randrange(30000, 60000)
        return lambda: log.raw(f'INFO:     10.1.0.8:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK', log.trainer)

    def epilogue(self) -> None:
        """The end: a tail of the scheduler, or the trainer's last words."""
        log, job = self.log, self.job
        log.now = START + timedelta(seconds=job.end)
        if job.killed is None:
            log.training_done()
        elif "TIME" in job.why:
            tail = slurm_tail(job.job_id, log.now, job.why)
            log.progress(job.steps[-1].number, 24, str(timedelta(seconds=round(job.end - job.start))), glue=tail)
        else:
            log.raw("srun: Job step aborted: Waiting up to 32 seconds for job step to finish.")
            log.slurm_tail(job.job_id, job.why)


def main() -> None:
    """Write the sample."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "sample"
    folder = out / EXPERIMENT
    shutil.rmtree(folder, ignore_errors=True)
    jobs = simulate(SEED)
    for number, job in enumerate(jobs):
        JobScript(job, number).write(folder / "logs" / f"{EXPERIMENT}_{job.job_id}.out")
    count = write_trials(folder / RUN / "trace_jobs", jobs, START)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {len(jobs)} logs, {count} trials, {size:,} bytes")


if __name__ == "__main__":
    main()
