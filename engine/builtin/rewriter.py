"""The rewriter that needs no model: deterministic strategies over key terms and what the failed passages hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from types import MappingProxyType
from typing import Literal

from engine.builtin.failure_analysis import Reading, read
from engine.builtin.report import reported
from engine.builtin.terms import is_han
from engine.model.language import normalised_query
from engine.roles import SILENT, RewriteProposal, RewriteRequest, Trace

Strategy = Literal["feedback", "keywords", "synonyms", "broader", "split", "emphasise", "qualify"]
Failure = Literal["nothing_kept", "too_wide", "term_missing", "near_miss"]

_ADDED = 3
"""Terms taken from passages into one query: more would drown the question."""
_SYNONYMS = 5
_WINDOWS = 3
"""How far down the list of near terms the rewriter goes before it gives up."""

ORDERS: Mapping[Failure, tuple[Strategy, ...]] = MappingProxyType(
    {
        "nothing_kept": ("synonyms", "split", "broader", "keywords", "qualify", "emphasise", "feedback"),
        "too_wide": ("synonyms", "qualify", "feedback", "keywords", "broader", "split", "emphasise"),
        "term_missing": ("split", "synonyms", "emphasise", "feedback", "broader", "keywords", "qualify"),
        "near_miss": ("split", "feedback", "synonyms", "keywords", "emphasise", "qualify", "broader"),
    }
)
"""Which strategies answer which failure, most promising first."""

_REASONS: Mapping[Strategy, str] = MappingProxyType(
    {
        "feedback": "Terms from the nearest sentences of the passages that did not pass were added: {terms}.",
        "keywords": "Question words and filler were taken out, so that only the key terms are searched: {terms}.",
        "synonyms": "The passages may use other words for the same, so these were added: {terms}.",
        "broader": "To find more, only these terms of the question are searched: {terms}.",
        "split": "The question has several parts; this query asks for one of them: {terms}.",
        "emphasise": "Some passages that did not pass lack these terms of the question, so they come first: {terms}.",
        "qualify": "The query was narrowed with: {terms}.",
    }
)
"""Each says no more than what the proposal and the failed passages show.

