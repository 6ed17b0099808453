"""What a question asks for, part by part, and whether a sentence gives it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from engine.builtin.answer_kind import Asked, answer_strength, asked_by
from engine.builtin.evidence import Question, read_question, weigh
from engine.builtin.quotes import Quote
from engine.builtin.reading import asking_clauses
from engine.model.values import AnswerKind

PART_COVERED = 0.34
"""Share of what only one part of a question asks that counts as having dealt with it."""
LEAST_OWN = 2
"""Terms that a part which asks for a kind of answer needs in order to be looked for by its words."""
KIND_THERE = 0.2
"""Strength from which a passage holds the kind of answer asked for near the question's terms."""
_JOINT = re.compile(r"^(?:(?:and|but|or|then)\s+)+", re.IGNORECASE)
_ASKED: frozenset[AnswerKind] = frozenset({"date", "number", "person"})


@dataclass(frozen=True, slots=True)
class Part:
    """What one clause of a compound question asks beside the others."""

    text: str
    question: Question
    own: tuple[str, ...]
    """Forms of the terms that no other clause has."""

    @property
    def bare(self) -> bool:
        """Whether it has no words of its own to look for ("and when?"), or a kind of answer alone."""
        return not self.own or (len(self.own) < LEAST_OWN and self.question.asked.kind != "other")

    def share(self, text: str) -> float:
        """Share of the weight of its own terms that a text covers."""
        covered = frozenset(weigh(self.question, text, 0.0).covered)
        weights = dict(zip(self.question.forms.values(), self.question.weights, strict=True))
        total = math.fsum(weights[form] for form in self.own)
        return math.fsum(weights[form] for form in self.own if form in covered) / total if total else 1.0

    def answered_by(self, text: str) -> bool:
        """Whether a sentence deals with it; the answer to a bare part may share no word with it."""
        if self.bare:
            return answer_strength(self.question.asked, text) > 0
        return self.share(text) >= PART_COVERED


def parts_of(question: str) -> tuple[Part, ...]:
    """The parts of a compound question; none for a simple one."""
    clauses = [_JOINT.sub("", clause.strip()) for clause in asking_clauses(question)]
    if len(clauses) < 2:
        return ()
    read = [read_question(clause) for clause in clauses]
    made = []
    for at, (clause, part) in enumerate(zip(clauses, read, strict=True)):
        elsewhere = {term for place, other in enumerate(read) if place != at for term in other.terms}
        own = tuple(form for term, form in part.forms.items() if term not in elsewhere)
        made.append(Part(clause, part, own))
    return tuple(made)


def asked_kinds(question: str) -> list[Asked]:
    """What a question asks for that can be seen in a text itself: dates, numbers, persons."""
    clauses = [asked_by(clause) for clause in asking_clauses(question) or [question]]
    return [asked for asked in clauses if asked.kind in _ASKED]


def kind_strength(asked: Asked, quote: Quote) -> float:
    """How well a sentence of a passage holds the kind of answer asked for, near the question's terms."""
    return min(max(quote.kinds, default=0.0), answer_strength(asked, quote.text))
