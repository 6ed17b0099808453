"""The answerer that needs neither a search nor a model: from memory, or with good manners."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from engine.builtin.report import as_messages, spoken
from engine.memory.sameness import same_question
from engine.model.small_talk import small_talk
from engine.model.values import Memory, Passage
from engine.roles import SILENT, DirectRequest, Trace

_MARKER = re.compile(r"\s?[\[【［]\d{1,3}[\]】］]")

_Phrase = Literal["greeting", "thanks", "farewell", "about", "nothing", "remembered", "sources", "unsourced"]
_PHRASES: Mapping[Literal["zh", "en"], Mapping[_Phrase, str]] = MappingProxyType(
    {
        "en": {
            "greeting": "Hello! I answer questions from the sources of this collection, and name the passages that an "
            "answer is based on. What would you like to know?",
            "thanks": "You are welcome! If another question about the sources of this collection comes up, just ask.",
            "farewell": "Good-bye! The questions and answers of this session stay in the list of runs.",
            "about": "I am the question desk of this workbench: I search the sources of the chosen collection, check "
            "what was found, correct the search where it went wrong, and answer with the passages named. "
            "Ask me anything that those sources may cover.",
            "nothing": "There is nothing here to search for. I answer questions from the sources of this collection, "
            "so please ask about something that they may cover.",
            "remembered": "From memory, without a new search: this question was answered on {day}.",
            "sources": "The sources then were: {names}.",
            "unsourced": "No sources were kept with that answer.",
        },
        "zh": {
            "greeting": "您好！我根据这个知识库里的资料回答问题，并注明依据的片段。您想了解什么？",
            "thanks": "不客气！如果还有关于这个知识库的问题，请随时提问。",
            "farewell": "再见！这次的问题和回答都保存在运行列表里。",
            "about": "我是这个工作台的问答助手：检索所选知识库里的资料，核对找到的内容，检索不理想时自动修正，"
            "再注明依据作答。请提出资料可能涉及的问题。",
            "nothing": "这句话里没有需要检索的内容。我根据这个知识库里的资料回答问题，请提出资料可能涉及的问题。",
            "remembered": "以下来自记忆，没有重新检索：这个问题在 {day} 回答过。",
            "sources": "当时依据的来源：{names}。",
            "unsourced": "当时的回答没有记录来源。",
        },
    }
)


class BuiltinDirectAnswerer:
    """Repeats a remembered answer as such, with its sources, or says what it is there for; invents nothing."""

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        memories = [{"question": item.question, "answer": item.answer} for item in request.memories]
        asked = as_messages({"question": request.question, "memories": memories})
        return await spoken(trace, "direct_response", asked, [direct_answer(request)])


def direct_answer(request: DirectRequest) -> str:
    """The words of an answer without a search; English for languages other than Chinese."""
    say = _say(request)
    kind = small_talk(request.question)
    if kind is not None:
        return say[kind]
    memory = best_memory(request)
    if memory is None:
        return say["nothing"]
    return f"{opening(request, memory)}\n\n{remembered_text(memory)}\n\n{closing(request, memory)}"


def opening(request: DirectRequest, memory: Memory) -> str:
    """The sentence that says that an answer comes from memory, and from when."""
    return _say(request)["remembered"].format(day=memory.kept_at[:10])


def closing(request: DirectRequest, memory: Memory) -> str:
    """The sentence that names the sources of a remembered answer."""
    joint = "、" if request.language == "zh" else ", "
    marked = [f"{item.source} [{item.marker}]" for item in memory.citations]
    known = {item.source for item in memory.citations} if memory.claim else set()
    names = joint.join([*(marked if known else ()), *(name for name in memory.sources if name not in known)])
    return _say(request)["sources"].format(names=names) if names else _say(request)["unsourced"]


def best_memory(request: DirectRequest) -> Memory | None:
    """The memory to answer from: the first of the same question, else the nearest, which a model chose."""
    same = (item for item in request.memories if same_question(request.question, item))
    return next(same, request.memories[0] if request.memories else None)


def remembered_text(memory: Memory) -> str:
    """The claim of a memory, its markers as its citations have them; of an older one the answer without markers."""
    return memory.claim or without_markers(memory.answer)


def without_markers(text: str) -> str:
    return _MARKER.sub("", text).strip()


def cited_passages(request: DirectRequest) -> tuple[Passage, ...]:
    """What the markers of an answer from memory point to: the passages by name, whose text that run had."""
    memory = None if small_talk(request.question) else best_memory(request)
    if memory is None or not memory.claim:
        return ()
    return tuple(Passage(item.passage_id, item.source, "", 0.0, 0.0, section=item.section) for item in memory.citations)


def _say(request: DirectRequest) -> Mapping[_Phrase, str]:
    return _PHRASES["zh" if request.language == "zh" else "en"]
