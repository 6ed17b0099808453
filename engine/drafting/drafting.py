"""Drafting questions from the passages of a collection by rules, without a model: pure functions of the passages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from engine.builtin.quotable import leans_on_previous, quotable
from engine.drafting import chinese, english
from engine.drafting.entries import is_name, of_items, of_properties, of_row, rows_of, with_heads, without_tables
from engine.drafting.values import Draft, Found, draft_id
from engine.drafting.wording import Told, ordered, shared_with
from engine.model.language import language_of, normalised_query
from engine.roles import StoredPassage

_TELLING = re.compile(r"[A-Za-z\u4e00-\u9fff]{2,}")
_PATH = " > "
_MOST_EXPECTED = 3
"""Passages of a section that answer the question of its heading."""
CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_GENERIC = re.compile(
    r"^(?:usage|examples?|overview|next steps|configuration|how to|getting started|attributes|description|introduction|"
    r"示例|使用|用法|配置|概述|简介|描述|属性|下一步)",
    re.IGNORECASE,
)
"""Headings that say nothing of what stands below them."""
_LEAST_PROSE = 40
_MOST_OF_PASSAGE = 6
_MOST_ALIKE = 5
"""Passages with the same sentence that are expected together."""
_OF_WHOLE_SECTIONS = frozenset({"heading", "entry"})
"""Rules whose quotation is a heading, below which anything may stand."""


def drafts_of(passages: Sequence[StoredPassage], collection: str, told: Iterable[str] = ()) -> list[Draft]:
    """Questions that the passages of a collection answer, the best first and kinds mixed.

    ``told``: questions that there are already; none is made again in nearly the same words. A question that two
    sections would have to answer differently is left out.
    """
    found: dict[str, list[Draft]] = defaultdict(list)
    for item, expected in _all(passages):
        draft = draft_of(item, expected, collection)
        found[draft.id].append(draft)
    known = Told(told)
    kept: list[Draft] = []
    clear = [made for several in found.values() if (made := _one_of(several)) is not None]
    for draft in ordered(clear):
        if not known.has(draft.question):
            known.add(draft.question)
            kept.append(draft)
    return kept


def _one_of(several: Sequence[Draft]) -> Draft | None:
    """The one draft of a question; None where different sentences of different places would have to answer it.

    Where the same sentence stands in several documents, as in two versions of a manual, each of them is expected.
    """
    first = several[0]
    if len({(item.source, item.passages[0]) for item in several}) == 1:
        return first
    told = {(item.quote, item.gold_answers) for item in several}
    if len(told) > 1 or first.rule in _OF_WHOLE_SECTIONS:
        return None
    passages = dict.fromkeys(passage for item in several for passage in item.passages)
    return replace(first, passages=tuple(passages)[:_MOST_ALIKE])


def _all(passages: Sequence[StoredPassage]) -> Iterator[tuple[Found, tuple[StoredPassage, ...]]]:
    """What each rule finds, with the passages that answer it."""
    headings = _headings(passages)
    for passage in with_heads(passages):
        language = _language(passage)
        rows, _ = rows_of(CODE_BLOCK.sub("", passage.text))
        for item in _of_passage(passage, language):
            yield item, (passage,)
        for row in rows:
            for item in of_row(row, _subject(passage), language):
                yield item, (passage,)
    stands = Counter(_last(first) for first, _ in headings)
    usage = english.Usage("\n".join(CODE_BLOCK.sub("", item.text) for item in passages))
    for first, several in headings:
        for item in _of_heading(first, usage):
            yield item if stands[_last(first)] == 1 else _within(item, first), several


def _of_passage(passage: StoredPassage, language: str) -> Iterator[Found]:
    last = _last(passage)
    yield from of_properties(CODE_BLOCK.sub("", passage.text), last, language)
    yield from of_items(passage.text, last, passage.title, language)
    rules = chinese.of_sentence if language == "zh" else english.of_sentence
    taken = 0
    for item in quotable(without_tables(passage.text), last):
        if leans_on_previous(item.text):
            continue
        for found in rules(item.text):
            clear = found if language == "zh" else english.placed(found, last if is_name(last) else "")
            if clear is not None and taken < _MOST_OF_PASSAGE:
                taken += 1
                yield clear


Headings = Sequence[tuple[StoredPassage, tuple[StoredPassage, ...]]]


def _headings(passages: Sequence[StoredPassage]) -> Headings:
    """The first passage with some prose under each heading, and those that belong to it."""
    made: list[tuple[StoredPassage, tuple[StoredPassage, ...]]] = []
    for (_, section), group in groupby(passages, key=lambda item: (item.source, item.section)):
        several = tuple(sorted(group, key=lambda item: item.ordinal))
        if section and sum(len(CODE_BLOCK.sub("", item.text).strip()) for item in several) >= _LEAST_PROSE:
            made.append((several[0], several[:_MOST_EXPECTED]))
    return made


def _of_heading(first: StoredPassage, usage: english.Usage) -> Iterator[Found]:
    heading = _last(first)
    if is_name(heading):
        return
    path = first.section.split(_PATH)
    parent = path[-2] if len(path) > 1 and not _GENERIC.match(path[-2]) else first.title
    if _language(first) == "zh":
        yield from chinese.of_heading(heading, parent)
    else:
        yield from english.of_heading(heading, parent, usage)


def _within(found: Found, first: StoredPassage) -> Found:
    """A question with the title of its document: the heading alone stands in several."""
    title = first.title
    if not title or normalised_query(title) in normalised_query(found.question):
        return found
    if _language(first) == "zh":
        question = chinese.within(found.question, title)
    else:
        question = f"{found.question.rstrip('?')} in {title}?"
    return Found(found.rule, question, found.gold, found.quote)


def draft_of(found: Found, expected: Sequence[StoredPassage], collection: str) -> Draft:
    """A draft of what was found, with how much wording it shares with the passages that answer it."""
    share, run = shared_with(found.question, "\n".join(map(whole_of, expected)))
    return Draft(
        id=draft_id(collection, found.question),
        collection=collection,
        question=found.question,
        rule=found.rule,
        language=language_of(found.question),
        passages=tuple(item.id for item in expected),
        source=expected[0].source,
        quote=found.quote,
        gold_answers=found.gold,
        shared=share,
        run=run,
    )


def whole_of(passage: StoredPassage) -> str:
    """A passage with the headings above it."""
    return f"{passage.title}\n{passage.section}\n{passage.text}"


def _subject(passage: StoredPassage) -> str:
    """What the tables of a passage belong to."""
    last = _last(passage)
    return last if is_name(last) else passage.title


def _last(passage: StoredPassage) -> str:
    return passage.section.split(_PATH)[-1].strip()


def _language(passage: StoredPassage) -> str:
    kept = CODE_BLOCK.sub("", passage.text)
    return "zh" if len(re.findall(r"[\u4e00-\u9fff]", f"{kept} {passage.section}")) >= 6 else "en"
