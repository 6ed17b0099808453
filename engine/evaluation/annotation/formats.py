"""Judgements of passages and answers as files: TREC qrels, the CSV of Quepid, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, get_args
from urllib.parse import quote, unquote

from engine.errors import EvaluationError
from engine.evaluation.cases import Case
from engine.evaluation.judgements import settled
from engine.evaluation.values import AnswerJudgement, Drawing, Label
from engine.knowledge.loaders.separated import allow_long_cells
from engine.model.values import PassageId

Format = Literal["qrels", "quepid", "jsonl"]
MOST_LINES = 200_000
_DRAWN: tuple[Drawing, ...] = get_args(Drawing)
_RIGHT = ("yes", "in_part", "no")
SHOWN = 20
_DELIMITERS = ",;\t，"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Read:
    """Contents of a file of judgements."""

    labels: tuple[Label, ...] = ()
    answers: tuple[AnswerJudgement, ...] = ()
    left_out: tuple[str, ...] = ()
    """Lines that cannot be used, with number and reason; the first ones."""
    left_out_n: int = 0


@dataclass(slots=True)
class _Reading:
    labels: list[Label] = field(default_factory=list)
    answers: list[AnswerJudgement] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    def done(self) -> Read:
        return Read(tuple(self.labels), tuple(self.answers), tuple(self.bad[:SHOWN]), len(self.bad))


def written(
    form: Format, cases: Sequence[Case], labels: Sequence[Label], answers: Sequence[AnswerJudgement] = ()
) -> str:
    """Judgements as a file. ``qrels`` and ``quepid`` know passages alone, and one judgement of each: what most say.

    In qrels, a case's id stands for its question; white space in an id is written ``%20``. Ratings are 1 and 0. In the
    CSV, what a spreadsheet would compute begins with ``'``, which :func:`read` takes away again.
    """
    if form == "jsonl":
        rows = [*map(_label_row, labels), *map(_answer_row, answers)]
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    decided = settled(labels)
    ids = {case.question.strip(): case.id for case in cases}
    rated = [(question, passage, int(said)) for (question, passage), said in sorted(decided.items())]
    if form == "qrels":
        known = [(ids[question], passage, said) for question, passage, said in rated if question in ids]
        return "".join(f"{_word(name)} 0 {_word(passage)} {said}\n" for name, passage, said in known)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("query", "docid", "rating"))
    table.writerows((_plain(question), _plain(passage), said) for question, passage, said in rated)
    return out.getvalue()


def read(text: str, name: str, form: Format | None, cases: Sequence[Case], *, relevant_from: int = 1) -> Read:
    """Read a file; without ``form`` it is recognised by its content.

    A rating of ``relevant_from`` or more means relevant. Questions that the set does not have are left out and named.
    Raises ``EvaluationError`` where nothing of it can be used.
    """
    text = text.removeprefix("\ufeff")
    if len(_lines(text)) > MOST_LINES + 1:
        raise EvaluationError.judgements_too_large(name=name, limit=MOST_LINES)
    form = form or _form_of(text)
    reading = _Reading()
    if form == "jsonl":
        _read_jsonl(text, cases, reading)
    else:
        rows = _qrels(text, cases, reading) if form == "qrels" else _quepid(text, name, cases, reading)
        _read_rated(rows, cases, relevant_from, reading)
    found = reading.done()
    if not found.labels and not found.answers:
        raise EvaluationError.judgements_unusable(
            name=name, cause=found.left_out[0] if found.left_out else "it is empty"
        )
    return found


def _lines(text: str) -> list[str]:
    """Lines as files end them; other separators may stand within a text."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _form_of(text: str) -> Format:
    first = next((line.strip() for line in _lines(text) if line.strip()), "")
    if first.startswith("{"):
        return "jsonl"
    return "quepid" if "query" in first.lower() and any(sign in first for sign in _DELIMITERS) else "qrels"


def _label_row(item: Label) -> dict[str, Any]:
    return {
        "question": item.question,
        "passage": item.passage_id,
        "relevant": item.relevant,
        **_who(item.judge, item.explanation, item.drawn, item.labelled_at),
    }


def _answer_row(item: AnswerJudgement) -> dict[str, Any]:
    judge = _who(item.judge, item.explanation, item.drawn, item.judged_at)
    return {"question": item.question, "answer": item.answer, "right": item.right, "by": item.by, **judge}


