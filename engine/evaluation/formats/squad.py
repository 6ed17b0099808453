"""SQuAD JSON, versions 1.1 and 2.0, and what has its form, e.g. XQuAD: every paragraph a source, expected by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import DataSetUnusable
from engine.evaluation.cases import Case, question_id
from engine.evaluation.formats.common import Cases, Documents, Notes, Parsed, question_fault, sources
from engine.model.language import language_of


def is_squad(plain: Any) -> bool:
    return isinstance(plain, Mapping) and isinstance(plain.get("data"), list)


def parse_squad(plain: Mapping[str, Any], name: str, notes: Notes) -> Parsed:
    """Each paragraph becomes the source ``<title>/<number>.txt``; equal paragraphs become one.

    A question that its paragraph does not answer (``is_impossible``) expects nothing and counts as unanswerable,
    although another paragraph might answer it: the file does not say.
    """
    documents, cases = Documents(name, notes), Cases(name, notes)
    for article_no, article in enumerate(_list(plain, "data", name), 1):
        title = str(article.get("title") or f"article {article_no}").replace("_", " ")
        for number, paragraph in enumerate(_list(article, "paragraphs", name), 1):
            context = paragraph.get("context")
            source = documents.add(f"{title}/{number:03}", context) if isinstance(context, str) else None
            if source is None:
                notes.add("row", f"Paragraph {number} of {title[:80]!r} has no text; its questions are left out.", name)
                continue
            for qa in _list(paragraph, "qas", name):
                _add(cases, qa, source, name, notes)
    return Parsed(tuple(cases.found), tuple(documents.items))


def _add(cases: Cases, qa: Mapping[str, Any], source: str, name: str, notes: Notes) -> None:
    question = qa.get("question")
    fault = question_fault(question)
    if fault or not isinstance(question, str):
        notes.add("row", f"Question {str(qa.get('id', ''))[:80]!r} is left out: {fault}.", name)
        return
    impossible = qa.get("is_impossible") is True
    cases.add(
        Case(
            id=str(qa.get("id") or question_id(question)),
            question=question.strip(),
            expected=() if impossible else sources([source]),
            language=language_of(question),
            kind="unanswerable" if impossible else "",
            answerable=not impossible,
        )
    )


def _list(plain: Mapping[str, Any], key: str, name: str) -> list[Mapping[str, Any]]:
    found = plain.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
        raise DataSetUnusable(name=name, cause=f"{key!r} is not a list of objects, as SQuAD has it")
    return found
