"""A chat model as judge of answers and as rewriter, on labelled questions; each call is kept as it comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.builtin.grader import BuiltinGrader
from engine.builtin.rewriter import BuiltinRewriter
from engine.errors import ModelError
from engine.llm.answer_judge import ChatAnswerJudge
from engine.llm.rewriter import ChatRewriter
from engine.model.config import RoleModel
from engine.model.language import normalised_query
from engine.model.values import Passage
from engine.retrieval.similarity import ANCHOR_LANGUAGES
from engine.roles import FailedPassage, JudgeRequest, Rewriter, RewriteRequest
from engine.settings import Settings
from tests.benchmarks.labelled_pairs import LabelledPair, other_words, passage_of
from tests.benchmarks.model_grading import Graded, Heard, Kept, similarity_of
from tests.fitting.fit_grader import Similarities, Vectors, read_xquad

FIRST = 3
"""Passages of a search; among more of them a question seldom misses."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer to the question of a pair."""

    pair: LabelledPair
    right: bool
    given: Graded
    """Its P is 1 where the judge called the answer right, else 0."""


def judged(pairs: Sequence[LabelledPair], model: RoleModel, settings: Settings, kept: Kept) -> list[Judged]:
    """The right answer to each question and one to another question, judged by the passage."""
    judge, found = ChatAnswerJudge(model, settings), []
    for pair in pairs:
        if not (pair.relevant and pair.other):
            continue
        for right, answer in ((True, pair.gold), (False, pair.other)):
            request = JudgeRequest(pair.question, answer, (pair.passage,))
            plain = kept.of(f"judge {pair.key} {right}", partial(_verdict, judge, request))
            if plain is not None:
                found.append(Judged(pair, right, Graded(**plain)))
    return found


def _verdict(judge: ChatAnswerJudge, request: JudgeRequest) -> dict[str, Any]:
    return asyncio.run(_judged(judge, request))


async def _judged(judge: ChatAnswerJudge, request: JudgeRequest) -> dict[str, Any]:
    heard, began, p = Heard(), time.perf_counter(), None
    try:
        p = float((await judge.judge(request, heard)).right)
    except ModelError:
        if not heard.calls:
            raise
    asked, replied = heard.tokens
    taken = round(time.perf_counter() - began, 3)
    return {"p": p, "raw": None, "seconds": taken, "prompt_tokens": asked, "reply_tokens": replied}


@dataclass(frozen=True, slots=True)
class Missed:
    """A question whose right passage is not among the first, with those and everything that is searched."""

    question: str
    right: str
    first: tuple[Passage, ...]
    pool: tuple[str, ...]


def missed(data: Path | None, vectors: Vectors) -> Iterator[Missed]:
    """Questions in other words among all passages of our own writing, and those of XQuAD where it is at hand."""
    for language in ANCHOR_LANGUAGES:
        near, items = Similarities(vectors, language), other_words(language)
        pool = tuple(text for item in items for text in (item["right"], *item["wrong"]))
        asked = [(str(item["question"]), str(item["right"])) for item in items]
        yield from _missed(asked, pool, vectors, near)
        path = data and data / f"xquad-dev.{language}.json"
        if path and path.is_file():
            paragraphs, questions = read_xquad(path)
            pool = tuple(text for _, text in paragraphs)
            yield from _missed([(item.question, pool[item.paragraph]) for item in questions], pool, vectors, near)


def _missed(
    asked: Sequence[tuple[str, str]], pool: tuple[str, ...], vectors: Vectors, near: Similarities
) -> Iterator[Missed]:
    matrix = np.stack([vectors.passage(text) for text in pool])
    for question, right in asked:
        query = vectors.query(question)
        cosines = matrix @ query
        first = [int(at) for at in np.argsort(-cosines)[:FIRST]]
        if right not in [pool[at] for at in first]:
            floor = near.floor(query)
            passages = tuple(passage_of(f"p{at}", pool[at], float(cosines[at]), floor) for at in first)
            yield Missed(question, right, passages, pool)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a rewriter made of a question that missed."""

    question: str

    finds: bool
    """Whether the right passage is among the first of the new query."""
    same: bool
    """Whether it is the question over again."""
    readable: bool
    seconds: float


def rewritten(
    items: Sequence[Missed], model: RoleModel, settings: Settings, kept: Kept, vectors: Vectors, *, reasons: bool
) -> list[Rewritten]:
    """One rewrite of each question, after a round whose first passages all failed.

    With the ``reasons`` of the built-in grader, or without any, as after verdicts of one word.
    """
    rewriter: Rewriter = BuiltinRewriter() if model.built_in else ChatRewriter(model, settings)
    found = []
    for item in items:
        key = f"rewrite {item.question}{'' if reasons else ' without reasons'}"
        plain = kept.of(key, partial(_rewrite, item, rewriter, reasons))
        if plain is None:
            continue
        query = plain["query"]
        matrix = np.stack([vectors.passage(text) for text in item.pool])
        first = np.argsort(-(matrix @ vectors.query(query)))[:FIRST] if query else ()
        finds = any(item.pool[at] == item.right for at in first)
        same = normalised_query(query) == normalised_query(item.question)
        found.append(Rewritten(item.question, finds, same, bool(query), plain["seconds"]))
    return found


def _rewrite(item: Missed, rewriter: Rewriter, reasons: bool) -> dict[str, Any]:
    return asyncio.run(_query(item, rewriter, reasons))


async def _query(item: Missed, rewriter: Rewriter, reasons: bool) -> dict[str, Any]:
    verdicts = await BuiltinGrader(similarity_of).grade(item.question, item.first)
    failed = tuple(
        FailedPassage(passage.id, passage.text, passage.similarity, verdict.reason, verdict.covered, verdict.missing)
        if reasons
        else FailedPassage(passage.id, passage.text, passage.similarity, "")
        for passage, verdict in zip(item.first, verdicts, strict=True)
    )
    heard, began, query = Heard(), time.perf_counter(), ""
    try:
        query = (await rewriter.rewrite(RewriteRequest(item.question, item.question, failed, ()), heard)).query
    except ModelError:
        if not heard.calls:
            raise
    return {"query": query, "seconds": round(time.perf_counter() - began, 3)}
