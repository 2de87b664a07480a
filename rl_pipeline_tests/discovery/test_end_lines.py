"""How a job ended is read from its last lines, and only where the right program prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.discovery.end_lines import EndLine, find_end
from rl_pipeline.discovery.tail import Tail
from rl_pipeline_tests.helpers.log_writer import LogWriter, engine_actors


def end_of(text: str) -> EndLine | None:
    return find_end(Tail(text.encode(), 0))


def state_of(text: str) -> str | None:
    end = end_of(text)
    return end.state if end else None


AT = "AT 2026-01-10T03:00:12"
OOM = "oom_kill events in StepId=918273.batch. Some of the step tasks have been OOM Killed."
RUNNING = LogWriter(engines=engine_actors(2)).fresh_start().step(1, {"a": 1.0}, seconds={"generate": 3.0}).text()


@pytest.mark.parametrize(
    ("tail", "state"),
    [
        (f"slurmstepd: error: *** JOB 918273 ON node0412 CANCELLED {AT} DUE TO TIME LIMIT ***", "time_limit"),
        (f"slurmstepd: error: *** STEP 918273.0 ON node0 CANCELLED {AT} DUE TO TIME LIMIT ***", "time_limit"),
        (f"slurmstepd: error: *** STEP 918273.0 ON n1 CANCELLED {AT} DUE TO PREEMPTION ***", "preempted"),
        (f"slurmstepd-node0412: error: *** JOB 918273 ON node0412 CANCELLED {AT} ***", "cancelled"),
        (f"slurmstepd: error: *** JOB 1 ON n CANCELLED {AT} DUE TO NODE FAILURE, SEE … ***", "node_failure"),
        (f"slurmstepd: error: *** JOB 1 ON n CANCELLED {AT} DUE TO JOB REQUEUE ***", "requeued"),
        (f"slurmstepd: error: *** JOB 1 ON n CANCELLED {AT} DUE to SIGNAL Terminated ***", "cancelled"),
        ("slurmstepd: error: *** STEP 1.0 ON n FAILED (non-zero exit code or other failure mode) ***", "failed"),
        (f"slurmstepd: error: *** STEP 1.0 STEPD TERMINATED ON n {AT} DUE TO JOB NOT RUNNING ***", "failed"),
        ("slurmstepd: error: *** JOB 1 CANCELLED DUE TO TIME LIMIT ***", "time_limit"),  # very old versions: no time
        (f" 0: slurmstepd: error: *** STEP 1.0 ON n CANCELLED {AT} DUE TO TIME LIMIT ***", "time_limit"),
        (f"slurmstepd: error: Detected 2 {OOM}", "out_of_memory"),
        ("srun: error: node[0412-0413]: tasks 3,7-9: Out Of Memory", "out_of_memory"),
        ("srun: error: node0412: task 0: Exited with exit code 1", "failed"),
        ("srun: error: Node failure on node0413", "node_failure"),
        ("Job 'raysubmit_Ab12' succeeded", "completed"),
        ("Job 'raysubmit_Ab12' failed", "failed"),
        ("Job 'raysubmit_Ab12' was stopped", "cancelled"),
        ("/var/spool/job918273/slurm_script: line 42: 40123 Killed                  python -m skyrl_train", "failed"),
        ("Segmentation fault (core dumped)", "failed"),
        (
            "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\n"
            "ray.exceptions.ActorDiedError: The actor died unexpectedly",
            "failed",
        ),
    ],
)  # fmt: skip
def test_a_tail_tells_the_state(tail, state):
    assert state_of(RUNNING + tail + "\n") == state
    assert state_of(RUNNING + tail) == state  # without a line end


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("Training done!", "completed"),
        ("Saved final checkpoint.", "completed"),
        ("Saved final model.", "completed"),
        ("Reached max training steps (80)", "completed"),
        ("Reached max_training_steps=80, stopping early.", "completed"),
        ("Training already complete on resume — exiting cleanly.", "completed"),
        ("Process still alive 30.0s after teardown - exiting", "completed"),
        ("Train loop failed at global_step 12: CUDA error", "failed"),
        ("Training failed at step 12 with RuntimeError: CUDA error", "failed"),
    ],
)
@pytest.mark.parametrize("ray_colours", [False, True])
def test_the_trainers_own_words_tell_the_state(words, state, ray_colours):
    log = LogWriter(colours=ray_colours).step(1, {"a": 1.0}).say(words).raw("teardown of 8 engines")

    assert state_of(log.text(ray_colours=ray_colours)) == state


def test_a_tail_glued_to_a_progress_bar_is_seen():
    assert state_of(LogWriter().fresh_start().time_limit("918273").text()) == "time_limit"


@pytest.mark.parametrize(
    "bar", ["Loading: 41it [00:10, 4.1it/s]", "Steps:  22%|██▏       | 13/60 [2:10:40<?, ?it/s]", "a:  5%|█"]
)
def test_a_tail_behind_any_form_of_bar_is_seen(bar):
    assert state_of(f"{bar}slurmstepd: error: *** JOB 1 ON n CANCELLED {AT} DUE TO PREEMPTION ***") == "preempted"


def test_a_job_without_an_end_says_nothing():
    assert end_of(RUNNING) is None
    assert end_of("") is None


def test_the_evidence_is_the_line_with_its_place():
    log = LogWriter().step(1, {"a": 1.0}).training_done().raw("bye")
    text = log.text()

    end = end_of(text)

    assert end is not None
    line = text.split("\n")[end.line - 1 if end.line else 0]
    assert line.endswith("Training done!")
    assert text.encode()[end.byte :].startswith(line.encode())
    assert end.text == "Training done!"


def test_the_evidence_of_a_glued_tail_begins_with_the_tail():
    end = end_of(LogWriter().fresh_start().time_limit("918273").text())

    assert end is not None
    assert end.text == (
        "slurmstepd: error: *** JOB 918273 ON node0412 CANCELLED AT 2026-01-09T11:00:00 DUE TO TIME LIMIT ***"
    )


def test_the_evidence_shows_no_credential():
    words = "Train loop failed at global_step 12: WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567"

    end = end_of(LogWriter().say(words).text())

    assert end is not None
    assert "0123456789abcdef" not in end.text
    assert end.text.startswith("Train loop failed at global_step 12: ")


def test_a_requeued_job_that_trains_again_has_not_ended():
    log = LogWriter().fresh_start().step(1, {"a": 1.0}).slurm_tail("1", " DUE TO JOB REQUEUE")

    assert state_of(log.text()) == "requeued"
    assert state_of(log.resume(1).text()) is None
    assert state_of(log.step(2, {"a": 1.0}).training_done().text()) == "completed"


def test_a_cancelled_step_with_a_job_that_goes_on_is_no_end():
    log = LogWriter().slurm_tail("1", "", unit="STEP")
    for number in range(60):
        log.raw(f"installing package {number}")

    assert state_of(log.text()) is None


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        (["*** JOB 1 ON n CANCELLED AT 2026-01-10T03:00:12 DUE TO TIME LIMIT ***", "exit 143"], "time_limit"),
        (["exit 1", "*** STEP 1.0 ON n CANCELLED AT 2026-01-10T03:00:12 ***"], "cancelled"),
        (["oom", "*** STEP 1.0 ON n CANCELLED AT 2026-01-10T03:00:12 ***", "exit 137"], "out_of_memory"),
        (["*** STEP 1.0 ON n CANCELLED AT 2026-01-10T03:00:12 ***", "exit 143"], "cancelled"),
    ],
)
def test_a_cause_wins_over_what_follows_from_it(lines, state):
    words = {
        "exit 1": "srun: error: n: task 0: Exited with exit code 1",
        "exit 143": "srun: error: n: tasks 0-3: Exited with exit code 143",
        "exit 137": "srun: error: n: task 0: Exited with exit code 137",
        "oom": f"slurmstepd: error: Detected 1 {OOM}",
    }
    text = "\n".join(words.get(line, f"slurmstepd: error: {line}") for line in lines)

    assert state_of(RUNNING + text) == state


def test_training_that_was_complete_stays_complete_when_its_program_is_killed():
    log = LogWriter().step(1, {"a": 1.0}).training_done().raw("srun: error: n: task 0: Exited with exit code 1")

    assert state_of(log.text()) == "completed"


def test_reaching_the_step_limit_is_no_end_when_the_last_save_is_killed():
    log = LogWriter().say("Reached max training steps (80)").slurm_tail("1")

    assert state_of(log.text()) == "time_limit"


@pytest.mark.parametrize(
    "quoting",
    [
        f"Example: the log said slurmstepd: error: *** JOB 1 ON n CANCELLED {AT} DUE TO TIME LIMIT ***",
        f"observation:\nslurmstepd: error: *** JOB 1 ON n CANCELLED {AT} DUE TO TIME LIMIT ***\nTraining done!\nwas it",
        "Sending keys: ['grep \"Training done!\" train.log']",
        "observation:\nTraining done! Now the tests",
        "observation: srun: error: n: task 0: Exited with exit code 1 was printed",
        f"[count-lines__aB3dE9x] slurmstepd: error: *** JOB 1 ON n CANCELLED {AT} DUE TO TIME LIMIT ***",
        "Job 'x' succeeded, said the agent",
        "It was Killed by the test",
    ],
)
def test_a_transcript_that_quotes_an_end_is_not_believed(quoting):
    log = LogWriter().step(1, {"a": 1.0}).say(quoting)

    assert state_of(log.text()) is None


def test_a_traceback_that_was_handled_is_no_end():
    handled = 'Traceback (most recent call last):\n  File "x.py", line 3\nValueError: bad trial'
    log = LogWriter().raw(handled).say("trial failed, going on")

    assert state_of(log.text()) is None
    assert state_of(LogWriter().raw(handled, LogWriter().trainer).text()) is None


def test_a_late_memory_warning_that_is_not_fatal_says_nothing():
    assert state_of(RUNNING + "slurmstepd: error: Step 1.0 hit memory limit at least once during execution.") is None


@given(st.binary(max_size=400) | st.text(max_size=300).map(str.encode))
def test_any_bytes_can_be_asked(data):
    find_end(Tail(data, 0))


@pytest.mark.parametrize(
    "hostile",
    [
        "(" * 50_000,
        "slurmstepd: error: *** " * 5_000,
        "%|" * 50_000,
        "\x1b[" * 50_000,
        "\x1b]" + "x" * 100_000,
        " " * 100_000,
        "srun: error: " * 8_000,
        "2026-01-09 11:00:00.000 | INFO" * 5_000,
        "(a(b)" * 30_000 + " pid=1",
    ],
    ids=["parentheses", "tails", "bars", "csi", "osc", "blanks", "srun", "heads", "nested"],
)  # fmt: skip
def test_long_hostile_lines_are_read_once(hostile):
    assert state_of(f"{hostile}\n" * 3) is None
