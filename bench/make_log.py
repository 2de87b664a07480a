"""A training log of any size, made from a seed: what SkyRL, its generator, Harbor, vLLM and Ray print into one file.

    python bench/make_log.py FILE --megabytes 200

Of the lines 15 % are statistics of engines and 10 % are of generation batches; every 1,500 lines comes one metric
block, between whose lines those of other processes stand. The rest is the chatter of agents and servers.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

START = datetime(2026, 6, 3, 15)
ENGINE_SHARE, BATCH_SHARE, LINES_PER_BLOCK = 0.152, 0.082, 1500  # some batches write two lines
BETWEEN_BLOCK_LINES = 0.3  # chance of a foreign line after each line of a block
TRAINER = "\x1b[36m(skyrl_entrypoint pid=2434403)\x1b[0m "
GENERATOR = "INFO     | examples.terminal_bench.terminal_bench_generator:generate:"
NODES = ("10.128.26.190", "10.128.26.194", "10.128.27.21", "10.128.27.35")
ENGINES = tuple((node, 325000 + 17 * number) for number, node in enumerate(NODES * 2))
COMMANDS = ("ls -la", "cat README.md", "python3 solve.py", "sed -n 1,40p app.py", "git status", "pytest -q")
EXCEPTIONS = ("AgentTimeoutError", "ContextLengthExceededError", "DaytonaError", "RewardFileNotFoundError")
PHASES = ("wait_for_generation_buffer", "convert_to_training_input", "policy_train", "sync_weights", "save_checkpoints")
METRICS = (
    "async/discard_rate", "async/staleness_mean", "generate/avg_num_tokens", "generate/std_num_tokens",
    "loss/avg_final_rewards", "loss/avg_raw_advantages", *(f"policy/log_ratio_abs_pos{part}0" for part in range(10)),
    "policy/final_loss", "policy/policy_entropy", "policy/policy_lr", "policy/ppo_clip_ratio", "policy/raw_grad_norm",
    "reward/avg_pass_at_8", "reward/avg_raw_reward", "system/ram_percent", "system/ram_used_gb",
    *(f"timing/{phase}" for phase in PHASES), "timing/step",
)  # fmt: skip


class Run:
    """The clock and the dice of one log."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.now = START
        self.step = 0

    def dated(self) -> str:
        """The clock, a little later."""
        self.now += timedelta(milliseconds=self.rng.randrange(120))
        return self.now.isoformat(" ", "milliseconds")

    def trial(self) -> str:
        """A trial's name."""
        return f"selfinstruct-task-{self.rng.randrange(5600):05d}__{self.rng.getrandbits(40):010x}"

    def engine(self) -> str:
        """A statistics line of an engine."""
        rng, (node, pid) = self.rng, self.rng.choice(ENGINES)
        folded = f"\x1b[32m [repeated {rng.randint(2, 9)}x across cluster]\x1b[0m" if rng.random() < 0.2 else ""
        return (
            f"\x1b[36m(AsyncVLLMInferenceEngine pid={pid}, ip={node})\x1b[0m INFO {self.now:%m-%d %H:%M:%S} "
            f"[loggers.py:248] Engine 000: Avg prompt throughput: {rng.uniform(0, 9000):.1f} tokens/s, "
            f"Avg generation throughput: {rng.uniform(0, 900):.1f} tokens/s, Running: {rng.randrange(48)} reqs, "
            f"Waiting: {rng.randrange(12)} reqs, GPU KV cache usage: {rng.uniform(0, 100):.1f}%, "
            f"Prefix cache hit rate: {rng.uniform(0, 99):.1f}%{folded}"
        )

    def batch(self) -> Iterator[str]:
        """A batch begins, or one ends, half of the time after its breakdown."""
        rng = self.rng
        if rng.random() < 0.5:
            yield f"{TRAINER}{self.dated()} | {GENERATOR}713 - Starting batch generation for 8 trials (mode=training)"
            return
        failed = rng.choice((0, 0, 1, 2))
        if failed:
            counts = {name: rng.randint(1, 4) for name in rng.sample(EXCEPTIONS, failed)}
            yield f"{TRAINER}{self.dated()} | {GENERATOR}975 - Exception breakdown: {counts}"
        yield (
            f"{TRAINER}{self.dated()} | {GENERATOR}988 - Batch generation complete: {rng.randrange(9)}/8 successful, "
            f"{int(failed > 0)} failed instances, {rng.randrange(3)} masked (excluded from baseline)"
        )

    def chatter(self) -> str:
        """A line that nobody looks for."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.3:
            port = rng.randrange(30000, 60000)
            return f'{TRAINER}INFO:     {rng.choice(NODES)}:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
        if kind < 0.42:
            return (
                f"{TRAINER}{self.now:%H:%M:%S} - LiteLLM:INFO: utils.py:3443 - LiteLLM completion() model= policy-8b; "
                "provider = hosted_vllm"
            )
        head = f"{TRAINER}{self.dated()} | DEBUG    | harbor."
        if kind < 0.7:
            return (
                f"{head}agents.terminus_2.tmux_session:send_keys:551 - [{self.trial()}] Sending keys: "
                f"[{rng.choice(COMMANDS)!r}, 'Enter'] min_timeout_sec: {rng.randint(1, 15)}.0 max_timeout_sec: 180.0"
            )
        if kind < 0.9:
            return (
                f"{head}agents.terminus_2.terminus_2:run:1161 - [{self.trial()}] episode {rng.randrange(60)} finished: "
                f"prompt_tokens={rng.randrange(32000)} completion_tokens={rng.randrange(2000)} "
                f"latency_ms={rng.randrange(40000)}"
            )
        return f"{head}orchestrators.queue:_worker:98 - Trial {self.trial()} started; running={rng.randrange(128)}"

    def block(self) -> Iterator[str]:
        """The timers and the metrics of one step."""
        rng = self.rng
        self.step += 1
        head = f"{TRAINER}{self.dated()} | INFO     | skyrl_train."
        for phase in PHASES:
            place = f"{head}fully_async_trainer:_train_loop:658 - "
            yield f"{place}Started: '{phase}'"
            yield f"{place}Finished: '{phase}', time cost: {rng.uniform(0, 1):.2f}s"
        yield f"{head}utils.tracking:log:208 - Step {self.step}: "
        entries = [f"{name!r}: '{rng.uniform(0, 2):.4f}'," for name in METRICS]
        for number, entry in enumerate([*entries, f"'trainer/global_step': {self.step}}}"]):
            yield TRAINER + (" " if number else "{") + entry
            if rng.random() < BETWEEN_BLOCK_LINES:
                yield self.chatter()

    def lines(self) -> Iterator[str]:
        """Lines without end."""
        count = 0
        while True:
            share = self.rng.random()
            if count >= LINES_PER_BLOCK:
                yield from self.block()
                count = 0
            count += 1
            if share < ENGINE_SHARE:
                yield self.engine()
            elif share < ENGINE_SHARE + BATCH_SHARE:
                yield from self.batch()
            else:
                yield self.chatter()


def write_log(path: Path, megabytes: float, seed: int = 1) -> None:
    """Write at least so many megabytes (10**6 bytes) of log."""
    left = int(megabytes * 1e6)
    with path.open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as file:
        for line in Run(seed).lines():
            left -= file.write(line + "\n")
            if left <= 0:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    write_log(asked.file, asked.megabytes, asked.seed)
    print(f"{asked.file}: {asked.file.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
