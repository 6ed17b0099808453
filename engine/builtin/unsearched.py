"""The answerer of mode ``bypass`` that needs no model: it says honestly that it knows nothing (GH-02)."""

from __future__ import annotations

from engine.builtin.direct import direct_answer
from engine.builtin.report import as_messages, spoken
from engine.model.small_talk import small_talk
from engine.roles import SILENT, DirectRequest, Trace

_HONEST = {
    "en": "Nothing was searched in this mode, and the built-in generator has no knowledge of its own, so I cannot "
    "answer this. Choose another mode to search the collection, or a chat model as generator.",
    "zh": "这个模式不做检索，而内置生成者自身没有知识，所以我无法回答。"
    "请换一种模式来检索知识库，或者选一个对话模型作为生成者。",
}


class BuiltinUnsearched:
    """Answers small talk; all else would have to be searched (contract: :class:`engine.roles.DirectAnswerer`)."""

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        asked = as_messages({"question": request.question})
        return await spoken(trace, "generate_answer", asked, [unsearched_answer(request)])


def unsearched_answer(request: DirectRequest) -> str:
    """The words of an answer from nothing; English for languages other than Chinese."""
    if small_talk(request.question) is not None:
        return direct_answer(request)
    return _HONEST["zh" if request.language == "zh" else "en"]
