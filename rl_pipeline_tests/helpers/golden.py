"""Golden files of the sample's report: written by `python -m rl_pipeline_tests.helpers.golden`, then read in the diff.

The report is kept in four parts, cut at headings, so that each is short enough to be read in a review and a
difference says which part moved.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from rl_pipeline import pipeline
from rl_pipeline.discovery import discover

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "sample"
GOLDEN = ROOT / "rl_pipeline_tests" / "golden" / "sample_report"
# Each part begins at its heading and ends where the next one begins.
PARTS = {
    "findings.md": "## Findings",
    "published.md": "## Overview",
    "sections.md": "## How the Jobs Chain",
    "charts.md": "## Charts",
}


def sample_report() -> str:
    """The Markdown report of the bundled sample, from its bytes."""
    (experiment,) = discover([SAMPLE]).experiments
    jobs = [pipeline.parse_job(log) for log in experiment.jobs]
    trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs)
    frames = pipeline.load_frames(experiment.experiment, jobs, trials)
    with tempfile.TemporaryDirectory() as folder:
        pipeline.render_report(pipeline.analyse_experiment(frames), frames, Path(folder))
        return (Path(folder) / "metrics_report.md").read_text(encoding="utf-8")


def cut(report: str) -> dict[str, str]:
    """The parts of a report by the name of their golden file."""
    starts = [report.index(f"{heading}\n") for heading in PARTS.values()]
    ends = [*starts[1:], len(report)]
    return {name: report[start:end] for name, start, end in zip(PARTS, starts, ends, strict=True)}


def main() -> None:
    """Write all golden files anew."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, text in cut(sample_report()).items():
        (GOLDEN / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
