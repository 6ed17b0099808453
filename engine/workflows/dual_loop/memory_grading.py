"""The grading of recalled memories, each of which is judged like a passage before it may answer (DL-06)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.builtin.direct import remembered_text, without_markers
from engine.model.values import Memory, PassageId, Verdict
from engine.roles import Grader, StoredPassage, Trace
from engine.workflows.dual_loop.distil import Measured


class MemoryGrader:
    """Shows what memories say, and not the questions that they answered, to the run's grader."""

    def __init__(self, grader: Grader, measured: Measured) -> None:
        self._grader = grader
        self._measured = measured

    async def grade(self, question: str, memories: Sequence[Memory], trace: Trace) -> list[Verdict]:
        """One verdict a memory, in the order given. Raises what grader and embedder raise."""
        texts = [without_markers(remembered_text(item)) for item in memories]
        shown = [
            StoredPassage(PassageId(f"memory:{item.id}"), ", ".join(item.sources), text)
            for item, text in zip(memories, texts, strict=True)
        ]
        places = {item.id: place for place, item in enumerate(shown)}
        found = (await self._measured(question, shown)).passages
        passages = sorted(found, key=lambda item: places[item.id])
        return await self._grader.grade(question, passages, trace)
