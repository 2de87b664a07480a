"""Python literals as `pprint` and `repr` write them, read without `eval`.

In comes the text of a dict, list, tuple, set or scalar; out come plain values, or `Malformed` with the
place where reading stopped. Wrappers of numeric libraries (`np.float32(0.5)`, `tensor(0.5, device='cuda:0')`,
`array([1, 2])`) give what they wrap; any other call is kept as a `Call` with its arguments as text.

A newline inside a quoted string cannot be written by `pprint`: there a log collector cut the line, so it is
dropped. The same goes for a number or word cut at a line's end. Work is linear in the text; length, depth and
digits are bounded, so that hostile text costs no more than its size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

MAX_CHARACTERS = 32 * 1024 * 1024
MAX_DEPTH = 60  # brackets inside brackets; metric dicts have three
MAX_DIGITS = 300  # more digits than a float can hold; int() of millions of digits takes quadratic time


@dataclass(frozen=True, slots=True)
class Call:
    """An object that is not a plain value, e.g. `PosixPath('/x')` or `<object at 0x7f>` (name `<>`)."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why the text is no literal; `position` counts characters from 0."""

    position: int
    reason: str


Value = Union[None, bool, int, float, str, Call, "list[Value]", "tuple[Value, ...]", "dict[Value, Value]"]


@dataclass(frozen=True, slots=True)
class Partial:
    """What could be read of a container; `complete` when nothing was missing."""

    value: Value
    complete: bool


