"""Runs of made-up questions, gathered into evidence: the same ones every time."""

from __future__ import annotations

import random
from dataclasses import replace

from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case, Expectation
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.question_changes import QuestionChanges, changes_between
from engine.model.config import RunConfig
from engine.model.values import RunId, RunRecord, Verdict
from tests.engine.whatif.world import World, run_in

PASSAGES = 45


def world(chance: random.Random, passages: int = PASSAGES, found: int = 20) -> World:
    """One question's world: four queries that find ``found`` passages each, graded better than by chance."""
    liked = [chance.random() for _ in range(passages)]
    return World(
        found=tuple(
            tuple(
                zip(
                    chance.sample(range(passages), found),
                    sorted((round(chance.betavariate(2, 4), 3) for _ in range(found)), reverse=True),
                    strict=True,
                )
            )
            for _ in range(4)
        ),
        verdicts=tuple(Verdict(p > 0.6, round(max(p, 1 - p), 2), "because") for p in liked),
        rewriting=("new", "new", "new", "new"),
        token_budget=10_000,
    )


def questions(count: int, config: RunConfig, seed: int = 1) -> tuple[list[Case], dict[str, RunRecord]]:
    """Cases and their runs under ``config``: three of four answerable with one to three expected passages."""
    chance = random.Random(seed)
    cases, records = [], {}
    for number in range(count):
        case_id, made = f"case-{number}", world(chance)
        answerable = number % 4 != 3
        expected = tuple(
            Expectation("passage", f"p{place:02}") for place in chance.sample(range(PASSAGES), chance.randint(1, 3))
        )
        cases.append(
            Case(case_id, f"Question {number}?", expected if answerable else (), answerable=answerable, language="en")
        )
        records[case_id] = replace(run_in(made, config), id=RunId(f"run-{number}"))
    return cases, records


def evidence_of(count: int, config: RunConfig | None = None, seed: int = 1) -> Evidence:
    return gather(*questions(count, config or RunConfig(), seed))


def question_changes(evidence: Evidence, before: RunConfig, after: RunConfig) -> QuestionChanges:
    return changes_between(evidence, evaluate(evidence, [before, after]), 0, 1)
