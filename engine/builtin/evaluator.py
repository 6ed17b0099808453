"""The evaluator that needs no model: it checks what can be checked by words, figures and markers.

An answer to the opposite question (fastest for longest, high for low) shares nearly all of its content words. So poles
are compared too, by plain signs alone: one that the question names and the answer does not, and another that it has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from engine.builtin.answer_checks import (
    Answer,
    cited,
    consistent,
    every_part,
    kind_asked_for,
    on_the_question,
    said_what_is_missing,
    says_something,
    structured,
)
from engine.builtin.grader import Similarity
from engine.builtin.report import reported
from engine.model.config import BUILTIN
from engine.model.small_talk import small_talk
from engine.model.values import Evaluation, EvaluationDimension, Suggestion
from engine.model.wording import suggested
from engine.roles import SILENT, EvaluationAim, EvaluationRequest, Trace


@dataclass(frozen=True, slots=True)
class _Pole:
    axis: str
    extreme: re.Pattern[str]
    """The superlatives."""
    any: re.Pattern[str]
    """Every word that a right answer may have instead of a superlative."""


@dataclass(frozen=True, slots=True)
class OtherPole:
    """Subject asked for and the opposite that the answer is about, as the two texts word them."""

    asked: str
    said: str


def _pole(axis: str, extreme: str, others: str) -> _Pole:
    return _Pole(axis, re.compile(extreme, re.IGNORECASE), re.compile(f"{extreme}|{others}", re.IGNORECASE))


_EXTREMES: Mapping[str, _Pole] = MappingProxyType(
    {
        "fast": _pole("time", r"\b(?:fast|quick|soon)est\b|\bmost (?:rapid|quick)(?:ly)?\b|最快", r"\bfaster\b|更快"),
        "slow": _pole("time", r"\bslowest\b|\bmost slowly\b|最慢", r"\bslower\b|更慢|较慢"),
        "long": _pole("time", r"\blongest\b|最长|最久|最持久", r"\blonger\b|\bultra-long\b|更长|更久|较长|超长效"),
        "short": _pole("time", r"\bshortest\b|最短", r"\bshorter\b|更短|较短"),
        "high": _pole("height", r"\b(?:high|tall)est\b|最高", r"\bhigher\b|\bmaxim\w+|\bat most\b|更高|较高|至多"),
        "low": _pole("height", r"\blowest\b|最低", r"\blower\b|\bminim\w+|\bat least\b|更低|较低|至少"),
        "large": _pole(
            "size",
            r"\b(?:larg|bigg|great)est\b|\bmaxim(?:um|al)\b|最大",
            r"\b(?:larg|bigg|great)er\b|\bat most\b|\bno more than\b|更大|较大|至多|不超过",
        ),
        "small": _pole(
            "size",
            r"\bsmallest\b|\bminim(?:um|al)\b|最小",
            r"\bsmaller\b|\bat least\b|\bno (?:less|fewer) than\b|更小|较小|至少|不少于",
        ),
        "most": _pole("amount", r"\bthe most (?=\w+s\b)|最多", r"\bmost\b|\bat most\b|更多|至多"),
        "least": _pole("amount", r"\b(?:the least|fewest)\b|最少", r"\bat least\b|\bfewer\b|更少|至少"),
        "early": _pole("order", r"\bearliest\b|最早|最先", r"\bearlier\b|\bfirst\b|更早|首先|首次|第一"),
        "late": _pole("order", r"\blatest\b|最晚|最迟", r"\blater\b|\blast\b|\bnewest\b|更晚|最后|最新"),
        "best": _pole("worth", r"\bbest\b|最好|最佳", r"\bbetter\b|\bpreferred\b|\brecommended\b|更好|首选|推荐"),
        "worst": _pole("worth", r"\bworst\b|最差|最坏", r"\bworse\b|更差"),
        "strong": _pole("strength", r"\bstrongest\b|最强", r"\bstronger\b|更强"),
        "weak": _pole("strength", r"\bweakest\b|最弱", r"\bweaker\b|更弱"),
        "common": _pole("rarity", r"\bmost (?:common|frequent)(?:ly)?\b|最常见", r"\bmostly\b|\busually\b|多见|常见"),
        "rare": _pole("rarity", r"\b(?:rarest|least common)\b|最少见|最罕见", r"\brare\w*\b|罕见|少见"),
    }
)
_SIDES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (
            r"\b(?:too )?high(?:er)?\b|\bhyper\w+|高血糖|[糖压脂]太?偏?过?高|[过太偏]高",
            r"\b(?:too )?low(?:er)?\b|\bhypo(?!th|d)\w*|低血糖|[糖压脂]太?偏?过?低|[过太偏]低",
        ),
        (r"\badvantages?\b|\bpros\b|\bbenefits?\b|优点|好处", r"\bdisadvantages?\b|\bdrawbacks?\b|缺点|坏处"),
        (
            r"\bincreas(?:e[sd]?|ing)\b|\braises?\b|升高|增加",
            r"\bdecreas(?:e[sd]?|ing)\b|\breduc(?:e[sd]?|ing)\b|降低|减少",
        ),
        (r"\bbefore\b|[饭餐术睡]前|之前|以前", r"\bafter\b|[饭餐术]后|之后|以后"),
    )
)
_HIGH_AT_ALL = (
    re.compile(
        r"\bhigh|\bhyper|\babove\b|\bover\b|\bexce|\belevat|\brais|\btoo much\b|\brise|\bketo|高|升|超过|以上|酮", re.I
    ),
    re.compile(r"\blow|\bhypo|\bbelow\b|\bunder\b|\bdrop|\bfall|\btoo little\b|低|降|以下|不足", re.I),
)
"""Any sign of the two sides of the first pair: an answer speaks of them in many ways."""


def on_the_side_asked(answer: Answer) -> Iterator[Suggestion]:
    """Return whether the answer tells of what was asked, and not of its opposite.

    Of the 48 near misses in ``tests/memory/rewordings.jsonl``, given the answer to their original question, it
    finds two that no other check does, and doubts none of the 48 rewordings.
    """
    said = " ".join(item.plain for item in answer.claims)
    if not said:
        return
    found = other_pole(answer.request.question, said)
    if found is not None:
        yield suggested("other_pole", terms=found.asked, other=found.said)


def other_pole(question: str, claims: str) -> OtherPole | None:
    """The pole that a question names and the one that the claims of an answer tell of instead; None where all is well.

    Both poles in the question ("from low to high"), or any word of the right one in the answer, and nothing is said.
    """
    asked, said = (unicodedata.normalize("NFKC", text) for text in (question, claims))
    return _other_extreme(asked, said) or _other_side(asked, said)


def _other_extreme(asked: str, said: str) -> OtherPole | None:
    for name, pole in _EXTREMES.items():
        found = pole.extreme.search(asked)
        if found is None or pole.any.search(said):
            continue
        for other, rival in _EXTREMES.items():
            instead = rival.extreme.search(said) if other != name and rival.axis == pole.axis else None
            if instead is not None and not rival.extreme.search(asked):
                return OtherPole(found.group().strip(), instead.group().strip())
    return None


def _other_side(asked: str, said: str) -> OtherPole | None:
    for place, (one, other) in enumerate(_SIDES):
        for right, wrong, side in ((one, other, 0), (other, one, 1)):
            found, instead = right.search(asked), wrong.search(said)
            if found is None or instead is None or wrong.search(asked):
                continue
            there = _HIGH_AT_ALL[side] if place == 0 else right
            if not there.search(said):
                return OtherPole(found.group().strip(), instead.group().strip())
    return None


Check = Callable[[Answer], Iterator[Suggestion]]

CHECKS: Mapping[EvaluationAim, tuple[Check, ...]] = {
    "answer": (on_the_question, every_part, kind_asked_for, consistent, structured, cited, said_what_is_missing),
    "relevance": (on_the_question, on_the_side_asked, every_part, kind_asked_for),
}
_MOST = 8
"""Suggestions of one evaluation: more would not be read."""


class BuiltinEvaluator:
    """Deterministic: the same answer and passages give the same judgement (contract: :class:`engine.roles.Evaluator`).

    It compares words, so a paraphrase with other words looks unsupported, and a wrong statement in the passage's own
    words looks right. What a cut hides of a passage is not held against an answer where one sentence alone needs it.
    """

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        """Evaluate an answer; raises what the similarity callable raises."""
        similarities = await self._similarity(request.question, request.passages) if request.passages else []
        judged = partial(judge, similarities=similarities)
        return reported(trace, "evaluator", request, judged, asked=_asked, said=_said)


def judge(request: EvaluationRequest, similarities: Sequence[float]) -> Evaluation:
    """Every finding of the checks of an aim, in their order; at most one about a sentence in each dimension.

    ``similarities`` are those of the question with each passage, in [0, 1].
    """
    answer = Answer(request, tuple(similarities))
    found: list[Suggestion] = []
    quoted: set[tuple[str, EvaluationDimension]] = set()
    for check in _checks(request):
        for suggestion in check(answer):
            about = suggestion.quote, suggestion.dimension
            if suggestion.quote and about in quoted:
                continue
            quoted.add(about)
            found.append(suggestion)
    kept = _of_every_dimension(found)
    return Evaluation(passed=not kept, suggestions=kept, evaluator=BUILTIN)


def _checks(request: EvaluationRequest) -> tuple[Check, ...]:
    if request.aim == "relevance" and small_talk(request.question):
        # It asks for nothing in particular: any civil word solves it.
        return (says_something,)
    return CHECKS[request.aim]


def _of_every_dimension(found: list[Suggestion]) -> tuple[Suggestion, ...]:
    """The first suggestions, among them one of each failed dimension (AE-03), in their order."""
    first = {item.dimension: place for place, item in reversed(list(enumerate(found)))}
    places = {*first.values(), *range(_MOST - len(first))}
    return tuple(item for place, item in enumerate(found) if place in places)


def _asked(request: EvaluationRequest) -> dict[str, Any]:
    passages = [item.text for item in request.passages]
    return {"aim": request.aim, "question": request.question, "answer": request.answer, "passages": passages}


def _said(evaluation: Evaluation) -> dict[str, Any]:
    named = [
        {"dimension": item.dimension, "suggestion": item.text, "quote": item.quote} for item in evaluation.suggestions
    ]
    return {"passed": evaluation.passed, "suggestions": named}
