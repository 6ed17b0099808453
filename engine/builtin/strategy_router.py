"""The router of the dual loop that needs no model: rules on how a question is put (Chinese and English)."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from engine.builtin.answer_kind import asked_by
from engine.builtin.report import reported
from engine.builtin.sameness import same_question
from engine.builtin.terms import question_terms
from engine.model.small_talk import small_talk
from engine.model.values import RouteChoice, Strategy
from engine.roles import SILENT, StrategyRequest, Trace

ChoiceCode = Literal["smalltalk", "remembered", "overview", "subject", "current", "specific"]

_OVERVIEW = re.compile(
    r"\boverviews?\b|\bsummar(?:y|ies|i[sz]e)\b|\bintroduc(?:e|tion)\b|\bin general\b|\bgenerally\b|\boutline\b|"
    r"\btell me (?:more )?about\b|\beverything about\b|\ball (?:about|the)\b|\bthe basics\b|\bbasics of\b|"
    r"\bwhat (?:are|were) the (?:\w+ )?(?:kinds|types|forms|branches|parts|topics|areas|stages|steps|principles|causes|"
    r"symptoms|complications|differences|advantages|disadvantages|properties|methods|factors|options)\b|"
    r"\b(?:main|key|different|various) (?:\w+ )?(?:kinds|types|forms|ideas|topics|points|concepts|areas|differences)\b|"
    r"\bdifferences? between\b|\bcompar(?:e|ed|ison)\b|\bversus\b|\bvs\b|\bhow (?:do|does|are|is) .+ (?:relate|differ)|"
    r"\blist\b|\bdescribe\b|\bdiscuss\b|\bwhat (?:does|do) .+ cover\b|\bpros and cons\b"
    r"|概述|概括|总结|综述|概览|纵览|简介|介绍|谈谈|讲讲|讲解|说说|聊聊|总的来说|整体|总体|全面|系统地|大致|主要(?!是谁)|基本(?:概念|内容|知识)"
    r"|有哪些|有哪几|包括哪|包含哪|分为哪|分成哪|哪几[种类个方]|哪些(?:方面|类型|种类|内容|症状|原因|方法|并发症|因素)|分类|种类|体系"
    r"|区别|差异|不同之处|异同|比较|对比|相比|关系是|优缺点|利弊",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"\b(?:today|tonight|yesterday|this (?:week|month|year)|right now|currently|latest|newest|breaking|news|"
    r"(?:stock|share|exchange) (?:price|rate)s?|weather|search the (?:web|internet)|google|online)\b"
    r"|今天|今日|昨天|本周|这周|本月|今年|目前|现在的|最新|新闻|天气|股价|汇率|网上|上网|联网|搜索一下",
    re.IGNORECASE,
)
_SPECIFIC_KINDS = frozenset({"date", "number", "person", "place"})
_QUOTED = re.compile(r"[\"“「『][^\"”」』]{2,}[\"”」』]|\d")
_BROAD_TERMS = 2
"""Content terms up to which a text without a question in it is a subject and nothing else."""

_WANTED: Mapping[ChoiceCode, Strategy] = MappingProxyType(
    {
        "overview": "hierarchical_search",
        "subject": "hierarchical_search",
        "current": "web_search",
        "specific": "direct_chunk_search",
    }
)
_REASONS: Mapping[ChoiceCode, str] = MappingProxyType(
    {
        "smalltalk": "This is small talk, so there is nothing to search for.",
        "remembered": "The same question was answered before, and the collection has not changed since.",
        "overview": "The question is broad, so summaries are searched first and the passages inside them next.",
        "subject": "The question names a subject and asks nothing particular, so summaries are searched first.",
        "current": "The question asks for what is new or on the web.",
        "specific": "The question asks for something particular, so passages are searched directly.",
    }
)
_INSTEAD = "{wanted} cannot be used here, so {taken} comes first."


class BuiltinStrategyRouter:
    """Chooses by rule, the same way every time; calls nothing (contract: :class:`engine.roles.StrategyRouter`)."""

    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice:
        return reported(trace, "router", request, choose, asked=_asked)


def choose(request: StrategyRequest) -> RouteChoice:
    """The route for a question, and what it would be without memory.

    Small talk and a question that a memory answers are answered at once; broad questions begin with summaries, those
    for news with the web where it may be searched, all others with the passages themselves. What is new is never
    answered from memory while the web can be asked: only the collection's changes make a memory stale.
    """
    without = _without_memory(request)
    remembered = any(same_question(request.question, item) for item in request.memories)
    if remembered and without.code not in ("smalltalk", "current"):
        return RouteChoice("direct", "remembered", _REASONS["remembered"], without.route)
    return dataclasses.replace(without, without_memory=without.route)


def broad(question: str) -> ChoiceCode | None:
    """``overview`` or ``subject`` where a question asks for no particular fact; else None."""
    folded = unicodedata.normalize("NFKC", question)
    if _OVERVIEW.search(folded):
        return "overview"
    asked = asked_by(question)
    bare = asked.kind == "other" and len(question_terms(question)) <= _BROAD_TERMS and not _QUOTED.search(folded)
    return "subject" if bare and "?" not in folded else None


def _without_memory(request: StrategyRequest) -> RouteChoice:
    if small_talk(request.question) is not None:
        return RouteChoice("direct", "smalltalk", _REASONS["smalltalk"])
    code = _code(request)
    wanted = _WANTED[code]
    if wanted in request.strategies:
        return RouteChoice(wanted, code, _REASONS[code])
    taken: Strategy = "direct_chunk_search"
    if request.strategies and taken not in request.strategies:
        taken = request.strategies[0]
    return RouteChoice(taken, code, f"{_REASONS[code]} {_INSTEAD.format(wanted=wanted, taken=taken)}")


def _code(request: StrategyRequest) -> ChoiceCode:
    # A collection's own word comes first where the web may not be searched anyway.
    if "web_search" in request.strategies and _CURRENT.search(unicodedata.normalize("NFKC", request.question)):
        return "current"
    if asked_by(request.question).kind in _SPECIFIC_KINDS:
        return "specific"
    return broad(request.question) or "specific"


def _asked(request: StrategyRequest) -> dict[str, Any]:
    """The request as its record shows it: of memories their questions alone."""
    memories = [item.question for item in request.memories]
    return {"question": request.question, "memories": memories, "strategies": request.strategies}
