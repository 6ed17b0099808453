"""The text of an answer as elements: the few forms of Markdown it may use, read in one place for page and report."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from components.common.i18n import Words
from components.common.markup import OPEN, Node, node
from components.common.phrases import fault_text, model_label, place_text, probability_text
from components.labels import VERDICT_KINDS
from engine.builtin.answer_note import nearest_strips
from engine.model.language import language_of
from engine.model.values import PassageId, RunRecord, SentenceCheck, UnsupportedSentence
from engine.roles import MOST_CHECKED

Cite = Callable[[int], Node | None]
"""What stands for the marker ``[n]``; None leaves the marker as the text it is."""
CiteCell = Callable[[str], Node | None]
"""The same for the marker ``[T1:B3]`` of a table's cell, which it is given without brackets."""

_IMAGE_OR_LINK = re.compile(r"(!?)\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|(\d{1,2})[.)、])\s+(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)#*\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})[^`]*$")
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`|\*\*(?P<strong>[^*\n]+)\*\*|\[(?P<marker>\d{1,3})\]|\[(?P<cell>T\d{1,2}:[A-Z]{1,2}\d{1,4})\]"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading or a whole list of an answer."""

    kind: Literal["paragraph", "heading", "bullets", "numbers", "code"]
    items: tuple[str, ...]
    """One text for a paragraph, a heading or a block of code, one per item of a list."""
    start: int = 1


def answer_blocks(text: str) -> tuple[Block, ...]:
    """The few forms of Markdown that an answer may use; images go and links are reduced to their words.

    Everything else, raw HTML included, stays the text it is.
    """
    blocks: list[Block] = []
    fence, code = "", list[str]()
    for raw in text.splitlines():
        mark = _FENCE.match(raw)
        if fence and not (mark and mark.group(1).startswith(fence) and not raw.strip().strip(fence[0])):
            code.append(raw)
            continue
        if mark:
            if fence:
                blocks.append(Block("code", ("\n".join(code),)))
            fence, code = ("", []) if fence else (mark.group(1), [])
            continue
        line = _IMAGE_OR_LINK.sub(_words_alone, raw).strip()
        item = _LIST_ITEM.match(line)
        heading = _HEADING.match(line)
        if item:
            _add_item(blocks, item.group(2), item.group(1))
        elif heading:
            blocks.append(Block("heading", (heading.group(1).strip(),)))
        elif line:
            blocks.append(Block("paragraph", (line,)))
    if code:  # the answer stopped inside it, or is still being written
        blocks.append(Block("code", ("\n".join(code),)))
    return tuple(blocks)


def no_citation(_marker: int | str) -> Node | None:
    """Leaves every marker as text."""
    return None


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is to be said of a sentence that nothing bears out, or that was not checked."""

    said: str
    sign: Literal["!", "?"] = "!"
    place: PassageId | None = None
    """The passage that comes nearest to it; None where none does."""


def answer_prose(
    text: str,
    cite: Cite = no_citation,
    cell: CiteCell = no_citation,
    doubts: Mapping[str, Doubt] = MappingProxyType({}),
) -> Node:
    """An answer as paragraphs and lists, with what ``cite`` and ``cell`` give in place of its markers.

    ``doubts`` are those of its sentences of which something is to be said; with a ``place`` their sign is a button
    whose press is ``open:<passage id>``.
    """

    def written(line: str) -> list[Node | str]:
        return _doubted(line, doubts, cite, cell)

    drawn = []
    for block in answer_blocks(text):
        if block.kind in ("bullets", "numbers"):
            items = (node("li", "", *written(item)) for item in block.items)
            numbered = block.kind == "numbers"
            drawn.append(node("ol" if numbered else "ul", "", *items, start=str(block.start) if numbered else ""))
        elif block.kind == "code":
            drawn.append(node("pre", "", node("code", "", block.items[0])))
        else:
            drawn.append(node("p", "subheading" if block.kind == "heading" else "", *written(block.items[0])))
    return node("div", "prose", *drawn)


def doubts_of(record: RunRecord, words: Words, *, places: bool = False) -> dict[str, Doubt]:
    """Sentences of the answer that what they cite does not say, and those that were not checked.

    With ``places`` each knows the passage that comes nearest to it.
    """
    checks = {item.sentence: item for item in record.checks or ()}
    near = {name: at for name, (at, _) in nearest_strips(record).items()} if places else {}
    found = {
        item.sentence: Doubt(_unsupported_text(item, checks.get(item.sentence), words), "!", near.get(item.sentence))
        for item in record.unsupported_sentences or ()
    }
    for item in checks.values():
        if item.p_supported is None:
            found[item.sentence] = Doubt(_unchecked_text(item, words), "?", near.get(item.sentence))
    return {_bare(sentence): doubt for sentence, doubt in found.items()}


def _unsupported_text(item: UnsupportedSentence, check: SentenceCheck | None, words: Words) -> str:
    if item.missing or check is None or check.p_supported is None:
        return words(
            "Not in the passages cited: {missing}" if item.markers else "Not in any passage given: {missing}",
            missing=words(", ").join(item.missing),
        )
    return words(
        "The passages cited do not say this, says {verifier}: P(supported) {p} ({kind})"
        if item.markers
        else "No passage given says this, says {verifier}: P(supported) {p} ({kind})",
        verifier=model_label(check.verifier, words),
        p=probability_text(check.p_supported),
        kind=words(VERDICT_KINDS[check.kind]),
    )


def _unchecked_text(check: SentenceCheck, words: Words) -> str:
    if check.fault is None:
        return words("Not checked: at most {n} sentences of an answer are.", n=MOST_CHECKED)
    return words("Not checked: {why}", why=fault_text(check.fault, words)[0])


def _doubted(line: str, doubts: Mapping[str, Doubt], cite: Cite, cell: CiteCell) -> list[Node | str]:
    """A line with its doubted sentences marked, by a sign and not by colour alone."""
    made: list[Node | str] = []
    # By their places, for what stands before a marked sentence is not looked at again.
    while found := [(line.index(own), -len(own), own) for own in doubts if own and own in line]:
        own = min(found)[2]
        doubt = doubts[own]
        before, _, after = line.partition(own)
        label = {"title": doubt.said, "aria_label": doubt.said}
        if doubt.place is None:
            sign = node("span", "doubt", doubt.sign, role="note", **label)
        else:
            sign = node("button", "doubt", doubt.sign, data_action=f"{OPEN}{doubt.place}", **label)
        made += [
            *inline(before, cite, cell),
            node("span", "doubted" if doubt.sign == "!" else "doubted unsure", *inline(own, cite, cell), sign),
        ]
        line = after
    return [*made, *inline(line, cite, cell)]


def _bare(sentence: str) -> str:
    """A sentence without the sign of its list, which the list draws."""
    item = _LIST_ITEM.match(sentence)
    return item.group(2) if item else sentence


def still_markers(record: RunRecord, words: Words) -> Cite:
    """Markers that only say where they point, and are no buttons: the passages themselves are on the workbench."""
    cited = {citation.marker: citation for citation in record.citations}

    def cite(marker: int) -> Node | None:
        if marker not in cited:
            return None
        place = place_text(cited[marker].source, cited[marker].section, words)
        said = words("Citation {n}: open {place}", n=marker, place=place)
        return node("span", "cite", str(marker), title=place, aria_label=said, role="note")

    return cite


def inline(text: str, cite: Cite, cell: CiteCell = no_citation) -> list[Node | str]:
    """One line of an answer: plain text, strong text, code, and citations in place of their markers outside code."""
    made: list[Node | str] = []
    end = 0
    for match in _INLINE.finditer(text):
        made.append(text[end : match.start()])
        end = match.end()
        if match.group("code"):
            made.append(node("code", "", match.group("code")))
            continue
        if match.group("strong"):
            made.append(node("strong", "", *inline(match.group("strong"), cite, cell)))
            continue
        named = match.group("cell")
        citation = cell(named) if named else cite(int(match.group("marker")))
        made = [*made, match.group()] if citation is None else _sticking(made, citation)
    made.append(text[end:])
    return made


def _sticking(made: list[Node | str], marker: Node) -> list[Node | str]:
    """A marker kept on the line of the word before it, so that no line begins with a marker."""
    before = made.pop() if made and isinstance(made[-1], str) else ""
    assert isinstance(before, str)
    head, space, word = before.rstrip().rpartition(" ")
    if language_of(word) == "zh":
        head, space, word = head + space + word[:-1], "", word[-1:]
    return [*made, head + space, node("span", "nowrap", word, marker)]


def _add_item(blocks: list[Block], text: str, number: str | None) -> None:
    kind: Literal["bullets", "numbers"] = "numbers" if number else "bullets"
    if blocks and blocks[-1].kind == kind:
        blocks[-1] = Block(kind, (*blocks[-1].items, text), blocks[-1].start)
    else:
        blocks.append(Block(kind, (text,), int(number or 1)))


def _words_alone(match: re.Match[str]) -> str:
    image, label = match.groups()
    if image:
        return ""
    # A citation that a model dressed up as a link stays a citation.
    return f"[{label}]" if label.isdigit() else label
