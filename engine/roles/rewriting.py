"""The role that proposes another query, and what it may see."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.model.values import PassageId

if TYPE_CHECKING:
    pass
from engine.roles.trace import SILENT, Trace

MOST_PARTS = 4


@dataclass(frozen=True, slots=True)
class FailedPassage:
    id: PassageId
    text: str
    similarity: float
    reason: str
    covered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    above: str = ""
    """What it stands under: see :class:`engine.model.values.Passage`."""


@dataclass(frozen=True, slots=True)
class TriedRewrite:
    query: str
    rewritten_query: str
    reason: str
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RewriteIssue:
    """One thing that a rewrite should mend."""

    code: str
    """A ``QualityIssueCode``, or the code of a suggestion."""
    text: str
    """In words, without figures of budget or threshold."""


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage near a query, kept or not: its words are those that the collection has for the subject."""

    id: PassageId
    text: str
    similarity: float
    above: str = ""
    """What it stands under: see :class:`engine.model.values.Passage`."""


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """Everything a rewriter may see (SC-06): never a threshold, a budget or a pass rate."""

    question: str
    current_query: str
    failed: tuple[FailedPassage, ...]
    """Passages of the last round that did not pass, with the grader's reasons, in rank order."""
    history: tuple[TriedRewrite, ...]
    issues: tuple[RewriteIssue, ...] = ()
    """What was wrong with the results (QL-04) or with the answer (DL-05)."""
    nearest: tuple[NearPassage, ...] = ()
    """Passages of the last round closest to its query, best first, those below the similarity threshold too; empty
    where a workflow does not show them."""

    def digest(self) -> str:
        """Hash that makes later rounds of a what-if knowable: same input, same recorded rewrite."""
        content = [
            self.question,
            self.current_query,
            [
                (item.id, item.text, round(item.similarity, 6), item.reason, item.covered, item.missing)
                for item in self.failed
            ],
            [(item.query, item.rewritten_query, item.reason, item.refused) for item in self.history],
        ]
        if self.issues:
            content.append([(item.code, item.text) for item in self.issues])
        if self.nearest:
            content.append([(item.id, item.text, round(item.similarity, 6)) for item in self.nearest])
        # Half a surrogate pair, which a model's reply can hold, has no UTF-8 form.
        text = json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return hashlib.sha256(text).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class RewriteProposal:
    query: str
    reason: str
    keywords: tuple[str, ...] = ()
    strategy: str = ""


class Rewriter(Protocol):
    """Proposes another query after a round that did not pass.

    Contract (tests/contracts/test_rewriter.py): non-blank query in the question's language, works from the original
    question plus history, keeps the intent, and proposes nothing listed in ``history`` (queries or refused ones)
    where it can think of anything else. A reply that cannot be read is a ``ModelError``.
    """

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal: ...


class Splitter(Protocol):
    """Splits a question into what it asks one by one.

    Contract (tests/contracts/test_splitter.py): two to :data:`MOST_PARTS` questions in the language of the whole, each
    with no name or number that the whole does not have; none for a question that asks one thing. A reply that cannot
    be read is a ``ModelError``.
    """

    async def split(self, question: str, trace: Trace = SILENT) -> tuple[str, ...]: ...
