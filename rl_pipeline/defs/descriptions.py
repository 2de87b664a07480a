"""What each asset is, in the words of its page; columns and units stand in the column schema."""

from __future__ import annotations

_TEXTS = {
    "raw_log": """
The log file of one job as it is on disk: size, content (fingerprint), and whether the job has finished, by what
evidence. Its data version changes with the content, and everything downstream is made from that content.
""",
    "step_metrics": """
Every metric of every block that the trainer printed, one row per block and metric, with the state of its value:
measured, below resolution (printed as `0.0000`), not finite, or text. From SkyRL's console blocks and
`WANDB_MIRROR` lines; both are kept where both were printed.
""",
    "rollout_batches": """
One row per finished batch of rollouts: trials that succeeded, groups that failed, exceptions by type. Lines that Ray
folded away are counted in `repeat_count`.
""",
    "vllm_stats": """
One row per statistics line of an inference engine: throughput, requests running and waiting, use of the KV cache,
hit rates. A line covers the time since the engine's previous one.
""",
    "phase_timings": """
One row per timer (`Started` / `Finished`) of the trainer; a timer without an end is kept, with `finished` false.
""",
    "job_events": """
The course of the job: starts, resumes, checkpoints, exports, evaluations, failures, and how it ended, each with the
line that says so. Text is redacted.
""",
    "unparsed": """
Lines that belong to a known format and could not be read, with place and reason. Empty when all is well; a growing
table means that a format has changed.
""",
    "job_trials": """
The trials that ran in this job's time window, so that a job's numbers are complete when the job ends. `trials` of
the experiment has all of them, each once.
""",
    "trials": """
Every trial of the experiment: reward, outcome, turns, tokens, phases, exception, and the job in whose time window it
ran (or none). Each `result.json` is read once in its life, again only when it changed.
""",
    "cross_log_comparison": """
The jobs of the experiment side by side, by the definitions of the published report.
""",
    "findings": """
What the rules say about the run: each fired, clear or not measurable, with evidence, threshold and action; and one
verdict. A finding is about the run and only warns; it fails nothing here.
""",
    "metrics_report": """
The report of the experiment: `report.html`, `metrics_report.md`, `report.json`, charts, and all tables as CSV and
Parquet in one folder, replaced as a whole. The same inputs give the same bytes, and so does `rl-pipeline report`.
""",
    "experiment_index": """
Every experiment that has a report: state, verdict, last step, reward, goodput, age (`index.html`), and chosen ones side
by side on the same axis, where their rewards mean the same thing (`compare.html`). Made from the `report.json` files.
""",
    "job_index": """
Looks through the configured roots (`RL_PIPELINE_ROOTS`), writes which log belongs to which job and experiment, and
adds the partitions. The sensors do the same by themselves; this is for the hand and for CI.
""",
}

DESCRIPTIONS = {name: " ".join(text.split()) for name, text in _TEXTS.items()}
