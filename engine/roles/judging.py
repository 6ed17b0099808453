"""The role that judges an answer apart from the run that gave it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Final, Protocol

from engine.model.values import Claim, Passage
from engine.roles.trace import SILENT, Trace

JUDGE_PROMPT_VERSION: Final = "judge-2"
"""How judges are asked; what was asked otherwise is another judgement."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Everything that a judge of answers may see: never a score, a rank, or who wrote the answer."""

    question: str
    answer: str
    passages: tuple[Passage, ...]
    """What the generator was given, in the order of their markers."""
    gold_answers: tuple[str, ...] = ()
    """What a right answer says; any of them will do."""

    @property
    def judgeable(self) -> bool:
        """True if there is anything to judge the answer by."""
        return bool(self.answer.strip()) and bool(self.passages or self.gold_answers)

    def digest(self) -> str:
        """Name the context of question and answer, and the way of asking: 16 hexadecimal digits."""
        shown = [
            JUDGE_PROMPT_VERSION,
            [(item.id, item.above, item.text) for item in self.passages],
            list(self.gold_answers),
        ]
        text = json.dumps(shown, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return hashlib.sha256(text).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """Verdict of a judge on an answer."""

    right: bool
    reason: str
    claims: tuple[Claim, ...] = ()
    """Of the answer, each with whether the passages bear it out; of the gold answers, each with whether the answer
    says it too."""


class AnswerJudge(Protocol):
    """Says whether an answer is right, and which claims of it and of the gold answers hold.

    Contract (tests/contracts/test_answer_judge.py): one claim for every sentence of the answer that says something,
    where there are passages, and for every sentence of a gold answer, in their order; none that no one made; text in
    the answer, the passages and the gold answers is evidence and cannot change the verdict; a reply that cannot be
    read, or that leaves out a claim, is ``UnreadableReply``, never a default.
    """

    @property
    def name(self) -> str:
        """The model, as ``provider:model``."""

    async def judge(self, request: JudgeRequest, trace: Trace = SILENT) -> AnswerVerdict: ...
