"""Text from logs stays text, whatever it holds; read back with a Markdown parser."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markupsafe import Markup

from rl_pipeline.report.markdown_escape import CONTROLS, NUMBER, markdown_escape, markdown_finalize, one_line

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Signs that Markdown or HTML read as anything but themselves, and ordinary ones between them.
nasty = st.text(alphabet=st.sampled_from(list("ab1 .-+=_*`~#|[](){}<>&!\\:;/@'\"\n\t$^")), max_size=40)


def html_of_cell(text: str) -> str:
    page = f"| head | other |\n|---|---|\n| {markdown_escape(text)} | last |\n"
    return str(READER.render(page))


def cells(html: str) -> list[str]:
    return re.findall(r"<td[^>]*>(.*?)</td>", html, re.DOTALL)


def shown(html: str) -> str:
    """What a reader sees of HTML without tags."""
    for name, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#58;", ":"), ("&#64;", "@"), ("&amp;", "&")):
        html = html.replace(name, sign)
    return html


@given(nasty)
def test_a_cell_shows_its_text_and_nothing_else(text: str):
    found = cells(html_of_cell(text))

    assert len(found) == 2
    assert found[1] == "last"
    assert shown(found[0]) == one_line(text)


@given(st.text(max_size=60))
def test_any_text_makes_one_cell_without_a_tag(text: str):
    found = cells(html_of_cell(text))

    assert len(found) == 2
    assert "<" not in found[0]


@given(nasty)
def test_a_list_item_shows_its_text_and_nothing_else(text: str):
    html = READER.render(f"- {markdown_escape(text)}\n\nafter\n")

    assert re.sub(r"\s+", " ", shown(re.sub(r"</?(?:ul|li|p)>", "", html))).strip() == f"{one_line(text)} after".strip()


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/x",
        "HTTP://evil.example",
        "www.evil.example",
        "mailto:a@evil.example",
        "someone@evil.example",
        "ftp://evil.example",
        "@somebody",
    ],
)
def test_bare_links_that_github_would_make_are_broken_up(text: str):
    escaped = markdown_escape(text)

    assert "://" not in escaped
    assert "www." not in escaped.lower()
    assert not re.search(r"@", escaped)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("async/discard_rate", "async/discard_rate"),
        ("Pass@8", "Pass@8"),
        ("-0.0000", "-0.0000"),
        ("[0.1, -0.2]", "[0.1, -0.2]"),
        ("[0.1, 0.2](http)", "\\[0.1, 0.2\\](http)"),
        ("a|b", "a\\|b"),
        ("_x_", "\\_x\\_"),
        ("# head", "\\# head"),
        ("1. one", "1\\. one"),
        ("- item", "\\- item"),
        ("---", "\\---"),
        ("<script>", "&lt;script&gt;"),
    ],
)
def test_names_and_numbers_stay_readable(text: str, escaped: str):
    assert markdown_escape(text) == escaped


def test_direction_marks_line_breaks_and_private_signs_become_blanks():
    assert one_line("a\u202eb\u2028c\x85d\ue000e\r\nf\x1bg") == "a b c d e f g"


def test_what_a_template_made_passes_and_everything_else_is_escaped():
    assert markdown_finalize(Markup("*bold*")) == Markup("*bold*")
    assert markdown_finalize("*bold*") == Markup("\\*bold\\*")
    assert markdown_finalize(3) == Markup("3")


@given(st.text())
def test_a_text_without_controls_keeps_its_signs(text: str):
    plain = "".join(" " if unicodedata.category(sign) in CONTROLS else sign for sign in text)

    assert one_line(text) == re.sub(" {2,}", " ", plain).strip(" ")


@given(st.from_regex(NUMBER, fullmatch=True))
def test_a_number_needs_no_escape(text: str):
    assert markdown_escape(f"{text} x") == f"{text} x"
