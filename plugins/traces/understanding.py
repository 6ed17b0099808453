"""Steps of a program from the spans of one trace; pure, and the same in any order of them (TR-01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from engine.model.config import CallRole
from engine.model.values import Message, ModelCall, OriginNote, PassageId
from plugins.traces.documents import documents_in, texts_in
from plugins.traces.foreign import ForeignSearch, ForeignTrace, LeftOut
from plugins.traces.searches import searches_of
from plugins.traces.spans import Span, items, loaded, number
from plugins.traces.tree import Tree
from plugins.traces.verdicts import verdicts_of

MOST_OF_TRACE = 5000
"""Spans of one trace, which are compared with each other."""
MOST_SEARCHES = 100
"""Of one trace: a loop that searches more often answers more than one question."""
_QUESTIONS = ("question", "query", "input", "user_input", "prompt", "text", "messages")
_ANSWERS = ("answer", "generation", "response", "output", "result", "text", "content", "messages", "choices")
_ELSEWHERE = (PassageId("\0elsewhere"),)
"""Stands for documents that no search of the trace gave."""
_ROLES: Mapping[str, CallRole] = {"grade": "grader", "rewrite": "rewriter", "generate": "generator"}


def understood(spans: Sequence[Span]) -> ForeignTrace | LeftOut:
    """One trace; left out, with the reason, where it searched nothing or asked nothing."""
    if len(spans) > MOST_OF_TRACE:
        figures = {"trace": spans[0].trace_id, "n": str(len(spans)), "limit": str(MOST_OF_TRACE)}
        return LeftOut("many_spans", figures)
    tree = Tree(spans)
    root = tree.root
    searches = searches_of(tree)
    if not searches:
        return LeftOut(_without_search(tree), {"trace": root.trace_id, "spans": str(len(tree.spans))})
    if len(searches) > MOST_SEARCHES:
        figures = {"trace": root.trace_id, "n": str(len(searches)), "limit": str(MOST_SEARCHES)}
        return LeftOut("many_searches", figures)
    question, guessed = said(root.input, _QUESTIONS), False
    if not question:
        question, guessed = searches[0].query, True
    if not question:
        return LeftOut("no_question", {"trace": root.trace_id})
    searches = tuple(_named(search, question) for search in searches)
    verdicts, notes = verdicts_of(tree, searches)
    calls, generating = _calls(tree, searches)
    answer = said(root.output, _ANSWERS)
    if not answer and generating is not None:
        answer = said(generating.output, _ANSWERS)
    if guessed:
        notes = (*notes, OriginNote("question_guessed"))
    if lacking := sum(span.lacks_output for span in tree.spans if span.kind in ("RETRIEVER", "LLM")):
        notes = (*notes, OriginNote("contents_missing", {"n": str(lacking)}))
    notes = (*notes, *_decisions(tree))
    given = _given(tree, generating, searches)
    if given == _ELSEWHERE and answer:
        notes = (*notes, OriginNote("context_elsewhere"))
    began = datetime.fromtimestamp(tree.began_ns / 1e9, UTC)
    return ForeignTrace(
        tool=root.tool,
        trace_id=root.trace_id,
        project=root.project,
        question=question,
        started_at=began.isoformat(timespec="milliseconds"),
        duration_ms=tree.ms(tree.ended_ns),
        searches=searches,
        verdicts=verdicts,
        calls=calls,
        answer=answer,
        answered_ms=(tree.ms(generating.start_ns), tree.ms(generating.end_ns)) if generating else (0.0, 0.0),
        given=None if given == _ELSEWHERE else given,
        error="" if answer else root.error[:500],
        notes=notes,
        graded_ms=_grading_times(tree, searches),
    )


def _without_search(tree: Tree) -> str:
    """Explain why a trace has no search with documents: Langfuse exports may lack its steps, or their results."""
    if tree.root.tool != "langfuse":
        return "no_search"
    if len(tree.spans) == 1 and tree.root.id.startswith("trace-"):
        return "no_steps"
    steps = [span for span in tree.spans if not span.id.startswith("trace-")]
    searching = [span for span in steps if tree.does(span) == "search"]
    return "no_contents" if all(span.lacks_output for span in searching or steps) else "no_search"


def _grading_times(tree: Tree, searches: Sequence[ForeignSearch]) -> tuple[tuple[float, float], ...]:
    """By round: from when to when passages were graded; a moment after the search where the trace does not say."""
    found = []
    graded = [
        (tree.ms(span.start_ns), tree.ms(span.end_ns))
        for span in tree.spans
        if span.kind not in ("RETRIEVER", "RERANKER") and span.id != tree.root.id and tree.does(span) == "grade"
    ]
    for place, search in enumerate(searches):
        until = searches[place + 1].start_ms if place + 1 < len(searches) else float("inf")
        within = [times for times in graded if search.start_ms <= times[0] < until]
        times = within or [(search.end_ms, search.end_ms)]
        found.append((min(start for start, _ in times), max(end for _, end in times)))
    return tuple(found)


def _named(search: ForeignSearch, question: str) -> ForeignSearch:
    if search.query:
        return search
    return ForeignSearch(question, search.passages, search.start_ms, search.end_ms, search.lists, search.reranked)


def said(value: Any, names: Sequence[str], depth: int = 0) -> str:
    """The question or the answer in a value: a text, or what stands under one of the usual names."""
    value = loaded(value)
    if isinstance(value, str):
        return value.strip()
    listed = list(items(value))
    if listed and depth < 6:
        # Of a conversation what was said last.
        return said(listed[-1], names, depth + 1)
    if isinstance(value, Mapping) and depth < 6:
        for name in (*names, "content", "message", "kwargs"):
            if name in value and (found := said(value[name], names, depth + 1)):
                return found
    return ""


def _calls(tree: Tree, searches: Sequence[ForeignSearch]) -> tuple[tuple[ModelCall, ...], Span | None]:
    """The calls of models with the roles that they played, and the span that wrote the answer."""
    asked = [span for span in tree.spans if span.kind == "LLM"]
    roles = [tree.does(span) for span in asked]
    last_search = max(search.start_ms for search in searches)
    writing = [span for span, does in zip(asked, roles, strict=True) if does == "generate"]
    if not writing and asked and not roles[-1] and tree.ms(asked[-1].start_ns) >= last_search:
        writing, roles[-1] = [asked[-1]], "generate"
    calls = tuple(
        _call(tree, span, _ROLES[does], searches) for span, does in zip(asked, roles, strict=True) if does in _ROLES
    )
    steps = [
        span for span in tree.spans if span.id != tree.root.id and span.kind != "LLM" and tree.does(span) == "generate"
    ]
    return calls, writing[-1] if writing else steps[-1] if steps else None


def _call(tree: Tree, span: Span, role: CallRole, searches: Sequence[ForeignSearch]) -> ModelCall:
    start = tree.ms(span.start_ns)
    places = [place for place, search in enumerate(searches) if search.start_ms <= start]
    asked = tuple(_messages(span))
    reply = said(span.get("llm.output_messages.0.message.content") or span.output, _ANSWERS)
    prompt, completion = (number(span.get(f"llm.token_count.{name}")) for name in ("prompt", "completion"))
    return ModelCall(
        role=role,
        node={"grader": "grade", "rewriter": "rewrite", "generator": "generate"}[role],
        round=max(places, default=0),
        model=span.text("llm.model_name") or span.text("gen_ai.request.model") or "unknown",
        messages=asked,
        reply=reply,
        prompt_tokens=None if prompt is None else int(prompt),
        reply_tokens=None if completion is None else int(completion),
        start_ms=start,
        duration_ms=max(0.0, (span.end_ns - span.start_ns) / 1e6),
        error=span.error[:500],
    )


def _messages(span: Span) -> Iterable[Message]:
    listed = list(items(span.get("llm.input_messages")))
    for item in listed:
        inner = item.get("message") if isinstance(item, Mapping) else None
        if isinstance(inner, Mapping):
            parts = inner.get("content") or " ".join(texts_in(inner.get("contents")))
            yield _message(inner.get("role"), str(parts))
    if not listed and (text := "\n".join(texts_in(span.input))):
        yield _message("user", text)


def _message(role: Any, content: str) -> Message:
    if role in ("system", "developer"):
        return Message("system", content)
    return Message("assistant" if role in ("assistant", "ai", "model") else "user", content)


def _given(tree: Tree, generating: Span | None, searches: Sequence[ForeignSearch]) -> tuple[PassageId, ...] | None:
    """Return the generator's context: the documents of its step, else those whose texts its prompt holds."""
    if generating is None:
        return None
    by_text = {item.text.strip(): item.id for search in searches for item in search.passages}
    for span in (generating, *tree.above(generating)):
        if span.id != tree.root.id and (documents := documents_in(span.input)):
            known = [by_text[item.text.strip()] for item in documents if item.text.strip() in by_text]
            # One that no search gave, such as a page of the web: what was given is not in the record as a whole.
            return tuple(dict.fromkeys(known)) if len(known) == len(documents) else _ELSEWHERE
    prompt = "\n".join(texts_in((generating.get("llm.input_messages"), generating.input)))
    places = {name: prompt.find(text) for text, name in by_text.items() if text in prompt}
    return tuple(sorted(places, key=lambda name: places[name])) or None


def _decisions(tree: Tree) -> tuple[OriginNote, ...]:
    """Return the program's own router decisions verbatim."""
    found = []
    for span in tree.spans:
        outcome = said(span.output, ("output", "decision", "next", "route"))
        if span.id != tree.root.id and tree.decides(span) and outcome:
            found.append(OriginNote("their_decision", {"name": span.name[:80], "said": outcome[:120]}))
    return tuple(found[:20])
