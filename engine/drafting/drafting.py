"""Drafting questions from a collection: read its passages, and let a chat model write what some of them answer."""

from __future__ import annotations

import asyncio
import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, Protocol

from engine.builtin.terms import is_han, question_terms, terms
from engine.drafting.values import Draft, draft_id
from engine.errors import ModelError
from engine.knowledge.kept_replies import KeptReplies
from engine.model.drafted import Found
from engine.model.language import language_of
from engine.roles import SourceInfo, StoredPassage

MOST_READ = 20_000
"""Passages of a collection that are looked at."""
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LEAST_PROSE = 150
"""Characters outside code that a passage needs for a model to be asked about it."""
_AT_ONCE = 2
"""Passages that a chat model is given at the same time."""
_NEARLY_SAME = 0.8
"""Share of the words of two questions together from which they say the same."""
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")


class QuestionWriter(Protocol):
    """Writes questions that a passage answers (tests/llm/test_question_writer.py)."""

    @property
    def name(self) -> str: ...

    async def questions(self, passage: StoredPassage) -> list[Found]: ...


class Readable(Protocol):
    """Collections that are read whole: :class:`engine.knowledge.base.KnowledgeBase`."""

    async def sources(self, collection: str) -> list[SourceInfo]: ...

    async def passages(self, collection: str, source: str) -> list[StoredPassage]: ...


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of drafting."""

    stage: Literal["reading", "writing"]
    done: int
    total: int


Note = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Made:
    """Result of drafting."""

    drafts: tuple[Draft, ...]
    passages: int
    """Of the collection, as far as they were read."""
    unread: int
    """Passages that the model was shown without a usable reply."""


async def make(
    knowledge: Readable,
    collection: str,
    asked: Sequence[str],
    limit: int,
    writer: QuestionWriter,
    *,
    kept: KeptReplies,
    note: Note,
) -> Made:
    """Draft up to ``limit`` questions of a collection that are not in ``asked``, from as many passages as possible.

    The writer is called once for each of at most ``limit`` passages of which ``kept`` has no reply yet. Raises
    ``UnknownCollection``, and the ``ModelError`` of a model of which no call succeeded.
    """
    passages = await _read(knowledge, collection, note)
    chosen = spread_over(passages, limit)
    said, unread = await _written(writer, chosen, kept, note)
    known = AskedBefore(asked)
    drafts: list[Draft] = []
    for passage, found in _by_turns(chosen, said):
        if not known.has(found.question):
            known.add(found.question)
            drafts.append(draft_of(found, passage, collection, writer.name))
    return Made(tuple(drafts[:limit]), len(passages), unread)


async def _read(knowledge: Readable, collection: str, note: Note) -> list[StoredPassage]:
    """The passages of a collection, source by source."""
    sources = await knowledge.sources(collection)
    passages: list[StoredPassage] = []
    for place, source in enumerate(sources):
        note(Step("reading", place, len(sources)))
        if len(passages) < MOST_READ:
            passages += await knowledge.passages(collection, source.source)
    return passages


async def _written(
    writer: QuestionWriter, chosen: Sequence[StoredPassage], kept: KeptReplies, note: Note
) -> tuple[list[list[Found]], int]:
    """Write a question for each passage with a model, and count the unreadable replies."""
    failures: list[ModelError] = []
    gate = asyncio.Semaphore(_AT_ONCE)
    done = 0

    async def ask(passage: StoredPassage) -> list[Found]:
        nonlocal done
        async with gate:
            try:
                said = await _asked(writer, passage, kept)
            except ModelError as failure:
                failures.append(failure)
                said = []
        done += 1
        note(Step("writing", done, len(chosen)))
        return said

    note(Step("writing", 0, len(chosen)))
    said = await asyncio.gather(*map(ask, chosen))
    if failures and len(failures) == len(chosen):
        raise failures[-1]
    return said, len(failures)


async def _asked(writer: QuestionWriter, passage: StoredPassage, kept: KeptReplies) -> list[Found]:
    """The questions of a passage, as they were written before where they were."""
    key = hashlib.sha256(f"{passage.id}\n{passage.text}".encode(errors="surrogatepass")).hexdigest()
    known = kept.find(key)
    if known is not None:
        return [Found(question, tuple(gold), quote) for question, gold, quote in known]
    said = await writer.questions(passage)
    await asyncio.to_thread(kept.keep, key, *((item.question, item.gold, item.quote) for item in said))
    return said


def _by_turns(
    chosen: Sequence[StoredPassage], said: Sequence[Sequence[Found]]
) -> Iterable[tuple[StoredPassage, Found]]:
    """The first question of every passage, then the second ones."""
    for turn in zip_longest(*said):
        yield from ((passage, found) for passage, found in zip(chosen, turn, strict=True) if found is not None)


def spread_over(passages: Sequence[StoredPassage], most: int) -> list[StoredPassage]:
    """At most ``most`` passages with enough prose to ask about, at even distances."""
    telling = [item for item in passages if len(_CODE_BLOCK.sub("", item.text)) >= _LEAST_PROSE]
    if len(telling) <= most:
        return telling
    return [telling[place * len(telling) // most] for place in range(most)]


def draft_of(found: Found, passage: StoredPassage, collection: str, by: str) -> Draft:
    """A draft of what was found, with how much wording it shares with the passage and the headings above it."""
    share, run = shared_with(found.question, f"{passage.title}\n{passage.section}\n{passage.text}")
    return Draft(
        id=draft_id(collection, found.question),
        collection=collection,
        question=found.question,
        rule="chat",
        language=language_of(found.question),
        passages=(passage.id,),
        source=passage.source,
        quote=found.quote,
        gold_answers=found.gold,
        shared=share,
        run=run,
        by=by,
    )


def shared_with(question: str, passage: str) -> tuple[float, int]:
    """Share of the question's content words that a passage has, in [0, 1], and the longest stretch of words in common.

    A Chinese character counts as a word of the stretch.
    """
    asked = question_terms(question)
    has = frozenset(terms(passage))
    folded = unicodedata.normalize("NFKC", passage).casefold()
    met = sum(term in has or (is_han(term) and term in folded) for term in asked)
    one, other = _words(question), _words(passage)
    longest = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return (round(met / len(asked), 4) if asked else 0.0), longest.size


class AskedBefore:
    """Questions that there are already: whether another says the same as one of them."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._by_term: dict[str, list[frozenset[str]]] = defaultdict(list)
        self._whole: set[tuple[str, ...]] = set()
        for question in questions:
            self.add(question)

    def add(self, question: str) -> None:
        """Note a question."""
        bag = frozenset(question_terms(question))
        self._whole.add(tuple(_words(question)))
        for term in bag:
            self._by_term[term].append(bag)

    def has(self, question: str) -> bool:
        """Return whether a question with the same words, or with nearly the same ones, was noted."""
        if tuple(_words(question)) in self._whole:
            return True
        bag = frozenset(question_terms(question))
        near = {id(other): other for term in bag for other in self._by_term.get(term, ())}
        return any(len(bag & other) >= _NEARLY_SAME * len(bag | other) for other in near.values())


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
