"""Judgements of passages and of answers as rows, and what several judges say together."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, Table, delete, select

from engine.database.base import among, clean, put
from engine.database.tables import ANSWER_JUDGEMENTS, LABELS
from engine.errors import NotAllowed
from engine.evaluation.cases import Case
from engine.evaluation.values import AnswerJudgement, Label
from engine.model.values import Claim, PassageId, RunRecord
from engine.people import current_user
from engine.roles import JudgeRequest

Pair = tuple[str, str]
"""A question and an answer to it."""
_CLAIMS = TypeAdapter(tuple[Claim, ...])


def pair_id(question: str, answer: str) -> str:
    """Return the id of an answer to a question, white space aside: 64 hexadecimal digits."""
    parts = [clean(question.strip()), " ".join(clean(answer).split())]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _require_own(connection: Connection, table: Table, key: Mapping[str, str]) -> None:
    """Raise ``NotAllowed`` if another signed-in person has judged this under the same name."""
    author = current_user().author
    if author:
        said = (table.c[name] == value for name, value in key.items())
        if connection.scalar(select(table.c.author).where(*said, table.c.author.not_in(("", clean(author))))):
            raise NotAllowed.judged_by_another(judge=key["judge"])


# -- passages ----------------------------------------------------------------------------------------------------


def put_labels(connection: Connection, labels: Iterable[Label]) -> None:
    """Keep each label in the place of what the same judge said of the passage before."""
    labels = list(labels)
    for label in labels:
        _require_own(connection, LABELS, _label_key(label))
    rows = [
        {
            **_label_key(label),
            "relevant": int(label.relevant),
            "labelled_at": label.labelled_at,
            "author": clean(label.author),
            "explanation": clean(label.explanation),
            "drawn": label.drawn,
        }
        for label in labels
    ]
    put(connection, LABELS, rows)


def take_label(connection: Connection, label: Label) -> None:
    """Remove what the judge of a label said of its passage."""
    key = _label_key(label)
    _require_own(connection, LABELS, key)
    connection.execute(delete(LABELS).where(*(LABELS.c[name] == value for name, value in key.items())))


def labels(connection: Connection, questions: Iterable[str]) -> tuple[Label, ...]:
    """The labels of some questions, by question, passage and judge."""
    wanted = {question.strip() for question in questions}
    query = select(LABELS).order_by(LABELS.c.question, LABELS.c.passage_id, LABELS.c.judge)
    rows = connection.execute(query.where(among(connection, LABELS.c.question, wanted))).all()
    return tuple(
        Label(
            question=row.question,
            passage_id=PassageId(row.passage_id),
            relevant=bool(row.relevant),
            labelled_at=row.labelled_at,
            author=row.author,
            explanation=row.explanation,
            drawn=row.drawn,
            judge=row.judge,
        )
        for row in rows
    )


def settled(found: Iterable[Label]) -> dict[tuple[str, PassageId], bool]:
    """Return the majority verdict on each passage for a question; ties are left out."""
    votes: defaultdict[tuple[str, PassageId], int] = defaultdict(int)
    for label in found:
        votes[label.question.strip(), label.passage_id] += 1 if label.relevant else -1
    return {pair: vote > 0 for pair, vote in votes.items() if vote}


def _label_key(label: Label) -> dict[str, str]:
    return {
        "question": clean(label.question.strip()),
        "passage_id": clean(label.passage_id),
        "judge": clean(label.judge),
    }


# -- answers -----------------------------------------------------------------------------------------------------


def put_answers(connection: Connection, judgements: Iterable[AnswerJudgement]) -> None:
    """Keep each judgement in the place of what the same judge said of the answer before.

    A model's verdict on its input is the same for every user.
    """
    judgements = list(judgements)
    for said in judgements:
        if said.by == "person":
            _require_own(connection, ANSWER_JUDGEMENTS, _answer_key(said))
    rows = [
        {
            **_answer_key(judgement),
            "question": clean(judgement.question.strip()),
            "answer": clean(judgement.answer),
            "verdict": judgement.right,
            "explanation": clean(judgement.explanation),
            "drawn": judgement.drawn,
            "claims": clean(json.dumps([asdict(claim) for claim in judgement.claims], ensure_ascii=False)),
            "judged_at": judgement.judged_at,
            "author": clean(judgement.author),
        }
        for judgement in judgements
    ]
    put(connection, ANSWER_JUDGEMENTS, rows)


def take_answer(connection: Connection, judgement: AnswerJudgement) -> None:
    """Remove what a judge said of an answer."""
    key = _answer_key(judgement)
    _require_own(connection, ANSWER_JUDGEMENTS, key)
    this = (ANSWER_JUDGEMENTS.c[name] == value for name, value in key.items())
    connection.execute(delete(ANSWER_JUDGEMENTS).where(*this))


def answers(
    connection: Connection, pairs: Iterable[Pair], damaged: Callable[[], Exception]
) -> tuple[AnswerJudgement, ...]:
    """Return the judgements of answers, by pair, kind and judge; raises ``damaged()`` for an unreadable row."""
    table = ANSWER_JUDGEMENTS.c
    query = select(ANSWER_JUDGEMENTS).order_by(table.pair, table.kind, table.judge, table.shown)
    wanted = {pair_id(question, answer) for question, answer in pairs}
    rows = connection.execute(query.where(among(connection, table.pair, wanted))).all()
    try:
        return tuple(map(_answer, rows))
    except ValidationError:
        raise damaged() from None


def _answer(row: Row[tuple[str, ...]]) -> AnswerJudgement:
    return AnswerJudgement(
        question=row.question,
        answer=row.answer,
        right=row.verdict,
        explanation=row.explanation,
        by=row.kind,
        judge=row.judge,
        drawn=row.drawn,
        claims=_CLAIMS.validate_json(row.claims),
        shown=row.shown,
        judged_at=row.judged_at,
        author=row.author,
    )


def _answer_key(judgement: AnswerJudgement) -> dict[str, str]:
    return {
        "pair": pair_id(judgement.question, judgement.answer),
        "kind": judgement.by,
        "judge": clean(judgement.judge),
        "shown": judgement.shown,
    }


@dataclass(frozen=True, slots=True)
class Judged:
    """Joint judgement of people on an answer."""

    right: bool
    """Most of them say yes: *in part* is not right, and neither is an answer of which as many say no."""
    at_random: bool
    """One of them was given it by chance, so that it may stand for answers that no one judged."""


def judged_answers(found: Iterable[AnswerJudgement]) -> dict[str, Judged]:
    """Return people's judgements of answers by :func:`pair_id`; models' judgements are left out."""
    by_pair: defaultdict[str, list[AnswerJudgement]] = defaultdict(list)
    for item in found:
        if item.by == "person":
            by_pair[pair_id(item.question, item.answer)].append(item)
    return {
        pair: Judged(
            right=2 * sum(item.right == "yes" for item in said) > len(said),
            at_random=any(item.drawn == "random" for item in said),
        )
        for pair, said in by_pair.items()
    }


# -- what models say ---------------------------------------------------------------------------------------------

Key = tuple[str, str]
"""An answer (:func:`judgements.pair_id`) with what a judge is shown with it (:meth:`JudgeRequest.digest`)."""


def request_of(case: Case, record: RunRecord) -> JudgeRequest:
    """Build the request to a judge of a run's answer."""
    passages = record.context.passages if record.context is not None else ()
    return JudgeRequest(case.question, record.answer, passages, case.gold_answers)


