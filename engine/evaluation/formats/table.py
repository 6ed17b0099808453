"""CSV and JSONL with a question and what is expected for it, one case a line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast, get_args

from engine.errors import EvaluationError
from engine.evaluation.cases import Case, Expectation, ExpectationKind, question_id
from engine.evaluation.formats.common import LONGEST_ANSWER, Import, json_lines, question_fault
from engine.knowledge.ingest import SUFFIXES
from engine.knowledge.loaders.separated import allow_long_cells
from engine.model.language import language_of

_HEADERS: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "query", "q", "prompt", "user_input", "问题", "問題", "提问", "查询"),
    "expected": ("expected", "answer", "answers", "expectation", "expectations", "期望", "答案", "预期", "期望结果"),
    "named_answer": ("answer", "answers", "答案"),
    "gold": ("gold_answers", "gold_answer", "标准答案", "参考答案"),
    "ragas_gold": ("reference", "ground_truth", "ground_truths"),
    "answerable": ("answerable", "is_answerable", "可回答", "能否回答", "是否可回答"),
    "id": ("id", "case", "case_id", "编号", "序号"),
    "kind": ("kind", "type", "类型", "类别"),
    "language": ("language", "lang", "语言"),
}
_ANSWER_COLUMN = (
    "The column 'answer' says what the right passage contains, or where it stands; a column 'gold_answer' would say "
    "what the answer has to say."
)
_ASKERS = ("human", "user")
_MOST_NAMED = 12
"""Columns that a note names."""
_YES = frozenset({"true", "yes", "y", "1", "是", "可", "能", "对"})
_NO = frozenset({"false", "no", "n", "0", "否", "不可", "不能", "错"})
_PASSAGE_ID = re.compile(r"(\S.*)#\d{1,9}")
_DELIMITERS = ",;\t，；"
_Row = tuple[int, Mapping[str, Any] | str]
"""Line, and the fields by our names or why it cannot be read."""


def parse_csv(text: str, made: Import) -> None:
    """Rows under a line of headers; comma, semicolon or tab between them."""
    _add_all(_csv_rows(text, made), made)


def parse_jsonl(text: str, made: Import) -> None:
    """One object a line; blank lines are skipped."""
    _add_objects(json_lines(text), made)


def parse_list(rows: list[Any], made: Import) -> None:
    """A JSON list of objects; what stands for the line is the place in the list."""
    _add_objects(enumerate(rows, 1), made)


def _add_objects(rows: Iterable[tuple[int, Any]], made: Import) -> None:
    names: dict[str, None] = {}

    def named() -> Iterator[_Row]:
        for place, row in rows:
            if isinstance(row, Mapping):
                names.update(dict.fromkeys(_unused(list(row))))
            yield place, row if isinstance(row, str) else _by_name(row)

    _add_all(named(), made)
    _note_unused(tuple(names), made)


def _note_unused(unused: Sequence[str], made: Import) -> None:
    if unused:
        shown = ", ".join(name[:40] for name in unused[:_MOST_NAMED]) + (", …" if len(unused) > _MOST_NAMED else "")
        made.note("unused_columns", f"Nothing is read from: {shown}.", count=len(unused), names=shown)


def expectation_of(text: str, known: Collection[str] = ()) -> Expectation:
    """Interpret a label: a passage's id, a source's name, or a text that the right passage contains.

    ``passage:``, ``source:`` or ``text:`` in front says it outright. Else ``known`` sources are recognised, and names
    that end like a file that can be ingested, each with ``#`` and a number for one of its passages.
    """
    stripped = text.strip()
    kind, colon, rest = stripped.partition(":")
    if colon and kind in get_args(ExpectationKind) and rest.strip():
        return Expectation(cast("ExpectationKind", kind), rest.strip())
    if _is_source(stripped, known):
        return Expectation("source", stripped)
    passage = _PASSAGE_ID.fullmatch(stripped)
    if passage and _is_source(passage[1], known):
        return Expectation("passage", stripped)
    return Expectation("text", stripped)


def _is_source(name: str, known: Collection[str]) -> bool:
    return name in known or ("\n" not in name and len(name) <= 300 and name.lower().endswith(SUFFIXES))


def _csv_rows(text: str, made: Import) -> Iterator[_Row]:
    header = next((line for line in text.split("\n") if line.strip()), "")
    delimiter = max(_DELIMITERS, key=lambda sign: len(_named(_split(header, sign)).keys() & _HEADERS.keys()))
    allow_long_cells()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: dict[str, int] = {}
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, f"it is not CSV ({error})"
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if not names:
            names = _named(cells)
            if "question" not in names:
                known = ", ".join(cell.strip()[:30] for cell in cells[:10])
                raise EvaluationError.data_set_unusable(
                    name=made.name, cause=f"its first line names no column 'question', only: {known}"
                )
            _note_unused(_unused(cells), made)
            continue
        if len(cells) <= names["question"]:
            yield line, "it has too few columns"
            continue
        yield line, {field: cells[place] for field, place in names.items() if place < len(cells)}


def _split(header: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:
        return []


def _by_name(plain: Any) -> Mapping[str, Any] | str:
    if not isinstance(plain, Mapping):
        return "it is no object"
    names = _named(list(plain))
    values = list(plain.values())
    return {field: values[place] for field, place in names.items()}


def _named(headers: list[Any]) -> dict[str, int]:
    """Column by field; our own spelling of a header before its synonyms."""
    folded = [str(item).strip().strip("\ufeff").casefold().replace(" ", "_") for item in headers]
    places = {}
    for field, spellings in _HEADERS.items():
        place = next((folded.index(spelling) for spelling in spellings if spelling in folded), None)
        if place is not None:
            places[field] = place
    if "named_answer" in places and places["named_answer"] != places["expected"]:
        del places["named_answer"]
    if "ragas_gold" in places:
        # In files of RAGAS, what a right answer says has these names, and an answer is what a program said.
        places.setdefault("gold", places.pop("ragas_gold"))
        if places.pop("named_answer", None) is not None:
            del places["expected"]
    return places


def _unused(headers: list[Any]) -> tuple[str, ...]:
    """The names of columns that nothing is read from."""
    used = set(_named(headers).values())
    return tuple(str(item).strip() for place, item in enumerate(headers) if place not in used and str(item).strip())


def _add_all(rows: Iterator[_Row], made: Import) -> None:
    noted = False
    for line, row in rows:
        try:
            if isinstance(row, str):
                raise ValueError(row)
            made.add_case(_case(row, made.known), line)
            if not noted and row.get("named_answer"):
                noted = True
                made.note("answer_column", _ANSWER_COLUMN, line)
        except ValueError as error:
            made.leave_out(str(error), line)


def _case(row: Mapping[str, Any], known: Collection[str]) -> Case:
    """Read a row as a case; raises ``ValueError`` whose text says why it cannot be one."""
    question = _last_asked(row.get("question"))
    if fault := question_fault(question):
        raise ValueError(fault)
    asked = str(question).strip()
    expected = tuple(dict.fromkeys(_expected(row.get("expected"), known)))
    answerable = _answerable(row.get("answerable"))
    gold = tuple(dict.fromkeys(_gold(row.get("gold"))))
    if (expected or gold) and answerable is False:
        raise ValueError("it expects something and is marked as not answerable")
    return Case(
        id=_word(row, "id", 200) or question_id(asked),
        question=asked,
        expected=expected,
        language=_word(row, "language", 20) or language_of(asked),
        kind=_word(row, "kind", 60),
        answerable=True if expected or gold else answerable,
        gold_answers=gold,
    )


def _last_asked(value: Any) -> Any:
    """The last question of a conversation, which is a list of messages; anything else as it is."""
    if not isinstance(value, list):
        return value
    asked = [item for item in value if isinstance(item, Mapping) and item.get("type", item.get("role")) in _ASKERS]
    return asked[-1].get("content") if asked else value


def _gold(value: Any) -> Iterator[str]:
    for item in _several(value):
        text = str(item).strip()
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            raise ValueError("a gold answer is no text")
        if len(text) > LONGEST_ANSWER:
            raise ValueError(f"a gold answer has more than {LONGEST_ANSWER} characters")
        if text:
            yield text


def _several(value: Any) -> list[Any]:
    """A cell or field as a list: one, a list written as JSON, or texts with ``|`` between them."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    if isinstance(value, str):
        return value.split("|")
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _expected(value: Any, known: Collection[str]) -> Iterator[Expectation]:
    for item in _several(value):
        if isinstance(item, Mapping) and item.get("kind") in get_args(ExpectationKind) and item.get("value"):
            yield Expectation(item["kind"], str(item["value"]))
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            if str(item).strip():
                yield expectation_of(str(item), known)
        else:
            raise ValueError("what is expected is neither a text nor a list of texts")


def _answerable(value: Any) -> bool | None:
    folded = "" if value is None else str(value).strip().casefold()
    if not folded:
        return None
    if folded in _YES | _NO:
        return folded in _YES
    raise ValueError(f"answerable is {folded[:20]!r}, neither true nor false")


def _word(row: Mapping[str, Any], field: str, longest: int) -> str:
    value = row.get(field)
    return "" if value is None else str(value).strip()[:longest]
