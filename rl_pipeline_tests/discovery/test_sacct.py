"""States of jobs are read from any usual export of sacct."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.discovery.sacct import SacctState, parse_sacct


def test_the_jobs_own_row_counts_and_not_those_of_its_steps():
    text = "JobID|State\n918273|FAILED\n918273.batch|OUT_OF_MEMORY\n918273.extern|COMPLETED\n918274|COMPLETED\n"

    assert parse_sacct(text) == {
        "918273": SacctState("failed", "FAILED"),
        "918274": SacctState("completed", "COMPLETED"),
    }


def test_columns_are_found_by_their_header_in_any_order():
    assert parse_sacct("JobName|State|JobID|\ndemo|TIMEOUT|7|\n") == {"7": SacctState("time_limit", "TIMEOUT")}


def test_the_table_for_the_eye_is_read_too():
    text = "JobID         State\n-------- ----------\n12       CANCELLED+\n12.batch  CANCELLED\n13_4     OUT_OF_ME+\n"

    assert parse_sacct(text) == {
        "12": SacctState("cancelled", "CANCELLED+"),
        "13_4": SacctState("out_of_memory", "OUT_OF_ME+"),
    }


def test_without_a_header_the_first_two_columns_are_taken():
    assert parse_sacct("5|CANCELLED by 1000\n6|SOMETHING_NEW\n") == {"5": SacctState("cancelled", "CANCELLED by 1000")}


@given(st.text(max_size=300))
def test_any_text_can_be_asked(text):
    parse_sacct(text)
