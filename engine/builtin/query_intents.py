"""Search intents in a query: history of weak points, several sources, a wider scope (QL-03).

A rewriter writes such intents, a router reads them; what is left of the query without them is what is searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from engine.builtin.terms import question_terms
from engine.model.language import language_of, normalised_query

Intent = Literal["history", "several", "wider"]
INTENTS: tuple[Intent, ...] = ("history", "several", "wider")

_CUES: Mapping[Intent, re.Pattern[str]] = MappingProxyType(
    {
        "history": re.compile(
            r"薄弱(?:点|环节|项|之处|知识点|部分)|弱点|弱项|错题本?|易错点?|(?:答|做|写|考)错|(?:弄|搞|记)(?:混|反)"
            r"|(?:学习|复习|练习|错误|做题)(?:记录|历史|日志|笔记|情况)|(?:历史|以往|过往)(?:记录|数据|错误|学习)"
            r"|\bweak(?:est)?[\s-]+(?:points?|spots?|areas?|sides?)\b|\bweakness(?:es)?\b|\bpast (?:mistakes|errors)\b"
            r"|\b(?:mistakes|errors) (?:that )?(?:i|we|the (?:learner|student|user))\b|\b(?:got|get|getting) wrong\b"
            r"|\bmix(?:ed|ing)? up\b|\bstruggl(?:e|ed|es|ing)\b"
            r"|\b(?:study|learning|review|practice|mistake|revision) "
            r"(?:histor(?:y|ies)|logs?|records?|diar(?:y|ies))\b",
            re.IGNORECASE,
        ),
        "several": re.compile(
            r"(?:多(?:个|种|方|类|重)?|各(?:个|种|类|方)|不同(?:的|种类的?)?|几(?:个|种)|两种以上的?)"
            r"(?:数据|信息|资料)?(?:来源|源(?!于)|渠道|工具)"
            r"|\b(?:several|multiple|different|various|diverse|all|other|more|many)"
            r"(?: (?:kinds|types|sorts) of)?(?: data| information)? (?:sources?|tools?)\b|\bmulti-?sources?\b"
            r"|\bacross sources\b",
            re.IGNORECASE,
        ),
        "wider": re.compile(
            r"(?:扩大|扩展|放宽|拓宽|放大)(?:检索|查询|搜索|查找|关键词)?的?(?:范围|条件|查询|检索|搜索)"
            r"|(?:更|较)(?:广泛?|宽泛?|大)的?(?:范围|检索|查询|搜索)|范围(?:更|再|要)(?:大|广|宽)"
            r"|更多(?:的)?(?:文档|片段|资料|结果|内容)"
            r"|\b(?:widen|broaden|expand|extend|enlarge)(?:s|ed|ing)?\b[\w\s]{0,16}\b(?:scope|search|query|range)\b"
            r"|\b(?:wider|broader|larger) (?:scope|search|query|range)\b"
            r"|\bmore (?:documents|passages|results|material)\b",
            re.IGNORECASE,
        ),
    }
)
_WORDED: Mapping[str, Mapping[Intent, str]] = MappingProxyType(
    {
        "zh": {"history": "结合我的历史薄弱点记录", "several": "检索多个来源", "wider": "扩大检索范围"},
        "en": {
            "history": "include the history of my weak points",
            "several": "search several sources",
            "wider": "widen the scope of the search",
        },
    }
)
_FILLER = re.compile(
    r"请|并且?|同时|还要?|需要|要求|明确|结合|参考|根据|依据|检索|查询|查阅|查找|搜索|包括|包含|纳入|涵盖|使用|调用|利用"
    r"|综合|优先|进行|针对|从|用户|我的?|历史|记录|数据|信息|资料|情况|相关|方面|来源|范围|以及|和|与|及|中|里|的"
    r"|\b(?:please|also|and|then|including|included?|consider(?:ing)?|using|use|with|from|search(?:ing)?|look(?:ing)?"
    r"|check(?:ing)?|consult(?:ing)?|cover(?:ing)?|in|at|of|for|to|by|on|across|history|histories|records?|logs?|data"
    r"|my|our|their|the|a|an|user'?s?|learner'?s?|student'?s?|past|dated|temporal|notes?|sources?|scope|information"
    r"|related|relevant|both|as|well)\b",
    re.IGNORECASE,
)
"""Words that only carry an intent; in a clause with one they go with it, unless the question has them too."""
_CLAUSES = re.compile(r"[，,；;。（）()：:\n]+|(?<=\S)\.\s")
_OWN = "|".join(re.escape(phrase) for words in _WORDED.values() for phrase in words.values())
_OWN_WORDING = re.compile(rf"\s*[（(](?:{_OWN})(?:[；;]\s*(?:{_OWN}))*[）)]\s*$")


def intents_in(text: str) -> tuple[Intent, ...]:
    """List the intents in a text, in Chinese or English, in the order of ``WISHES``."""
    return tuple(intent for intent in INTENTS if _CUES[intent].search(text))


def with_intents(text: str, intents: Iterable[Intent]) -> str:
    """The text with intents in words of its own language behind it, such that :func:`intents_in` finds them again."""
    chinese = language_of(text) == "zh"
    chosen = set(intents)
    phrases = [_WORDED["zh" if chinese else "en"][intent] for intent in INTENTS if intent in chosen]
    if not phrases:
        return text
    return f"{text}（{'；'.join(phrases)}）" if chinese else f"{text} ({'; '.join(phrases)})"


def worded(intent: Intent, *, chinese: bool) -> str:
    """An intent as the built-in rewriter writes it."""
    return _WORDED["zh" if chinese else "en"][intent]


def about_weak_points(text: str) -> str:
    """A text to search a learner's history with: the subject and what is looked for in it."""
    if "history" in intents_in(text):
        return text
    return f"{text}的薄弱点" if language_of(text) == "zh" else f"{text} weak points"


def without_intents(query: str, question: str) -> str:
    """Remove the intents from a query; words of the original question stay.

    A query that is nothing but intents gives the question.
    """
    if not intents_in(query) or normalised_query(query) == normalised_query(question):
        return query
    bare = _OWN_WORDING.sub("", query)
    if bare != query and (not intents_in(bare) or intents_in(bare) == intents_in(question)):
        return bare if any(char.isalnum() for char in bare) else question
    clauses = [_stripped(clause, question) for clause in _CLAUSES.split(bare)]
    text = ("，" if language_of(query) == "zh" else ", ").join(clause for clause in clauses if clause)
    return text if any(char.isalnum() for char in text) else question


def _stripped(clause: str, question: str) -> str:
    if not intents_in(clause) or normalised_query(clause) in normalised_query(question):
        return clause.strip()
    asked = frozenset(question_terms(question))
    rest = clause
    for cue in _CUES.values():
        rest = cue.sub(lambda match: match.group() if match.group() in question else " ", rest)
    rest = _FILLER.sub(lambda match: match.group() if match.group().casefold() in asked else " ", rest)
    rest = " ".join(rest.split())
    # Chinese words that a particle held together are one text again.
    return re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])", "", rest)