def key_of(request: JudgeRequest) -> Key:
    """Return the key of an answer together with its context."""
    return pair_id(request.question, request.answer), request.digest()


def verdicts_of(found: Iterable[AnswerJudgement], judge: str) -> dict[Key, AnswerJudgement]:
    """Return one model's verdicts, by answer and context."""
    said = (item for item in found if item.by == "model" and item.judge == judge)
    return {(pair_id(item.question, item.answer), item.shown): item for item in said}


def judges_of(found: Iterable[AnswerJudgement]) -> tuple[str, ...]:
    """The models that have judged any of these answers, the one with the newest judgement first."""
    newest: dict[str, str] = {}
    for item in found:
        if item.by == "model":
            newest[item.judge] = max(item.judged_at, newest.get(item.judge, ""))
    return tuple(sorted(newest, key=lambda name: (newest[name], name), reverse=True))


def claim_recall(claims: Iterable[Claim]) -> float | None:
    """The share of a gold answer's claims that the answer makes, of several gold answers the best; None without any."""
    by_gold: defaultdict[int, list[bool]] = defaultdict(list)
    for claim in claims:
        if claim.of == "gold":
            by_gold[claim.gold].append(claim.holds)
    return max((sum(held) / len(held) for held in by_gold.values()), default=None)


def faithfulness(claims: Iterable[Claim]) -> float | None:
    """The share of an answer's claims that the passages bear out; None where it makes none."""
    held = [claim.holds for claim in claims if claim.of == "answer"]
    return sum(held) / len(held) if held else None
