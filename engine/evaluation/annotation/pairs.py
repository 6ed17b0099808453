"""Judgeable items: a question with a passage that a run found, or with an answer that a run gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import numpy as np

from engine.evaluation.cases import Case
from engine.evaluation.judgements import pair_id
from engine.evaluation.statistics import Interval, interval
from engine.evaluation.values import AnswerJudgement, Label
from engine.model.values import Passage, PassageId, RunId, RunRecord

Kind = Literal["passage", "answer"]
Said = Literal["yes", "in_part", "no"]
"""What a judge says; ``in_part`` of answers alone."""
_NOT_JUDGED = frozenset({"abstained", "failed", "cancelled", "interrupted", "unanswered"})


@dataclass(frozen=True, slots=True)
class Item:
    """One pair, without anything that a grader, a rank or a score said of it."""

    id: str
    """The same for the same question and passage, or question and answer, white space aside."""
    kind: Kind
    case_id: str
    question: str
    text: str
    """Of the passage, or the answer."""
    run_id: RunId
    passage_id: PassageId | None = None
    """None for an answer."""
    source: str = ""
    section: str = ""
    gold_answers: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    """Texts of the passages that an answer cites, in the order of its markers."""


def items_of(results: Iterable[tuple[Case, RunRecord]], kind: Kind) -> tuple[Item, ...]:
    """Every distinct pair of some finished runs, by question and first sight.

    Passages are those that a grader judged in the run; refusals and failed runs give no answer.
    """
    found: dict[str, Item] = {}
    for case, record in results:
        for item in _passages(case, record) if kind == "passage" else _answers(case, record):
            found.setdefault(item.id, item)
    return tuple(found.values())


def _passages(case: Case, record: RunRecord) -> Iterable[Item]:
    known: Mapping[PassageId, Passage] = record.passages
    for passage_id in record.first_verdicts(by_hand=False):
        passage = known.get(passage_id)
        if passage is not None:
            yield Item(
                id=passage_item_id(case.question, passage_id),
                kind="passage",
                case_id=case.id,
                question=case.question.strip(),
                text=passage.text,
                run_id=record.id,
                passage_id=passage_id,
                source=passage.source,
                section=passage.section,
            )


def _answers(case: Case, record: RunRecord) -> Iterable[Item]:
    if record.answer.strip() and record.outcome not in _NOT_JUDGED:
        yield Item(
            id=pair_id(case.question, record.answer),
            kind="answer",
            case_id=case.id,
            question=case.question.strip(),
            text=record.answer,
            run_id=record.id,
            gold_answers=case.gold_answers,
            cited=tuple(_cited(record)),
        )


def _cited(record: RunRecord) -> Iterable[str]:
    known: Mapping[PassageId, Passage] = record.passages
    for citation in record.citations:
        passage = known.get(citation.passage_id)
        if passage is not None:
            yield f"[{citation.marker}] {passage.text}"


def passage_item_id(question: str, passage_id: str) -> str:
    """Return the id of a question with a passage: 64 hexadecimal digits."""
    return sha256(f"{question.strip()}\x00{passage_id}".encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of one pair by one judge."""

    item_id: str
    judge: str
    said: Said
    at_random: bool
    """The pair was drawn at random among all, so that it may stand for the others."""
    at: str = ""
    """ISO 8601, UTC."""


def of_labels(labels: Iterable[Label]) -> tuple[Judgement, ...]:
    """Judgements of passages as the desk counts them."""
    return tuple(
        Judgement(
            passage_item_id(item.question, item.passage_id),
            item.judge,
            "yes" if item.relevant else "no",
            item.drawn == "random",
            item.labelled_at,
        )
        for item in labels
    )


def of_answers(judgements: Iterable[AnswerJudgement]) -> tuple[Judgement, ...]:
    """Count people's judgements of answers."""
    return tuple(
        Judgement(pair_id(item.question, item.answer), item.judge, item.right, item.drawn == "random", item.judged_at)
        for item in judgements
        if item.by == "person" and item.right != "unreadable"
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """Judged share of a collection of pairs."""

    total: int
    """Distinct pairs."""
    judged: int
    """By anybody."""
    at_random: int
    """Of these, drawn at random: they alone stand for the others."""
    mine: int
    """By the judge who asks."""


def coverage(items: Sequence[Item], said: Iterable[Judgement], judge: str) -> Coverage:
    """Count the pairs that are judged; judgements of other pairs count nowhere."""
    known = frozenset(item.id for item in items)
    of_these = [item for item in said if item.item_id in known]
    return Coverage(
        total=len(known),
        judged=len({item.item_id for item in of_these}),
        at_random=len({item.item_id for item in of_these if item.at_random}),
        mine=len({item.item_id for item in of_these if item.judge == judge}),
    )


def share_of_yes(items: Sequence[Item], said: Iterable[Judgement]) -> Interval | None:
    """The share of randomly drawn pairs that more than half of the judges accept, with its interval.

    Chosen pairs and those met by hand say nothing of the rest, and are left out; None without any.
    """
    known = frozenset(item.id for item in items)
    votes: defaultdict[str, list[bool]] = defaultdict(list)
    drawn: set[str] = set()
    for item in said:
        if item.item_id in known:
            votes[item.item_id].append(item.said == "yes")
            drawn |= {item.item_id} if item.at_random else set()
    return interval(np.array([2.0 * sum(votes[name]) > len(votes[name]) for name in sorted(drawn)], dtype=np.float64))
