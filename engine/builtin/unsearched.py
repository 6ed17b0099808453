"""The answerer of mode ``bypass`` that needs no model: it says honestly that it knows nothing (GH-02)."""

from __future__ import annotations

from engine.builtin.direct import direct_answer
from engine.builtin.phrases import Phrases
from engine.builtin.report import as_messages, spoken
from engine.model.small_talk import small_talk
from engine.roles import SILENT, DirectRequest, Trace


class BuiltinUnsearched:
    """Answers small talk; all else would have to be searched (contract: :class:`engine.roles.DirectAnswerer`)."""

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        asked = as_messages({"question": request.question})
        return await spoken(trace, asked, [unsearched_answer(request)])


def unsearched_answer(request: DirectRequest) -> str:
    """The words of an answer from nothing; English for languages other than Chinese."""
    if small_talk(request.question) is not None:
        return direct_answer(request)
    return Phrases("unsearched", request.language)("honest")
