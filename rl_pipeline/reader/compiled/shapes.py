"""Lines that differ only in numbers: which shape they have, their stamps and their numbers."""

from __future__ import annotations

import numpy as np
from numba import njit

from rl_pipeline.reader.compiled.texts import MOST_DIGITS, NINE, ZERO, is_same_at, number_at

MOST_SHOWN = 4096  # bytes of a line
MOST_COUNT_DIGITS = 6
ROLE_COUNT, ROLE_FIXED = -1, -2
NO_PLAN, NOT_LEARNED = -1, -2
HASH_BEGIN, HASH_FACTOR, HASH_MASK = 2166136261, 16777619, (1 << 32) - 1  # FNV-1a
SECOND, MILLISECOND = 1_000_000, 1_000  # microseconds


@njit(cache=True, nogil=True)
def read_regular(
    data, starts, ends, stops, kinds,
    head_text, head_compared, heads, head_firsts,
    tail_text, tails, tail_firsts, roles, fixed,
    plan_numbers, most_digits,
    shapes, plans, counts, numbers, digits, days, clocks,
):  # fmt: skip
    """Tell which learned head and tail each line has, and read its stamp and its numbers.

    Args:
        data: the bytes; line i is `data[starts[i]:stops[i]]`, its needle ends at `ends[i]` and is of kind `kinds[i]`.
        starts: see above, as `ends`, `stops` and `kinds`.
        head_text: all learned heads; `head_compared` has 255 for each byte, 0 for those that may differ.
        heads: rows of begin and length in `head_text`, next head with the same key or -1, place of the stamp, whether
            it has a date, number of its words.
        head_firsts: kinds × lengths, the first head or -1.
        tail_text: all learned tails, a `0` for each run of digits.
        tails: rows of begin and length in `tail_text`, next tail with the same key or -1, kind.
        tail_firsts: by the lowest bits of a tail's hash, the first tail or -1.
        roles: tails × runs of digits, which of the numbers each is, or `ROLE_COUNT` for Ray's repeat count, or
            `ROLE_FIXED`.
        fixed: tails × runs × 2, the digits and the value that a fixed run has.
        plan_numbers: words × tails, the number of the plan, `NO_PLAN`, or `NOT_LEARNED`.
        most_digits: plans × numbers, the digits that a number may have.
        shapes: lines × 2, filled with head and tail, or -1.
        plans: filled with the plan of a line that it may read, else with `NO_PLAN` or `NOT_LEARNED`.
        counts: filled with what Ray folded the line to.
        numbers: lines × most numbers, filled with the numbers that are there.
        digits: filled with the digits of each.
        days: filled with year × 10000 + month × 100 + day of the stamp; -1 where it is none.
        clocks: filled with the microseconds of the day.
    """
    shown = np.empty(MOST_SHOWN, np.uint8)
    values, lengths = np.empty(MOST_SHOWN, np.int64), np.empty(MOST_SHOWN, np.int64)
    usual = np.full(len(head_firsts), -1, np.int64)  # the last tail of each kind
    for line in range(len(starts)):
        kind = kinds[line]
        head = _head_of(data, starts[line], ends[line], head_firsts[kind], heads, head_text, head_compared)
        tail, runs = _tail_of(
            data, ends[line], stops[line], kind, usual[kind], tails, tail_text, tail_firsts, shown, values, lengths
        )
        if tail >= 0:
            usual[kind] = tail
        shapes[line, 0], shapes[line, 1], plans[line] = head, tail, NOT_LEARNED
        if head < 0 or tail < 0:
            continue
        plan = plan_numbers[heads[head, 5], tail]
        if plan >= 0:
            days[line], clocks[line] = _stamp(data, starts[line] + heads[head, 3], heads[head, 4])
            counts[line] = 1
            if days[line] < 0 or not _take_runs(
                values, lengths, runs, roles[tail], fixed[tail], most_digits[plan], numbers[line], digits[line],
                counts[line : line + 1],
            ):  # fmt: skip
                plan = NO_PLAN
        plans[line] = plan


