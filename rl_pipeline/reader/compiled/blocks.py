"""The lines of an open block that look like the ones before them."""

from __future__ import annotations

from numba import njit

from rl_pipeline.reader.compiled.texts import NINE, ZERO, is_same_at

NUL, CARRIAGE_RETURN, SPACE, PERCENT, QUOTE, PLUS, COMMA, MINUS, POINT, COLON = 0, 13, 32, 37, 39, 43, 44, 45, 46, 58
BRACKET, SMALL_E, SMALL_I, SMALL_T, BAR, CLOSING_BRACE = 91, 101, 105, 116, 124, 125
MOST_KEY, MOST_INTEGER, MOST_EXPONENT = 300, 30, 4  # characters, digits of an entry


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
        is_own = entry < end and is_same_at(data, begin, prefix, 0, len(prefix))
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


@njit(nogil=True)
def _is_alphanumeric(byte):
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@njit(nogil=True)
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


@njit(nogil=True)
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


@njit(nogil=True)
def _is_plain(byte):
    """Whether a byte of a quoted text means itself, whatever stands around it."""
    return 32 <= byte <= 38 or 40 <= byte <= 90 or 93 <= byte <= 123 or 125 <= byte <= 126


@njit(nogil=True)
def _plain_end(data, place, end):
    """Where a run of plain bytes ends."""
    while place < end and _is_plain(data[place]):
        place += 1
    return place


@njit(nogil=True)
def _digits_end(data, place, end):
    while place < end and ZERO <= data[place] <= NINE:
        place += 1
    return place


@njit(nogil=True)
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


@njit(nogil=True)
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


@njit(nogil=True)
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
