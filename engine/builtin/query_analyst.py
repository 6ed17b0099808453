"""The analyst of queries that needs no model: rules on how a question is put, and names of the graph in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from engine.builtin.report import reported
from engine.builtin.strategy_router import broad
from engine.model.config import Mode
from engine.model.small_talk import small_talk
from engine.model.values import Complexity, QueryAnalysis
from engine.roles import SILENT, AnalysisRequest, Trace

AnalysisCode = Literal["smalltalk", "overview", "several", "chain", "one", "unnamed"]

_SEVERAL = 2
_CHAIN = re.compile(
    r"\b(?:that|which|who|whose|where)\b.+\b(?:that|which|who|whose|where|by|of|from)\b|\bof the\b.+\bof the\b"
    r"|\b(?:between|relat(?:e|ed|ion)\b.*\bto|depends? on|lead(?:s|ing)? to|because of|caused by|through which)\b"
    r"|的[^，。？]{1,20}的|之间|导致|引起|通过什么|依赖于|取决于|有什么关系|和[^，。？]{1,20}有何关系",
    re.IGNORECASE,
)
"""Questions that want one thing by way of another."""

_COMPLEXITY: Mapping[AnalysisCode, Complexity] = MappingProxyType(
    {
        "smalltalk": "simple",
        "overview": "overview",
        "several": "multi_hop",
        "chain": "multi_hop",
        "one": "single",
        "unnamed": "single",
    }
)
_WANTED: Mapping[AnalysisCode, tuple[Mode, ...]] = MappingProxyType(
    {
        "smalltalk": ("naive",),
        "overview": ("hybrid", "global", "mix"),
        "several": ("mix", "hybrid", "local"),
        "chain": ("mix", "hybrid", "local"),
        "one": ("mix", "local"),
        "unnamed": ("naive", "mix"),
    }
)
"""Modes for each kind of query, the fittest first."""
_REASONS: Mapping[AnalysisCode, str] = MappingProxyType(
    {
        "smalltalk": "This is small talk, so there is nothing to search for.",
        "overview": "The question is about a whole, so summaries of communities belong to the search.",
        "several": "The question names several entities of the graph, so what lies between them counts.",
        "chain": "The question asks for one thing by way of another, so relationships are followed.",
        "one": "The question names one entity of the graph.",
        "unnamed": "The question names no entity of the graph, so vectors have to do.",
    }
)


class BuiltinQueryAnalyst:
    """Analyses by rule, the same way every time; calls nothing (contract: :class:`engine.roles.QueryAnalyst`)."""

    async def analyse(self, request: AnalysisRequest, trace: Trace = SILENT) -> QueryAnalysis:
        return reported(trace, "router", request, analysed)


def analysed(request: AnalysisRequest) -> QueryAnalysis:
    """Complexity, entities and the mode that fits best of those that could do their work here."""
    code = _code(request)
    return QueryAnalysis(
        complexity=_COMPLEXITY[code],
        entities=request.entities,
        suggested_mode=fitting(_WANTED[code], request.modes),
        direct=code == "smalltalk",
        code=code,
        reason=_REASONS[code],
    )


def fitting(wanted: Sequence[Mode], modes: Sequence[Mode]) -> Mode:
    """The first of the wanted modes that is there; else the first that is."""
    return next((mode for mode in wanted if mode in modes), modes[0] if modes else wanted[0])


def _code(request: AnalysisRequest) -> AnalysisCode:
    if small_talk(request.query) is not None:
        return "smalltalk"
    if broad(request.query) == "overview":
        return "overview"
    if len(request.entities) >= _SEVERAL:
        return "several"
    if request.entities and _CHAIN.search(unicodedata.normalize("NFKC", request.query)):
        return "chain"
    return "one" if request.entities else "unnamed"
