"""Drafting questions from a whole collection: read its passages, ask rules and perhaps a model, check near misses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from engine.drafting.drafting import CODE_BLOCK, draft_of, drafts_of
from engine.drafting.entries import with_heads
from engine.drafting.near_misses import NEAR_ANSWERS, Names, NearMiss, near_misses, unanswered
from engine.drafting.values import Draft, Found
from engine.drafting.wording import Told, ordered
from engine.errors import ModelError
from engine.roles import StoredPassage

if TYPE_CHECKING:
    from engine.knowledge.base import KnowledgeBase

MOST_READ = 20_000
"""Passages of a collection up to which near misses are made: they have to be checked against all of them."""
MOST_DRAFTED_FROM = 2_000
"""Passages that rules look at, evenly spread over the collection."""
NEAREST = 10
"""Passages nearest to a near miss that are looked at once more."""
_ONE_NEAR_MISS_IN = 5
_LEAST_PROSE = 150
"""Characters besides code that a passage needs for a model to be asked about it."""
_AT_ONCE = 2
"""Passages that a chat model is given at the same time."""


class QuestionWriter(Protocol):
    """Writes questions that a passage answers (tests/llm/test_question_writer.py)."""

    @property
    def name(self) -> str: ...

    async def questions(self, passage: StoredPassage) -> list[Found]: ...


@dataclass(frozen=True, slots=True)
class Step:
    """How far the drafting has come."""

    stage: str
    """``reading``, ``writing`` or ``checking``."""
    done: int
    total: int


Note = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a drafting."""

    drafts: tuple[Draft, ...]
    passages: int
    """Of the collection, as far as they were read."""
    unread: int
    """Passages that a model was shown without a usable reply."""
    unchecked: bool
    """The collection is too large for near misses to be checked against all of it: none were made."""


async def make(
    knowledge: KnowledgeBase,
    collection: str,
    told: Sequence[str],
    limit: int,
    *,
    writer: QuestionWriter | None = None,
    note: Note = lambda _: None,
) -> Made:
    """Draft up to ``limit`` questions of a collection that are not ``told`` already, best first and kinds mixed.

    With a ``writer``, half of them are its own where it writes as many. Raises ``UnknownCollection``, and the
    ``ModelError`` of a model of which no call succeeded.
    """
    passages, whole = await _read(knowledge, collection, note)
    looked_at = _spread(passages, MOST_DRAFTED_FROM)
    drafts = await asyncio.to_thread(drafts_of, looked_at, collection, told)
    written: list[Draft] = []
    unread = 0
    known = Told([*told, *(item.question for item in drafts)])
    if writer is not None:
        written, unread = await _written(
            writer, spread_over(looked_at, max(1, limit // 2)), collection, known=known, note=note
        )
    missed: list[Draft] = []
    if whole:
        most = max(1, limit // _ONE_NEAR_MISS_IN)
        missed = await _checked(knowledge, collection, drafts, passages, most=most, known=known, note=note)
    best = ordered([*drafts, *written, *missed])[:limit]
    return Made(tuple(best), len(passages), unread, not whole)


async def _read(knowledge: KnowledgeBase, collection: str, note: Note) -> tuple[list[StoredPassage], bool]:
    """The passages of a collection, source by source, and whether they are all of them."""
    sources = await knowledge.sources(collection)
    passages: list[StoredPassage] = []
    for place, source in enumerate(sources):
        note(Step("reading", place, len(sources)))
        if len(passages) >= MOST_READ:
            return passages, False
        passages += await knowledge.passages(collection, source.source)
    return passages, True


async def _written(
    writer: QuestionWriter, chosen: Sequence[StoredPassage], collection: str, *, known: Told, note: Note
) -> tuple[list[Draft], int]:
    """What a model writes of some passages, and of how many nothing could be read."""
    found: list[Draft] = []
    failures: list[ModelError] = []
    gate = asyncio.Semaphore(_AT_ONCE)
    done = 0

    async def ask(passage: StoredPassage) -> None:
        nonlocal done
        async with gate:
            try:
                said = await writer.questions(passage)
            except ModelError as failure:
                failures.append(failure)
                said = []
        done += 1
        note(Step("writing", done, len(chosen)))
        for item in said:
            if not known.has(item.question):
                known.add(item.question)
                found.append(replace(draft_of(item, (passage,), collection), by=writer.name))

    note(Step("writing", 0, len(chosen)))
    await asyncio.gather(*map(ask, chosen))
    if failures and len(failures) == len(chosen):
        raise failures[-1]
    return found, len(failures)


async def _checked(
    knowledge: KnowledgeBase,
    collection: str,
    drafts: Sequence[Draft],
    passages: Sequence[StoredPassage],
    *,
    most: int,
    known: Told,
    note: Note,
) -> list[Draft]:
    """Near misses that no passage answers by words, and none of the nearest ones by half as many."""

    def by_words() -> tuple[Names, list[NearMiss]]:
        names = Names(with_heads(passages))
        return names, list(near_misses(drafts, names, collection, 2 * most, known))

    names, found = await asyncio.to_thread(by_words)
    retriever = await knowledge.retriever(collection)
    kept: list[Draft] = []
    for place, item in enumerate(found):
        note(Step("checking", place, len(found)))
        if len(kept) >= most:
            break
        hits = (await retriever.search(item.draft.question, NEAREST)).passages
        near = [hit.id for hit in hits if hit.id in names.passages]
        if unanswered(item.draft.question, item.draft.swapped, names, near, NEAR_ANSWERS) is not None:
            kept.append(item.draft)
    return kept


def spread_over(passages: Sequence[StoredPassage], most: int) -> list[StoredPassage]:
    """At most ``most`` passages with enough prose to ask about, at even distances."""
    telling = [item for item in passages if len(CODE_BLOCK.sub("", item.text)) >= _LEAST_PROSE]
    if len(telling) <= most:
        return telling
    return [telling[place * len(telling) // most] for place in range(most)]


def _spread(passages: Sequence[StoredPassage], most: int) -> list[StoredPassage]:
    """Whole stretches of passages, so that headings and tables keep what belongs to them."""
    if len(passages) <= most:
        return list(passages)
    stretch, parts = 50, most // 50
    starts = [part * len(passages) // parts for part in range(parts)]
    return [item for start in starts for item in passages[start : start + stretch]]
