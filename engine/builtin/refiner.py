"""Built-in refiner: which strips of a passage bear on a question, by words; deterministic, and no reading."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from engine.builtin.answer_form import Asking
from engine.builtin.answer_kind import answer_strength
from engine.builtin.evidence import HARD_KINDS, weigh
from engine.builtin.generator import asking_of
from engine.builtin.quotable import leans_on_previous
from engine.builtin.strips import is_header, is_heading, is_row, level_of, strips_of, under
from engine.model.language import language_of
from engine.model.values import Passage, PassageId, Sentence
from engine.roles import SILENT, RefineRequest, Trace

_LEADING_IN = re.compile(r"[:：]\s*$")

_KIND = 0.35
"""What an answer of the kind asked for counts next to coverage, as for the built-in generator's own choice."""
_RENAMED = 0.25
_HEADING_COUNTS = 0.15
_LINKED = 0.25
"""What naming two of the entities that a search went along counts."""
_LEANING = 0.9
"""Share of the bearing of a strip that the one before it gets where it cannot be read without it."""
_NEIGHBOUR = 0.6
"""Share of the bearing of a strip that the next one gets: it often continues with the answer."""
_FULL = 0.8
"""Score that counts as full bearing: no sentence repeats a whole question and answers it too."""


class BuiltinRefiner:
    """Keeps the strips that bear on the question by words (contract: :class:`engine.roles.Refiner`)."""

    async def refine(
        self, request: RefineRequest, trace: Trace = SILENT
    ) -> Mapping[PassageId, tuple[Sentence, ...] | None]:
        """The strips of every passage that is cut; raises nothing."""
        return refined(request.question, request.passages, request.threshold, request.names, request.around)


def refined(
    question: str,
    passages: Sequence[Passage],
    threshold: float,
    names: Sequence[str] = (),
    around: Collection[PassageId] = (),
) -> dict[PassageId, tuple[Sentence, ...]]:
    """The strips of each passage with their bearing on the question; those below ``threshold`` are not kept.

    ``names`` are those of entities that the search went along: the sentence that connects two of them seldom repeats
    the question.

    Where none bears that much, those that bear most are kept, which is all of them where they bear equally or not at
    all; of a passage in ``around`` none. Headings and headers of tables stay with what is kept under them. A passage
    in another language than the question is left whole: relevance cannot be decided. Passages where nothing is cut are
    left out of the result.
    """
    asking = asking_of(question)
    folded = tuple(dict.fromkeys(name.casefold() for name in names if len(name) > 1))
    found: dict[PassageId, tuple[Sentence, ...]] = {}
    for passage in passages:
        if language_of(passage.text) != language_of(question):
            continue
        strips = strips_of(passage.text)
        bearings = _bearings(asking, passage, strips, folded)
        made = _kept(strips, bearings, threshold, least=passage.id not in around)
        if not all(item.kept for item in made):
            found[passage.id] = made
    return found


def _kept(strips: Sequence[str], bearings: Sequence[float], threshold: float, *, least: bool) -> tuple[Sentence, ...]:
    headings = under(strips)
    own = [bearing for at, bearing in enumerate(bearings) if at not in headings]
    enough = min(threshold, max(own or bearings, default=0.0)) if least else threshold
    return tuple(
        Sentence(strip, bearing, kept=bearing >= enough) for strip, bearing in zip(strips, bearings, strict=True)
    )


def _bearings(asking: Asking, passage: Passage, strips: Sequence[str], names: Sequence[str]) -> list[float]:
    """Bearings of the strips; one that another needs to be understood bears nearly as much as that one."""
    headings = [*_headings(strips, passage.above)]
    above = {heading: _coverage(asking, heading) if heading else 0.0 for heading in {*headings}}
    found = [_bearing(asking, strip, above[heading], names) for strip, heading in zip(strips, headings, strict=True)]
    for at in range(len(strips) - 1, 0, -1):
        if leans_on_previous(strips[at].lstrip(" \t\n-*+•·")) or _LEADING_IN.search(strips[at - 1]):
            found[at - 1] = max(found[at - 1], _LEANING * found[at])
    goes_on = [
        0.0 if is_heading(strip) or is_row(strip) or is_heading(before) else _NEIGHBOUR * bearing
        for before, strip, bearing in zip(strips, strips[1:], found, strict=False)
    ]
    found = [max(pair) for pair in zip(found, [0.0, *goes_on], strict=True)]
    below = under(strips)
    found = [max((found[place] for place in below.get(at, ())), default=own) for at, own in enumerate(found)]
    return [round(bearing, 4) for bearing in found]


def _headings(strips: Sequence[str], path: str) -> Iterator[str]:
    """For each strip what stands above it: the passage's heading path, headings inside it, the header of its table."""
    inside: list[str] = []
    header = ""
    for strip in strips:
        if is_heading(strip):
            inside = [item for item in inside if level_of(item) < level_of(strip)]
        header = header if is_row(strip) and not is_header(strip) else ""
        yield "\n".join(filter(None, (path, *inside, header)))
        if is_heading(strip):
            inside.append(strip)
        if is_header(strip):
            header = strip


def _bearing(asking: Asking, text: str, above: float, entities: Sequence[str]) -> float:
    """Score in [0, 1] how much of the question a sentence covers, and whether its answer is of the kind asked for."""
    near = _coverage(asking, text)
    lowered = text.casefold()
    names = [any(name in lowered for name in group) for group in asking.renamed]
    renamed = sum(names) / len(names) if names else 0.0
    linked = min(1.0, sum(name in lowered for name in entities) / 2)
    context = min(1.0, 2.0 * (near + _HEADING_COUNTS * above) + renamed)
    strength = max(
        answer_strength(clause, text) * (1.0 if clause.kind in HARD_KINDS else 0.5) for clause in asking.clauses
    )
    score = near + _KIND * strength * context + _RENAMED * renamed + _HEADING_COUNTS * above + _LINKED * linked
    # The root spreads out the low scores: sentences that complete an answer repeat little of the question.
    return math.sqrt(min(1.0, score / _FULL))


def _coverage(asking: Asking, text: str) -> float:
    """Share of the question's weight that a text covers, whole terms alone."""
    covered = frozenset(weigh(asking.question, text, 0.0).covered)
    total = sum(asking.question.weights)
    if not total:
        return 0.0
    pairs = zip(asking.question.forms.values(), asking.question.weights, strict=True)
    return sum(weight for form, weight in pairs if form in covered) / total
