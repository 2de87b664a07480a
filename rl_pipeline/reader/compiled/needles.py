"""Lines, the needles that stand in them, and the lines that Ray left out."""

from __future__ import annotations

import numpy as np
from numba import njit

from rl_pipeline.reader.compiled.texts import LINE_FEED, MOST_DIGITS, NINE, ZERO, is_same_at, number_at

NEEDLE_PAIR, FEED_FIRST, FEED_SECOND = 1, 2, 4  # flags of a pair of bytes
BEHIND, BEFORE = 1, 2  # where the third byte stands
PAIRS = 1 << 16  # of bytes
IRREGULAR, MARK = -1, -2  # kinds of needles


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
        offsets: see above.
        kinds: of each needle; the places of those of kind `MARK` are told, they make no hit.
        edges: filled with the begin of each line and of the one behind the last; its first is 0.
        hits: filled with the lines that hold a needle.
        hit_kinds: filled with the kind that all needles of the line have, or `IRREGULAR`.
        hit_ends: filled with where the first needle of the line ends.
        marks: filled with where marks begin.

    Returns:
        How many line feeds, hits and marks there are.
    """
    size, line, count, told = len(data), 0, 0, 0
    edges[0] = 0
    for number in range(len(pairs)):
        pair = pairs[number]
        flag = flags[pair]
        if flag == 0:
            continue
        place = 2 * number
        for feed, behind in ((FEED_FIRST, 1), (FEED_SECOND, 2)):
            if flag & feed:
                line += 1
                edges[line] = place + behind
        if flag & NEEDLE_PAIR == 0 or not _may_be_needle(data, place, pair, thirds):
            continue
        entry = firsts[pair]
        while True:
            needle = entries[entry, 0]
            begin = place - entries[entry, 1]
            end = begin + offsets[needle + 1] - offsets[needle]
            if begin >= 0 and end <= size and is_same_at(data, begin, text, offsets[needle], end - begin):
                if kinds[needle] == MARK:
                    marks[told] = begin
                    told += 1
                else:
                    count = _note(line, kinds[needle], end, count, hits, hit_kinds, hit_ends)
            if entries[entry, 2] == 0:
                break
            entry += 1
    if size % 2 and data[size - 1] == LINE_FEED:
        line += 1
        edges[line] = size
    return line, count, told


@njit(nogil=True)
def _may_be_needle(data, place, pair, thirds):
    """Whether a needle shows a pair together with the byte behind it or the byte before it."""
    behind = data[place + 2] if place + 2 < len(data) else LINE_FEED
    before = data[place - 1] if place else LINE_FEED
    return thirds[third_of(pair, behind)] & BEHIND != 0 or thirds[third_of(pair, before)] & BEFORE != 0


@njit(nogil=True)
def _note(line, kind, end, count, hits, hit_kinds, hit_ends):
    """Put a needle to those of its line; how many lines have one then."""
    if count == 0 or hits[count - 1] != line:
        hits[count], hit_kinds[count], hit_ends[count] = line, kind, end
        return count + 1
    if hit_kinds[count - 1] != kind:
        hit_kinds[count - 1] = IRREGULAR
    hit_ends[count - 1] = min(hit_ends[count - 1], end)
    return count


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
        is_usual = first < mark and begin >= 0 and is_same_at(data, begin, opening, 0, len(opening))
        if is_usual and _is_ending(data, mark + mark_length, done, endings, ending_ends):
            folded += min(max(1, number_at(data, first, mark - first)), most) - 1
        else:
            unusual[odd] = mark
            odd += 1
    return folded, odd


@njit(nogil=True)
def _is_ending(data, place, end, endings, ending_ends):
    first = 0
    for number in range(len(ending_ends)):
        length = ending_ends[number] - first
        if end - place == length and is_same_at(data, place, endings, first, length):
            return True
        first = ending_ends[number]
    return False
