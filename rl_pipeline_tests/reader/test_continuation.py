"""Which lines go on with a literal."""

from __future__ import annotations

import pprint

import pytest

from rl_pipeline.reader.continuation import LiteralLines, Offer


def offers(*lines: str) -> list[str]:
    literal = LiteralLines()
    return [literal.offer(line).value for line in lines]


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1}",
        "{}",
        "{'a': np.float32(0.5),\n 'b': np.int64(4),\n 'c': tensor(0.5, device='cuda:0'),\n 'd': np.float32(nan)}",
        "{'a': tensor([[1., 2.],\n        [3., 4.]], grad_fn=<MeanBackward0>),\n 'b': 1}",
        "{'a': array([1, ..., 3], dtype=float32),\n 'b': nan, 'c': -inf}",
        "{'a': PosixPath('/x'), 'b': <Colour.RED: 1>, 'c': torch.float32, 'd': 1e-06, 'e': -0.5, 'f': b'x'}",
        "{'a': defaultdict(<class 'int'>,\n                   {'x': 1}),\n 'b': 2}",
        "{\n  'a': 1,\n  'b': [\n    1,\n  ],\n}",
        "{'a': 1,\n'b': 'x '\n'y',\n'c': 2}",
        "{'its': \"it's\", 'b': '}', 'c': '\\'}'}",
        "{(1, 2): 3, 4: {5, 6}, None: True}",
    ],
    ids=lambda text: text[:25],
)
def test_lines_of_one_literal_are_all_taken(text):
    lines = text.split("\n")

    assert offers(*lines) == ["taken"] * (len(lines) - 1) + ["closed"]


def test_whatever_pprint_prints_is_taken():
    value = {
        "long": "some words and then " * 12,
        "nested": {"list": list(range(60)), "deep": {"a": ["x" * 50, "y z " * 30], "b": (1.5, None, True)}},
        "tuple": tuple("abcdef" * 5),
        "quotes": 'it\'s "quoted" ' * 10,
        "empty": [{}, [], ()],
        "numbers": {index: index * 1.5 for index in range(30)},
    }
    lines = pprint.pformat(value).split("\n")

    assert offers(*lines) == ["taken"] * (len(lines) - 1) + ["closed"]


@pytest.mark.parametrize(
    "foreign",
    [
        "}",
        " }",
        "",
        "  'x': 1,",
        "'x'",
        "hello",
        "{'x': 1}",
        " 'x' 'y',",
        "x'y': 1,",
        " x(y,",
        "None",
        " 5,",
        " 'x': y z,",
        " 'x': ,",
        " # note",
        "]",
    ],
)
def test_other_lines_are_refused_and_leave_no_trace(foreign):
    # a line ` 5,` would be a set's element, never an entry of a dict
    assert offers("{'a': 1,", " 'b': 2,", foreign, " 'c': 3}") == ["taken", "taken", "foreign", "closed"]


def test_a_lone_key_at_the_end_of_a_line_may_go_on_in_the_next():
    assert offers("{'a': 1,", " 'gene", "rate/x': 12", "34,", " 'b': Tr", "ue,", " 'c': np.flo", "at32(0.5)}") == [
        "taken",
        "taken",
        "taken",
        "taken",
        "taken",
        "taken",
        "taken",
        "closed",
    ]


def test_a_cut_string_does_not_swallow_other_lines():
    assert offers("{'a': 1,", " 'gene", "loading shard 3", "rate': 2}") == ["taken", "taken", "foreign", "closed"]


def test_only_a_dict_opens():
    assert offers("[1, 2]", "x", " {'a': 1}", "{'a': 1}") == ["foreign", "foreign", "foreign", "closed"]


def test_text_behind_the_end_is_not_part_of_a_literal():
    assert offers("{'a': 1,", " 'b': 2} and more", " 'b': 2}") == ["taken", "foreign", "closed"]


def test_brackets_deeper_than_any_printer_goes_are_refused():
    assert LiteralLines().offer("{'a': " + "[" * 1000) is Offer.FOREIGN


@pytest.mark.parametrize("doubtful", [" 'x'", " 'x", " '", " 'x', [1, 2"])
def test_a_line_that_might_be_cut_is_dropped_when_the_next_fits_better_without_it(doubtful):
    literal = LiteralLines()
    found = [literal.offer(line) for line in ("{'a': 1,", doubtful)]

    # source: a printer's next entry stands where the literal went on before the doubtful line
    assert literal.offer(" 'c': 3}") is Offer.CLOSED
    assert (found[-1], literal.dropped) in [(Offer.TAKEN, True), (Offer.FOREIGN, False)]


@pytest.mark.parametrize("number", ["42", "hello", "1.0", "None"])
def test_values_stand_alone_only_where_a_printer_puts_them(number):
    assert offers("{'a': [1,", f"{number}", "       2],", " 'b': 3}")[2:] == ["taken", "closed"]
    assert offers("{'a': 1,", number, " 'b': 3}") == ["taken", "foreign", "closed"]


def test_a_key_cut_before_its_colon_goes_on_and_is_never_joined_to_the_next():
    assert offers("{'a'", ": 1,", " 'b'", ": 2}") == ["taken", "taken", "taken", "closed"]
    assert offers("{'a/b'", " 'c': 2,") == ["taken", "foreign"]
    assert offers("{'x': 1,", " 'a/b'", " 'c'", ": 2}") == ["taken", "taken", "foreign", "closed"]


def test_the_rest_of_a_line_known_to_be_cut_may_be_its_closing_bracket():
    literal = LiteralLines()

    assert literal.offer("{'a': '0.1'") is Offer.TAKEN
    assert literal.is_cut
    assert literal.offer("}") is Offer.FOREIGN
    assert literal.offer("}", is_rest=True) is Offer.CLOSED
