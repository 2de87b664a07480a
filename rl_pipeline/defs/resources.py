"""What assets need from outside: the store of tables, the folders of logs, the place of reports."""

from pathlib import Path

import dagster as dg

from rl_pipeline.addresses import as_path
from rl_pipeline.analysis.thresholds import Thresholds
from rl_pipeline.defs.job_index import JobIndex
from rl_pipeline.defs.memory import Memory
from rl_pipeline.defs.rounds import Watched
from rl_pipeline.defs.scheduler import ask_nobody, ask_slurm
from rl_pipeline.discovery import Discovery, LogPattern, discover, parse_log_pattern
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.pipeline import load_thresholds
from rl_pipeline.tables.store import TableStore


class Store(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Tables, the index of jobs and the ledgers of trials, below one fsspec URL."""

    url: str

    def tables(self) -> TableStore:
        """The store of Parquet tables."""
        return TableStore(self.url)

    def path(self, *parts: str) -> str:
        """Where something lies, for people."""
        return "/".join((self.url.rstrip("/"), *parts))

    def index(self) -> JobIndex:
        """Which log a job partition reads, and which jobs an experiment has."""
        return JobIndex(self.url)


class Inputs(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where job logs are looked for, and how they are named."""

    roots: list[str]
    log_patterns: list[str]
    quiet_minutes: float

    def discover(self) -> Discovery:
        """Everything below the roots, with the problems met."""
        if not self.roots:
            raise ConfigurationError(
                "no folder of experiments is configured",
                where="RL_PIPELINE_ROOTS",
                expected="one folder or URL or several, with colons between",
                do="set RL_PIPELINE_ROOTS, or register by hand: rl-pipeline discover ROOT --register",
                slug="no-roots",
            )
        return discover([as_path(root) for root in self.roots], patterns=self.patterns())

    def patterns(self) -> tuple[LogPattern, ...]:
        """The configured ways of naming logs."""
        return tuple(parse_log_pattern(text) for text in self.log_patterns)


class Reports(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where report bundles are written, and by which thresholds a run is judged."""

    folder: str
    thresholds_file: str | None = None

    def root(self) -> Path:
        """The folder of all bundles, and of the index over them."""
        return Path(self.folder)

    def of(self, experiment_key: str) -> Path:
        """The folder of one experiment's bundle."""
        return self.root() / experiment_key

    def thresholds(self) -> Thresholds:
        """The thresholds of this deployment."""
        return load_thresholds(Path(self.thresholds_file) if self.thresholds_file else None)


class Sensing(dg.ConfigurableResource):  # type: ignore[type-arg]
    """What sensors need besides: where they remember, how much they ask for at once, whom they ask."""

    folder: str
    runs_per_tick: int
    slurm: bool

    def memory(self) -> Memory:
        """What sensors remember between looks."""
        return Memory(Path(self.folder))

    def watched(self, store: Store, inputs: Inputs) -> Watched:
        """Everything that a round of `finished_jobs` needs."""
        return Watched(
            roots=tuple(as_path(root) for root in inputs.roots),
            patterns=inputs.patterns(),
            quiet_period_s=60 * inputs.quiet_minutes,
            index=store.index(),
            memory=self.memory(),
            most_runs=self.runs_per_tick,
            sacct=ask_slurm if self.slurm else ask_nobody,
        )
