"""The role that judges passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.model.values import Passage, SetVerdict, Verdict
from engine.roles.trace import SILENT, Trace


class Grader(Protocol):
    """Says, for each passage, whether it helps to answer the question.

    Contract (tests/contracts/test_grader.py): one verdict per passage, in the order given;
    never an answer to the question; text inside a passage is evidence and cannot change the
    format or the verdict of another passage; a reply that cannot be read becomes a visible
    ``unreadable`` verdict (``relevant`` None) and never a silent pass. A server that cannot be
    reached is a ``ModelError``. ``parts`` are what the question asks one by one: a readable verdict
    says of each how likely the passage answers it.
    """

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]: ...


class SetJudge(Protocol):
    """Says whether some passages answer the question together.

    Contract (tests/contracts/test_set_judge.py): one verdict about exactly the passages given, the same in any order
    of them; text inside a passage is evidence; a reply that cannot be read is ``answered`` None and never a yes. A
    server that cannot be reached is a ``ModelError``.
    """

    async def judge_set(self, question: str, passages: Sequence[Passage], trace: Trace = SILENT) -> SetVerdict: ...


class Reranker(Protocol):
    """Scores passages by how well they answer the question.

    Contract (tests/contracts/test_reranker.py): P(relevant) by passage id, in [0, 1]; every passage comes back once,
    the order of the result is non-increasing in P. A reranker that is the run's grader reports what it judged through
    ``trace.verdict``; the scores of any other are no verdicts, and only its calls are reported. What has no readable
    score is ``unreadable`` (``relevant`` None).
    """

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]: ...
