"""The generator that needs no model: it quotes the sentences that answer best, each with its marker."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.builtin.answer_conflicts import differing
from engine.builtin.answer_form import Asking, Quote, form_of, names_new, says_what
from engine.builtin.answer_kind import Asked, answer_strength, asked_by, kinds_asked
from engine.builtin.context_text import table_text
from engine.builtin.entries import name_in
from engine.builtin.evidence import HARD_KINDS, Question, phrase_share, read_question, weigh
from engine.builtin.failure_analysis import asking_clauses, other_names
from engine.builtin.grader import model_for
from engine.builtin.phrases import Phrases
from engine.builtin.quotable import Quotable, ends, is_property, is_sentence, leans_on_previous, length, quotable
from engine.builtin.report import as_messages, spoken
from engine.builtin.table_answer import table_sentences
from engine.builtin.terms import RARE, stem, terms, weight_of
from engine.builtin.unmentioned import (
    missing_terms,
    names_apart,
    shares_of,
    stands_in,
    undone,
    unknown_names,
    writes_code,
)
from engine.model.language import language_of
from engine.model.values import NOTHING_AROUND, AnswerKind, Around, Language, Passage, PassageId, Surrounding
from engine.model.wording import KINDS
from engine.roles import SILENT, GenerationRequest, Trace

_CONTEXT_TOKENS = 4000
_MOST_SENTENCES = 5
_ROOM = 1.55
"""Length of an answer, as a share of one longest sentence: about 90 words or 250 Chinese characters."""
_KIND = 0.35
_RENAMED = 0.25
_WORDING = 0.15
_STATES = 0.3
_NAMES = 0.3
_CODE = 0.35
_HEADING = 0.15
_RANK = 0.10
_NEW_SOURCE = 0.12
_BESIDE = 0.2
_SIMILAR = 0.35
"""Weights beside coverage, which counts 1: an answer of the kind asked for, the question's ideas under another name,
its phrases word for word, saying what the asked thing is, a word of code where one is asked for, a block of it too,
the heading, the grader's order, another passage, the neighbour of a chosen sentence, likeness to a chosen sentence."""
_AGAIN = 0.35
_KIND_AGAIN = 0.15
_KIND_OTHERWISE = 0.7
"""What a term still counts once a chosen sentence has it (maximal marginal relevance), and a kind of answer once the
same passage or another one has given it."""
_WORTH = 0.32
_WORTH_NEXT = 0.2
"""Share of the best sentence's score that another one needs, and the sentence right after a lonely best one."""
_GIVEN = 0.3
"""How well a sentence must hold the kind of answer asked for. On XQuAD 2 % of the right paragraphs have less, and two
thirds of their neighbours."""
_TRANSLATED = 0.6
"""What a sentence in another language counts where passages in the question's language passed as well."""
_SURROUNDING = 0.8
"""What a sentence counts that stands around a passage and did not pass itself."""
_PROPERTY = 0.8
"""What a property of an entry ("Default: 5173") takes over of what the passage's best sentence has of the question."""
_UNDER = 0.3
_LEAD = 0.4
_TERM = 0.7
_AROUND = 0.5
"""What a term of the question counts that stands only in the heading above a sentence, in the sentence that it
continues, or in the term that it defines; and what the heading counts towards an answer of the kind asked for."""
_IN_CODE = 0.5
"""What a term of the question counts that stands only in the code behind a sentence."""
_CALENDAR = re.compile(
    r"\b(?:year|date|month|day|century|decade)s?\b|\b(?:releas|publish|found|invent|born|launch)|[年月号日]|世纪|发布|日期"
)
_CAPITAL = re.compile(r"\b[A-Z][\w'’-]+")
_MOST_BLOCKS = 2
_COLONS = (":", "：")
_LONG_LEAD = 0.3
_POINTS = re.compile(
    r"^(?:see also\b|(?:you can |to )?(?:read|learn|find|know) (?:\w+ ){0,3}?(?:more|details)\b|for (?:more|further) )"
    r"|(?:阅读|了解|查看|参阅|参考|请看|详见|参见)[^。]{0,20}(?:更多|详情|细节|文档)|^(?:详见|参见|参考|另见)",
    re.IGNORECASE,
)
"""A sentence that only says where to read on."""
_POINTER = 0.75
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]")


