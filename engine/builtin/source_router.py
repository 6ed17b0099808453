"""The router of source kinds that needs no model: cues of the query, in Chinese and English (QL-03)."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from engine.builtin.query_intents import Intent, about_weak_points, intents_in, without_intents
from engine.builtin.report import reported
from engine.model.values import SOURCE_KINDS, Routing, SourceKind
from engine.roles import SILENT, RoutingRequest, Trace

_PLAIN: Mapping[SourceKind, float] = MappingProxyType({"vector": 3.0, "graph": 1.0, "temporal": 1.0})
_RELATIONS: Mapping[SourceKind, float] = MappingProxyType({"vector": 3.0, "graph": 3.0, "temporal": 1.0})
_SEVERAL: Mapping[SourceKind, float] = MappingProxyType({"vector": 2.0, "graph": 1.0, "temporal": 1.0})
"""Plain and several: more for the others costs expected passages of the knowledge base on the sample questions."""
LEAST_SHARE = 0.1
"""Of every kind there is in round 0, which searches all of them; a router sets the shares (QL-03)."""

_ABOUT_RELATIONS = re.compile(
    r"(?:[与和跟同及]|之间).{1,24}?(?:关系|联系|区别|差别|差异|异同|不同|关联|影响)|有(?:什么|何|哪些)(?:关系|联系|区别|差别|不同|关联)"
    r"|(?:对比|比较|区分|辨析|相比)|(?:区别|异同|关联)(?:是|在|何在)"
    r"|\bdifferen(?:ce|ces|t from|tiate)\b|\bdiffers?\b|\bcompar(?:e|ed|ison|ing)\b|\bversus\b|\bvs\b\.?"
    r"|\bdistinguish|\b(?:relationship|relation|connection|link|interplay)s? (?:between|of|among|to)\b"
    r"|\b(?:is|are|how)\b.{0,40}\b(?:related|connected|linked) (?:to|with)\b"
    r"|\bhow (?:do|does|are|is)\b.{0,60}\brelated?\b|\binteract",
    re.IGNORECASE,
)
_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "plain": "The query names a subject and no kind of source, so the knowledge base gets the most room.",
        "relations": "The query asks how things are related or differ, so notes on entities get more room.",
        "history": "The question asks about the dated history of weak points.",
        "asked": "The query asks for this itself: {wishes}.",
    }
)
_NAMES: Mapping[Intent, str] = MappingProxyType(
    {"history": "history of weak points", "several": "several sources", "wider": "a wider scope"}
)


class BuiltinSourceRouter:
    """Routes by rule, the same way every time (contract: :class:`engine.roles.SourceRouter`)."""

    async def route(self, request: RoutingRequest, trace: Trace = SILENT) -> Routing:
        """The routing of :func:`routed`, reported as a call."""
        return reported(trace, "router", request, routed)


def routed(request: RoutingRequest) -> Routing:
    """Shares by what the query is about and by what it asks for, over the kinds that the collection has."""
    intents = intents_in(request.query)
    about_relations = bool(_ABOUT_RELATIONS.search(request.question))
    weights = _SEVERAL if "several" in intents else _RELATIONS if about_relations else _PLAIN
    wanted: set[SourceKind] = {"graph"} if about_relations else set()
    present = {kind: weight for kind, weight in weights.items() if kind in request.kinds}
    if "history" in intents:
        wanted.add("temporal")
        if "temporal" in request.kinds:
            present = _half_history(present)
    if not present:
        present = {"vector": 1.0}
    code = _code(request, intents, about_relations)
    searched = without_intents(request.query, request.question)
    return Routing(
        query=searched,
        shares=normalised(present),
        wide="wider" in intents,
        code=code,
        reason=_REASONS[code].format(wishes=", ".join(_NAMES[intent] for intent in intents)),
        missing=tuple(kind for kind in SOURCE_KINDS if kind in wanted and kind not in request.kinds),
        history_query=about_weak_points(searched) if "history" in intents else "",
    )


def honouring(routing: Routing, request: RoutingRequest) -> Routing:
    """A routing with what the query asks for and it leaves out, taken from the built-in one.

    A router that overlooks an intent must not turn the rewrite that made it into a wasted round (QL-03).
    """
    intents = intents_in(request.query)
    own = routed(request)
    shares = dict(routing.shares)
    if "several" in intents and len(shares) < 2 <= len(request.kinds):
        shares = dict(own.shares)
    elif "history" in intents and "temporal" in request.kinds and "temporal" not in shares:
        shares = normalised(_half_history(shares))
    missing = tuple(kind for kind in SOURCE_KINDS if kind in {*routing.missing, *own.missing})
    history = about_weak_points(routing.query) if "history" in intents else ""
    return dataclasses.replace(
        routing, shares=shares, wide=routing.wide or own.wide, missing=missing, history_query=history
    )


def everywhere(shares: Mapping[SourceKind, float], kinds: Sequence[SourceKind]) -> dict[SourceKind, float]:
    """Shares in which every kind there is has at least ``LEAST_SHARE``; what it takes, the others give in proportion.

    In round 0 a router may give a kind little and never leave it out: a loop that looks in one kind alone can neither
    reach its bar nor learn what the others hold.
    """
    given = {kind: shares.get(kind, 0.0) for kind in kinds}
    total = math.fsum(given.values())
    if not total:
        return normalised(dict.fromkeys(kinds, 1.0))
    least = {kind for kind in kinds if given[kind] / total < LEAST_SHARE}
    while True:
        left = 1.0 - LEAST_SHARE * len(least)
        others = math.fsum(given[kind] for kind in kinds if kind not in least)
        short = {kind for kind in kinds if kind not in least and given[kind] / others * left < LEAST_SHARE}
        if not short:
            break
        least |= short
    return normalised({kind: LEAST_SHARE if kind in least else given[kind] / others * left for kind in kinds})


def normalised(weights: Mapping[SourceKind, float]) -> dict[SourceKind, float]:
    """Weights above 0 as shares that sum to 1, in the order of ``SOURCE_KINDS``."""
    total = math.fsum(weights.values())
    return {kind: weights[kind] / total for kind in SOURCE_KINDS if weights.get(kind, 0.0) > 0}


def _half_history(weights: Mapping[SourceKind, float]) -> dict[SourceKind, float]:
    others = math.fsum(weight for kind, weight in weights.items() if kind != "temporal")
    return {**weights, "temporal": others or 1.0}


def _code(request: RoutingRequest, intents: Iterable[Intent], about_relations: bool) -> str:
    added = [intent for intent in intents if intent not in intents_in(request.question)]
    if added:
        return "asked"
    if "history" in intents:
        return "history"
    if about_relations:
        return "relations"
    return "asked" if tuple(intents) else "plain"
