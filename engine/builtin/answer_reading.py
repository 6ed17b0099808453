"""An answer as an evaluator reads it: statements with their markers, and whether a passage shown bears them out."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from engine.builtin.strips import strips_of
from engine.builtin.terms import is_han, terms, weight_of
from engine.builtin.written_numbers import numbers_in
from engine.model.language import language_of
from engine.model.values import Passage, PassageId

Part = Literal["claim", "lead", "gap", "note", "question", "aside"]
"""``gap`` says what is missing, ``note`` speaks of the answer itself, ``aside`` says nothing that could be checked."""

MARKER = re.compile(r"\[(\d{1,3})\]")
_FENCE = "```"
_TAIL = re.compile(r"(?:[”’」』）》】)\"']|\s*\[\d{1,3}\])*")
"""What belongs to a sentence behind its full stop: closing quotes, brackets and markers."""
_STOP = re.compile(r"[。！？]+|[.!?]+(?=\s|$|[”’)\"\]\[])|\n+")
_ABBREVIATED = re.compile(
    r"(?:\b(?:a\.m|p\.m|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)|(?:^|\s)[A-Z])\.$"
)
_LIST_SIGN = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•·–]\s+|\(?\d{1,2}[.)、](?!\d)\s*)")
_LEAD = re.compile(
    r"\s*[^\n:：。.!?！？\[]{0,60}(?:sources?|passages?|say|says|follow\w*|below|资料|如下|以下|说的|来源)"
    r"[^\n:：。.!?！？\[]{0,20}[:：]",
    re.IGNORECASE,
)
_GAP = re.compile(
    r"\bnot (?:in|found in|covered|mentioned|stated|given|specified|addressed|described|answered|explained)\b"
    r"|\b(?:(?:do|does|did) not|don't|doesn't|didn't) "
    r"(?:say|mention|state|specify|contain|cover|give|answer|tell|address|explain|include|name)\b"
    r"|\bno (?:information|passage|mention|statement|data)\b|\b(?:is|are|remains?) (?:missing|unclear|open|unknown)\b"
    r"|\bcould not find\b|\bcannot be (?:told|said|answered|determined)\b"
    r"|(?:没有|没|未)(?:直接|明确|具体)?(?:提到|提及|说明|说|写明|写|给出|涉及|记载|回答|指出|讲|交代|包含|找到)"
    r"|信息不足|无法(?:确定|得知|判断|回答)|不得而知|缺少(?:相关)?(?:信息|资料)|未知",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"^\W*(?:unverified\b|the (?:sources|passages) (?:differ|disagree|do not agree|contradict|are in another language))"
    r"|^\W*(?:以下内容未经核实|资料使用的是另一种语言|(?:各份|不同)?(?:资料|来源)(?:之间|对此|在这里|在这一点上)?的?(?:说法)?"
    r"(?:不一|不同|并不一致|有分歧|互相矛盾))",
    re.IGNORECASE,
)
_DIFFER = re.compile(
    r"\b(?:sources|passages) (?:differ|disagree|contradict)|(?:资料|来源)[^。]{0,8}(?:不一|矛盾|有分歧)", re.IGNORECASE
)
_LEAST_TERMS = 2
"""Content terms from which a sentence says something that could be wrong."""
BORNE_OUT = 0.6
"""Share of a statement's weight that a passage must have; a verbatim quotation has all of it."""
FOREIGN_TO = 0.3
"""Share under which a statement has nothing to do with what is shown of a passage."""
_CUT = "…"
_BEGINNING = 8
"""Letters by which a sentence is recognised where a cut falls into it."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST_DIGITS = 2
"""Single digits are too often counted out or written as words to be held against a statement."""


@dataclass(frozen=True)
class Statement:
    """One sentence of an answer; ``text`` stands in it word for word, markers included."""

    text: str
    part: Part
    markers: tuple[int, ...]
    paragraph: int

    @cached_property
    def plain(self) -> str:
        """Strip markers and list sign, and make every space a single one."""
        return " ".join(MARKER.sub(" ", _LIST_SIGN.sub("", self.text, count=1)).split())

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms(self.plain))


def statements(answer: str) -> list[Statement]:
    """The statements of an answer in order; what stands between them is white space alone."""
    made = []
    for text, paragraph in _pieces(answer):
        read = () if text.startswith(_FENCE) else MARKER.findall(text)
        markers = tuple(dict.fromkeys(int(number) for number in read))
        made.append(Statement(text, _part(text, markers), markers, paragraph))
    return made


def sources_differ(answer: str) -> bool:
    """Return whether an answer says itself that its sources contradict each other."""
    return any(item.part == "note" and _DIFFER.search(item.text) for item in statements(answer))


def begins_with_gap(answer: str) -> bool:
    """Return whether an answer says what its sources lack before it says anything of what was asked."""
    return next((item.part == "gap" for item in statements(answer) if item.part != "note"), False)


def _part(text: str, markers: tuple[int, ...]) -> Part:
    if text.startswith(_FENCE):
        return "aside"
    plain = MARKER.sub(" ", text).strip()
    if _NOTE.search(plain):
        return "note"
    if _GAP.search(plain) and not markers:
        return "gap"
    if markers:
        return "claim"
    if plain.endswith((":", "：")) or plain.startswith("#"):
        return "lead"
    if plain.rstrip("\"'”’）)").endswith(("?", "？")):
        return "question"
    return "claim" if len(set(terms(plain))) >= _LEAST_TERMS else "aside"


def _pieces(answer: str) -> Iterator[tuple[str, int]]:
    """Text and paragraph of each sentence; a line of a list, and a block of code, is a paragraph of its own."""
    paragraph = 0
    code: list[str] = []
    for line in answer.split("\n"):
        if code or line.startswith(_FENCE):
            code.append(line)
            if len(code) > 1 and line.startswith(_FENCE):
                yield "\n".join(code), paragraph
                paragraph, code = paragraph + 1, []
            continue
        if not line.strip():
            continue
        start = 0
        lead = _LEAD.match(line)
        if lead and not _GAP.search(lead.group()) and not _NOTE.search(lead.group()):
            yield line[: lead.end()].strip(), paragraph
            start = lead.end()
        for end in [*_ends(line, start), len(line)]:
            if text := line[start:end].strip():
                yield text, paragraph
            start = end
        paragraph += 1
    if code:
        yield "\n".join(code), paragraph


def _ends(line: str, start: int) -> Iterator[int]:
    for stop in _STOP.finditer(line, start):
        tail = _TAIL.match(line, stop.end())
        end = tail.end() if tail else stop.end()
        rest = line[end:].lstrip()
        if not rest or end < start:
            continue
        latin = stop.group()[0] in ".!?"
        goes_on = rest[0].islower() and not MARKER.search(line[stop.end() : end])
        if latin and (goes_on or _ABBREVIATED.search(line[: stop.end()])):
            continue
        yield end


@dataclass(frozen=True)
class Shown:
    """One passage as it is shown, read once."""

    marker: int
    text: str
    stems: frozenset[str]
    figures: frozenset[str]
    cut: bool

    @classmethod
    def of(cls, marker: int, passage: Passage) -> Shown:
        text = _folded(f"{passage.above}\n{passage.text}")
        return cls(
            marker, text, frozenset(terms(text)), figures_in(text) | _values_in(text), passage.text.endswith(_CUT)
        )

    def share(self, statement: Statement, *, figures: bool = True) -> float:
        """Share of the statement's weight that stands here, in [0, 1]; 1 for a statement without content terms.

        Without ``figures`` only its words count.
        """
        if _bare(statement.plain) in _bare(self.text) or (self.cut and self._breaks_off_in(statement)):
            return 1.0
        counted = (term for term in statement.terms if figures or not term[0].isdigit())
        weights = {term: math.sqrt(weight_of(term)) for term in counted}
        total = math.fsum(weights.values())
        return math.fsum(weight for term, weight in weights.items() if self._has(term)) / total if total else 1.0

    def lacks_figures(self, statement: Statement) -> bool:
        """Return whether the statement has a figure of two or more digits that is missing here in every spelling."""
        found = (figure for figure in figures_in(_folded(statement.plain)) if len(figure) >= _LEAST_DIGITS)
        return any(not ({figure, *_values_in(figure)} & self.figures) for figure in found)

    def comparable(self, statement: Statement) -> bool:
        """Return whether words can be compared at all; a passage in another language than the statement is believed."""
        return language_of(self.text) == language_of(statement.plain)

    def bears_out(self, statement: Statement) -> bool:
        """Return whether what is shown supports the statement, by words and figures."""
        share = self.share(statement)
        return share == 1.0 or (share >= BORNE_OUT and not self.lacks_figures(statement))

    def _breaks_off_in(self, statement: Statement) -> bool:
        """Return whether the cut falls into the statement, so that its beginning stands at the end of what is shown."""
        whole, shown = _bare(statement.plain), _bare(self.text)
        begins = shown.rfind(whole[:_BEGINNING])
        return len(whole) > _BEGINNING and begins >= 0 and whole.startswith(shown[begins:])

    def _has(self, term: str) -> bool:
        return term in self.stems or (is_han(term) and term in self.text)


def shown_passages(passages: Sequence[Passage]) -> list[Shown]:
    """The passages in the order of their markers."""
    return [Shown.of(marker, passage) for marker, passage in enumerate(passages, start=1)]


def best_support(statement: Statement, shown: Sequence[Shown], besides: Sequence[int] = ()) -> Shown | None:
    """The passage that bears a statement out by what can be seen of it, leaving out some markers; None where none."""
    bearing = [item for item in shown if item.marker not in besides and item.bears_out(statement)]
    return max(bearing, key=lambda item: (item.share(statement), -item.marker), default=None)


def nearest_strip(statement: Statement, passages: Sequence[Passage]) -> tuple[PassageId, str] | None:
    """The passage and the strip of it that has most of a statement's words; None where none has any."""
    shares = [
        (Shown.of(1, replace(item, text=strip)).share(statement, figures=False), -place, item.id, strip)
        for place, item in enumerate(passages)
        for strip in strips_of(item.text)
    ]
    share, _, name, strip = max(shares, default=(0.0, 0, PassageId(""), ""))
    return (name, strip) if share > 0 else None


def figures_in(text: str) -> frozenset[str]:
    """Figures in a text, without thousands separators."""
    return frozenset(re.sub(r"(?<=\d),(?=\d{3}\b)", "", found) for found in _FIGURE.findall(text))


def _values_in(text: str) -> frozenset[str]:
    return frozenset(value for number in numbers_in(text) for value in number.values)


@lru_cache(maxsize=256)
def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
