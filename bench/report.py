"""End to end: `rl-pipeline report` against the naive way, and a second run with nothing changed.

    python bench/report.py RUN [--rounds 5]

RUN is an experiment's folder with `logs/` and its trials, as `rl_pipeline_tests/reference/make_reference_run.py` makes
it. The naive way is that of `logs.py` for each log and that of `trials.py` for the trials: it loads each file with
`json.load`, and draws the PNG pictures of the report one by one from the same specifications, in one process; it
analyses nothing and writes nothing else. The report is the command, with its start and all its imports.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from logs import naive as naive_log
from measuring import Cost, measure, measure_command, rounds, table, timed
from trials import naive_rows


def naive(run: Path, specifications: Path) -> None:
    """Logs, trials, pictures; no analysis."""
    import vl_convert  # noqa: PLC0415 - timed

    for path in sorted((run / "logs").iterdir()):
        naive_log(path)
    naive_rows(run)
    for spec in json.loads(specifications.read_text(encoding="utf-8")):
        vl_convert.vegalite_to_png(spec, vl_version="5.20", scale=2)


def specifications_of(run: Path, target: Path) -> int:
    """Write the specifications of the report's pictures, for the naive way to draw; gives their number."""
    from rl_pipeline import pipeline  # noqa: PLC0415 - not in the measured processes
    from rl_pipeline.analysis.chart_data import chart_data  # noqa: PLC0415
    from rl_pipeline.discovery import discover  # noqa: PLC0415
    from rl_pipeline.report.charts.all_charts import all_charts  # noqa: PLC0415

    experiment = discover([run]).only()
    jobs = [pipeline.parse_job(log) for log in experiment.jobs]
    trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs)
    frames = pipeline.load_frames(experiment.experiment, jobs, trials)
    result = pipeline.analyse_experiment(frames, pipeline.load_thresholds(None))
    charts = all_charts(chart_data(frames, result))
    target.write_text(json.dumps([dict(chart.spec) for chart in charts]), encoding="utf-8")
    return len(charts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--naive", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.naive:
        timed(lambda: naive(asked.run, asked.naive))
        return
    program = [str(Path(sys.executable).with_name("rl-pipeline")), "report", "--quiet", str(asked.run)]
    with tempfile.TemporaryDirectory() as folder:
        specifications = Path(folder) / "specifications.json"
        pictures = specifications_of(asked.run, specifications)

        def first() -> Cost:
            shutil.rmtree(f"{folder}/out", ignore_errors=True)
            return measure_command([*program, f"{folder}/out"])

        candidates = {
            "naive": lambda: measure([__file__, str(asked.run), "--naive", str(specifications)]),
            "report": first,
            "report, nothing changed": lambda: measure_command([*program, f"{folder}/out"]),
        }
        costs = rounds(asked.rounds, candidates)
    print(f"{pictures} pictures\n\n{table(costs, 'naive')}\n\nAgainst the report itself\n\n{table(costs, 'report')}")


if __name__ == "__main__":
    main()
