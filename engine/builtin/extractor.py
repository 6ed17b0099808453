"""Entities and relationships without a model: likely names, known verbs between them, and what stands together.

It is weak, and says so by its name wherever its graph is shown: names are guessed from capitals, word classes and
rarity, their types are hardly known, and most relationships say only that two names share a sentence.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from engine.builtin.graph_terms import RELATION_WORDS, Candidate, Span, candidates, spans
from engine.builtin.terms import is_han
from engine.model.config import BUILTIN
from engine.model.language import language_of, sentences, tokens
from engine.model.values import Entity, PassageId, Relationship
from engine.roles import SILENT, StoredPassage, Trace
from engine.roles.graph import PassageGraph, ReadEntity, ReadRelationship, text_hash

TOGETHER = "RELATED_TO"
_BY_AUTHOR = "DISCOVERED"
"""What only who has a name does: "first found in pregnancy" is no discovery."""
SURE, GUESSED = 1.0, 0.5
"""Weight of what a verb says, and of two names that only stand together."""
_AROUND = {"en": r"(?:e?s\b)?\W*(?:[\w'-]+\W+){{0,2}}?{}(?:\W+[\w'-]+){{0,3}}\W*", "zh": r".{{0,3}}?{}.{{0,4}}"}
"""How much may stand next to a verb: a plural's ending and a few words, or some characters."""
_JOINED = frozenset("的是为叫和与及、在，。：；（“《 ")
"""Before a Chinese name, these end what stands before it; anything else may be the beginning of a longer name."""
_NEAR = 5
"""Names on one side that a name is tied to where nothing better is known."""
_AND = re.compile(r"\s*(?:,|，|、|and|or|as well as|和|与|及|以及|或)\s*(?:the |an? )?", re.IGNORECASE)
_STOPS = re.compile(r"[;；:：()（）]|[,，](?!\s*(?:which|that))")
_NOT = re.compile(r"\b(?:not|no|never|neither|nor|without)\b|n't\b|[不没无未非](?!仅|但|论|穷)", re.IGNORECASE)
_CALLED_EN = re.compile(
    r"^\s*\(\s*$|^,?\s*(?:also (?:called|known as)|or simply|abbreviated(?: as)?)\s+(?:the )?$", re.I
)
_CALLED_ZH = re.compile(r"^（$|^[，（(]?(?:又|也|亦)?(?:简?称|叫)(?:为|作|做)?[“「]?$")

