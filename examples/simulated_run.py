"""A small fully-asynchronous GRPO run, simulated: what trials ran when, and what each step trained on.

Groups of trials run side by side; the trainer takes the oldest finished ones, waits when there are too
few, and everything that a log or a trial file tells later follows from this one timeline. Times in
seconds since the start of the chain, tokens as counts. Seeded; the same run every time.
"""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field

GROUPS_PER_STEP, SAMPLES = 3, 4
GROUPS_IN_FLIGHT = 4
AGENT_LIMIT_S, CONTEXT_TURNS = 420.0, 24
MASKED = ("DaytonaError", "EnvironmentStartTimeoutError", "RewardFileNotFoundError")

TASKS = (
    "count-lines", "rename-files", "fix-makefile", "merge-csv", "find-duplicates", "parse-access-log", "rotate-backups",
    "sum-columns", "extract-archive", "convert-encoding", "sort-by-date", "repair-symlinks", "trim-whitespace",
    "split-large-file", "compare-folders", "set-permissions", "list-open-ports", "render-template",
)  # fmt: skip


@dataclass
class Trial:
    """One attempt at a task. `reward` is None when nothing scored it."""

    task: str
    name: str
    started: float
    environment_s: float
    agent_setup_s: float
    agent_s: float
    verifier_s: float | None
    turns: int | None
    input_tokens: int
    output_tokens: int
    reward: float | None
    exception: str | None

    @property
    def agent_start(self) -> float:
        """When the agent began to work."""
        return self.started + self.environment_s + self.agent_setup_s

    @property
    def finished(self) -> float:
        """When the trial ended."""
        return self.agent_start + self.agent_s + (self.verifier_s or 0.0)

    @property
    def failed(self) -> bool:
        """Counted as failed by the trainer; a time-out with a verdict of the verifier is passed through."""
        return self.exception is not None and not (self.exception == "AgentTimeoutError" and self.reward is not None)

    @property
    def masked(self) -> bool:
        """Left out of the baseline."""
        return self.exception in MASKED

    @property
    def response_tokens(self) -> int:
        """Tokens of the training sample; a masked trial leaves a placeholder of one token."""
        return 1 if self.masked else self.output_tokens


@dataclass
class Group:
    """The trials of one prompt, and the policy version (completed steps) they began with."""

    trials: list[Trial]
    version: int

    @property
    def finished(self) -> float:
        """When the last of its trials was collected."""
        return max(trial.finished for trial in self.trials) + 0.4


@dataclass
class Step:
    """One training step: when it began, its parts in seconds, and the groups it trained on."""

    number: int
    start: float
    wait: float
    convert: float
    forward: float
    advantages: float
    policy_train: float
    overhead: float
    sync: float
    groups: list[Group]
    save: float | None = None
    export: float | None = None

    @property
    def run_training(self) -> float:
        """Seconds of everything between the batch and the weight sync."""
        return self.forward + self.advantages + self.policy_train + self.overhead

    @property
    def seconds(self) -> float:
        """Seconds inside the step timer; saves come after it."""
        return self.wait + self.convert + self.run_training + self.sync

    @property
    def end(self) -> float:
        """When the step and its saves were over."""
        return self.start + self.seconds + (self.save or 0.0) + (self.export or 0.0)


@dataclass
class SimulatedJob:
    """One link of the chain. `killed` is None when the training came to its end."""

    job_id: str
    start: float
    resumed: int | None
    killed: float | None
    why: str
    steps: list[Step] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    @property
    def end(self) -> float:
        """When the job ended."""
        return self.killed if self.killed is not None else self.steps[-1].end + 2.0


