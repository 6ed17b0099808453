"""Entities and relationships without a model: likely names, known verbs between them, and what stands together.

It is weak, and says so by its name wherever its graph is shown: names are guessed from capitals, word classes and
rarity, their types are hardly known, and most relationships say only that two names share a sentence.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from engine.builtin.graph_relations import SURE, TOGETHER, Tie, other_name, ties, whole
from engine.builtin.graph_terms import Candidate, Span, candidates, spans
from engine.knowledge.chunk import tokens
from engine.model.config import BUILTIN
from engine.model.language import language_of, sentences
from engine.model.values import Entity, PassageId, Relationship
from engine.roles import SILENT, StoredPassage, Trace
from engine.roles.graph import PassageGraph, ReadEntity, ReadRelationship, text_hash

MOST_RELATIONSHIPS = 30
"""Of one passage: verbs first, then names that stand together."""
SUMMARY_TOKENS = 120
_LONGEST_SAID = 240
_TITLE_NAMES = 3
_DEFINES = re.compile(r"^\s*,?\s*(?:is|are|was|were|means|refers to)\b|^(?:是|指|即|就是)", re.IGNORECASE)


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
    """What one passage says; the same text and headings always give the same."""
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
    told = list(dict.fromkeys(sentence for passage in own for sentence in sentences(passage.text)))
    chosen = _telling(told, [item.name.casefold() for item in stands])
    between = "" if language == "zh" else " "
    return title, between.join(told[place] for place in sorted(chosen)) or title


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


def _telling(told: Sequence[str], names: Sequence[str]) -> list[int]:
    """Sentences that name most entities that were not named before, as many as fit."""
    room, left = float(SUMMARY_TOKENS), set(names)
    chosen: list[int] = []
    folded = [sentence.casefold() for sentence in told]
    while left and len(chosen) < len(told):
        gain, negative = max(
            (sum(name in folded[at] for name in left), -at) for at in range(len(told)) if at not in chosen
        )
        place = -negative
        if not gain or tokens(told[place]) > room:
            break
        chosen.append(place)
        room -= tokens(told[place])
        left -= {name for name in left if name in folded[place]}
    return chosen or ([0] if told else [])
