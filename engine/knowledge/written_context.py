"""Sentences of context by a chat model for the passages of a source: each asked for once, however the job ends."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from engine.knowledge.kept_replies import KeptReplies
from engine.knowledge.progress import Pace
from engine.library.values import ContextPrice
from engine.llm.context_writer import CONTEXT_PROMPT_VERSION, ChatContextWriter, ContextRequest, requests_of
from engine.llm.role import at_once
from engine.roles import StoredPassage

_SAMPLED = 50
"""Prompts whose size stands for that of all, before any is sent."""
_BATCH = 8
"""Passages asked for between two looks at progress and cancellation."""


@dataclass
class WrittenContext:
    """Writes for the sources of one job; replies are found in ``kept`` by everything that was asked."""

    writer: ChatContextWriter
    kept: KeptReplies = field(default_factory=KeptReplies)
    timed: Callable[[float, float], None] = lambda tokens, seconds: None
    """Gets the estimated tokens of the prompts of each source, and the seconds that the model took."""

    @property
    def name(self) -> str:
        """The model."""
        return self.writer.name

    @property
    def unreadable(self) -> int:
        """Passages for which no reply could be used, those of an earlier process among them."""
        return self.kept.count("")

    async def of(self, passages: Sequence[StoredPassage], pace: Pace) -> list[StoredPassage]:
        """The passages of one source, each with a sentence where the model gave one; those that have one keep it.

        Raises the ``ModelError`` of a call that failed; what was written until then is kept.
        """
        found: list[StoredPassage] = []
        requests = requests_of(passages)
        self._asked = 0
        began = time.monotonic()
        for start in range(0, len(requests), _BATCH):
            batch = requests[start : start + _BATCH]
            pace.describing(batch[0].passage.source)
            async with at_once() as calls:
                asked = [calls.create_task(self._sentence(request)) for request in batch]
            sentences = [task.result() for task in asked]
            found += [_with(request.passage, said) for request, said in zip(batch, sentences, strict=True)]
            pace.described(len(batch), self.unreadable)
        if self._asked:
            await asyncio.to_thread(self.timed, self._asked, time.monotonic() - began)
        return found

    async def _sentence(self, request: ContextRequest) -> str:
        if request.passage.written:
            return request.passage.written
        key = _key(self.writer.name, request)
        known = self.kept.find(key)
        if known is not None:
            return str(known[0])
        said = await self.writer.write(request)
        self._asked += request.tokens
        await asyncio.to_thread(self.kept.keep, key, said)
        return said


def price_of(model: str, calls: int, sources: Iterable[Sequence[StoredPassage]], rate: float | None) -> ContextPrice:
    """The price of writing for ``calls`` passages, from the prompts of the first few ``sources``.

    ``rate``: tokens a second, where the model was timed here.
    """
    sizes = [request.tokens for request in islice((one for item in sources for one in requests_of(item)), _SAMPLED)]
    tokens = round(calls * sum(sizes) / len(sizes)) if sizes else 0
    return ContextPrice(model, calls, tokens, tokens / rate if rate else None)


def without_sentence(passage: StoredPassage) -> StoredPassage:
    """The passage without what a model wrote for it."""
    if "written" not in passage.meta:
        return passage
    return replace(passage, meta={name: value for name, value in passage.meta.items() if name != "written"})


def _with(passage: StoredPassage, sentence: str) -> StoredPassage:
    return replace(passage, meta={**passage.meta, "written": sentence}) if sentence else without_sentence(passage)


def _key(model: str, request: ContextRequest) -> str:
    passage = request.passage
    asked = [CONTEXT_PROMPT_VERSION, model, passage.id, passage.above, passage.text, request.outline]
    text = json.dumps([*asked, request.before, request.after])
    return hashlib.sha256(text.encode()).hexdigest()
