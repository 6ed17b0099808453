"""Code in answers: shown as code on page and report, and nothing in it is markup or a citation."""

from __future__ import annotations

from components.ask.answer_text import answer_blocks, answer_prose
from components.common.markup import Node, node
from components.runs.report import html_of
from engine.builtin.answer_reading import statements
from engine.model.values import Passage, PassageId
from engine.retrieval.citations import resolve

ANSWER = (
    "Use `rows[1]` like this: [1]\n\n```py\nx = rows[1]  # **no** [link](y) <b>\n- not a list\n```\n\nThen **go**. [1]"
)


def cite(marker: int) -> Node:
    return node("span", "cite", str(marker))


def nodes(tree: Node, tag: str) -> list[Node]:
    inside = [found for kid in tree.kids if isinstance(kid, Node) for found in nodes(kid, tag)]
    return [tree, *inside] if tree.tag == tag else inside


def test_a_block_of_code_is_one_block_word_for_word() -> None:
    assert [block.kind for block in answer_blocks(ANSWER)] == ["paragraph", "code", "paragraph"]
    assert answer_blocks(ANSWER)[1].items == ("x = rows[1]  # **no** [link](y) <b>\n- not a list",)


def test_code_that_is_still_being_written_is_code() -> None:
    assert answer_blocks("Do:\n```\nrun")[-1].kind == "code"


def test_code_holds_no_citation_and_no_markup() -> None:
    drawn = answer_prose(ANSWER, cite)
    assert [item.kids for item in nodes(drawn, "code")] == [
        ("rows[1]",),
        ("x = rows[1]  # **no** [link](y) <b>\n- not a list",),
    ]
    assert len([item for item in nodes(drawn, "span") if item.attrs.get("class") == "cite"]) == 2
    assert "&lt;b&gt;" in html_of(drawn) and "<b>" not in html_of(drawn)


def test_brackets_in_code_are_no_markers_of_the_answer() -> None:
    passages = [Passage(PassageId("p"), "p.md", "text", 0.5, 0.9)]
    resolved = resolve("Take `row[7]`. [1]\n\n```\ncells[0][9]\n```", passages)
    assert resolved.text.endswith("cells[0][9]\n```") and "`row[7]`" in resolved.text
    assert not resolved.removed
    assert [item.marker for item in resolved.citations] == [1]


def test_code_is_no_claim_to_be_checked() -> None:
    read = statements(ANSWER)
    assert [item.part for item in read] == ["claim", "aside", "claim"]
    assert all(item.text in ANSWER for item in read)
