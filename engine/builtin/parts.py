"""What a question asks one by one, by its clauses: deterministic, and no reading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.builtin.evidence import LEAST_PART, read_question
from engine.builtin.failure_analysis import asking_clauses
from engine.builtin.report import reported
from engine.builtin.terms import surface_terms
from engine.model.language import language_of
from engine.model.values import Rewrite, Round
from engine.roles import MOST_PARTS, SILENT, RewriteRequest, Trace

_JOINED = re.compile(r"^\W*(?:and|but|or|as well as|then|以及|并且|而且|同时|还有)\b[\s,，]*", re.IGNORECASE)
_RELATIVE = re.compile(r"^\W*(?:which|who|whom|whose|where|when|that)\b", re.IGNORECASE)
"""Begins an English clause that says more about what stands before it, unless a conjunction or a stop divides them."""
_STOPS = re.compile(r"[.;?!。；？！]\W*$")
_STATES = re.compile(r"[:：]\W*$")
"""Ends what leads to a question and asks nothing itself."""


class BuiltinSplitter:
    """Splits at clauses that each ask something (contract: :class:`engine.roles.Splitter`)."""

    async def split(self, question: str, trace: Trace = SILENT) -> tuple[str, ...]:
        """Return the parts of a question; none where it asks one thing."""
        return reported(trace, "rewriter", question, parts_of, asked=_asked, said=_said)


def parts_of(question: str) -> tuple[str, ...]:
    """The clauses of a question that each name enough to be searched and judged alone.

    >>> parts_of("Who invented the telegraph in Europe, and which cable first crossed the Atlantic ocean?")
    ('Who invented the telegraph in Europe', 'which cable first crossed the Atlantic ocean?')
    """
    clauses: list[str] = []
    for clause in map(str.strip, asking_clauses(question)):
        if clauses and _belongs(clause, clauses[-1]):
            clauses[-1] = f"{clauses[-1]} {clause}"
        else:
            clauses.append(clause)
    if not 2 <= len(clauses) <= MOST_PARTS or any(len(read_question(item).terms) < LEAST_PART for item in clauses):
        return ()
    return tuple(_JOINED.sub("", clause) for clause in clauses)


def part_rewrite(part: str, current: Round, request: RewriteRequest) -> Rewrite:
    """The rewrite that searches for an open part as it is."""
    return Rewrite(
        round=current.index,
        query=current.query,
        rewritten_query=part,
        reason=f"This part of the question is still open: {part}",
        keywords=tuple(surface_terms(part, question=True).values()),
        strategy="split",
        input_hash=request.digest(),
        part=part,
    )


def _belongs(clause: str, before: str) -> bool:
    relative = language_of(clause) == "en" and _RELATIVE.match(clause) is not None
    return _STATES.search(before) is not None or (relative and _STOPS.search(before) is None)


def _asked(question: str) -> Mapping[str, Any]:
    return {"question": question}


def _said(parts: tuple[str, ...]) -> Mapping[str, Any]:
    return {"parts": parts}