class Simulation:
    """Makes trials, groups and steps from one seeded source of chance."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def trial(self, task: str, started: float, solve: float, trouble: float) -> Trial:
        """One attempt; `solve` is its chance of success, `trouble` that its sandbox fails."""
        chance = self.random
        name = f"{task}__{''.join(chance.choices('ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789', k=7))}"
        environment = chance.uniform(4, 18)
        if chance.random() < trouble:
            kind = chance.choice(["DaytonaError", "DaytonaError", "EnvironmentStartTimeoutError"])
            wait = 120.0 if kind.startswith("Environment") else environment
            return Trial(task, name, started, wait, 0.0, 0.0, None, None, 0, 0, None, kind)
        solved = chance.random() < solve
        turns = max(2, round(chance.gauss(7 if solved else 11, 3)))
        fate = chance.random()
        reward: float | None = 1.0 if solved else 0.0
        exception = None
        agent = turns * chance.uniform(8, 16)
        verifier: float | None = chance.uniform(4, 22)
        if fate < 0.05:
            turns, exception, reward, verifier = CONTEXT_TURNS, "ContextLengthExceededError", None, None
            agent = turns * chance.uniform(8, 14)
        elif fate < 0.11:
            turns, exception, agent = chance.randrange(18, 30), "AgentTimeoutError", AGENT_LIMIT_S
            reward = 1.0 if solved and fate < 0.08 else 0.0
        elif fate < 0.15:
            exception, reward = "RewardFileNotFoundError", None
        elif fate < 0.157:
            exception, reward, verifier = "VerifierTimeoutError", None, 120.0
        output = sum(chance.randrange(90, 420) for _ in range(turns))
        prompt = sum(900 + 310 * turn for turn in range(turns))
        setup = chance.uniform(2, 6)
        return Trial(task, name, started, environment, setup, agent, verifier, turns, prompt, output, reward, exception)

    def group(self, started: float, version: int, trouble: float = 0.01) -> Group:
        """Trials of one prompt; hard and easy prompts differ, and the policy gets better with its version."""
        mean = 0.22 + 0.55 * (1 - math.exp(-version / 14))
        level = math.log(mean / (1 - mean)) + self.random.gauss(0, 0.8)
        solve = 1 / (1 + math.exp(-level))
        task = self.random.choice(TASKS)
        starts = sorted(started + self.random.uniform(0, 12) for _ in range(SAMPLES))
        return Group([self.trial(task, start, solve, trouble) for start in starts], version)

    def run(self, job: SimulatedJob, first: int, last: int, planned: int) -> SimulatedJob:
        """Train the steps first…last; afterwards the job is killed in the next wait, unless it was the plan's end."""
        ready = job.start + self.random.uniform(150, 190)  # model and engines load
        in_flight: list[tuple[float, int, Group]] = []
        finished: list[Group] = []
        now, version, wanted = ready, first - 1, (planned - first + 1) * GROUPS_PER_STEP

        def begin(at: float) -> None:
            if len(job.groups) < wanted:
                trouble = 0.3 if 3_150 < at < 3_500 else 0.01  # some bad minutes of the sandbox service
                made = self.group(at, version, trouble)
                job.groups.append(made)
                heapq.heappush(in_flight, (made.finished, len(job.groups), made))

        for _ in range(GROUPS_IN_FLIGHT):
            begin(ready + self.random.uniform(0, 3))
        for number in range(first, last + 1):
            start = now
            while len(finished) < GROUPS_PER_STEP or (in_flight and in_flight[0][0] <= now):
                at, _, done = heapq.heappop(in_flight)
                finished.append(done)
                begin(at + 0.1)
                if len(finished) <= GROUPS_PER_STEP:
                    now = max(now, at + 0.2)
            step = self.step(number, start, now - start, [finished.pop(0) for _ in range(GROUPS_PER_STEP)], planned)
            job.steps.append(step)
            version, now = number, step.end + 0.3
        if job.why:
            job.killed = now + self.random.uniform(60, 110)
            job.groups = [group for group in job.groups if group.finished < job.killed]
        return job

    def step(self, number: int, start: float, wait: float, groups: list[Group], planned: int) -> Step:
        """The parts of one step. Training time follows the tokens trained on."""
        tokens = sum(trial.response_tokens for group in groups for trial in group.trials)
        saves = number % 5 == 0 or number == planned
        return Step(
            number=number,
            start=start,
            wait=wait,
            convert=self.random.uniform(1.4, 2.1),
            forward=12 + tokens / 3_000 + self.random.uniform(0, 2),
            advantages=self.random.uniform(0.01, 0.03),
            policy_train=48 + tokens / 700 + self.random.uniform(0, 5),
            overhead=self.random.uniform(0.2, 0.4),
            sync=self.random.uniform(7.2, 8.6),
            groups=groups,
            save=self.random.uniform(14, 22) if saves else None,
            export=self.random.uniform(5, 8) if number % 10 == 0 or number == planned else None,
        )


def simulate(seed: int = 24) -> list[SimulatedJob]:
    """Three chained jobs: a time limit, a preemption, the end; each resume repeats one step."""
    simulation = Simulation(seed)
    first = simulation.run(SimulatedJob("410231", 0.0, None, None, " DUE TO TIME LIMIT"), 1, 6, 24)
    second_start = first.end + 260
    second = simulation.run(SimulatedJob("410236", second_start, 5, None, " DUE TO PREEMPTION"), 6, 16, 24)
    third = simulation.run(SimulatedJob("410244", second.end + 900, 15, None, ""), 16, 24, 24)
    return [first, second, third]
