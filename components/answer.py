"""The finished answer: paragraphs and lists as text, citations as buttons, and on what it rests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from components.i18n import Words
from components.markup import Node, button, chip, copy_button, draw, node
from engine.language import language_of
from engine.values import BY_HAND, PassageId, RunRecord

_OPEN = "open:"
_IMAGE_OR_LINK = re.compile(r"(!?)\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|(\d{1,2})[.)、])\s+(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)#*\s*$")
_INLINE = re.compile(r"\*\*(?P<strong>[^*\n]+)\*\*|\[(?P<marker>\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading or a whole list of an answer."""

    kind: Literal["paragraph", "heading", "bullets", "numbers"]
    items: tuple[str, ...]
    """One text for a paragraph or a heading, one per item of a list."""
    start: int = 1


def answer_blocks(text: str) -> tuple[Block, ...]:
    """The few forms of Markdown that an answer may use; images go and links are reduced to their words.

    Everything else, raw HTML included, stays the text it is.
    """
    blocks: list[Block] = []
    for raw in _IMAGE_OR_LINK.sub(_words_alone, text).splitlines():
        line = raw.strip()
        item = _LIST_ITEM.match(line)
        heading = _HEADING.match(line)
        if item:
            _add_item(blocks, item.group(2), item.group(1))
        elif heading:
            blocks.append(Block("heading", (heading.group(1).strip(),)))
        elif line:
            blocks.append(Block("paragraph", (line,)))
    return tuple(blocks)


def answer_card(record: RunRecord, words: Words, *, key: str) -> PassageId | None:
    """Draw the answer with its badge, citations and sources; returns the passage whose citation was pressed.

    While the run goes on, the card is the place where the browser writes the answer as it comes (``answer_live.js``).
    """
    if record.active:
        nodes = [_head(record, words), _growing(record, words), node("div", "foot")]
    elif record.answer:
        nodes = [_head(record, words), _body(record, words), *_footnotes(record, words), _foot(record, words)]
    else:
        nodes = [_head(record, words), node("p", "muted", words("answer.none"))]
    pressed = draw((node("section", "card answer", *nodes),), words, key=key)
    return PassageId(pressed.removeprefix(_OPEN)) if pressed and pressed.startswith(_OPEN) else None


def answer_badge(record: RunRecord, words: Words) -> tuple[str, str]:
    """Look and words of the badge: on how many verified passages the answer rests, or why it does not."""
    given = len(record.context.passages) if record.context else 0
    match record.outcome:
        case "answered":
            return "pass", words.count("badge.verified", given)
        case "answered_forced":
            return "warn", words.count("badge.forced", given)
        case "answered_unverified":
            return "fault", words("badge.unverified")
        case "abstained":
            return "grey", words("badge.abstained")
        case "cancelled" | "failed" | "interrupted":
            return "fault", words("badge.partial")
        case "fallback":
            return "grey", words("badge.fallback")
        case _:
            return "accent", words("badge.running")


def _head(record: RunRecord, words: Words) -> Node:
    look, text = answer_badge(record, words)
    badge = [chip(look, text)] if record.answer or (record.active and record.context is not None) else []
    by_hand = _passed_by_hand(record)
    if by_hand:
        badge.append(chip("warn", words.count("badge.by_hand", by_hand)))
    if record.fork is not None:
        badge.append(chip("grey", words("badge.branch", round=record.fork.round), words("badge.branch.help")))
    return node("div", "head", node("strong", "heading", words("answer.title")), *badge)


def _passed_by_hand(record: RunRecord) -> int:
    """Passages given to the generator that passed because somebody said so."""
    given = {passage.id for passage in record.context.passages} if record.context else set()
    set_by_hand = {
        name for current in record.rounds for name, verdict in current.verdicts.items() if verdict.grader == BY_HAND
    }
    return len(given & set_by_hand)


def _growing(record: RunRecord, words: Words) -> Node:
    # Nothing here changes while the answer grows: a redrawn card would lose what the browser has written into it.
    begin = node("p", "muted", words("answer.waiting"))
    return node("div", "prose growing", begin, aria_busy="true", data_live=record.id, data_label=words("answer.open"))


def _body(record: RunRecord, words: Words) -> Node:
    drawn = []
    for block in answer_blocks(record.answer):
        if block.kind == "paragraph":
            drawn.append(node("p", "", *_inline(block.items[0], record, words)))
        elif block.kind == "heading":
            drawn.append(node("p", "subheading", *_inline(block.items[0], record, words)))
        else:
            items = (node("li", "", *_inline(item, record, words)) for item in block.items)
            numbered = block.kind == "numbers"
            drawn.append(node("ol" if numbered else "ul", "", *items, start=str(block.start) if numbered else ""))
    return node("div", "prose", *drawn)


def _sticking(made: list[Node | str], marker: Node) -> list[Node | str]:
    """A marker kept on the line of the word before it, so that no line begins with a marker."""
    before = made.pop() if made and isinstance(made[-1], str) else ""
    assert isinstance(before, str)
    head, space, word = before.rstrip().rpartition(" ")
    if language_of(word) == "zh":
        head, space, word = head + space + word[:-1], "", word[-1:]
    return [*made, head + space, node("span", "nowrap", word, marker)]


def _inline(text: str, record: RunRecord, words: Words) -> list[Node | str]:
    cited = {citation.marker: citation for citation in record.citations}
    made: list[Node | str] = []
    end = 0
    for match in _INLINE.finditer(text):
        made.append(text[end : match.start()])
        end = match.end()
        marker = int(match.group("marker") or 0)
        if match.group("strong"):
            made.append(node("strong", "", *_inline(match.group("strong"), record, words)))
        elif marker in cited:
            place = _place(cited[marker].source, cited[marker].section)
            button_node = node(
                "button",
                "cite",
                str(marker),
                title=place,
                aria_label=words("answer.citation", n=marker, place=place),
                data_action=f"{_OPEN}{cited[marker].passage_id}",
            )
            made = _sticking(made, button_node)
        else:
            made.append(match.group())
    made.append(text[end:])
    return made


def _footnotes(record: RunRecord, words: Words) -> list[Node]:
    notes = []
    if record.outcome == "answered_forced":
        notes.append(words("answer.forced_note"))
    if record.outcome == "answered_unverified":
        notes.append(words("answer.unverified_note"))
    if record.removed_markers:
        count = len(record.removed_markers)
        notes.append(words.count("answer.removed", count, markers=" ".join(dict.fromkeys(record.removed_markers))))
    if record.context and record.context.cut:
        budget = record.context.token_budget
        notes.append(words.count("answer.cut", len(record.context.cut), budget=budget))
    return [node("p", "note", "! ", text) for text in notes]


def _foot(record: RunRecord, words: Words) -> Node:
    chips = [
        button(f"{item.marker} · {_place(item.source, item.section)}", f"{_OPEN}{item.passage_id}", "chip link")
        for item in sorted(record.citations, key=lambda item: item.marker)
    ]
    given = len(record.context.passages) if record.context else 0
    spare = given - len(record.citations)
    if chips and spare > 0:
        chips.append(node("span", "muted small", words.count("answer.uncited", spare)))
    return node("div", "foot", *chips, node("span", "grow"), copy_button(words, copied_text(record)))


def copied_text(record: RunRecord) -> str:
    """The answer with its sources below, as the clipboard gets it."""
    sources = [f"[{item.marker}] {_place(item.source, item.section)}" for item in record.citations]
    return "\n".join([record.answer, "", *sources]) if sources else record.answer


def _place(source: str, section: str) -> str:
    return f"{source} § {section}" if section else source


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
