"""Facts from a failed round for the built-in rewriter: key terms, gaps, parts of the question, near terms."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from engine.builtin.terms import is_han, surface_terms, terms, weight_of
from engine.model.language import language_of, normalised_query, sentences
from engine.roles import FailedPassage, RewriteRequest

_LEAST_WEIGHT = 0.05
"""A passage with similarity 0 still says a little."""
_COMMONLY_MISSING = 0.5
"""Share of the failed passages' similarity mass that must lack a term before it counts as missing."""
_TELLING = 0.5
"""Share of the core's weight that a term needs in order to say something of its own."""
_UNITS = frozenset(
    re.findall(
        r"\w+", "mmol mol kcal kj mg ml dl kg km cm mm min sec hrs usd eur 毫克 毫升 毫米 厘米 公斤 千克 分钟 毫摩尔"
    )
)
_SYNONYMS = Path(__file__).with_name("synonyms.json")
"""Everyday expressions with the words that textbooks and manuals use for the same; a name never answers a question."""

_BREAK = re.compile(
    r"(?<=[;?!:，；？！：])\s*|,?\s+(?=\b(?:as well as|and|but|or)\b\s)|,\s+|(?=以及|并且|而且|同时|还有)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b"
    r"|^\W*(?:and\s+|but\s+|or\s+|then\s+)*(?:is|are|was|were|do|does|did|can|could|would|should|will|has|have|may)\b"
    r"|什么|谁|哪|何|怎|多少|多久|多大|多长|多高|几|吗|呢|是否|(.)[不没]\1|有没有|有何",
    re.IGNORECASE,
)
"""Signs that a clause asks something of its own."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The evidence of one failed round, as the rewriting strategies use it."""

    keys: Mapping[str, str]
    """Key terms of the original question in its order, each with its written form."""
    weights: Mapping[str, float]
    missing: tuple[str, ...]
    """Key terms that the failed passages mostly lack; empty where there were no passages."""
    near: tuple[str, ...]
    """Written forms of terms from the failed passages that the question does not have, best first."""
    synonyms: tuple[tuple[str, tuple[str, ...]], ...]
    """Expressions of the question that have other names, each with those names."""
    parts: tuple[tuple[str, ...], ...]
    """Key terms of each part of a compound question, the least covered first; empty for a simple one."""
    only_terms: bool
    """Whether the question consists of its key terms alone."""
    empty: bool
    """Whether no passage failed that could be learned from."""

    @property
    def core(self) -> str:
        """The key term that says most; every proposal keeps it. Empty where the question has no terms."""
        return max(self.keys, key=lambda term: self.weights[term], default="")

    @property
    def bare(self) -> bool:
        """True if the question is a subject and nothing else: "blood sugar"."""
        return len(self.keys) <= 1 or (len(self.keys) == 2 and self.only_terms)

    @property
    def telling(self) -> list[str]:
        """The key terms without those that weigh little next to the core: "keep running toilet" → "toilet"."""
        bar = _TELLING * self.weights.get(self.core, 0.0)
        return [term for term in self.keys if self.weights[term] >= bar]

    def heaviest(self, count: int) -> list[str]:
        """Return up to ``count`` key terms that say most, in the order of the question."""
        chosen = set(sorted(self.keys, key=lambda term: -self.weights[term])[:count])
        return [term for term in self.keys if term in chosen]


def read(request: RewriteRequest) -> Reading:
    """Read a request; the same request always gives the same reading."""
    keys = {term: _base_form(form) for term, form in surface_terms(request.question, question=True).items()}
    weights = {term: weight_of(term) for term in keys}
    bags = [frozenset(terms(item.text)) for item in request.failed]
    lacking = {term: _lacking(term, request.failed, bags) for term in keys}
    return Reading(
        keys=keys,
        weights=weights,
        missing=tuple(term for term in keys if lacking[term] > _COMMONLY_MISSING) if request.failed else (),
        near=near_terms(request.failed, weights, _used_before(request)),
        synonyms=other_names(request.question),
        parts=_parts(request.question, lacking, weights),
        only_terms=normalised_query("".join(keys.values())) == normalised_query(request.question),
        empty=not request.failed,
    )


def holds(term: str, bag: frozenset[str], text: str) -> bool:
    """Return whether a text has a term: as a whole word, or in Chinese as a substring, as word borders are a guess."""
    return term in bag or (is_han(term) and len(term) > 1 and term in text)


