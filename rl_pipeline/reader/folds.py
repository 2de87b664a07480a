"""Lines that Ray left out: how many a stretch of bytes tells of, whatever else its lines are.

Ray's driver folds lines that processes printed alike into one that ends with `[repeated 7x across cluster]`; the one
stands for seven.
"""

from __future__ import annotations

import re

from rl_pipeline.reader.lines import REPEATED_MARK, believed_count, repeat_count

# The usual end of a folded line, colours included; whatever differs is unwrapped to be sure.
FOLDED = re.compile(rb"\[repeated (\d{1,9})x across cluster\](?:\x1b\[[0-9;]*m)*\r?$")
FOLD_BEGIN, FOLD_ENDS = b"[repeated ", (b"", b"\x1b[0m")
MOST_DIGITS = 9


def folded_lines(data: bytes) -> int:
    """Lines that Ray left out, over all lines of some bytes."""
    folded = 0
    at = data.find(REPEATED_MARK)
    while at >= 0:
        more, end = folded_at(data, at)
        folded += more
        at = data.find(REPEATED_MARK, end)
    return folded


def folded_at(data: bytes, at: int) -> tuple[int, int]:
    """Lines that the mark at that place stands for beside its own, and where its line ends."""
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    begin = data.rfind(FOLD_BEGIN, max(0, at - len(FOLD_BEGIN) - MOST_DIGITS), at) + len(FOLD_BEGIN)
    digits = data[begin:at]
    if begin >= len(FOLD_BEGIN) and digits.isdigit() and data[at + len(REPEATED_MARK) : end] in FOLD_ENDS:
        return believed_count(digits) - 1, end
    start = max(data.rfind(b"\n", 0, at) + 1, at - 24)
    found = FOLDED.search(data, start, end)
    return (believed_count(found.group(1)) if found else repeat_count(data[start:end])) - 1, end
