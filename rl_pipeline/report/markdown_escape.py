"""Text from logs in a Markdown page: it can neither break a table nor become a link, a tag or a heading.

Escaping is the default: `markdown_finalize` runs on every `{{ expression }}` of a template, and only
what a template itself built (`Markup`) passes as it is. GitHub's flavour is the yardstick, with its
bare links (`https://…`, `www.…`, addresses) and its tables.
"""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup

# Backslash escapes work for ASCII punctuation; these mean something anywhere in a line.
INLINE = re.compile(r"[\\`*\[\]|~#$]")
# An underscore inside a word is plain text, which keeps metric names readable for programs.
LONE_UNDERSCORE = re.compile(r"(?<![0-9A-Za-z_])_+|_+(?![0-9A-Za-z_])")
BLOCK_START = re.compile(r"^(?:[-+=](?=[\s\-=+]|$)|(\d{1,9})([.)])(?=\s|$))")
BARE_LINK = re.compile(
    r"(?i)(?<=[a-z0-9+.\-]):(?=//)|\bwww(?=\.)|(?<![0-9A-Za-z])@|@(?=[\w\-]+\.)|\b(?:mailto|xmpp)(?=:)"
)
# `[0.1, 0.2]` reads as it is: nothing that follows can make a link of it.
INTERVAL = re.compile(r"\[([-+−]?\d+(?:\.\d+)?), ([-+−]?\d+(?:\.\d+)?)\](?![(\[:])")
NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?%?")
INTERVAL_OPEN, INTERVAL_CLOSE = "\ue000", "\ue001"  # private characters; `one_line` has removed those of the text
ENTITIES = {":": "&#58;", "@": "&#64;"}
CONTROLS = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def markdown_escape(text: str) -> str:
    """The text as one line of inert Markdown."""
    if NUMBER.fullmatch(text):  # most cells
        return text
    line = one_line(text)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = INTERVAL.sub(rf"{INTERVAL_OPEN}\1, \2{INTERVAL_CLOSE}", line)
    line = INLINE.sub(lambda found: f"\\{found.group()}", line)
    line = LONE_UNDERSCORE.sub(lambda found: "\\_" * len(found.group()), line)
    line = BARE_LINK.sub(lambda found: _unlinked(found.group()), line)
    line = BLOCK_START.sub(_inert_start, line)
    return line.replace(INTERVAL_OPEN, "[").replace(INTERVAL_CLOSE, "]")


def one_line(text: str) -> str:
    """No line breaks, control or format characters (direction marks would reorder a row)."""
    if not text.isprintable():  # else there is none of them
        text = "".join(" " if unicodedata.category(sign) in CONTROLS else sign for sign in text)
    return re.sub(" {2,}", " ", text).strip(" ")


def markdown_finalize(value: object) -> Markup:
    """What a template prints: escaped, unless a template made it."""
    return value if isinstance(value, Markup) else Markup(markdown_escape(str(value)))


def _unlinked(found: str) -> str:
    return ENTITIES[found] if found in ENTITIES else found[:-1] + f"&#{ord(found[-1])};"


def _inert_start(found: re.Match[str]) -> str:
    number, mark = found.groups()
    return f"{number}\\{mark}" if number else f"\\{found.group()}"