Language = Literal["en", "zh"]
MOST_RELATIONSHIPS = 30
"""Of one passage: verbs first, then names that stand together."""
SUMMARY_TOKENS = 120
_LONGEST_SAID = 240
_TITLE_NAMES = 3
_DEFINES = re.compile(r"^\s*,?\s*(?:is|are|was|were|means|refers to)\b|^(?:是|指|即|就是)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tie:
    """A relationship between two names of one sentence."""

    source: str
    target: str
    type: str
    weight: float


def ties(sentence: str, found: Sequence[Span], proper: Set[str]) -> Iterator[Tie]:
    """Yield the relationships in a sentence: first those stated by verbs, then adjacent names.

    "X causes Y and Z" says the same of Y and of Z. A negated verb says nothing but that the names stand together.
    ``proper``: proper names of people or things.
    """
    language: Language = "zh" if language_of(sentence) == "zh" else "en"
    tied: set[frozenset[str]] = set()
    for place in range(len(found) - 1):
        for tie in _ties_of(sentence, found, place, language):
            pair = frozenset((tie.source, tie.target))
            if pair not in tied and (tie.type != _BY_AUTHOR or tie.source in proper):
                tied.add(pair)
                yield tie
    for place, one in enumerate(found):
        for other in found[place + 1 : place + 1 + _NEAR]:
            pair = frozenset((one.name, other.name))
            if len(pair) == 2 and pair not in tied:
                tied.add(pair)
                yield Tie(one.name, other.name, TOGETHER, GUESSED)


def other_name(sentence: str, one: Span, next_one: Span) -> bool:
    """Return whether the second of two adjacent names is another name of the first: an abbreviation, "also called"."""
    between = sentence[one.end : next_one.start]
    if not whole(sentence, one) or not (_CALLED_ZH.match(between) or _CALLED_EN.match(between)):
        return False
    if between.strip() in ("(", "（"):
        return sentence[next_one.end : next_one.end + 1] in (")", "）") and _abbreviates(next_one.name, one.name)
    return True


def whole(sentence: str, span: Span) -> bool:
    """Return whether a name begins where it seems to: 糖尿病 of 妊娠期糖尿病 does not."""
    before = sentence[span.start - 1 : span.start]
    return not is_han(span.name) or not is_han(before) or before in _JOINED


def _abbreviates(short: str, name: str) -> bool:
    if not (short.isascii() and short[:1].isalpha() and short.upper() == short):
        return False
    initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", name)).upper()
    return not name.isascii() or short[0] == initials[:1]


def _ties_of(sentence: str, found: Sequence[Span], place: int, language: Language) -> Iterator[Tie]:
    one, other = found[place], found[place + 1]
    verb = _verb(sentence[one.end : other.start], language)
    if verb is None:
        return
    kind, reverse = verb
    for target in _listed(sentence, found, place + 1):
        if target.name != one.name:
            ends = (target.name, one.name) if reverse else (one.name, target.name)
            yield Tie(*ends, kind, SURE)


def _listed(sentence: str, found: Sequence[Span], place: int) -> Iterator[Span]:
    """A name and those that are listed with it: Y, Z and W."""
    yield found[place]
    for before, after in pairwise(found[place:]):
        if not _AND.fullmatch(sentence[before.end : after.start]):
            return
        yield after


def _verb(between: str, language: Language) -> tuple[str, bool] | None:
    """Type and direction of what stands between two names; None where no verb is known, or where it is negated."""
    between = between.lstrip(")）")  # of an abbreviation: "insulin resistance (IR) causes"
    if _STOPS.search(between) or _NOT.search(between):
        return None
    for kind, reverse, pattern in _verbs(language):
        if pattern.fullmatch(between):
            return kind, reverse
    return None


@lru_cache(maxsize=2)
def _verbs(language: Language) -> tuple[tuple[str, bool, re.Pattern[str]], ...]:
    """Longer wordings first, so that "is caused by" is not read as "caused"."""
    made = [
        (item["type"], bool(item.get("reverse")), wording)
        for item in RELATION_WORDS["relations"]
        for wording in item[language]
    ]
    made.sort(key=lambda entry: -len(entry[2]))
    wrapped = r"\b(?:{})\b" if language == "en" else "(?:{})"
    return tuple((kind, reverse, _around(kind, wrapped.format(wording), language)) for kind, reverse, wording in made)


def _around(kind: str, verb: str, language: Language) -> re.Pattern[str]:
    # "In graph theory a tree is a graph" says nothing of graph theory: nothing may stand before this verb.
    if kind == "IS_A":
        around = r"(?:e?s\b)?\s*,?\s*{}(?:\W+[\w'-]+){{0,2}}\W*" if language == "en" else "{}.{{0,2}}"
    else:
        around = _AROUND[language]
    return re.compile(around.format(verb), re.IGNORECASE)


class BuiltinExtractor:
    """Reads passages by rules (contract: :class:`engine.roles.graph.Extractor`); each passage by itself."""

    name = BUILTIN
    unreadable: tuple[PassageId, ...] = ()

    async def extract(self, passages: Sequence[StoredPassage], trace: Trace = SILENT) -> list[PassageGraph]:
        return await asyncio.to_thread(lambda: [read_passage(item) for item in passages])

    async def summarise(
        self, entities: Sequence[Entity], relationships: Sequence[Relationship], passages: Sequence[StoredPassage]
    ) -> tuple[str, str]:
        return await asyncio.to_thread(summary_of, entities, passages)


def read_passage(passage: StoredPassage) -> PassageGraph:
    """Return the graph of one passage; equal text and headings give an equal graph."""
    named = {item.name: item for item in candidates(passage.text, f"{passage.title} {passage.section}")}
    proper = frozenset(name for name, item in named.items() if item.proper)
    said: dict[str, str] = {}
    aliases: dict[str, str] = {}
    found: list[tuple[Tie, str]] = []
    for sentence in sentences(passage.text):
        places = spans(sentence, tuple(named))
        for one, after in pairwise(places):
            if other_name(sentence, one, after) and one.name != after.name:
                aliases.setdefault(after.name, one.name)
        said |= {name: sentence for name in _defined(sentence, places) if name not in said}
        found += [(tie, sentence) for tie in ties(sentence, places, proper)]
    return PassageGraph(
        passage.id,
        text_hash(passage.text),
        tuple(_entity(item, said, aliases) for item in named.values() if item.name not in aliases),
        tuple(_relationships(found, aliases)),
    )


def summary_of(entities: Sequence[Entity], passages: Sequence[StoredPassage]) -> tuple[str, str]:
    """The first names as title; the sentences that tell of most entities, in their order, as summary."""
    language = _language(passages)
    own = [item for item in passages if language_of(item.text) == language] or list(passages)
    stands = [item for item in entities if any(_stands(item.name, passage.text) for passage in own)] or list(entities)
    title = ("、" if language == "zh" else ", ").join(item.name for item in stands[:_TITLE_NAMES])
    own_sentences = list(dict.fromkeys(sentence for passage in own for sentence in sentences(passage.text)))
    chosen = _telling(own_sentences, [item.name.casefold() for item in stands])
    between = "" if language == "zh" else " "
    return title, between.join(own_sentences[place] for place in sorted(chosen)) or title


def _entity(item: Candidate, said: Mapping[str, str], aliases: Mapping[str, str]) -> ReadEntity:
    others = tuple(alias for alias, name in aliases.items() if name == item.name)
    return ReadEntity(item.name, "NAME" if item.proper else "TERM", said.get(item.name, "")[:_LONGEST_SAID], others)


def _defined(sentence: str, places: Sequence[Span]) -> list[str]:
    """The name that a sentence begins with and says something of."""
    first = places[0] if places else None
    if first is None or first.start > len("The ") or not whole(sentence, first):
        return []
    return [first.name] if _DEFINES.match(sentence[first.end :].lstrip("s")) else []


def _relationships(found: Sequence[tuple[Tie, str]], aliases: Mapping[str, str]) -> list[ReadRelationship]:
    """Each once, as often as it was said; verbs before names that only stand together."""
    weights: dict[tuple[str, str, str], float] = {}
    said: dict[tuple[str, str, str], str] = {}
    for tie, sentence in found:
        source, target = aliases.get(tie.source, tie.source), aliases.get(tie.target, tie.target)
        if source == target:
            continue
        key = (source, target, tie.type)
        if tie.weight < SURE and (target, source, tie.type) in weights:  # standing together has no direction
            key = (target, source, tie.type)
        weights[key] = weights.get(key, 0.0) + tie.weight
        said.setdefault(key, sentence[:_LONGEST_SAID])
    ordered = sorted(weights, key=lambda key: (key[2] == TOGETHER, -weights[key]))
    return [ReadRelationship(*key, said[key], weights[key]) for key in ordered[:MOST_RELATIONSHIPS]]


def _language(passages: Sequence[StoredPassage]) -> str:
    counted = Counter(language_of(item.text) for item in passages)
    return counted.most_common(1)[0][0] if counted else "other"


def _stands(name: str, text: str) -> bool:
    return name.casefold() in text.casefold()


def _telling(candidates: Sequence[str], names: Sequence[str]) -> list[int]:
    """Sentences that name most entities that were not named before, as many as fit."""
    room, left = float(SUMMARY_TOKENS), set(names)
    chosen: list[int] = []
    folded = [sentence.casefold() for sentence in candidates]
    while left and len(chosen) < len(candidates):
        gain, negative = max(
            (sum(name in folded[at] for name in left), -at) for at in range(len(candidates)) if at not in chosen
        )
        place = -negative
        if not gain or tokens(candidates[place]) > room:
            break
        chosen.append(place)
        room -= tokens(candidates[place])
        left -= {name for name in left if name in folded[place]}
    return chosen or ([0] if candidates else [])
