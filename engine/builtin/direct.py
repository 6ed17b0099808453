"""Answerers that need neither a search nor a model: from memory, with good manners, or an honest no (GH-02)."""

from __future__ import annotations

import re

from engine.builtin.phrases import Phrases
from engine.builtin.report import as_messages, spoken
from engine.builtin.sameness import same_question
from engine.model.small_talk import small_talk
from engine.model.values import Memory, Passage
from engine.roles import SILENT, DirectRequest, Trace

_MARKER = re.compile(r"\s?[\[【［]\d{1,3}[\]】］]")


class BuiltinDirectAnswerer:
    """Repeats a remembered answer as such, with its sources, or says what it is there for; invents nothing."""

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        memories = [{"question": item.question, "answer": item.answer} for item in request.memories]
        asked = as_messages({"question": request.question, "memories": memories})
        return await spoken(trace, asked, [direct_answer(request)])


def direct_answer(request: DirectRequest) -> str:
    """The words of an answer without a search; English for languages other than Chinese."""
    say = Phrases("direct", request.language)
    kind = small_talk(request.question)
    if kind is not None:
        return say(kind)
    memory = best_memory(request)
    if memory is None:
        return say("nothing")
    return f"{opening(request, memory)}\n\n{remembered_text(memory)}\n\n{closing(request, memory)}"


def opening(request: DirectRequest, memory: Memory) -> str:
    """The sentence that says that an answer comes from memory, and from when."""
    return Phrases("direct", request.language)("remembered", day=memory.kept_at[:10])


def closing(request: DirectRequest, memory: Memory) -> str:
    """The sentence that names the sources of a remembered answer."""
    say = Phrases("direct", request.language)
    marked = [f"{item.source} [{item.marker}]" for item in memory.citations]
    known = {item.source for item in memory.citations} if memory.claim else set()
    names = [*(marked if known else ()), *(name for name in memory.sources if name not in known)]
    return say("sources", names=say.listed(names)) if names else say("unsourced")


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
    """Return the passages that the markers of an answer from memory cite, by name, as that run had their text."""
    memory = None if small_talk(request.question) else best_memory(request)
    if memory is None or not memory.claim:
        return ()
    return tuple(Passage(item.passage_id, item.source, "", 0.0, 0.0, section=item.section) for item in memory.citations)


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