def asking_of(text: str) -> Asking:
    """A question as sentences are held against it."""
    question = read_question(text)
    clauses = tuple(asked for clause in asking_clauses(text) if (asked := asked_by(clause)).kind != "other")
    renamed = tuple(tuple(name.casefold() for name in names) for _, names in other_names(text))
    form = form_of(text, way=any(clause.kind == "way" for clause in (*clauses, question.asked)))
    return Asking(question, clauses or (question.asked,), renamed, form)


class BuiltinGenerator:
    """Extractive: every sentence of the answer stands in a passage, word for word, so nothing can be invented.

    A sentence from an entry of a reference carries the entry's name, its heading, in front.
    Sentences are chosen for how much of the question they cover, for an answer of the kind asked for, and for not
    repeating each other; what no passage mentions is said at the end. Languages other than Chinese get English
    wording around the quotes.
    """

    @property
    def context_tokens(self) -> int:
        return _CONTEXT_TOKENS

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text: 0.7 for a Chinese, Japanese or Korean character, 1 for 4 other characters."""
        han = len(_HAN.findall(text))
        return math.ceil(0.7 * han + (len(text) - han) / 4)

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        return await spoken(trace, as_messages(_asked(request)), compose(request))


def compose(request: GenerationRequest) -> Iterator[str]:
    """The answer in pieces of one sentence; joined they are the answer."""
    say = Phrases("answer", request.language)
    gap = say.gap
    asking = asking_of(request.question)
    read = request.read
    every = quotes_of(asking, request.passages, request.around)
    quotes = _chosen(every)
    cells = table_sentences(request.question, request.tables, request.language)
    opening = [] if request.verified else [say("unverified")]
    if not quotes and not cells:
        yield gap.join([*opening, say("nothing")])
        return
    foreign = bool(quotes) and _foreign(request.language, read)
    covered = max((math.fsum(quote.covers.values()) for quote in every), default=0.0)
    unknown = () if cells else unknown_names(asking, read, covered=covered, foreign=foreign)
    if unknown:
        yield gap.join([*opening, say("unknown", terms=say.listed(unknown))])
        return
    absent = None if cells else _kind_not_given(asking, read, every, foreign)
    if absent is not None:
        yield gap.join([*opening, say("kindless", kind=KINDS[say.written][absent])])
        return
    difference = differing(quotes, every, read)
    if difference is not None and difference.outdated:
        quotes = [quote for quote in quotes if quote.marker != difference.second.marker]
    unmentioned = () if foreign or cells else missing_terms(asking, read)
    deed = "" if foreign or cells else undone(asking, read)
    unsaid = [form for form in asking.question.forms.values() if form == deed or form in unmentioned]
    missing = say("missing", terms=say.listed(unsaid)) if unsaid else ""
    first = deed and len(asking_clauses(request.question)) < 2
    if first:
        # What is quoted is no answer then, which stands before it.
        yield f"{gap.join([*opening, missing])}\n\n"
        opening = []
    yield gap.join([*opening, say("foreign" if foreign else "lead")])
    for sentence in cells:
        yield f" {sentence}"
    yield from _quoted(quotes, gap, asking)
    if missing and not first:
        yield f"\n\n{missing}"
    if request.open_parts:
        yield f"\n\n{say('open', parts=say.listed([part.rstrip('?？') for part in request.open_parts]))}"
    if difference is not None:
        told = {"first": f"{difference.figures[0]}{gap}[{difference.first.marker}]"}
        told["second"] = f"{difference.figures[1]}{gap}[{difference.second.marker}]"
        yield f"\n\n{say('outdated' if difference.outdated else 'differ', **told)}"


def _kind_not_given(
    asking: Asking, passages: Sequence[Passage], quotes: Sequence[Quote], foreign: bool
) -> AnswerKind | None:
    """The date, number or person that a question asks for, where no passage gives one near what is asked about.

    Of a compound question one part may be answered all the same, and in another language only the text as a whole can
    be looked through.
    """
    asked = asking.clauses[0]
    if len(kinds_asked(asking.question.text)) > 1 or len(asking.clauses) > 1 or asked.kind not in HARD_KINDS:
        return None
    if asked.kind == "date" and not _CALENDAR.search(asked.folded) and writes_code(passages):
        return None  # it asks on what condition something happens
    # Chinese names that the dictionary does not have look like any other word.
    if asked.kind == "person" and any(_may_name(asked, item.text) or _HAN.search(item.text) for item in passages):
        return None
    if foreign:
        given = max((answer_strength(asked, passage.text) for passage in passages), default=0.0)
    else:
        given = max((quote.kinds[0] for quote in quotes), default=0.0)
    return asked.kind if given < (_GIVEN if not foreign else _GIVEN / 2) else None


def _may_name(asked: Asked, text: str) -> bool:
    """Return whether a text has a rare capitalised word that the question lacks; it may begin a sentence."""
    words = {word for word in _CAPITAL.findall(text) if word.lower() not in asked.folded}
    return any(weight_of(stem(word.lower())) >= RARE for word in words)


def _quoted(quotes: Sequence[Quote], gap: str, asking: Asking) -> Iterator[str]:
    """The sentences with their markers, and the code that some of them lead to below them.

    The first one from an entry of a reference carries the entry's name, without which it says nothing.
    """
    before, shown, told = gap, list[str](), set[str]()
    for quote in quotes:
        nameless = quote.entry and quote.entry not in told and quote.entry.casefold() not in quote.text.casefold()
        name = f"{quote.entry}{':' if gap else '：'}{gap}" if nameless else ""
        told.add(quote.entry)
        yield f"{before}{name}{ends(quote.text)}{gap}[{quote.marker}]"
        before = " "
        fresh = quote.code and quote.code not in shown and len(shown) < _MOST_BLOCKS
        if fresh and (asking.form.code or quote.text.endswith(_COLONS)):
            yield f"\n\n{quote.code}"
            before = "\n\n"
            shown.append(quote.code)


def choose(asking: Asking, passages: Sequence[Passage]) -> list[Quote]:
    """The quotes of an answer in reading order: the passage with the best sentence first, each in its own order."""
    return _chosen(quotes_of(asking, passages))


def _chosen(quotes: Sequence[Quote]) -> list[Quote]:
    chosen = _greedy(quotes)
    if not chosen:
        return []
    first = chosen[0].marker
    return sorted(chosen, key=lambda quote: (quote.marker != first, quote.marker, quote.position))


def quotes_of(
    asking: Asking, passages: Sequence[Passage], around: Mapping[PassageId, Around] = NOTHING_AROUND
) -> list[Quote]:
    """Every sentence of the passages that could be quoted, held against the question; the first passage is ``[1]``.

    Those of what surrounds a passage have its marker, and positions before and after its own.
    """
    translated = [model_for(asking.question.language, passage.text) == "cross" for passage in passages]
    scales = [_TRANSLATED if other and not all(translated) else 1.0 for other in translated]
    return [
        quote
        for marker, (passage, scale) in enumerate(zip(passages, scales, strict=True), 1)
        for quote in _block(asking, passage, around.get(passage.id, Around()), marker, scale)
    ]


def _block(asking: Asking, passage: Passage, around: Around, marker: int, scale: float) -> Iterator[Quote]:
    def quotes(item: Surrounding) -> list[Quote]:
        beside = replace(passage, text=item.text, section=item.section, context="")
        return list(_quotes(asking, beside, marker, scale * _SURROUNDING))

    own = list(_quotes(asking, passage, marker, scale))
    before = [quote for item in around.before for quote in quotes(item)]
    after = [quote for item in around.after for quote in quotes(item)]
    yield from (replace(quote, position=at - len(before)) for at, quote in enumerate(before))
    yield from own
    yield from (replace(quote, position=at) for at, quote in enumerate(after, len(own)))


def _quotes(asking: Asking, passage: Passage, marker: int, scale: float) -> Iterator[Quote]:
    above = _covers(asking.question, passage.heading) if passage.heading else {}
    heading = math.fsum(above.values())
    section = passage.section.rpartition(" > ")[2]
    items = quotable(passage.text, passage.section, passage.context)
    said = [_covers(asking.question, item.text) for item in items]
    names = {text for item in items for text in (item.heading, item.entry) if text}
    named = {text: _covers(asking.question, text) for text in names}
    most = _PROPERTY * max((math.fsum(covers.values()) for covers in said), default=0.0)
    before: dict[str, float] = {}
    for position, item in enumerate(items):
        sentence, own = item.text, _with_code(asking, item, said[position])
        term = named.get(item.entry, {})
        near = math.fsum({**term, **own}.values())
        lead = _part(before, _LEAD) if _gives(asking, sentence) else {}
        does = asking.deed in own
        under = _part(named.get(item.heading, above), _TERM if does else _UNDER)
        covers = {**under, **lead, **_part(term, _TERM), **own}
        words = frozenset(terms(sentence))
        text = sentence.casefold()
        renamed = [any(stands_in(name, text) for name in names) for names in asking.renamed]
        again = sum(renamed) / len(renamed) if renamed else 0.0
        # A date or a number says nothing by itself: it has to stand with some of what is asked about.
        around = max(near, math.fsum(before.values()) / 2, most if is_property(sentence) else 0.0)
        context = min(1.0, 2.0 * (around + _AROUND * heading) + again)
        before = said[position]
        yield Quote(
            marker=marker,
            position=position,
            text=sentence,
            words=words,
            covers=covers,
            kinds=tuple(_kind(asking, clause, sentence, does) * context for clause in asking.clauses),
            extra=_RENAMED * again
            + _HEADING * heading * (1.2 - 0.1 * min(position, 6))
            + _RANK / marker
            + _WORDING * _worded(asking, sentence)
            + _formed(asking, item) * min(1.0, 2.0 * (near + _HEADING * heading)),
            scale=scale * _readability(item, words),
            code=item.code,
            entry=item.entry or name_in(item.heading or section),
        )


def _with_code(asking: Asking, item: Quotable, covers: Mapping[str, float]) -> Mapping[str, float]:
    """What a sentence covers together with the code behind it, where the code would be quoted."""
    if not item.code or not (asking.form.code or item.text.endswith(_COLONS)):
        return covers
    return {**_part(_covers(asking.question, item.code), _IN_CODE), **covers}


def _gives(asking: Asking, sentence: str) -> bool:
    """Return whether a sentence has what is asked for, or continues the one before it, and so may leave words to it."""
    name = asking.form.name and names_new(asking.question.text, sentence)
    return name or leans_on_previous(sentence) or (asking.form.default and says_what(asking.form, sentence) > 0)


def _worded(asking: Asking, sentence: str) -> float:
    """Share of the question's phrases in a sentence; none where a number or a name decides, which is worded freely."""
    return 0.0 if asking.question.asked.kind in HARD_KINDS else phrase_share(asking.question, sentence)


