"""References are quoted with what their headings, terms and columns say (SC-07): own-written pages of a lamp."""

from __future__ import annotations

import asyncio

import pytest

from engine.builtin.answer_kind import asked_by
from engine.builtin.generator import BuiltinGenerator
from engine.builtin.quotable import quotable
from engine.model.language import language_of
from engine.model.values import Passage, PassageId
from engine.roles import GenerationRequest

TABLE = (
    "| Name | Default | Description |\n|------|---------|-------------|\n"
    "| `glow` | `40` | How bright the lamp is |\n| `hue` | `red` | Its colour |"
)
OPTIONS = (
    "`--dim=`SECONDS\n\n:   Wait so many seconds before the lamp goes dark (default is 30).  Lamps\n"
    "    without a clock ignore it.\n\n`--hue=red|blue`\n\n:   Choose the colour of the light.\n\n"
    "    `red` (the default) keeps moths away; `blue` is for fog."
)


def answer(question: str, text: str, section: str = "", context: str = "") -> str:
    given = Passage(PassageId("p"), "p.md", text, 0.5, 0.9, section=section, context=context)
    return asyncio.run(BuiltinGenerator().generate(GenerationRequest(question, (given,), language_of(question))))


@pytest.mark.parametrize(
    ("text", "context", "expected"),
    [
        (TABLE, "", [("Name: `glow`; Default: `40`; Description: How bright the lamp is", ""),
                     ("Name: `hue`; Default: `red`; Description: Its colour", "")]),
        ("| `hue` | `red` | |", "| Name | Default | Use |", [("Name: `hue`; Default: `red`", "")]),
        ("| 名称 | 默认值 |\n|---|---|\n| `glow` | `40` |", "", [("名称：`glow`；默认值：`40`", "")]),
        ("| `glow` | `40` |\n| a | b |", "", [("`glow`, `40`", ""), ("a, b", "")]),
        ("`--dim=`N\n:   Wait so long.", "", [("Wait so long.", "`--dim=`N")]),
        ("    Valid values are 0-6.", "`--level=`N\n:   Sets the level.", [("Valid values are 0-6.", "`--level=`N")]),
        ("The lamp has figures of a kind that is rare in lamps of this size\n(moths and bats), and others.", "",
         [("The lamp has figures of a kind that is rare in lamps of this size (moths and bats), and others.", "")]),
    ],
)  # fmt: skip
def test_rows_and_definitions_are_quoted_whole(text: str, context: str, expected: list[tuple[str, str]]) -> None:
    assert [(item.text, item.entry) for item in quotable(text, "", context)] == expected


def test_the_long_cells_of_a_row_are_quoted_by_the_sentence() -> None:
    long = "It goes on and on about lamps and towers and moths. " * 5 + "Bats see it."
    found = quotable(f"| Name | Use |\n|---|---|\n| `glow` | {long} |")
    assert (found[0].text, found[-1].text, found[-1].entry) == ("Name: `glow`", "Bats see it.", "`glow`")


def test_indented_code_belongs_to_the_sentence_above_it_and_an_item_is_no_code() -> None:
    first, second = quotable("Light the lamp by:\n\n    lamp on\n    lamp glow\n\nIt is bright.")
    assert (first.code, second.text) == ("```\nlamp on\nlamp glow\n```", "It is bright.")
    assert [(item.text, item.code) for item in quotable("- Of an item:\n\n    more.")] == [("Of an item: more.", "")]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What is the default of lamp's `--hue` option?", OPTIONS, "`red` (the default) keeps moths"),
        ("How long does `--dim` wait by default?", OPTIONS, "`--dim=`SECONDS: Wait so many seconds before the lamp"),
        ("What is the default of `glow`?", TABLE, "Name: `glow`; Default: `40`"),
        ("Which extension mends line breaks by themselves?",
         "None is on.\n\n### Extension: `calm_breaks`\n\nMends the line breaks.", "calm_breaks: Mends the line"),
        ("Which exit code means an unknown writer?", "Exit codes:\n\n    0 Fine\n   22 LampUnknownWriterError\n",
         "22 LampUnknownWriterError"),
    ],
)  # fmt: skip
def test_what_stands_above_a_sentence_counts_for_it(question: str, text: str, expected: str) -> None:
    assert expected in answer(question, text)


def test_a_number_below_its_heading_is_of_what_the_heading_names() -> None:
    text = "If a guest does not knock correctly then a `400` response will be sent."
    question = "Which status code does TrustedGuestLamp return for a guest with a bad Host header?"
    assert "`400`" in answer(question, text, section="TrustedGuestLamp")


def test_a_value_need_not_be_a_number() -> None:
    assert asked_by("What value does the lamp give the colour?").kind == "other"


def test_the_sentence_that_gives_the_name_continues_the_one_that_is_asked_about() -> None:
    text = (
        "Lamps read their colours from files of settings with a library of others. Moths love lamps of all colours. "
        "Files of settings are hidden. For that to work, add `lamp-files`. Towers read no settings from files."
    )
    assert "`lamp-files`" in answer("Which package reads colours from hidden files of settings?", text)


def test_a_definition_inside_another_is_of_its_own_term() -> None:
    text = "`--look=`FILE\n\n:   Take the look of a file.\n\n    Tower\n\n    :   It must be red.\n\n        So be it."
    said = [(item.text, item.entry) for item in quotable(text)]
    assert said == [
        ("Take the look of a file.", "`--look=`FILE"),
        ("It must be red.", "Tower"),
        ("So be it.", "Tower"),
    ]
