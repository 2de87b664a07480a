"""Words and formats of the sections, and what they leave out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rl_pipeline.analysis.engine_load import EngineLoad
from rl_pipeline.analysis.findings.finding import (
    CLEAR,
    FIRED,
    HIGH,
    LOW,
    NOT_MEASURABLE,
    Evidence,
    Finding,
    ShownThreshold,
    Verdict,
)
from rl_pipeline.analysis.published import published_tables
from rl_pipeline.analysis.summary import ExperimentResult, analyse_experiment
from rl_pipeline.report.markdown import sections
from rl_pipeline.report.views.engines import engine_load_view
from rl_pipeline.report.views.findings import evidence_text, findings_view
from rl_pipeline.report.views.published import published_view
from rl_pipeline.report.views.section import Block, section, sentence
from rl_pipeline.report.views.table import table
from rl_pipeline.report.views.trials import trials_view
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_result import reference_result


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return reference_result()


def notes_of(result: ExperimentResult, title: str) -> str:
    found = next(entry for entry in sections(result) if entry.title == title)
    return "\n".join(note for block in found.blocks for note in block.notes)


def test_columns_of_words_stand_left_and_columns_of_numbers_right():
    view = table("Name | Share | Why", [("a", "< 0.1 %", "—"), ("b", "—", "cut off")])

    assert [column.is_number for column in view.columns] == [False, True, False]


def test_a_section_without_anything_is_left_out():
    assert section("Title", (None, Block(heading="empty"))) is None
    assert sentence("a") == "a."
    assert sentence("a!") == "a!"


def test_one_log_alone_has_no_comparison_across_logs():
    frames = experiment_frames(
        jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 0, 1, {"reward/avg_raw_reward": 0.5})
    )
    view = published_view(published_tables(frames))

    assert view.cross_log is None
    assert view.timing is None
    assert view.progression[0].table.columns[2].title == "Pass@k"
    assert view.progression[0].table.rows == (("1", "0.5000", "—", "—", "—", "—", "—", "—"),)


def test_labels_that_mislead_are_explained_beside_their_numbers(result: ExperimentResult):
    view = published_view(result.published)
    notes = {category.title: " ".join(category.notes) for category in view.categories}

    assert "81 metric blocks of 80 distinct steps; 1 trained more than once" in view.overview_notes[0]
    assert "by construction" in notes["Policy Metrics"]
    assert "one series under two names" in notes["Loss Metrics"]
    assert "placeholders" in notes["Generate Metrics"]
    assert "counts groups" in notes["Batch_Errors Metrics"]
    assert view.progression_notes == (
        "KL: policy/policy_kl is not logged in this run.",
        "Loss is policy/final_loss; it is 0 at four decimals in 71 of 81 rows.",
    )


def test_explanations_that_do_not_apply_are_not_given():
    frames = experiment_frames(
        jobs=[job_row("job_1")],
        step_metrics=block_rows(
            "job_1",
            0,
            1,
            {
                "policy/policy_update_steps": 4,
                "policy/log_ratio_abs_mean": 0.0,
                "generate/min_num_tokens": 12,
                "loss/x": 1,
            },
        ),
    )
    view = published_view(published_tables(frames))

    assert [category.notes for category in view.categories] == [(), (), ()]


def test_no_verdict_on_engines_stands_among_the_published_numbers():
    load = EngineLoad(
        job="job_1",
        lines=2,
        printed_lines=8,
        engines=1,
        seconds=2,
        shared_seconds=0,
        avg_running=8.7,
        avg_waiting=0.0,
        avg_gen_throughput=383.7,
        avg_kv_cache=0.365,
        avg_prefix_hit=None,
        max_running=22,
        max_waiting=4,
        max_gen_throughput=790.8,
        max_running_one=20,
        max_waiting_one=4,
        max_gen_throughput_one=790.8,
        waiting_share=0.5,
        preemption_lines=0,
    )
    view = engine_load_view((load,))
    assert view is not None

    assert view.summary.rows[0][:6] == ("job_1", "8.7", "0.0", "383.7 tok/s", "36.5%", "—")
    assert [(entry.label, entry.numbers) for entry in view.utilization[0].indicators] == [
        ("Running requests/engine", "avg=8.7, max=22"),
        ("Waiting requests", "avg=0.0, max=4"),
        ("Generation throughput/engine", "avg=383.7 tok/s, max=790.8 tok/s"),
        ("KV cache usage", "avg=36.5%"),
        ("Prefix cache hit rate", "avg=—"),
    ]
    assert engine_load_view(()) is None


def test_trials_say_what_the_success_rate_leaves_out(result: ExperimentResult):
    view = trials_view(result.published.trials)
    assert view is not None

    # source: 16,178 of 36,998 scored and 44,526 trials of the published run
    assert (view.success_rate, view.solved_of_all, view.at_most) == ("43.7%", "36.3\u202f%", "53.2\u202f%")
    assert view.turns_by_exception.rows[-1] == ("AgentSetupTimeoutError", "—", "—", "0", "44")
    assert trials_view(None) is None


def finding(number: int, status: str, severity: str = LOW, **changes: Any) -> Finding:
    made = Finding(
        id=f"R{number}",
        slug=f"rule-{number}",
        status=status,
        severity=severity,
        title=f"Title {number}",
        summary="Seen",
        evidence=(),
        n=1234,
        population="steps",
        threshold=ShownThreshold(text="> 5 %", source="ops"),
        action="Act",
        missing=(),
        overturned_by="Other data",
        notes=(),
    )
    return replace(made, **changes)


def test_what_fired_comes_first_by_severity_and_every_rule_is_told():
    findings = [
        finding(10, FIRED, LOW),
        finding(2, FIRED, HIGH),
        finding(9, FIRED, HIGH),
        finding(3, CLEAR),
        finding(4, NOT_MEASURABLE, summary="", missing=("clocks", "GPU power")),
    ]
    view = findings_view(findings, Verdict(status="needs attention", reasons=("R2 fired",)))
    assert view is not None

    assert [entry.title for entry in view.fired] == ["R2 Title 2", "R9 Title 9", "R10 Title 10"]
    assert view.fired[0].population == "n = 1,234 steps"
    assert view.clear is not None
    assert view.not_measurable is not None
    assert view.clear.rows == (("R3", "Title 3", "Seen"),)
    assert view.not_measurable.rows == (("R4", "Title 4", "clocks; GPU power"),)
    assert view.reasons == ("R2 fired.",)
    assert findings_view((), None) is None


def test_evidence_says_where_to_look():
    entry = Evidence(text="slow", job="job_1", file="a.out", step_range=(3, 5), key="timing/step", line=12)

    assert evidence_text(entry) == "slow (job_1, a.out, steps 3–5, timing/step, line 12)"
    assert evidence_text(Evidence(text="slow", step_range=(3, 3))) == "slow (step 3)"
    assert evidence_text(Evidence(text="slow")) == "slow"


def test_sections_stand_in_their_order(result: ExperimentResult):
    assert [entry.title for entry in sections(result)] == [
        "How the Jobs Chain",
        "Whose Reward Is It",
        "Time",
        "Is It Learning",
        "How Noisy Is One Step",
        "Trials by Class and Task",
        "Differences between the Jobs",
        "Which Checkpoint to Keep",
    ]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        # source: recomputed from the step tables of the published run
        ("How the Jobs Chain", "81 rows, 80 distinct steps (1–80)"),
        ("How the Jobs Chain", "512 samples"),
        ("Whose Reward Is It", "6,421 of 39,472 in batch lines (16.3\u202f%)"),
        ("Time", "58.2\u202f% of the step time"),
        ("Time", "2.39 times faster"),
        ("Time", "r = 0.996"),
        ("Is It Learning", "Over the whole run 0.056"),
        ("Which Checkpoint to Keep", "Step 70: exponential moving average of the reward 0.3934"),
    ],
)
def test_sections_print_the_numbers_of_the_published_run(result: ExperimentResult, title: str, words: str):
    assert words in notes_of(result, title)


def test_an_experiment_without_anything_still_makes_sections():
    empty = analyse_experiment(experiment_frames())

    assert "Which Checkpoint to Keep" in [entry.title for entry in sections(empty)]