def _formed(asking: Asking, item: Quotable) -> float:
    """Return the bonus for a sentence in the form of the answer."""
    form = asking.form
    named = form.name and names_new(asking.question.text, item.text)
    code = _CODE * form.code if item.code else 0.0
    return _STATES * says_what(form, item.text) + _NAMES * named + code


def _kind(asking: Asking, asked: Asked, sentence: str, does: bool) -> float:
    """Score how well a sentence, which says what is to be done or not, holds the kind of answer asked for."""
    if asked.kind in HARD_KINDS:
        return answer_strength(asked, sentence)
    # Causes and ways are marked by connectives, which occur in many sentences that answer something else.
    done = asked.kind == "way" and asking.deed and asking.deed.lower() in asked.folded
    return 0.5 * (float(does) if done else answer_strength(asked, sentence))


def _covers(question: Question, text: str) -> dict[str, float]:
    covered = frozenset(weigh(question, names_apart(text), 0.0).covered)
    return {form: share for form, share in shares_of(question).items() if form in covered}


def _part(covers: Mapping[str, float], share: float) -> dict[str, float]:
    return {term: share * own for term, own in covers.items()}


def _readability(item: Quotable, words: frozenset[str]) -> float:
    if item.text.rstrip("\"'”’）)").endswith(("?", "？")):
        return 0.4
    if _POINTS.search(item.text):
        return _POINTER
    if item.text.endswith(_COLONS) and not item.code:
        # It leads to what is not there; a long one says something all the same.
        return 0.5 if length(item.text) < _LONG_LEAD else 0.8
    return 0.6 if len(words) < (3 if is_sentence(item.text) else 4) else 1.0


