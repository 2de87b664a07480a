"""The command line: `rl-pipeline report · index · discover · demo · ui · worker · explain`.

Only click is imported here; each command imports what it needs, so that `--help` answers at once.
Exit codes: 0 done, 1 trouble with the data (nothing readable), 2 wrong use, 130 interrupted (as shells tell it).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from rl_pipeline import __version__
from rl_pipeline.addresses import as_path
from rl_pipeline.errors import ConfigurationError, PipelineError

DATA_TROUBLE, WRONG_USE, INTERRUPTED = 1, 2, 130
EXIT_CODES = "Exit codes: 0 done · 1 trouble with the data (nothing readable) · 2 wrong use · 130 interrupted."
EXISTING = click.Path(path_type=Path)


class Input(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions alone
    """A path, or the URL of a file or folder elsewhere."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401
        """The path that stands for it."""
        return value if isinstance(value, Path) else as_path(str(value))


INPUT = Input()


class Group(click.Group):
    """Turns the project's errors into messages and exit codes; a traceback is a bug of ours."""

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the program with standard streams that can be counted on."""
        from rl_pipeline.commands.standard_streams import settle

        settle()
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command; errors that people can act on end it without a traceback."""
        try:
            return super().invoke(ctx)
        except PipelineError as error:
            _end_with(ctx, error)
        except BrokenPipeError:
            sys.stderr.close()
            ctx.exit(DATA_TROUBLE)
        except OSError as error:  # of a place that could not be looked at
            if not isinstance(told := getattr(error, "told", None), PipelineError):
                raise
            _end_with(ctx, told)
        except KeyboardInterrupt:
            click.echo("rl-pipeline: interrupted", err=True)
            ctx.exit(INTERRUPTED)


def _end_with(ctx: click.Context, error: PipelineError) -> NoReturn:
    click.echo(f"rl-pipeline: {error}", err=True)
    ctx.exit(WRONG_USE if isinstance(error, ConfigurationError) else DATA_TROUBLE)


@click.group(
    cls=Group, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="rl-pipeline")
def main() -> None:
    """Turn the logs and trial files of an RL training run into tables, findings and a report."""


@main.command(short_help="Read the job logs of one experiment and write its report.")
@click.argument("logs", nargs=-1, required=True, type=INPUT, metavar="LOGS... OUT")
@click.option(
    "--trace-jobs",
    multiple=True,
    type=INPUT,
    metavar="DIR",
    help="Folder of Harbor trials besides those that are found in the usual places; may be given several times.",
)
@click.option("--experiment", metavar="NAME", help="Name of the experiment, or the one to take from LOGS.")
@click.option("--thresholds", type=EXISTING, metavar="YAML", help="Thresholds that replace the built-in ones.")
@click.option("--force", is_flag=True, help="Make it also when nothing changed since the last one.")
@click.option("--quiet", is_flag=True, help="Say nothing but warnings and errors.")
def report(logs: tuple[Path, ...], quiet: bool, force: bool, **options: Any) -> None:  # noqa: ANN401 - as above
    """Read the job logs of one experiment and write its report.

    LOGS is an experiment's folder, its folder of logs, or log files (plain, gzip or zstd): paths, or
    URLs (s3://, gs://, sftp://). OUT is the folder of this machine that receives report.html,
    metrics_report.md, report.json, tables/ and charts/.
    """
    from rl_pipeline.commands.interrupted import ended_in_order
    from rl_pipeline.commands.report_processes import started_ahead

    if len(logs) < 2:
        raise click.UsageError("LOGS and OUT are both needed: rl-pipeline report LOGS OUT")
    with ended_in_order(), started_ahead(logs[-1], force=force) as processes:
        from rl_pipeline.commands.report import ReportRequest, run

        run(ReportRequest(logs=logs[:-1], out=logs[-1], quiet=quiet, force=force, **options), processes)


@main.command(short_help="List the experiments and jobs in a folder.")
@click.argument("root", type=INPUT)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--register", is_flag=True, help="Add the partitions to the Dagster instance.")
@click.option("--experiment", metavar="NAME", help="Only this experiment.")
def discover(root: Path, as_json: bool, register: bool, experiment: str | None) -> None:
    """List the experiments and jobs under ROOT with partition key, state and evidence."""
    from rl_pipeline.commands.discover import run

    run(root, as_json=as_json, register=register, experiment=experiment)


@main.command(short_help="Materialize all that is missing or old in a folder.")
@click.argument("root", type=INPUT)
@click.option("--experiment", metavar="NAME", help="Only this experiment.")
@click.option("--force", is_flag=True, help="Make also what is current.")
def backfill(root: Path, experiment: str | None, force: bool) -> None:
    """Materialize every job and experiment under ROOT that is not current; can be stopped and started again."""
    from rl_pipeline.commands.backfill import run

    run(root, experiment=experiment, force=force)


@main.command(short_help="List and compare all experiments of a folder of reports.")
@click.argument("reports", type=EXISTING, metavar="REPORTS")
def index(reports: Path) -> None:
    """List and compare all experiments whose reports lie below REPORTS.

    Writes index.html and compare.html into REPORTS, from the report.json of each experiment.
    """
    from rl_pipeline.commands.index import run

    run(reports)


@main.command(short_help="Run the main job on the bundled sample.")
@click.argument("folder", required=False, type=EXISTING, metavar="[DIR]")
def demo(folder: Path | None) -> None:
    """Run the main job on the bundled sample: every Dagster asset, then the report.

    DIR keeps everything of the demo in one folder; without it the usual store is used.
    """
    from rl_pipeline.commands.demo import run

    run(folder)


@main.command(short_help="Open the Dagster UI with its daemon.")
@click.option("--port", default=3000, type=click.IntRange(1, 65535), show_default=True, help="Port of the web server.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind; Dagster has no login.")
def ui(port: int, host: str) -> None:
    """Open the Dagster UI with its daemon, on the same store as every other command."""
    from rl_pipeline.commands.ui import run

    run(port=port, host=host)


@main.command(short_help="Execute runs on this machine, until stopped.")
@click.option("--slots", default=1, show_default=True, type=click.IntRange(1), help="Runs at once, a process each.")
def worker(slots: int) -> None:
    """Execute runs that the daemon hands out, on this machine, until stopped.

    Needs RL_PIPELINE_BROKER_URL, and the same history, store, inputs and reports as the daemon.
    """
    from rl_pipeline.commands.worker import run

    run(slots=slots)


@main.command(short_help="Say more about an error message.")
@click.argument("slug", required=False)
def explain(slug: str | None) -> None:
    """Say more about an error message; without SLUG, list all of them."""
    from rl_pipeline.commands.explain import run

    run(slug)
