"""A chat model as reranker: several passages a call, each with a score of its own."""

from __future__ import annotations

import asyncio
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import AliasChoices, Field, field_validator

from engine.config import RoleModel
from engine.errors import ModelError
from engine.llm.chat import ChatModel
from engine.llm.connection import lane
from engine.llm.faults import worth_repeating
from engine.llm.parsing import Reply
from engine.llm.reranker_prompts import BEST, reranker_messages, rules_text, scores_schema
from engine.llm.tokens import estimate_tokens
from engine.retrieval.rerank import CHAT_BATCH, by_relevance, scored_verdict
from engine.roles import SILENT, Trace
from engine.settings import Settings
from engine.values import Passage, PassageId, Verdict

REPLY_TOKENS = 1024
"""Room for the scores, and for the thinking of models that cannot leave it."""
LONGEST = 2000
"""Characters of a passage that are shown."""
_TRIES = 2
_MARGIN = 200
"""Tokens that tags and the second try take."""
_NUMBER = re.compile(r"\d+")
_UNREADABLE = "The model's reply gave this passage no score."


class ScoresReply(Reply):
    """Scores by number of passage, in [0, 1]; a list gives them in the order of the passages."""

    scores: dict[int, float] = Field(validation_alias=AliasChoices("scores", "ratings", "relevance", "分数", "评分"))

    @field_validator("scores", mode="before")
    @classmethod
    def _scores(cls, value: Any) -> dict[int, float]:
        named = dict(enumerate(value, start=1)) if isinstance(value, list | tuple) else value
        if not isinstance(named, Mapping):
            raise ValueError("no scores")
        read = {
            int(number[0]): score
            for name, given in named.items()
            if (number := _NUMBER.findall(unicodedata.normalize("NFKC", str(name))))
            and (score := _score(given)) is not None
        }
        if not read:
            raise ValueError("no scores")
        return read

    def decisive(self) -> tuple[object, ...]:
        return tuple(sorted(self.scores.items()))


class ChatReranker:
    """Scores with a chat model (contract: :class:`engine.roles.Reranker`).

    A reply that cannot be read gets one more try, as does one that left passages out; what has no score then is
    ``unreadable`` and comes last. Its scores are no verdicts of the run's grader and are not reported as such. Where
    every call failed, the first ``ModelError`` is raised; ``TimeoutError`` where the trace's time runs out.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "reranker", think=False, reply_tokens=REPLY_TOKENS)
        self._settings = settings

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]:
        """Each passage with its score as a verdict, best first."""
        batches = self._batches(question, passages)
        try:
            async with asyncio.TaskGroup() as group:
                scoring = [group.create_task(self._scored(question, batch, trace)) for batch in batches]
        except ExceptionGroup as failures:
            # Faults of models are collected below; what ends the group is the time that has run out.
            raise failures.exceptions[0] from failures
        results = [task.result() for task in scoring]
        faults = [fault for _, fault in results if fault is not None]
        if faults and len(faults) == len(results):
            raise faults[0]
        verdicts = {name: verdict for scored, _ in results for name, verdict in scored.items()}
        return [(passage, verdicts[passage.id]) for passage in by_relevance(passages, verdicts)]

    def _batches(self, question: str, passages: Sequence[Passage]) -> list[list[Passage]]:
        room = self._chat.model.num_ctx - REPLY_TOKENS - estimate_tokens(rules_text()) - estimate_tokens(question)
        left = 0
        batches: list[list[Passage]] = []
        for passage in passages:
            tokens = estimate_tokens(shown(passage))
            if not batches or tokens > left or len(batches[-1]) == CHAT_BATCH:
                batches.append([])
                left = room - _MARGIN
            batches[-1].append(passage)
            left -= tokens
        return batches

    async def _scored(
        self, question: str, batch: Sequence[Passage], trace: Trace
    ) -> tuple[dict[PassageId, Verdict], ModelError | None]:
        async with lane(self._settings, self._chat.name):
            scores, fault = await self._asked(question, batch, trace)
        unread = Verdict(relevant=None, confidence=0.0, reason=_UNREADABLE, grader=self._chat.name)
        found = {
            item.id: scored_verdict(scores[number], self._chat.name) if number in scores else unread
            for number, item in enumerate(batch, start=1)
        }
        return found, fault

    async def _asked(
        self, question: str, batch: Sequence[Passage], trace: Trace
    ) -> tuple[Mapping[int, float], ModelError | None]:
        """What was read of the replies, and the fault where there was none."""
        texts = [shown(item) for item in batch]
        former: str | None = None
        fault: ModelError | None = None
        scores: Mapping[int, float] = {}
        for attempt in range(1, _TRIES + 1):
            try:
                reply, said = await self._chat.ask(
                    reranker_messages(question, texts, former),
                    trace,
                    shape=ScoresReply,
                    schema=scores_schema(len(batch)),
                    attempt=attempt,
                    warmer=former is not None,
                )
            except ModelError as failure:
                if trace.time_left_s() <= 0:
                    raise TimeoutError from failure
                fault = failure
                if not worth_repeating(failure):
                    break
                continue
            fault, former = None, said.text
            # What the first reply said of a passage stands: the second is there for those that it left out.
            scores = {**(reply.scores if reply else {}), **scores}
            if all(number in scores for number in range(1, len(batch) + 1)):
                break
        return scores, None if scores else fault


def shown(passage: Passage) -> str:
    """What a model sees of a passage: heading and text, cut where it is very long."""
    heading = passage.section or passage.title
    text = passage.text if len(passage.text) <= LONGEST else passage.text[:LONGEST] + "…"
    return f"{heading}\n{text}" if heading else text


def _score(value: Any) -> float | None:
    """A score of the scale that was asked for, as a share; None where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(unicodedata.normalize("NFKC", str(value)).partition("/")[0])
    except ValueError:
        return None
    return number / BEST if math.isfinite(number) and 0 <= number <= BEST else None
