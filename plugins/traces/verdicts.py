"""Verdicts on passages, wherever a trace holds them: replies of graders, documents that survived, annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.model.values import OriginNote, PassageId
from plugins.traces.documents import documents_in, documents_of, texts_in
from plugins.traces.foreign import ForeignSearch, ForeignVerdict
from plugins.traces.spans import DocumentNote, PassageNote, Span, items, loaded, number
from plugins.traces.tree import Tree

_YES = frozenset({"yes", "true", "relevant", "correct", "pass", "passed", "good", "1", "1.0"})
_NO = frozenset(
    {"no", "false", "irrelevant", "not relevant", "not_relevant", "unrelated", "incorrect", "fail", "failed", "bad"}
    | {"0", "0.0"}
)
_NAMES = ("binary_score", "relevant", "is_relevant", "relevance", "grade", "score", "verdict", "label", "decision")
_WRAPPERS = (
    *("arguments", "args", "function", "tool_calls", "tool_call", "message"),
    *("content", "output", "generations", "kwargs", "text"),
)
_REASONS = ("reason", "reasoning", "explanation", "justification", "comment")
_SAID = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


def verdicts_of(
    tree: Tree, searches: Sequence[ForeignSearch]
) -> tuple[tuple[ForeignVerdict, ...], tuple[OriginNote, ...]]:
    """One verdict a passage and round at most: what a grader replied, else what an event of a grading tells, else what
    survived, else what was annotated.
    """
    found: dict[tuple[int, PassageId], ForeignVerdict] = {}
    notes: list[OriginNote] = []
    unmatched = 0
    for verdict in _replied(tree, searches):
        if verdict is None:
            unmatched += 1
        else:
            found[verdict.round, verdict.passage] = verdict
    for more in _by_passage(tree, searches):
        found.setdefault((more.round, more.passage), more)
    survived = [item for item in _survived(tree, searches) if (item.round, item.passage) not in found]
    found |= {(item.round, item.passage): item for item in survived}
    annotated = [item for item in _annotated(tree, searches) if (item.round, item.passage) not in found]
    found |= {(item.round, item.passage): item for item in annotated}
    if survived:
        notes.append(OriginNote("by_survival", {"n": str(len(survived))}))
    if annotated:
        notes.append(OriginNote("from_annotations", {"n": str(len(annotated))}))
    if unmatched:
        notes.append(OriginNote("verdicts_unmatched", {"n": str(unmatched)}))
    return tuple(found[key] for key in sorted(found)), tuple(notes)


def read_verdict(value: Any, depth: int = 0) -> tuple[bool | None, float | None, str] | None:
    """Return whether a reply says relevant, how surely if it says a share, and why; None if it says neither."""
    value = loaded(value)
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, bool):
        return value, None, ""
    if (share := number(value)) is not None:
        return _from_number(share)
    if not isinstance(value, Mapping) or depth > 6:
        listed = list(items(value))
        return read_verdict(listed[0], depth + 1) if len(listed) == 1 else None
    reason = next((str(value[name])[:500] for name in _REASONS if isinstance(value.get(name), str)), "")
    known = [found for name in _NAMES if name in value and (found := read_verdict(value[name], depth + 1)) is not None]
    if known:
        score = next((item[1] for item in known if item[1] is not None), None)
        return known[0][0], score, reason
    for name in _WRAPPERS:
        if name in value and (inner := read_verdict(value[name], depth + 1)) is not None:
            return inner
    return None


def _from_text(text: str) -> tuple[bool | None, float | None, str] | None:
    word = text.strip().strip(".!\"'` ").casefold()
    if word in _YES or word in _NO:
        return word in _YES, None, ""
    try:
        return _from_number(float(word))
    except ValueError:
        pass
    said = {found.casefold() for found in _SAID.findall(text[:400])}
    # A longer text that says both, or neither, says nothing that could be relied on.
    return (said == {"yes"}, None, "") if len(said) == 1 and len(text) < 200 else None


def _from_number(share: float) -> tuple[bool | None, float | None, str] | None:
    if not 0 <= share <= 1:
        return None
    return share >= 0.5, None if share in (0.0, 1.0) else share, ""


def _replied(tree: Tree, searches: Sequence[ForeignSearch]) -> Iterator[ForeignVerdict | None]:
    """Verdicts of graders that were asked about one passage, or about several with a list of verdicts."""
    for span in tree.spans:
        if span.kind not in ("LLM", "EVALUATOR") or tree.does(span) != "grade":
            continue
        place = _round_of(tree, span, searches)
        several = _listed(span, place, searches)
        if several is not None:
            yield from several
            continue
        reply = span.get("llm.output_messages") or span.output
        said = read_verdict(span.output) or read_verdict(reply)
        if span.kind == "EVALUATOR" and said is None:
            said = read_verdict({"label": span.get("eval.label"), "score": span.get("eval.score")})
        if said is None:
            continue
        name = _about(span, searches[place])
        if name is None:
            yield None
            continue
        model = span.text("llm.model_name") or span.name
        yield ForeignVerdict(place, name, said[0], said[1], said[2], model)


def _listed(span: Span, place: int, searches: Sequence[ForeignSearch]) -> list[ForeignVerdict | None] | None:
    """Verdicts in a list parallel to their documents."""
    output = span.output
    listed = list(items(output.get("verdicts"))) if isinstance(output, Mapping) else []
    documents = documents_in(span.input)
    if not listed or len(listed) != len(documents):
        return None
    by_text = {item.text.strip(): item.id for item in searches[place].passages}
    found: list[ForeignVerdict | None] = []
    for item, document in zip(listed, documents, strict=True):
        name, said = by_text.get(document.text.strip()), read_verdict(item)
        if said is not None:
            grader = span.text("llm.model_name") or span.name
            found.append(None if name is None else ForeignVerdict(place, name, said[0], said[1], said[2], grader))
    return found


def _round_of(tree: Tree, span: Span, searches: Sequence[ForeignSearch]) -> int:
    start = tree.ms(span.start_ns)
    return max((place for place, search in enumerate(searches) if search.start_ms <= start), default=0)


def _about(span: Span, search: ForeignSearch) -> PassageId | None:
    """The passage that a grader was shown: the longest one whose text its input holds; None where that is unclear."""
    shown = "\n".join(texts_in((span.get("llm.input_messages"), span.input)))
    held = [item for item in search.passages if item.text.strip() in shown]
    longest = max(held, key=lambda item: len(item.text), default=None)
    # Others may be parts of the longest one; a prompt with several passages is about none alone.
    if longest is None or any(item.text.strip() not in longest.text for item in held):
        return None
    return longest.id


def _survived(tree: Tree, searches: Sequence[ForeignSearch]) -> Iterator[ForeignVerdict]:
    """Steps that are named as grading, took documents and gave some of them on."""
    for span in tree.spans:
        if span.kind in ("LLM", "RETRIEVER", "RERANKER") or span.id == tree.root.id or tree.does(span) != "grade":
            continue
        taken, left = documents_in(span.input), {item.text.strip() for item in documents_in(span.output)}
        if not taken or (not left and not _gave_none(span.output)):
            continue
        place = _round_of(tree, span, searches)
        by_text = {item.text.strip(): item.id for item in searches[place].passages}
        if left - {item.text.strip() for item in taken}:
            continue
        for item in taken:
            if (name := by_text.get(item.text.strip())) is not None:
                yield ForeignVerdict(place, name, item.text.strip() in left, None, "", span.name)


def _gave_none(output: Any) -> bool:
    """Return whether a step gave an empty list of documents on."""
    output = loaded(output)
    return isinstance(output, Mapping) and any(
        name in output and list(items(output[name])) == [] and output[name] in ([], {}, ())
        for name in ("documents", "filtered_documents", "filtered_docs", "docs", "context")
    )


def _annotated(tree: Tree, searches: Sequence[ForeignSearch]) -> Iterator[ForeignVerdict]:
    for span in tree.spans:
        if not span.notes:
            continue
        place, documents = _round_of(tree, span, searches), documents_of(span)
        by_text = {item.text.strip(): item.id for item in searches[place].passages}
        for note in span.notes:
            said = _noted(note)
            if said is None or not 0 <= note.position < len(documents):
                continue
            name = by_text.get(documents[note.position].text.strip())
            if name is not None:
                yield ForeignVerdict(place, name, said[0], said[1], note.explanation[:500], note.by)


def _by_passage(tree: Tree, searches: Sequence[ForeignSearch]) -> Iterator[ForeignVerdict]:
    for span in tree.spans:
        if not span.passage_notes or not searches:
            continue
        place = _round_of(tree, span, searches)
        known = {item.id for item in searches[place].passages}
        for note in span.passage_notes:
            said = _noted(note)
            if said is not None and note.document in known:
                yield ForeignVerdict(
                    place, PassageId(note.document), said[0], said[1], note.explanation[:500], span.name
                )


def _noted(note: DocumentNote | PassageNote) -> tuple[bool | None, float | None] | None:
    label = read_verdict(note.label) if note.label else None
    share = None if note.score is None else _from_number(note.score)
    chosen = label or share
    return None if chosen is None else (chosen[0], share[1] if share else None)
