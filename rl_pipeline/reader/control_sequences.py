"""Terminal control sequences out of a line: colours, cursor moves, titles and hyperlinks.

Ray colours its prefixes even in files, loguru its heads and whole messages, programs on a pseudo-terminal write
the rest. In copies from a web page the escape byte may be lost and `[36m(` remains; a line that shows such a
colour where a prefix begins, after a prefix or at its end is cleaned of all of them.
"""

from __future__ import annotations

import re

CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: title, hyperlink
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # device control, application strings
    r"|\x1b[ -/]+[0-~]|\x1b[0-~]|\x1b"  # character sets, short sequences; a lone escape byte, or one cut at the end
)
RAY_COLOURS = ("\x1b[36m", "\x1b[0m", "\x1b[32m")  # of prefixes and repeat suffixes; cheaper than the pattern
BARE_COLOUR = re.compile(r"\[\d{1,3}(?:;\d{1,3})*m")
MANGLED = re.compile(r"^ {0,3}\[\d{1,3}(?:;\d{1,3})*m|\)\[\d{1,3}(?:;\d{1,3})*m|\[\d{1,3}(?:;\d{1,3})*m(?:\(|\r?$)")


def without_control_sequences(text: str) -> str:
    """The text as a terminal would show it, as far as colours and moves go."""
    if "\x1b" in text:
        for colour in RAY_COLOURS:
            text = text.replace(colour, "")
        return CONTROL.sub("", text) if "\x1b" in text else text
    if "m" in text and "[" in text and MANGLED.search(text):
        return BARE_COLOUR.sub("", text)
    return text