def near_terms(
    failed: Sequence[FailedPassage], question: Mapping[str, float], used: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Pseudo-relevance feedback: terms that stand near the question's terms in passages that came close.

    Terms of the question, units and those in ``used`` are left out. A term scores, for each passage,
    similarity x weight x the share of the question in its best sentence.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    shared: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for item in failed:
        best: dict[str, float] = {}
        for sentence in sentences(unicodedata.normalize("NFKC", item.text)):
            found = surface_terms(sentence, question=True)
            bag = frozenset(found)
            close = 0.2 + share(question, bag, sentence)
            for term, form in found.items():
                if _says_something(term) and term not in used and not _inside(term, question):
                    best[term] = max(best.get(term, 0.0), close)
                    forms.setdefault(term, form)
        for term, close in best.items():
            scores[term] += max(item.similarity, _LEAST_WEIGHT) * weight_of(term) * close
            shared[term] += 1
    # A term that several close passages share belongs to the subject; one that a single passage has may be an anecdote.
    ordered = sorted(scores, key=lambda term: (-scores[term] * shared[term], term))
    return tuple(_base_form(forms[term]) for term in ordered)


def share(question: Mapping[str, float], bag: frozenset[str], text: str) -> float:
    """Share of the question's weight that a text covers, in [0, 1]."""
    total = math.fsum(question.values())
    covered = math.fsum(weight for term, weight in question.items() if holds(term, bag, text))
    return covered / total if total else 0.0


@lru_cache(maxsize=1)
def _thesaurus() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Expressions and their other names by language, the longest expression first."""
    loaded: dict[str, dict[str, str]] = json.loads(_SYNONYMS.read_text(encoding="utf-8"))
    return {
        language: [
            (known, tuple(re.split(r"[,、]\s*", entries[known])))
            for known in sorted(entries, key=lambda known: -len(known))
        ]
        for language, entries in loaded.items()
    }


def other_names(question: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Expressions of the thesaurus in a question, longest first where they overlap, in the order of the question."""
    text = unicodedata.normalize("NFKC", question).casefold()
    han = language_of(question) == "zh"
    found: list[tuple[int, str, tuple[str, ...]]] = []
    taken: set[int] = set()
    for known, names in _thesaurus()["zh" if han else "en"]:
        if known not in text:
            continue
        match = re.search(re.escape(known) if han else rf"\b{re.escape(known)}\b", text)
        new = tuple(name for name in names if any(word not in text for word in name.split()))
        if match and new and taken.isdisjoint(range(*match.span())):
            taken.update(range(*match.span()))
            found.append((match.start(), known, new))
    return tuple((known, names) for _, known, names in sorted(found))


def _lacking(term: str, failed: Sequence[FailedPassage], bags: Sequence[frozenset[str]]) -> float:
    mass = [max(item.similarity, _LEAST_WEIGHT) for item in failed]
    lost = [weight for weight, item, bag in zip(mass, failed, bags, strict=True) if not holds(term, bag, item.text)]
    return math.fsum(lost) / math.fsum(mass) if mass else 1.0


def _used_before(request: RewriteRequest) -> frozenset[str]:
    tried = [text for item in request.history for text in (item.rewritten_query, *item.refused)]
    return frozenset(term for text in tried for term in terms(text))


def _base_form(form: str) -> str:
    return form.removesuffix("'s").removesuffix("\u2019s")


def _says_something(term: str) -> bool:
    return len(term) > (1 if is_han(term) else 2) and not term[0].isdigit() and term not in _UNITS


def _inside(term: str, question: Mapping[str, float]) -> bool:
    """Return whether the question has the term: in Chinese also as part of a longer word or around a shorter one."""
    return term in question or (is_han(term) and any(term in known or known in term for known in question))


def _parts(question: str, lacking: Mapping[str, float], weights: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    parts = [tuple(surface_terms(clause, question=True)) for clause in asking_clauses(question)]
    parts = [tuple(term for term in part if term in weights) for part in parts]
    parts = [part for part in parts if part]
    if len(parts) < 2:
        return ()
    return tuple(sorted(parts, key=lambda part: -math.fsum(lacking[term] for term in part) / len(part)))


def asking_clauses(question: str) -> list[str]:
    """The clauses that each ask something; one that only states something stays with the question that it leads to."""
    clauses: list[str] = []
    waiting = ""
    for piece in _BREAK.split(unicodedata.normalize("NFKC", question).replace(",", ", ")):
        if not piece:
            continue
        if _ASKS.search(piece):
            clauses.append(f"{waiting} {piece}")
            waiting = ""
        elif clauses:
            clauses[-1] = f"{clauses[-1]} {piece}"
        else:
            waiting = f"{waiting} {piece}"
    return clauses