# One token. Strings are unrolled so that matching is linear; an unterminated one matches `cut`, a number may be cut
# behind its sign or inside its exponent.
TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<string>[bBrRuU]{0,2}(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"))
    |(?P<cut>[bBrRuU]{0,2}['"])
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?(?:[0-9]+|$))?j?)|[+-]$)
    |(?P<name>[+-]?[A-Za-z_][A-Za-z0-9_.]*)
    |(?P<angle><[^<>]*(?:<[^<>]*>[^<>]*)*>)
    |(?P<dots>\.\.\.)
    |(?P<mark>[][(){},:=])""",
    re.VERBOSE | re.DOTALL,
)

PLAIN_ENTRY = re.compile(
    r"'([^'\\\n]{1,300})': (?:'([^'\\\n]{0,300})'|(-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?))(,\n |\})"
)
CUT_WORD = re.compile(r"\n([A-Za-z0-9_.+-]{1,300})")

CONSTANTS: dict[str, Value] = {"True": True, "False": False, "None": None}
NOT_FINITE = {"nan", "inf", "NaN", "Infinity", "+nan", "-nan", "+inf", "-inf", "-Infinity", "+Infinity"}
WRAPPERS = re.compile(
    r"(?:(?:np|numpy|jnp|torch)\.)?(?:bool_?|u?int\d*|b?float\d*|longdouble|str_|array|asarray|tensor)"
)
ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v",
}  # fmt: skip
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)


def parse_literal(text: str) -> Value | Malformed:
    """The value the text stands for; anything after it but white space makes it malformed."""
    if len(text) > MAX_CHARACTERS:
        return Malformed(MAX_CHARACTERS, f"longer than {MAX_CHARACTERS} characters")
    plain = _plain_dict(text)
    if plain is not None:
        return plain
    reader = _Reader(text)
    try:
        value = reader.value(0)
        if reader.kind != "end":
            raise reader.error("text after the literal")
    except _Stop as stop:
        return stop.malformed
    return value


def _plain_dict(text: str) -> Value | None:
    """A dict of names to numbers and short strings, an entry a line: nearly all there are, at a tenth of the cost."""
    entries: dict[Value, Value] = {}
    text = text.strip()
    place = 1 if text[:1] == "{" else len(text)
    while (found := PLAIN_ENTRY.match(text, place)) is not None:
        key, string, digits, end = found.groups()
        entries[key] = string if digits is None else number(digits)
        place = found.end()
        if end == "}":
            return entries if place == len(text) else None
    return None


def parse_partial_literal(text: str) -> Partial | Malformed:
    """A dict or list that may be cut anywhere: the entries already closed by a comma are kept.

    A complete literal comes whole. `Malformed` only when the text does not even open a dict or list.
    """
    whole = parse_literal(text)
    if not isinstance(whole, Malformed):
        return Partial(whole, complete=True)
    reader = _Reader(text[:MAX_CHARACTERS])
    opener = reader.text
    if opener not in ("{", "["):
        return whole
    reader.advance()
    entries: dict[Value, Value] = {}
    items: list[Value] = []
    try:
        while reader.text not in ("}", "]", ""):
            entry = reader.entry(1) if opener == "{" else (None, reader.value(1))
            if reader.text != ",":
                break
            reader.advance()
            entries[entry[0]] = entry[1]
            items.append(entry[1])
    except _Stop:
        pass
    return Partial(entries if opener == "{" else items, complete=False)


class _Stop(Exception):  # noqa: N818 - control flow inside this module only, never seen outside
    def __init__(self, malformed: Malformed) -> None:
        self.malformed = malformed


class _Reader:
    """Recursive descent over tokens; one token of look-ahead in `kind`, `text` and `at`."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.end = 0
        self.wrapped = False
        self.pieces = 0  # of the string read last
        self.advance()

    def advance(self) -> None:
        """Move to the next token; `kind` is "end" after the last and "bad" where no token fits."""
        while True:
            self.at = self.end
            found = TOKEN.match(self.source, self.end)
            if found is None:
                self.kind, self.text = ("end" if self.end >= len(self.source) else "bad"), ""
                return
            self.kind, self.text, self.end = found.lastgroup or "bad", found.group(), found.end()
            if self.kind != "space":
                break
        if self.kind in ("number", "name"):
            self._rejoin()

    def _rejoin(self) -> None:
        """Put a number or word together that a collector cut at the end of a line (once: lines are long)."""
        rest = CUT_WORD.match(self.source, self.end)
        if rest is None or len(self.text) > MAX_DIGITS:
            return
        joined = TOKEN.fullmatch(self.text + rest.group(1))
        if joined is not None and joined.lastgroup in ("number", "name"):
            self.kind, self.text, self.end = joined.lastgroup, joined.group(), rest.end()

    def error(self, reason: str) -> _Stop:
        return _Stop(Malformed(self.at, reason))

    def value(self, depth: int) -> Value:
        """One value, with adjacent strings joined."""
        if depth > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} brackets deep")
        kind, text = self.kind, self.text
        self.pieces = 0
        if kind == "string":
            return self._strings()
        if kind == "number":
            self.advance()
            return number(text)
        if kind == "name":
            self.advance()
            return self._call(text, depth) if self.text == "(" else self._word(text)
        if kind == "angle":
            self.advance()
            return Call("<>", text)
        if text == "{":
            return self._braces(depth)
        if text in ("[", "("):
            return self._sequence(depth)
        raise self.error("expected a value")

    def entry(self, depth: int) -> tuple[Value, Value]:
        """`key: value` of a dict."""
        key = self.value(depth)
        if self.text != ":" or self.pieces > 1:  # printers never split keys: a line is missing between two
            raise self.error("expected a colon after the key")
        self.advance()
        return self._hashable(key), self.value(depth)

    def _strings(self) -> str:
        pieces = []
        while self.kind == "string":
            pieces.append(unquoted(self.text))
            self.advance()
        self.pieces = len(pieces)
        return "".join(pieces)

    def _word(self, text: str) -> Value:
        if text in CONSTANTS:
            return CONSTANTS[text]
        if text in NOT_FINITE:
            return float(text)
        return Call(text, "")

    def _braces(self, depth: int) -> Value:
        self.advance()
        if self.text == "}":
            self.advance()
            return {}
        first = self.value(depth + 1)
        if self.text != ":":
            return self._items([first], "}", depth)
        if self.pieces > 1:
            raise self.error("expected a colon after the key")
        self.advance()
        entries: dict[Value, Value] = {self._hashable(first): self.value(depth + 1)}
        while self._another("}"):
            key, value = self.entry(depth + 1)
            entries[key] = value
        return entries

    def _sequence(self, depth: int) -> Value:
        opener = self.text
        closer = "]" if opener == "[" else ")"
        self.advance()
        if self.text == closer:
            self.advance()
            return [] if opener == "[" else ()
        first = self.value(depth + 1)
        bracketed_only = opener == "(" and self.text == ")"
        items = self._items([first], closer, depth)
        if bracketed_only:
            return first
        return items if opener == "[" else tuple(items)

    def _items(self, items: list[Value], closer: str, depth: int) -> list[Value]:
        while self._another(closer):
            items.append(self.value(depth + 1))
        return items

    def _another(self, closer: str) -> bool:
        """Step over a comma, or over the closing bracket (a comma before it is allowed)."""
        if self.text == ",":
            self.advance()
            if self.text != closer:
                return True
        if self.text != closer:
            raise self.error(f"expected a comma or {closer}")
        self.advance()
        return False

    def _call(self, name: str, depth: int) -> Value:
        start = self.at + 1
        self.advance()
        first: Value | Malformed = Malformed(self.at, "no argument")
        if not self.wrapped and WRAPPERS.fullmatch(name) and self.text not in (")", ""):
            first = self._first_argument(depth)
        self._skip_arguments()
        stop = self.at
        self.advance()
        return Call(name, self.source[start:stop]) if isinstance(first, Malformed) else first

    def _first_argument(self, depth: int) -> Value | Malformed:
        """The wrapped value; an abbreviated array (`[1, ..., 9]`) has none. Wrappers do not nest: no second look."""
        at, end, kind, text = self.at, self.end, self.kind, self.text
        self.wrapped = True
        try:
            value = self.value(depth + 1)
            if self.text in (",", ")"):
                return value
        except _Stop:
            pass
        finally:
            self.wrapped = False
        self.at, self.end, self.kind, self.text = at, end, kind, text
        return Malformed(at, "not a plain value")

    def _skip_arguments(self) -> None:
        """Move to the bracket that closes the call."""
        depth = 0
        while depth or self.text != ")":
            if self.kind in ("end", "bad", "cut"):
                raise self.error("call without end")
            if self.kind == "mark":
                depth += (self.text in "([{") - (self.text in ")]}")
            if depth < 0:
                raise self.error("brackets do not match")
            self.advance()

    def _hashable(self, key: Value) -> Value:
        try:
            hash(key)
        except TypeError:
            raise self.error("a key cannot be a list or dict") from None
        return key


def number(text: str) -> Value:
    """An int or float as written; absurdly long or complex ones stay text in a `Call`."""
    if len(text) > MAX_DIGITS or text.endswith("j"):
        return Call("number", text)
    try:
        if text.lstrip("+-").lower().startswith("0x"):
            return int(text, 16)
        return float(text) if any(letter in text for letter in ".eE") else int(text)
    except ValueError:
        return Call("number", text)


def unquoted(token: str) -> str:
    """The text of one string token, prefix and quotes removed, escapes resolved."""
    quote = min(position for position in (token.find("'"), token.find('"')) if position >= 0)
    body = token[quote + 1 : -1]
    if "\n" in body:
        body = body.replace("\n", "")
    if "\\" not in body or "r" in token[:quote].lower():
        return body
    return ESCAPE.sub(_unescape, body)


def _unescape(found: re.Match[str]) -> str:
    code = found.group(1) or found.group(2) or found.group(3)
    if code:
        point = int(code, 16)
        return chr(point) if point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF else "\ufffd"
    if found.group(4):
        return chr(int(found.group(4), 8))
    return ESCAPES.get(found.group(5), found.group())
