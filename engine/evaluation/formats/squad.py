"""SQuAD JSON, versions 1.1 and 2.0, and what has its form, e.g. XQuAD: every paragraph a source, expected by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import EvaluationError
from engine.evaluation.cases import Case, question_id
from engine.evaluation.formats.common import LONGEST_ANSWER, Import, question_fault, sources
from engine.model.language import language_of


def is_squad(plain: Any) -> bool:
    return isinstance(plain, Mapping) and isinstance(plain.get("data"), list)


def parse_squad(plain: Mapping[str, Any], made: Import) -> None:
    """Each paragraph becomes the source ``<title>/<number>.txt``; equal paragraphs become one.

    A question that its paragraph does not answer (``is_impossible``) expects nothing and counts as unanswerable,
    although another paragraph might answer it: the file does not say.
    """
    for article_no, article in enumerate(_list(plain, "data", made.name), 1):
        title = str(article.get("title") or f"article {article_no}").replace("_", " ")
        for number, paragraph in enumerate(_list(article, "paragraphs", made.name), 1):
            context = paragraph.get("context")
            source = made.add_document(f"{title}/{number:03}", context) if isinstance(context, str) else None
            if source is None:
                made.note("row", f"Paragraph {number} of {title[:80]!r} has no text; its questions are left out.")
                continue
            for qa in _list(paragraph, "qas", made.name):
                _add(qa, source, made)


def _add(qa: Mapping[str, Any], source: str, made: Import) -> None:
    question = qa.get("question")
    fault = question_fault(question)
    if fault or not isinstance(question, str):
        made.note("row", f"Question {str(qa.get('id', ''))[:80]!r} is left out: {fault}.")
        return
    impossible = qa.get("is_impossible") is True
    made.add_case(
        Case(
            id=str(qa.get("id") or question_id(question)),
            question=question.strip(),
            expected=() if impossible else sources([source]),
            language=language_of(question),
            kind="unanswerable" if impossible else "",
            answerable=not impossible,
            gold_answers=() if impossible else tuple(dict.fromkeys(_answers(qa))),
        )
    )


def _answers(qa: Mapping[str, Any]) -> Iterator[str]:
    """Read gold answers, which are objects with a text, or texts as CMRC 2018 has them."""
    found = qa.get("answers")
    for item in found if isinstance(found, list) else []:
        text = item.get("text") if isinstance(item, Mapping) else item
        if isinstance(text, str) and 0 < len(text.strip()) <= LONGEST_ANSWER:
            yield text.strip()


def _list(plain: Mapping[str, Any], key: str, name: str) -> list[Mapping[str, Any]]:
    found = plain.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
        raise EvaluationError.data_set_unusable(name=name, cause=f"{key!r} is not a list of objects, as SQuAD has it")
    return found
