"""Credentials out of text before anything is stored or shown.

Two families: tokens that a provider marks by their beginning, and values that a name gives away
(`WANDB_API_KEY=…`, `"password": "…"`, `Authorization: Bearer …`, the password of a URL). What is found is replaced by
`[redacted <kind>]` and counted by kind; nothing of the value remains. A named value must look like a credential:
placeholders, paths, references to variables, plain numbers and plain words stay, if the whole value is one.

`secret_needles` are byte strings of which a line with a credential holds one (passwords inside URLs excepted); a fast
scan uses them to find such lines. All repetitions are bounded, so that hostile text costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without credentials, and how many of each kind were taken out."""

    text: str
    found: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of credential: texts of which one stands in each, the shape, and which matches are meant.

    `stems` are such texts in small letters, and stand there in any.
    """

    name: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    is_meant: Callable[[re.Match[str]], bool] = lambda _: True
    stems: tuple[str, ...] = ()


def _kind(name: str, marks: str, pattern: str) -> _Kind:
    return _Kind(name, tuple(marks.split("\n")), re.compile(pattern))


# A token does not begin inside a word; the letters of an escape (`\\n`, `%3D`, a colour) before it are none.
EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\d[mK]))"

BY_BEGINNING = (
    _kind(
        "private_key",
        "PRIVATE KEY-----",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----END)[\s\S]){0,16384}"
        r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
    ),
    _kind("anthropic_key", "sk-ant-", EDGE + r"sk-ant-[A-Za-z0-9_-]{16,}"),
    _kind(
        "openai_key",
        "sk-",
        EDGE + r"sk-(?:proj-|svcacct-|admin-|or-v1-|or-)?(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{20,}",
    ),
    _kind("huggingface_token", "hf_\napi_org_", EDGE + r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _kind(
        "github_token",
        "ghp_\ngho_\nghu_\nghs_\nghr_\ngithub_pat_",
        EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    _kind("gitlab_token", "glpat-", EDGE + r"glpat-[A-Za-z0-9_.-]{20,}"),
    _kind("aws_key_id", "AKIA\nASIA", EDGE + r"A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _kind("google_key", "AIza\nya29.", EDGE + r"(?:AIza[A-Za-z0-9_-]{35,}|ya29\.[A-Za-z0-9_.-]{20,})"),
    _kind(
        "slack_token",
        "xoxa-\nxoxb-\nxoxp-\nxoxr-\nxoxs-\nxapp-\nhooks.slack.com/",
        EDGE + r"(?:xox[abprs]|xapp)-[A-Za-z0-9-]{10,}|hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/-]{10,}",
    ),
    _kind(
        "provider_token",
        "nvapi-\ngsk_\nxai-\npplx-\ntgp_v1_\ndtn_\ne2b_\nnpm_\npypi-AgEI\nwandb_v1_\nSG.",
        EDGE + r"(?:nvapi-|gsk_|xai-|pplx-|tgp_v1_|dtn_|e2b_|npm_|pypi-AgEI|wandb_v1_)[A-Za-z0-9_-]{30,}"
        r"|" + EDGE + r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}",
    ),
    _kind("jwt", "eyJ", EDGE + r"eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,}"),
)

# Names that announce a credential, in letters of any size; the value stands behind `=`, `:` or a quote and a colon.
TOKENS = ("auth", "access", "refresh", "hub", "hf", "api", "bot", "session", "security")
NAMED_STEMS = (
    "api_key", "apikey", "api-key", "secret", "passw", "passphrase", "access_key", "accesskey", "access-key",
    "accountkey", "private_key", "privatekey", "private-key", "token:", "token=", 'token"', "token'", "token\\",
    *(f"{which}{between}token" for which in TOKENS for between in ("_", "-", "")),
)  # fmt: skip
# In capitals: `N_TOKENS` counts and `sort_key` sorts, they do not announce.
NAMED_MARKS = tuple(f"{name}{follows}" for name in ("_TOKEN", "_KEY") for follows in ("=", ":", '"', "'", " ", "\\"))
NAMED = re.compile(
    r"(?P<name>api[_-]?key|secret(?:[_-]?(?:access[_-]?)?key|[_-]?token)?|passw(?:or)?d|passphrase|access[_-]?key"
    r"|accountkey|private[_-]?key|(?:auth|access|refresh|hub|hf|api|bot|session|security)[_-]?token"
    r"|(?-i:_TOKEN|_KEY)|(?<![a-z0-9_])token)"
    r"(?P<between>\\?[\"']?\s{0,4}[=:]\s{0,16}(?:[rbuf]?\\?[\"'])?)"  # inside a JSON text a quote has a backslash
    r"(?P<value>(?:[^\s\"',;}\])\\]+|\\(?![\"']))+)",
    re.IGNORECASE,
)
# The value of an option on a command line may stand behind a blank, too.
OPTION_STEMS = (*NAMED_STEMS[:9], "-token", "_token")
OPTION = re.compile(
    r"(?<![\w-])--(?:[a-z]{1,20}[_-]){0,3}(?P<name>api[_-]?key|access[_-]?key|passw(?:or)?d|passphrase|secret|token)"
    r"\s{1,4}[\"']?(?P<value>[^\s\"',;-][^\s\"',;]*)",
    re.IGNORECASE,
)
BEARER_MARKS = ("Bearer ", "bearer ", "Basic ", "basic ")
BEARER = re.compile(
    r"(?:\b(?:Bearer|Basic|bearer|basic)|(?i:authorization\\?[\"']?\s{0,4}[=:]\s{0,4}\\?[\"']?token))"
    r"\s{1,4}(?P<value>[A-Za-z0-9._~+/=-]{16,})"
)
# Slashes belong to it where they do not end a port; so does an `@` before the host's.
URL_PASSWORD = re.compile(
    r"(://[^\s/:@\"'<>]{0,128}:)(?!\d{1,5}/)(?P<value>[^\s@\"'<>]{1,256}(?:@[^\s@/\"'<>]{1,128}){0,4})(?=@)"
)
URL_TOKEN = re.compile(r"://(?P<value>[^\s/:@\"'<>]{20,256})(?=@)")
# Each of these is a whole value; a value that only begins so is a credential. What closes a bracket is no part of it.
PLACEHOLDER = re.compile(
    r"[xX*.\u2022_-]+|<(?:[^<>]{0,80}>|[a-z_.-]{0,80})|[\[(<{]?redacted\W?"
    r"|\$\{\w{1,100}(?::?[-?=+])?|\$\(?(?-i:[A-Z_][A-Z0-9_]{0,100}|[a-z_]{1,100})"
    r"|%\(?[a-z_]{1,60}%?|\{{1,2}[a-z_.]{0,60}"
    r"|(?-i:(?:~|\.{1,2})?(?:/[a-z._-]{1,60}\d{0,3}){2,20}/?)"  # a path
    r"|none|null|true|false|changeme|hidden|example"
    r"|(?:your|example)(?:[-_.][a-z]{1,20}){1,8}(?:[-_.]\d{1,12})?"
    r"|(?:os\.(?:environ|getenv)|env)(?:[.:\[(][a-z_.]{0,80}[\[(]?)?",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\s\"'<>]*")  # what a credential is made of, and what may stand beside it
SHORTEST = 4  # characters of a password
LONGEST = 1 << 14  # characters of which a credential shows that it is one

# `sk-` alone stands in too many words to look for in every line; these stand before it or behind it.
SK_NEEDLES = ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-", "=sk-", "'sk-", '"sk-', " sk-", ":sk-", "/sk-", "(sk-")
# Lines are looked at as they are, not in small letters, so these are the spellings that are met.
NAMED_NEEDLES = (
    "API_KEY", "api_key", "ApiKey", "apikey", "APIKEY", "api-key", "API-Key", "Api-Key", "Api_Key",
    "SECRET", "secret", "Secret", "PASSWORD", "password", "Password", "PassWord", "passwd", "PASSPHRASE", "passphrase",
    "ACCESS_KEY", "access_key", "AccountKey", "private_key", "PrivateKey", "auth_token", "access_token",
    "refresh_token", "hub_token", "hf_token", "api_token", "bot_token", "session_token", "SessionToken",
    "security_token", "security-token", "authToken", "accessToken", *NAMED_MARKS,
)  # fmt: skip
secret_needles: tuple[bytes, ...] = tuple(
    mark.encode()
    for mark in dict.fromkeys(
        (
            *(mark for kind in BY_BEGINNING for mark in (SK_NEEDLES if kind.marks == ("sk-",) else kind.marks)),
            *NAMED_NEEDLES,
            *BEARER_MARKS[:2],
        )
    )
)


def redact(text: str) -> Redacted:
    """The text with every credential replaced; texts without any come back as they are."""
    if not may_hold_any(text):
        return Redacted(text)
    found: dict[str, int] = {}
    for kind in _kinds_in(text):
        text = kind.pattern.sub(_replacement(kind, found), text)
    return Redacted(text, found)


def _replacement(kind: _Kind, found: dict[str, int]) -> Callable[[re.Match[str]], str]:
    """What a match becomes: its group `value`, or all of it, is replaced."""

    def replace(match: re.Match[str]) -> str:
        if not kind.is_meant(match):
            return match.group()
        found[kind.name] = found.get(kind.name, 0) + 1
        shown = f"[redacted {kind.name}]"
        if "value" not in match.re.groupindex:
            return shown
        start = match.start()
        whole = match.group()
        return whole[: match.start("value") - start] + shown + whole[match.end("value") - start :]

    return replace


def redacted_start(text: str, limit: int) -> str:
    """The first characters of the text without credentials, at most `limit`.

    More is looked at than is kept, up to the end of a word: of a credential that is cut, nothing is shown.
    """
    near = 4 * limit
    if len(text) <= near:
        return redact(text).text[:limit]
    word = WORD.match(text, near, near + LONGEST)
    end = near if word is None else word.end()
    shown = redact(text[:end]).text
    if end == near + LONGEST:  # the word goes on: what stands near the edge may be half a credential
        shown = shown[: max(0, len(shown) - LONGEST)]
    return shown[:limit]


def _is_placeholder(match: re.Match[str]) -> bool:
    return PLACEHOLDER.fullmatch(match.group("value")) is not None


def _looks_random(match: re.Match[str]) -> bool:
    """Digits and letters mixed, as keys have; words and numbers are not."""
    value = match.group("value")
    return any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)


def _looks_secret(match: re.Match[str]) -> bool:
    """Whether a named value is one; passwords may be words, keys and tokens may not."""
    if len(match.group("value")) < SHORTEST or _is_placeholder(match):
        return False
    if "pass" in match.group("name").lower():
        return not match.group("value").replace(".", "").isdigit() or len(match.group("value")) >= 8
    return len(match.group("value")) >= 12 and _looks_random(match)


URL_STEM, URL_SIGN = "://", "@"
KINDS = (
    *BY_BEGINNING,
    _Kind("bearer_token", BEARER_MARKS, BEARER, _looks_random, ("authorization",)),
    _Kind("named_secret", NAMED_MARKS, NAMED, _looks_secret, NAMED_STEMS),
    _Kind("named_secret", (), OPTION, _looks_secret, OPTION_STEMS),
    _Kind("url_password", (URL_STEM,), URL_PASSWORD, lambda match: not _is_placeholder(match)),
    _Kind("url_password", (URL_STEM,), URL_TOKEN, _looks_random),
)


def _kinds_in(text: str) -> list[_Kind]:
    """The kinds of which a mark stands in the text; no other can be in it."""
    holds, holds_small = text.__contains__, text.lower().__contains__
    return [kind for kind in KINDS if any(map(holds, kind.marks)) or any(map(holds_small, kind.stems))]


def holds_mark(text: str) -> bool:
    """Whether the text is worth a search; False is certain, and surer than that of `may_hold_any`."""
    return bool(_kinds_in(text))


# Few texts hold a credential, so most are done after a look for these: one stands in every mark, in small letters.
STEMS = (
    "key", "secret", "passw", "passp", "_token", "-token", *(f"{which}token" for which in TOKENS),
    *(f"token{follows}" for follows in ":=\"'\\"), "authorization", "bearer ", "basic ", "hf_", "api_org_", "ghp_",
    "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "akia", "asia", "aiza", "ya29.", "xox", "xapp-",
    "slack.com/", "nvapi-", "gsk_", "xai-", "pplx-", "tgp_v1_", "dtn_", "e2b_", "npm_", "pypi-agei", "sg.", "eyj",
    "wandb_v1_",
)  # fmt: skip
# Of the keys that begin so; not the end of `task-`. The text searched is in small letters.
SK_STEM = "sk-"
SK = re.compile(r"sk-(?:(?<![a-z0-9]sk-)|(?<=\\[nrt]sk-)|(?<=%[0-9a-f]{2}sk-)|(?<=\d[mk]sk-))")


def may_hold_any(text: str) -> bool:
    """Whether a closer look is worth it; False is certain."""
    lowered = text.lower()
    holds = lowered.__contains__
    return any(map(holds, STEMS)) or SK.search(lowered) is not None or (holds(URL_SIGN) and holds(URL_STEM))
