"""Loops over the bytes of a window, compiled by Numba; see `scan`, `regular_windows` and `block_lines` for their use.

Everything here works on arrays alone and writes into arrays of its caller; none is longer than the window's bytes or
lines. The first use on a machine compiles for some seconds; what was compiled is kept beside this file, or where Numba
keeps it when that folder cannot be written.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NEEDLE_PAIR, FEED_FIRST, FEED_SECOND = 1, 2, 4  # flags of a pair of bytes
BEHIND, BEFORE = 1, 2  # where the third byte stands
PAIRS = 1 << 16  # of bytes
IRREGULAR, MARK = -1, -2
MOST_DIGITS, MOST_COUNT_DIGITS = 9, 6
ROLE_COUNT, ROLE_FIXED = -1, -2
NO_PLAN, NOT_LEARNED = -1, -2
MOST_SHOWN = 4096  # bytes of a line
HASH_BEGIN, HASH_FACTOR, HASH_MASK = 2166136261, 16777619, (1 << 32) - 1  # FNV-1
NO_NUMBER = -(10**12)
SECOND, MILLISECOND = 1_000_000, 1_000  # microseconds
LINE_FEED, CARRIAGE_RETURN, NUL, SPACE, QUOTE, PERCENT, PLUS, COMMA, MINUS, POINT = 10, 13, 0, 32, 39, 37, 43, 44, 45, 46
ZERO, NINE, COLON, BRACKET, SMALL_E, SMALL_I, SMALL_T, BAR, CLOSING_BRACE = 48, 57, 58, 91, 101, 105, 116, 124, 125
MOST_KEY, MOST_INTEGER, MOST_EXPONENT = 300, 30, 4  # characters, digits of an entry


@njit(cache=True, nogil=True)
def third_of(pair, third):
    """A hash of a pair of bytes and a third one."""
    return (np.int64(pair) * 40_503 ^ np.int64(third) * 2_654_435) & (PAIRS - 1)


@njit(cache=True, nogil=True)
def cut_and_find(
    data, pairs, flags, thirds, firsts, entries, text, offsets, kinds, edges, hits, hit_kinds, hit_ends, marks
):
    """Cut bytes into lines and find those that hold a needle, in one pass.

    Args:
        data: the bytes.
        pairs: the same, two by two, the first the lower half; the last byte of an odd number stands in none.
        flags: of each pair: whether a needle shows it, and where it holds line feeds.
        thirds: of the hash of a pair and the byte behind it or before it, whether a needle shows all three.
        firsts: of each pair, the first of its entries.
        entries: rows of needle, place of the pair in it, and whether another entry of the pair follows. A needle has
            one for a pair that begins at an even place of it and one for a pair at an odd place.
        text: all needles; needle i is `text[offsets[i]:offsets[i + 1]]`.
        kinds: of each needle; the places of those of kind `MARK` are told, they make no hit.
        edges: filled with the begin of each line and of the one behind the last; its first is 0.
        hits: filled with the lines that hold a needle.
        hit_kinds: filled with the kind that all needles of the line have, or `IRREGULAR`.
        hit_ends: filled with where the first needle of the line ends.
        marks: filled with where marks begin.

    Returns:
        How many line feeds, hits and marks there are.
    """
    size, line, count, told, current = len(data), 0, 0, 0, -1
    edges[0] = 0
    for number in range(len(pairs)):
        pair = pairs[number]
        flag = flags[pair]
        if flag == 0:
            continue
        place = 2 * number
        if flag & FEED_FIRST:
            line += 1
            edges[line] = place + 1
        if flag & FEED_SECOND:
            line += 1
            edges[line] = place + 2
        if flag & NEEDLE_PAIR == 0:
            continue
        behind = data[place + 2] if place + 2 < size else LINE_FEED
        before = data[place - 1] if place else LINE_FEED
        if thirds[third_of(pair, behind)] & BEHIND == 0 and thirds[third_of(pair, before)] & BEFORE == 0:
            continue
        entry = firsts[pair]
        while True:
            needle = entries[entry, 0]
            begin = place - entries[entry, 1]
            end = begin + offsets[needle + 1] - offsets[needle]
            if begin >= 0 and end <= size and _is_same_at(data, begin, text, offsets[needle], end - begin):
                kind = kinds[needle]
                if kind == MARK:
                    marks[told] = begin
                    told += 1
                elif current == line:
                    if hit_kinds[count - 1] != kind:
                        hit_kinds[count - 1] = IRREGULAR
                    hit_ends[count - 1] = min(hit_ends[count - 1], end)
                else:
                    current = line
                    hits[count], hit_kinds[count], hit_ends[count] = line, kind, end
                    count += 1
            if entries[entry, 2] == 0:
                break
            entry += 1
    if size % 2 and data[size - 1] == LINE_FEED:
        line += 1
        edges[line] = size
    return line, count, told


@njit(cache=True, nogil=True)
def _is_same_at(data, begin, text, first, length):
    for place in range(length):
        if data[begin + place] != text[first + place]:
            return False
    return True


@njit(cache=True, nogil=True)
def usual_folds(data, marks, mark_length, opening, endings, ending_ends, most, unusual):
    """Lines that Ray left out, told by marks in their usual place: `[repeated 7x across cluster]` and a known ending.

    Args:
        data: the bytes.
        marks: where `x across cluster]` begins, ascending.
        mark_length: of that.
        opening: what stands before the number.
        endings: what may stand behind the mark before the line feed, end to end; `ending_ends` says where each ends.
        most: a larger number counts as that.
        unusual: filled with the marks that are not so, but for later ones of a line.

    Returns:
        The sum of the numbers less one each, and how many marks are unusual.
    """
    folded, odd, done = 0, 0, -1
    for mark in marks:
        if mark < done:
            continue  # of the same line
        done = mark
        while done < len(data) and data[done] != LINE_FEED:
            done += 1
        first = mark
        while first > 0 and mark - first < MOST_DIGITS and ZERO <= data[first - 1] <= NINE:
            first -= 1
        begin = first - len(opening)
        is_usual = first < mark and begin >= 0 and _is_same_at(data, begin, opening, 0, len(opening))
        if is_usual and _is_ending(data, mark + mark_length, done, endings, ending_ends):
            folded += min(max(1, _number(data, first, mark - first)), most) - 1
        else:
            unusual[odd] = mark
            odd += 1
    return folded, odd


@njit(cache=True, nogil=True)
def _is_ending(data, place, end, endings, ending_ends):
    first = 0
    for number in range(len(ending_ends)):
        length = ending_ends[number] - first
        if end - place == length and _is_same_at(data, place, endings, first, length):
            return True
        first = ending_ends[number]
    return False


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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
        if tails[tail, 3] == kind and tails[tail, 1] == size and _is_same_at(shown, 0, text, tails[tail, 0], size):
            return tail, runs
        tail = tails[tail, 2]
    return -1, runs


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _is_shown(data, text, compared):
    """Whether bytes are those of a text where the bits of `compared` are set; without a branch, for wide registers."""
    different = np.uint8(0)
    for place in range(len(text)):
        different |= (data[place] ^ text[place]) & compared[place]
    return different == 0


@njit(cache=True, nogil=True)
def _number(data, begin, count):
    """So many digits as a number; a large negative one when one is none."""
    value = 0
    for place in range(begin, begin + count):
        if not ZERO <= data[place] <= NINE:
            return NO_NUMBER
        value = value * 10 + (data[place] - ZERO)
    return value


@njit(cache=True, nogil=True)
def _stamp(data, begin, dated):
    """Day and microseconds of a stamp `2026-01-09 11:22:33.444` or `01-09 11:22:33`; the day -1 where it is none."""
    at = begin + 5 if dated else begin
    day = _number(data, at, 2) * 100 + _number(data, at + 3, 2)
    hours, minutes, seconds = _number(data, at + 6, 2), _number(data, at + 9, 2), _number(data, at + 12, 2)
    clock = (hours * 3600 + minutes * 60 + seconds) * SECOND
    if dated:
        day += _number(data, begin, 4) * 10_000
        milliseconds = _number(data, begin + 20, 3)
        clock += milliseconds * MILLISECOND
        day = min(day, milliseconds) if milliseconds < 0 else day
    if day < 0 or min(hours, minutes, seconds) < 0 or hours > 23 or minutes > 59 or seconds > 59:
        return -1, 0
    return day, clock


@njit(cache=True, nogil=True)
def follow_block(
    data, edges, line, last, hits, hit, ways, prefix, markers, marker_ends, quoted_only, may_close, characters, taken
):
    """Follow an open block line by line for as long as its lines look like plain entries.

    Stops at a line that has to be looked at: it may go on with the block in another way, or holds a needle.

    Args:
        data: the bytes; line i is `data[edges[i]:edges[i + 1]]`, line feed included.
        edges: see above.
        line: the first to look at.
        last: the line behind the last.
        hits: lines with a needle.
        hit: the first hit at or behind `line`.
        ways: of each hit, how it is read; 0: it is looked at.
        prefix: what stands before each entry of the block.
        markers: byte strings of which one stands in every line of a process with an open message, end to end;
            `marker_ends` says where each ends.
        quoted_only: whether the only open message is the block, and only quoted keys go on with it.
        may_close: whether the block ends with an entry that a closing bracket follows.
        characters: how many the block may yet take.
        taken: filled with the lines that are entries.

    Returns:
        The line at which it stopped, how many lines it took, and whether the last of these ends the block.
    """
    count = 0
    while line < last:
        begin, end = edges[line], edges[line + 1] - 1
        is_hit = hit < len(hits) and hits[hit] == line
        entry = begin + len(prefix)
        is_own = entry < end and _begins_with(data, begin, prefix)
        is_last = is_own and may_close and data[end - 1] == CLOSING_BRACE
        if is_own and _is_entry(data, entry, end, CLOSING_BRACE if is_last else COMMA):
            characters -= end - begin
            if count == len(taken) or characters <= 0:
                return line, count, False
            taken[count] = line
            count += 1
            if is_last:
                return line + 1, count, True
        elif is_hit:
            if ways[hit] == 0:
                return line, count, False
        elif is_own and quoted_only and _is_alphanumeric(data[entry]) and not _may_be_more(data, begin, end):
            pass
        elif _shows_any(data, begin, end, markers, marker_ends):
            return line, count, False
        hit += is_hit
        line += 1
    return line, count, False


@njit(cache=True, nogil=True)
def _begins_with(data, begin, prefix):
    for place in range(len(prefix)):
        if data[begin + place] != prefix[place]:
            return False
    return True


@njit(cache=True, nogil=True)
def _is_alphanumeric(byte):
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@njit(cache=True, nogil=True)
def _may_be_more(data, begin, end):
    """Whether a line shows a carriage return, a NUL, or the marks of a progress bar: `%|`, `it [`."""
    for place in range(begin, end):
        byte = data[place]
        if byte == CARRIAGE_RETURN or byte == NUL or (byte == BAR and place > begin and data[place - 1] == PERCENT):
            return True
        if byte == BRACKET and place >= begin + 3 and data[place - 1] == SPACE:
            if data[place - 2] == SMALL_T and data[place - 3] == SMALL_I:
                return True
    return False


@njit(cache=True, nogil=True)
def _shows_any(data, begin, end, markers, marker_ends):
    first = 0
    for number in range(len(marker_ends)):
        length = marker_ends[number] - first
        for place in range(begin, end - length + 1):
            same = 0
            while same < length and data[place + same] == markers[first + same]:
                same += 1
            if same == length:
                return True
        first = marker_ends[number]
    return False


@njit(cache=True, nogil=True)
def _is_plain(byte):
    """Whether a byte of a quoted text means itself, whatever stands around it."""
    return 32 <= byte <= 38 or 40 <= byte <= 90 or 93 <= byte <= 123 or 125 <= byte <= 126


@njit(cache=True, nogil=True)
def _plain_end(data, place, end):
    """Where a run of plain bytes ends."""
    while place < end and _is_plain(data[place]):
        place += 1
    return place


@njit(cache=True, nogil=True)
def _digits_end(data, place, end):
    while place < end and ZERO <= data[place] <= NINE:
        place += 1
    return place


@njit(cache=True, nogil=True)
def _is_entry(data, place, end, ender):
    """Whether a line is an entry as `entries.ENTRY` describes it, with `ender` for its comma."""
    if end - place < 6 or data[place] != SPACE or data[place + 1] != QUOTE or data[end - 1] != ender:
        return False
    end -= 1
    key_end = _plain_end(data, place + 2, end)
    if not 1 <= key_end - place - 2 <= MOST_KEY or end - key_end < 4:
        return False
    if data[key_end] != QUOTE or data[key_end + 1] != COLON or data[key_end + 2] != SPACE:
        return False
    value = key_end + 3
    if data[value] == QUOTE:
        text_end = _plain_end(data, value + 1, end)
        return text_end - value - 1 <= MOST_KEY and text_end == end - 1 and data[text_end] == QUOTE
    return _is_number(data, value, end) or _is_word(data, value, end)


@njit(cache=True, nogil=True)
def _is_number(data, place, end):
    if data[place] == MINUS:
        place += 1
    after = _digits_end(data, place, end)
    if not 1 <= after - place <= MOST_INTEGER:
        return False
    if after < end and data[after] == POINT:
        place, after = after + 1, _digits_end(data, after + 1, end)
        if not 1 <= after - place <= MOST_INTEGER:
            return False
    if after < end and data[after] == SMALL_E:
        place = after + 1
        if place < end and (data[place] == PLUS or data[place] == MINUS):
            place += 1
        after = _digits_end(data, place, end)
        if not 1 <= after - place <= MOST_EXPONENT:
            return False
    return after == end


@njit(cache=True, nogil=True)
def _is_word(data, place, end):
    """Whether a value is `True`, `False` or `None`."""
    for word in (b"True", b"False", b"None"):
        if end - place == len(word):
            same = 0
            while same < len(word) and data[place + same] == word[same]:
                same += 1
            if same == len(word):
                return True
    return False