:func:`engine.model.wording.named_in` reads the terms back.
"""
_EXHAUSTED = "Every query that the built-in rewriter can think of has been tried; the key terms stand."

_ASPECTS = MappingProxyType(
    {
        "zh": ("定义与主要内容", "分类与特点", "原因与方法", "例子与应用"),
        "en": (
            "definition and main points",
            "types and differences",
            "causes and methods",
            "examples and uses",
        ),
    }
)
"""What a bare subject can be asked for; used where the passages offer no qualifiers or they have been tried."""


class BuiltinRewriter:
    """Rewrites by rule, the same way every time; knows no threshold and calls nothing.

    Every query keeps the weightiest term of the original question, so that a rewrite cannot leave the subject.
    """

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        """The first idea that has not been tried; when all have been, the key terms once more."""
        return reported(trace, "rewriter", request, propose)


def propose(request: RewriteRequest) -> RewriteProposal:
    """The first of :func:`proposals` that repeats neither the question nor anything in the history."""
    found = first_new(proposals(request), request)
    if found is not None:
        return found
    keys = tuple(read(request).keys.values())
    return RewriteProposal(" ".join(keys) or request.question, _EXHAUSTED, keys, "keywords")


def first_new(found: Iterable[RewriteProposal], request: RewriteRequest) -> RewriteProposal | None:
    """The first proposal whose query was not tried; None where all of them were."""
    tried = {normalised_query(text) for text in tried_queries(request)}
    return next((proposal for proposal in found if normalised_query(proposal.query) not in tried), None)


def tried_queries(request: RewriteRequest) -> Iterator[str]:
    """Every query that another proposal would repeat."""
    yield request.question
    yield request.current_query
    for item in request.history:
        yield item.query
        yield item.rewritten_query
        yield from item.refused


def proposals(request: RewriteRequest) -> Iterator[RewriteProposal]:
    """Every idea for this round: by failure, starting one strategy further on with each former rewrite.

    The first idea of every strategy comes before the second idea of any.
    """
    reading = read(request)
    order = [list(_IDEAS[strategy](reading)) for strategy in ORDERS[failure_of(reading)]]
    turns = [ideas for ideas in order if ideas]
    start = len(request.history) % max(1, len(turns))
    for same_turn in zip_longest(*turns[start:], *turns[:start]):
        yield from (idea for idea in same_turn if idea is not None)


def failure_of(reading: Reading) -> Failure:
    """Diagnose why the round failed, as far as the passages show it."""
    if reading.bare:
        return "too_wide"
    if reading.empty:
        return "nothing_kept"
    return "term_missing" if reading.missing else "near_miss"


def _feedback(reading: Reading) -> Iterator[RewriteProposal]:
    base = [reading.keys[term] for term in reading.telling]
    for added in _near_windows(reading):
        yield _proposal("feedback", [*base, *added], named=added)


def _keywords(reading: Reading) -> Iterator[RewriteProposal]:
    if len(reading.keys) > 1:
        yield _proposal("keywords", list(reading.keys.values()))


def _synonyms(reading: Reading) -> Iterator[RewriteProposal]:
    base = [reading.keys[term] for term in reading.telling]
    for count in (2, 1):
        named = list(dict.fromkeys(name for _, names in reading.synonyms for name in names[:count]))[:_SYNONYMS]
        if named:
            yield _proposal("synonyms", [*base, *named], named=named)


def _broader(reading: Reading) -> Iterator[RewriteProposal]:
    without_numbers = [term for term in reading.keys if not term[0].isdigit() or term == reading.core]
    if len(without_numbers) < len(reading.keys):
        yield _proposal("broader", [reading.keys[term] for term in without_numbers])
    for count in range((len(reading.keys) + 1) // 2, 0, -1):
        yield _proposal("broader", [reading.keys[term] for term in reading.heaviest(count)])


def _split(reading: Reading) -> Iterator[RewriteProposal]:
    for part in reading.parts:
        asked = [reading.keys[term] for term in part]
        subject = [] if reading.core in part else [reading.keys[reading.core]]
        yield _proposal("split", [*subject, *asked], named=asked)


def _emphasise(reading: Reading) -> Iterator[RewriteProposal]:
    chosen = set(sorted(reading.missing, key=lambda term: -reading.weights[term])[:_ADDED])
    missing = [reading.keys[term] for term in reading.missing if term in chosen]
    found = [term for term in reading.keys if term not in reading.missing]
    if not missing or not found:
        return
    # What the passages do share with the question is its subject: without it the missing terms could mean anything.
    subject = sorted(found, key=lambda term: -reading.weights[term])[:2]
    yield _proposal("emphasise", [*missing, *(reading.keys[term] for term in found if term in subject)], named=missing)
    yield _proposal("emphasise", [*missing, *(reading.keys[term] for term in found)], named=missing)


def _qualify(reading: Reading) -> Iterator[RewriteProposal]:
    if not reading.keys:
        return
    base = list(reading.keys.values()) if len(reading.keys) <= 2 else [reading.keys[reading.core]]
    if reading.bare:
        for aspect in _ASPECTS["zh" if is_han(reading.core) else "en"]:
            yield _proposal("qualify", [*base, aspect], named=[aspect])
    for added in _near_windows(reading):
        yield _proposal("qualify", [*base, *added], named=added)


_IDEAS: Mapping[Strategy, Callable[[Reading], Iterable[RewriteProposal]]] = MappingProxyType(
    {
        "feedback": _feedback,
        "keywords": _keywords,
        "synonyms": _synonyms,
        "broader": _broader,
        "split": _split,
        "emphasise": _emphasise,
        "qualify": _qualify,
    }
)


def _near_windows(reading: Reading) -> Iterator[list[str]]:
    for start in range(0, _ADDED * _WINDOWS, _ADDED):
        added = list(reading.near[start : start + _ADDED])
        if added:
            yield added


def _proposal(strategy: Strategy, words: list[str], named: list[str] | None = None) -> RewriteProposal:
    reason = _REASONS[strategy].format(terms=", ".join(named or words))
    return RewriteProposal(" ".join(words), reason, tuple(words), strategy)
