"""Extractive summaries of sources and their sections: headings and the most central sentences, made without a model.

The same passages give the same summaries on every machine: terms are words and pairs of Han characters, no dictionary
is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from engine.model.language import language_of, tokens
from engine.model.values import PassageContext, PassageId
from engine.roles import StoredPassage, Summaries, Vector

SECTION_TOKENS = 80
SOURCE_TOKENS = 120

_HEADINGS_SHARE = 0.5
"""Part of a source's summary that its headings may take: they say what it is about, and its sentences say what."""
_LEAD = 1.5
"""How much more the first sentence of a section counts: it mostly says what the section is about."""
_MOST_SENTENCES = 4000
"""Read of one source; central sentences of a longer one are looked for in its first part."""
_TERM = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,}|[^\W\d_\u3400-\u9fff]{4,}")
_SENTENCE_END = re.compile(
    r"(?<=[。！？…])(?![。！？…”’」』）])|(?<=[。！？…][”’」』）])|(?<=[.!?])\s+(?=[^\sa-z])|\n+"
)
_SPLIT = re.compile(r"[\s,，、;；:：]")


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary as the store keeps it, without its vector."""

    row: StoredPassage
    """``text`` is the summary; ``section`` is empty for that of the whole source."""
    twin: PassageId | None
    """The only passage of what is summarised; its vector serves for the summary, so nothing need be embedded."""


def summaries_of(passages: Sequence[StoredPassage]) -> list[Summary]:
    """Summaries of one source, given all its passages in order: the whole first, then each section that has a heading.

    A source of one section has the first alone, for it would say the same twice.
    """
    if not passages:
        return []
    by_section: dict[str, list[StoredPassage]] = {}
    for item in passages:
        by_section.setdefault(item.section, []).append(item)
    found = [_of_source(by_section)]
    if len(by_section) > 1:
        named = [(section, members) for section, members in by_section.items() if section]
        found += [_of_section(number, section, members) for number, (section, members) in enumerate(named, 1)]
    return found


def to_embed(summaries: Sequence[Summary], context: PassageContext) -> list[str]:
    """Texts of the summaries that have no passage's vector to go by, in order, in a collection's form of context."""
    return [item.row.searched(context) for item in summaries if item.twin is None]


def with_vectors(
    summaries: Sequence[Summary], embedded: Vector, of_passages: Mapping[PassageId, Vector], dim: int
) -> Summaries:
    """Summaries with their vectors; ``embedded``, shape (n, dim), are those of :func:`to_embed` in its order."""
    fresh = iter(embedded)
    vectors = [next(fresh) if item.twin is None else of_passages[item.twin] for item in summaries]
    rows = tuple(item.row for item in summaries)
    return Summaries(rows, np.stack(vectors) if vectors else np.empty((0, dim), dtype=np.float32))


def _of_source(by_section: Mapping[str, Sequence[StoredPassage]]) -> Summary:
    members = [item for section in by_section.values() for item in section]
    first = members[0]
    joins = _joins(first.text)
    headings = joins.between.join(_headings(by_section, SOURCE_TOKENS * _HEADINGS_SHARE - tokens(first.title)))
    head = joins.after_title.join(part for part in (first.title, headings) if part)
    opening = f"{head}{joins.stop}" if head else ""
    stretches = [_sentences(section) for section in by_section.values()]
    text = opening + _central(stretches, SOURCE_TOKENS - tokens(opening), joins)
    twin = first.id if len(members) == 1 else None
    return Summary(_row(first, "", "summary", text), twin)


def _of_section(number: int, section: str, members: Sequence[StoredPassage]) -> Summary:
    first = members[0]
    joins = _joins(first.text)
    opening = f"{section}{joins.stop}"
    text = opening + _central([_sentences(members)], SECTION_TOKENS - tokens(opening), joins)
    return Summary(_row(first, section, f"summary-{number}", text), first.id if len(members) == 1 else None)


def _row(first: StoredPassage, section: str, name: str, text: str) -> StoredPassage:
    kind = {} if first.kind == "vector" else {"kind": first.kind}
    row_id = PassageId(f"{first.source}#{name}")
    return StoredPassage(row_id, first.source, text.strip(), section=section, title=first.title, meta=kind)


@dataclass(frozen=True, slots=True)
class _Joins:
    """Signs between the parts of a summary in one script."""

    after_title: str
    between: str
    stop: str
    space: str


_ZH = _Joins("：", "；", "。", "")
_EN = _Joins(": ", "; ", ". ", " ")


def _joins(text: str) -> _Joins:
    return _ZH if language_of(text) == "zh" else _EN


def _headings(sections: Mapping[str, object], room: float) -> Iterator[str]:
    """The last part of each heading, as many as fit."""
    for section in sections:
        heading = section.rsplit(" > ", 1)[-1]
        room -= tokens(heading)
        if room < 0:
            return
        if heading:
            yield heading


def _sentences(members: Sequence[StoredPassage]) -> list[str]:
    parts = _SENTENCE_END.split("\n".join(item.text for item in members))
    return [part.strip() for part in parts if part.strip()]


def _central(stretches: Sequence[Sequence[str]], room: float, joins: _Joins) -> str:
    """The sentences that share most terms with the others, as many as fit, in their order.

    The first sentence of each stretch counts more. Where not even the best one fits, its beginning stands for it.
    """
    candidates = list(islice(_with_leads(stretches), _MOST_SENTENCES))
    bags = [_terms(sentence) for sentence, _ in candidates]
    shared = Counter(term for bag in bags for term in bag)
    scores = [
        sum(shared[term] - 1 for term in bag) / len(bag) ** 0.5 * (_LEAD if leads else 1.0) if bag else 0.0
        for bag, (_, leads) in zip(bags, candidates, strict=True)
    ]
    chosen: list[int] = []
    for index in sorted(range(len(candidates)), key=lambda place: (-scores[place], place)):
        size = tokens(candidates[index][0])
        if size <= room:
            chosen.append(index)
            room -= size
        elif not chosen:
            return _beginning(candidates[index][0], room)
    return joins.space.join(candidates[index][0] for index in sorted(chosen))


def _with_leads(stretches: Sequence[Sequence[str]]) -> Iterator[tuple[str, bool]]:
    """Each sentence once, for the pieces of a long section share one; and whether it opens its stretch."""
    seen: set[str] = set()
    for stretch in stretches:
        for place, sentence in enumerate(stretch):
            if sentence not in seen:
                seen.add(sentence)
                yield sentence, place == 0


def _terms(sentence: str) -> frozenset[str]:
    """Words of four letters or more, which leaves out most that say nothing, and pairs of Han characters."""
    found = _TERM.findall(sentence.lower())
    return frozenset(term for run in found for term in (_pairs(run) if run[0] >= "\u3400" else (run,)))


def _pairs(run: str) -> Iterator[str]:
    return (run[place : place + 2] for place in range(len(run) - 1))


def _beginning(sentence: str, room: float) -> str:
    """Cut a sentence to what fits, between words or at a comma where there is one."""
    end = max(0, int(room))
    while end < len(sentence) and tokens(sentence[: end + 1]) <= room:
        end += 1
    cut = max((match.start() for match in _SPLIT.finditer(sentence, end // 2, end)), default=end)
    return f"{sentence[:cut]}…" if cut else ""
