"""What passages bring along from their source at generation, and what a token budget leaves of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from engine.model.config import Expand
from engine.model.values import WEAK_POINT, WEB_ID, Around, Context, Passage, PassageId, Round, RunRecord, Surrounding

REACH: Mapping[Expand, int] = {"none": 0, "neighbours": 1, "section": 8}
"""How many places before and after a passage are looked at."""
_LEAST_SHARED = 8
"""Characters from which the end of one passage is taken to be repeated at the beginning of the next."""


def from_store(rounds: Iterable[Round]) -> dict[PassageId, Passage]:
    """The candidates that have a place in a source of the collection: neither results from the web nor weak points."""
    found = {item.passage.id: item.passage for current in rounds for item in current.candidates}
    return {name: item for name, item in found.items() if not name.startswith((WEB_ID, WEAK_POINT))}


class Sources:
    """Passages by their place: candidates, and what was read around them."""

    def __init__(self, passages: Iterable[Passage], read: Iterable[Surrounding]) -> None:
        self._by_id = {item.id: item for item in (*read, *map(Surrounding.of, passages))}
        self._places: dict[tuple[str, int], list[Surrounding]] = {}
        for item in sorted(self._by_id.values(), key=lambda item: item.id):
            self._places.setdefault((item.source, item.ordinal), []).append(item)

    def near(self, passage: Passage, expand: Expand) -> Iterator[Surrounding]:
        """What a passage brings along, nearest first, what comes before it first where two are as near."""
        for distance in range(1, REACH[expand] + 1):
            for ordinal in (passage.ordinal - distance, passage.ordinal + distance):
                for item in self._places.get((passage.source, ordinal), ()):
                    if expand != "section" or item.section == passage.section:
                        yield item

    def around(self, passage: Passage, names: Iterable[PassageId]) -> Around:
        """The texts of what was given around a passage."""
        items = [self.unrepeated(self._by_id[name], passage) for name in names]
        items.sort(key=lambda item: (item.ordinal, item.id))
        return Around(
            tuple(item for item in items if item.ordinal < passage.ordinal),
            tuple(item for item in items if item.ordinal > passage.ordinal),
        )

    def unrepeated(self, item: Surrounding, passage: Passage) -> Surrounding:
        """Surroundings without the sentences that the next passage towards their own one repeats."""
        before = item.ordinal < passage.ordinal
        for inner in self._places.get((item.source, item.ordinal + (1 if before else -1)), ()):
            # Sections share no sentences, and what stands in another one may not have been read.
            if inner.section == item.section:
                first, second = (item.text, inner.text) if before else (inner.text, item.text)
                shared = _shared(first, second)
                rest = item.text[: len(item.text) - shared].rstrip() if before else item.text[shared:].lstrip()
                item = replace(item, text=rest)
        return item


def _shared(first: str, second: str) -> int:
    """Characters at the end of one text with which another one begins."""
    longest = min(len(first), len(second))
    return next((size for size in range(longest, _LEAST_SHARED - 1, -1) if second.startswith(first[-size:])), 0)


def expanded(
    context: Context,
    sources: Sources,
    expand: Expand,
    read: Callable[[Surrounding], str],
    count_tokens: Callable[[str], int],
) -> Context:
    """A context with the surroundings of its passages in their order, nearest first, as long as there is room.

    What is to be given as a passage itself, or stands around a better one, is not repeated, and nothing is given where
    ``read`` leaves no text. Where even a passage was cut, nothing is added: less important text must not take its
    place.
    """
    named = {*(item.id for item in context.passages), *context.cut}
    given: dict[PassageId, list[Surrounding]] = {}
    cut: list[PassageId] = []
    used = context.tokens
    for passage in context.passages:
        for item in sources.near(passage, expand):
            if item.id in named:
                continue
            named.add(item.id)
            text = read(sources.unrepeated(item, passage))
            if not text:
                continue
            tokens = count_tokens(text)
            if cut or context.cut or used + tokens > context.token_budget:
                cut.append(item.id)
            else:
                given.setdefault(passage.id, []).append(item)
                used += tokens
    around = {
        name: tuple(item.id for item in sorted(items, key=lambda item: (item.ordinal, item.id)))
        for name, items in given.items()
    }
    return replace(context, around=around, around_cut=tuple(cut), tokens=used)


def texts_around(
    context: Context, rounds: Iterable[Round], read: Iterable[Surrounding] | None
) -> dict[PassageId, Around]:
    """Texts of the surroundings that a context names, by passage."""
    if not context.around:
        return {}
    sources, given = Sources(from_store(rounds).values(), read or ()), {item.id: item for item in context.passages}
    return {name: sources.around(given[name], names) for name, names in context.around.items()}


def around_of(record: RunRecord) -> dict[PassageId, Around]:
    """What the generator was given around each passage of the answer that stands."""
    return texts_around(record.context, record.rounds, record.surroundings) if record.context else {}


def near_of(record: RunRecord) -> dict[PassageId, Around]:
    """What was given around each passage, and at its place what was left out because nothing in it bears."""
    context = record.context
    if context is None:
        return {}
    sources, emptied = Sources(from_store(record.rounds).values(), record.surroundings or ()), {*context.emptied}
    found: dict[PassageId, Around] = {}
    for passage in context.passages:
        left_out = [item.id for item in sources.near(passage, record.config.expand) if item.id in emptied]
        emptied.difference_update(left_out)
        if near := [*context.around.get(passage.id, ()), *left_out]:
            found[passage.id] = sources.around(passage, near)
    return found


def read_with(passages: Iterable[Passage], around: Mapping[PassageId, Around]) -> tuple[Passage, ...]:
    """Passages with what surrounds them in their text."""
    return tuple(
        replace(item, text=around[item.id].around(item.text)) if item.id in around else item for item in passages
    )