def _greedy(quotes: Sequence[Quote]) -> list[Quote]:
    """Best sentence first, then the greatest gain over those chosen, while there is room and it is worth reading."""
    at = {(quote.marker, quote.position): quote for quote in quotes}
    left = list(quotes)
    chosen: list[Quote] = []
    best = 0.0
    while left and len(chosen) < _MOST_SENTENCES:
        worth, quote = max(
            ((_worth(item, chosen), item) for item in left),
            key=lambda pair: (pair[0], -pair[1].marker, -pair[1].position),
        )
        best = best or worth
        if chosen and worth < (_WORTH_NEXT if _follows(quote, chosen) and len(chosen) == 1 else _WORTH) * best:
            break
        left.remove(quote)
        group = _with_antecedent(quote, at, chosen)
        if _fits([*chosen, *group]):
            chosen.extend(group)
            left = [item for item in left if item not in group]
    return chosen


def _worth(quote: Quote, chosen: Sequence[Quote]) -> float:
    """Return the gain of adding a sentence to those chosen."""
    said = {term for other in chosen for term in other.covers}
    coverage = math.fsum(share * (_AGAIN if term in said else 1.0) for term, share in quote.covers.items())
    kind = max((strength * _still(quote, clause, chosen) for clause, strength in enumerate(quote.kinds)), default=0.0)
    most_similar = max((_likeness(quote.words, other.words) for other in chosen), default=0.0)
    fresh = bool(chosen) and all(other.marker != quote.marker for other in chosen)
    place = _NEW_SOURCE * fresh + _BESIDE * _follows(quote, chosen) - _SIMILAR * most_similar
    return quote.scale * (coverage + _KIND * kind + quote.extra + place)