def _who(judge: str, explanation: str, drawn: str, at: str) -> dict[str, str]:
    return {"judge": judge, "explanation": explanation, "drawn": drawn, "at": at}


def _word(text: str) -> str:
    return quote(text, safe="".join(char for char in map(chr, range(33, 127)) if char != "%"))


def _plain(text: str) -> str:
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def _as_it_was(text: str) -> str:
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(_FORMULA) else text


Row = tuple[int, str, str, str]
"""Line number, question, passage, rating."""


def _qrels(text: str, cases: Sequence[Case], reading: _Reading) -> Iterable[Row]:
    questions = {case.id: case.question for case in cases}
    for number, line in enumerate(_lines(text), start=1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 4:
            reading.bad.append(f"line {number}: four fields are wanted")
            continue
        name = unquote(parts[0])
        if name not in questions:
            reading.bad.append(f"line {number}: the set has no question {name!r}")
            continue
        yield number, questions[name], unquote(parts[2]), parts[3]


def _quepid(text: str, name: str, cases: Sequence[Case], reading: _Reading) -> Iterable[Row]:
    header = next((line for line in _lines(text) if line.strip()), "")
    delimiter = max(_DELIMITERS, key=header.count)
    allow_long_cells()
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        columns = {(column or "").strip().lower().replace("_", ""): column for column in table.fieldnames or ()}
    except csv.Error as error:
        raise EvaluationError.judgements_unusable(name=name, cause=str(error)) from None
    wanted = [columns.get(column) for column in ("query", "docid", "rating")]
    if None in wanted:
        raise EvaluationError.judgements_unusable(name=name, cause="it has no columns query, docid and rating")
    known = {case.question.strip() for case in cases}
    lost = 0  # lines that the table does not count
    while True:
        try:
            row = next(table, None)
        except csv.Error as error:
            lost += 1
            reading.bad.append(f"line {table.line_num + lost}: {error}")
            continue
        if row is None:
            return
        question, passage, rating = ((row.get(str(column)) or "").strip() for column in wanted)
        plain = _as_it_was(question)
        yield table.line_num + lost, plain if plain in known else question, _as_it_was(passage), rating


def _read_rated(rows: Iterable[Row], cases: Sequence[Case], relevant_from: int, reading: _Reading) -> None:
    known = {case.question.strip() for case in cases}
    for number, question, passage, rating in rows:
        if question.strip() not in known:
            reading.bad.append(f"line {number}: the set has no question {question[:60]!r}")
            continue
        value = _number(rating)
        if value is None:
            reading.bad.append(f"line {number}: the rating {rating[:20]!r} is no number")
            continue
        if not passage:
            reading.bad.append(f"line {number}: no passage is named")
            continue
        reading.labels.append(Label(question.strip(), PassageId(passage), value >= relevant_from, ""))


def _number(rating: str) -> float | None:
    try:
        value = float(rating)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _read_jsonl(text: str, cases: Sequence[Case], reading: _Reading) -> None:
    known = {case.question.strip() for case in cases}
    for number, line in enumerate(_lines(text), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            reading.bad.append(f"line {number}: it is no JSON")
            continue
        if not isinstance(row, dict) or str(row.get("question", "")).strip() not in known:
            reading.bad.append(f"line {number}: the set has no such question")
            continue
        _take(row, number, reading)


def _take(row: Mapping[str, Any], number: int, reading: _Reading) -> None:
    question = str(row["question"]).strip()
    drawn: Drawing = next((name for name in _DRAWN if name == row.get("drawn")), "")
    judge, explanation = (str(row.get(name) or "") for name in ("judge", "explanation"))
    if not judge.isprintable():
        reading.bad.append(f"line {number}: the judge's name cannot be kept")
        return
    if _says(row.get("passage")) and isinstance(row.get("relevant"), bool):
        passage = PassageId(row["passage"])
        reading.labels.append(
            Label(question, passage, row["relevant"], "", explanation=explanation, drawn=drawn, judge=judge)
        )
    elif _says(row.get("answer")) and row.get("right") in _RIGHT and row.get("by", "person") == "person":
        reading.answers.append(
            AnswerJudgement(question, row["answer"], row["right"], explanation, judge=judge, drawn=drawn)
        )
    elif isinstance(row.get("answer"), str) and row.get("by", "person") != "person":
        reading.bad.append(f"line {number}: said by a model; only what people said is taken in")
    else:
        reading.bad.append(f"line {number}: neither a passage with relevant nor an answer with right")


def _says(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())