@njit(nogil=True)
def _head_of(data, start, end, firsts, heads, text, compared):
    """The head that the bytes up to the needle's end are, or -1."""
    shown = data[start:end]
    head = firsts[end - start]
    while head >= 0:
        first = heads[head, 0]
        last = first + end - start
        if _is_shown(shown, text[first:last], compared[first:last]):
            return head
        head = heads[head, 2]
    return -1


@njit(nogil=True)
def _tail_of(data, place, stop, kind, usual, tails, text, tail_firsts, shown, values, lengths):
    """The tail that the bytes behind the needle are, or -1, and how many runs of digits they hold.

    `usual` is tried first. Of runs with more than nine digits the first nine are the value.
    """
    size, runs, first, length = 0, 0, 0, -1
    if usual >= 0:
        first, length = tails[usual, 0], tails[usual, 1]
    while place < stop:
        byte = data[place]
        if ZERO <= byte <= NINE:
            begin, value = place, 0
            while place < stop and ZERO <= data[place] <= NINE:
                if place - begin < MOST_DIGITS:
                    value = value * 10 + (data[place] - ZERO)
                place += 1
            values[runs], lengths[runs] = value, place - begin
            runs += 1
            byte = ZERO
        else:
            place += 1
        if size >= length or text[first + size] != byte:
            length = -1
        shown[size] = byte
        size += 1
    if length == size:
        return usual, runs
    tail = tail_firsts[(hash_of(shown[:size]) ^ kind) & (len(tail_firsts) - 1)]
    while tail >= 0:
        if tails[tail, 3] == kind and tails[tail, 1] == size and is_same_at(shown, 0, text, tails[tail, 0], size):
            return tail, runs
        tail = tails[tail, 2]
    return -1, runs


@njit(nogil=True)
def _take_runs(values, lengths, runs, roles, fixed, most_digits, numbers, digits, count):
    """Put the runs of digits of a line where they belong; False when one is not what the plan may read."""
    for run in range(runs):
        role = roles[run]
        if role == ROLE_FIXED:
            if lengths[run] != fixed[run, 0] or values[run] != fixed[run, 1]:
                return False
        elif role == ROLE_COUNT:
            if lengths[run] > MOST_COUNT_DIGITS:
                return False
            count[0] = max(1, values[run])
        else:
            if lengths[run] > most_digits[role]:
                return False
            numbers[role], digits[role] = values[run], lengths[run]
    return True


@njit(cache=True, nogil=True)
def hash_of(shown):
    """The hash of a tail, as `read_regular` makes it."""
    code = HASH_BEGIN
    for byte in shown:
        code = ((code ^ byte) * HASH_FACTOR) & HASH_MASK
    return code


@njit(nogil=True)
def _is_shown(data, text, compared):
    """Whether bytes are those of a text where the bits of `compared` are set; without a branch, for wide registers."""
    different = np.uint8(0)
    for place in range(len(text)):
        different |= (data[place] ^ text[place]) & compared[place]
    return different == 0


@njit(nogil=True)
def _stamp(data, begin, dated):
    """Day and microseconds of a stamp `2026-01-09 11:22:33.444` or `01-09 11:22:33`; the day -1 where it is none."""
    at = begin + 5 if dated else begin
    day = number_at(data, at, 2) * 100 + number_at(data, at + 3, 2)
    hours, minutes, seconds = number_at(data, at + 6, 2), number_at(data, at + 9, 2), number_at(data, at + 12, 2)
    clock = (hours * 3600 + minutes * 60 + seconds) * SECOND
    if dated:
        day += number_at(data, begin, 4) * 10_000
        milliseconds = number_at(data, begin + 20, 3)
        clock += milliseconds * MILLISECOND
        day = min(day, milliseconds) if milliseconds < 0 else day
    if day < 0 or min(hours, minutes, seconds) < 0 or hours > 23 or minutes > 59 or seconds > 59:
        return -1, 0
    return day, clock