def _still(quote: Quote, clause: int, chosen: Sequence[Quote]) -> float:
    """Weight further answers of the kind asked for: other passages may give others, and all belong here."""
    givers = {other.marker for other in chosen if other.kinds[clause] > 0}
    if not givers:
        return 1.0
    return _KIND_AGAIN if quote.marker in givers else _KIND_OTHERWISE


def _follows(quote: Quote, chosen: Sequence[Quote]) -> bool:
    return any(other.marker == quote.marker and quote.position - other.position == 1 for other in chosen)


def _with_antecedent(quote: Quote, at: Mapping[tuple[int, int], Quote], chosen: Sequence[Quote]) -> list[Quote]:
    """A quote, after the sentences that its first word points back to."""
    group = [quote]
    while leans_on_previous(group[0].text):
        before = at.get((quote.marker, group[0].position - 1))
        if before is None or before in chosen or _POINTS.search(before.text):
            break
        group.insert(0, before)
    return group


def _fits(quotes: Sequence[Quote]) -> bool:
    return len(quotes) <= _MOST_SENTENCES and sum(length(quote.text) for quote in quotes) <= _ROOM


def _likeness(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first or second else 1.0


def _foreign(language: Language, passages: Sequence[Passage]) -> bool:
    return all(language_of(passage.text) != language for passage in passages)


def _asked(request: GenerationRequest) -> dict[str, Any]:
    """The request as its record shows it."""
    passages = [
        {"marker": marker, "source": passage.source, "section": passage.section, "text": passage.text}
        | _surroundings(request.around.get(passage.id, Around()))
        for marker, passage in enumerate(request.passages, 1)
    ]
    tables = {"tables": [table_text(table) for table in request.tables]} if request.tables else {}
    still_open = {"open_parts": request.open_parts} if request.open_parts else {}
    return {"question": request.question, "verified": request.verified, "passages": passages, **tables, **still_open}


def _surroundings(around: Around) -> dict[str, list[str]]:
    """What surrounds a passage as the record shows it; nothing where there is nothing."""
    parts = {"before": around.before, "after": around.after}
    return {name: [item.text for item in part] for name, part in parts.items() if part}
