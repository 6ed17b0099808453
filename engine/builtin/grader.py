"""The grader that needs no server: a small calibrated model over what a passage offers against the question."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from engine.builtin.evidence import FEATURES, Evidence, Question, read_question, weigh
from engine.builtin.quotable import prose
from engine.model.grader_fit import GraderFit
from engine.model.values import AnswerKind, Language, Message, ModelCall, Passage, Verdict
from engine.roles import SILENT, Trace

ModelName = Literal["zh", "en", "other", "cross"]
Similarity = Callable[[str, Sequence[Passage]], Awaitable[Sequence[float]]]
"""Normalised similarity (SC-09) of the question *as asked* with each passage, no matter what query found them."""

MODEL = "builtin"
_COEFFICIENTS = Path(__file__).with_name("grader_model.json")
_MOST_LISTED = 8
"""Terms that a reason names; the verdict itself carries all."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile(r"[A-Za-z]")
_LETTERS_PER_HAN = 3
"""English needs about three letters where Chinese writes one character."""
_KIND_NAMES: Mapping[AnswerKind, str] = {
    "date": "date",
    "number": "number",
    "person": "person's name",
    "place": "place",
    "cause": "cause",
    "way": "way of doing it",
    "definition": "definition",
}


@dataclass(frozen=True, slots=True)
class Coefficients:
    """One fit's logistic regression, over the raw features."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, features: Sequence[float]) -> float:
        """P(relevant) of a passage with these features, in the order of ``evidence.FEATURES``.

        Fits from before a feature was known have no weight for it.
        """
        pairs = zip(FEATURES, features, strict=True)
        score = self.intercept + sum(self.weights.get(name, 0.0) * value for name, value in pairs)
        return 1.0 / (1.0 + math.exp(-max(min(score, 60.0), -60.0)))


@lru_cache(maxsize=1)
def load_coefficients() -> Mapping[ModelName, Coefficients]:
    """The fitted coefficients that ship with the product; ``other`` is the mean of Chinese and English."""
    stored: dict[ModelName, dict[str, Any]] = json.loads(_COEFFICIENTS.read_text(encoding="utf-8"))["languages"]
    models = {name: Coefficients(fit["intercept"], fit["weights"]) for name, fit in stored.items()}
    zh, en = models["zh"], models["en"]
    mean = {name: (zh.weights[name] + en.weights[name]) / 2 for name in FEATURES}
    return {**models, "other": Coefficients((zh.intercept + en.intercept) / 2, mean)}


def coefficients_of(fit: Mapping[str, Any]) -> Mapping[ModelName, Coefficients]:
    """The coefficients of a fit to a collection, and the shipped ones for languages that it leaves alone."""
    learnt = {name: Coefficients(own["intercept"], own["weights"]) for name, own in fit["languages"].items()}
    return {**load_coefficients(), **learnt}


def model_for(question: Language, passage: str) -> ModelName:
    """Return the fit for a pair: the question's language, or ``cross`` for a passage in another one.

    ``cross`` was fitted on Chinese questions with English passages and the other way round. It leans on similarity,
    because their words cannot be compared, and is much less sure.
    """
    written = _written_in(passage)
    return "cross" if written is not None and written != question else question


def _written_in(text: str) -> Language | None:
    # A quoted word in the other script must not change the model, so the script of most letters counts; code has none.
    text = prose(text)
    han, latin = len(_HAN.findall(text)), len(_LATIN.findall(text))
    if not han + latin:
        return None
    if len(_KANA_OR_HANGUL.findall(text)) > han + latin / _LETTERS_PER_HAN:
        return "other"
    return "zh" if han * _LETTERS_PER_HAN >= latin else "en"


class BuiltinGrader:
    """Grades by how much of the question a passage covers, where, and whether an answer of the right kind is there.

    Deterministic, and one passage at a time: a verdict depends on the question as asked, the passage's own text,
    heading and similarity to that question, and on nothing else. What a passage says about itself carries no weight.
    """

    def __init__(self, similarity: Similarity, fit: GraderFit | None = None) -> None:
        """``fit`` has coefficients for one collection."""
        self._similarity = similarity
        self._models = coefficients_of(fit.data) if fit else load_coefficients()
        self._fit = fit.id if fit else ""

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        """One verdict per passage, in the order given. Raises what the similarity callable raises."""
        if not passages:
            return []
        similarities = await self._similarity(question, passages)
        read = read_question(question)
        chances = [await self._chances(part, passages) for part in parts]
        verdicts: list[Verdict] = []
        for place, (passage, similarity) in enumerate(zip(passages, similarities, strict=True)):
            started_ms, clock = trace.now_ms(), time.perf_counter()
            model = self._models[model_for(read.language, passage.text)]
            evidence, probability = judged(read, passage, similarity, model)
            of_parts = tuple(chance[place] for chance in chances)
            verdict = replace(verdict_of(evidence, probability), fit=self._fit, parts=of_parts)
            duration_ms = (time.perf_counter() - clock) * 1000
            parsed = {name: round(value, 4) for name, value in zip(FEATURES, evidence.features, strict=True)}
            parsed["probability"] = round(probability, 4)
            parsed |= {f"part {number}": round(chance, 4) for number, chance in enumerate(of_parts, start=1)}
            trace.call(_call(question, passage, parsed, started_ms, duration_ms))
            trace.verdict(passage.id, verdict)
            verdicts.append(verdict)
        return verdicts

    async def _chances(self, part: str, passages: Sequence[Passage]) -> list[float]:
        """P(relevant) of each passage to a part of the question, judged as a question of its own."""
        similarities, read = await self._similarity(part, passages), read_question(part)
        return [
            judged(read, passage, similarity, self._models[model_for(read.language, passage.text)])[1]
            for passage, similarity in zip(passages, similarities, strict=True)
        ]


def judged(question: Question, passage: Passage, similarity: float, model: Coefficients) -> tuple[Evidence, float]:
    """Evidence of a passage and P(relevant): that of the question, or of the part of it that the passage answers best.

    Terms covered and missing are always those of the whole question; numbers and kind of answer are the part's.
    """
    chosen = weigh(question, passage.text, similarity, heading=passage.above)
    probability = model.probability(chosen.features)
    for part in question.parts:
        evidence = weigh(part, passage.text, similarity, heading=passage.above)
        chance = model.probability(evidence.features)
        if chance > probability:
            chosen = replace(evidence, covered=chosen.covered, missing=chosen.missing, headed=chosen.headed)
            probability = chance
    return chosen, probability


def verdict_of(evidence: Evidence, probability: float) -> Verdict:
    """The verdict that evidence and P(relevant) come to: relevant from 0.5, confidence in that verdict."""
    relevant = probability >= 0.5
    return Verdict(
        relevant=relevant,
        confidence=probability if relevant else 1.0 - probability,
        reason=reason_of(evidence),
        covered=evidence.covered,
        missing=evidence.missing,
        headed=evidence.headed,
        wanted=evidence.wanted,
        wanted_found=evidence.wanted_found,
        grader=MODEL,
    )


def reason_of(evidence: Evidence) -> str:
    """One English sentence: what of the question is covered, what is missing, whether the answer's kind was seen."""
    parts: list[str] = []
    own = tuple(term for term in evidence.covered if term not in evidence.headed)
    if own:
        parts.append(f"covers {_listed(own)}")
    if evidence.headed:
        parts.append(f"covers {_listed(evidence.headed)} in its heading alone")
    if evidence.missing:
        parts.append(f"missing {_listed(evidence.missing)}")
    if not parts:
        parts.append("the question names nothing to look for, judged by similarity alone")
    elif not evidence.covered:
        parts.insert(0, "covers nothing the question names")
    if evidence.wanted_found is not None:
        name = _KIND_NAMES[evidence.wanted]
        parts.append(f"{'a' if evidence.wanted_found else 'no'} {name} near them")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _listed(terms: Sequence[str]) -> str:
    more = len(terms) - _MOST_LISTED
    return ", ".join(terms[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _call(
    question: str, passage: Passage, parsed: Mapping[str, float], started_ms: float, duration_ms: float
) -> ModelCall:
    return ModelCall(
        role="grader",
        node="",
        round=0,
        model=MODEL,
        messages=(Message("user", f"{question}\n\npassage {passage.id}"),),
        reply=json.dumps(parsed),
        parsed=parsed,
        passage_id=passage.id,
        start_ms=started_ms,
        duration_ms=duration_ms,
        built_in=True,
    )
