"""What the record of a loop says would happen is what happens: sample questions, a grid of settings, built-in roles."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.model.config import Expand, Options, RunConfig, WorkflowName
from engine.model.values import RunRecord
from engine.replay import State, WhatIf, what_if
from engine.samples import sample_questions
from engine.settings import Settings
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from tests.engine.whatif.foretold import differences, refused
from tests.support.same_roles import SameRoles

WHOLE = bool(os.environ.get("WORKBENCH_TEST_WHOLE_GRID"))
"""Every setting for every question: half an hour instead of a minute."""

_FORGETFUL = DualLoopOptions(memory=False)
"""A run that remembers another one is no repetition of it."""
OPTIONS: Mapping[WorkflowName, tuple[Options, ...]] = {
    "quality_loop": (
        QualityOptions(),
        QualityOptions(grade_on="top3"),
        QualityOptions(medium_score=0.3),
        QualityOptions(0.0, 1.0, 0.0, 0.0),
        QualityOptions(0.1, 0.2, 0.3, 0.4, medium_score=0.4),
    ),
    "dual_loop": (
        _FORGETFUL,
        DualLoopOptions(memory=False, web_search=True),
        DualLoopOptions(max_corrections=0, memory=False),
    ),
    "answer_evaluation": (AnswerEvaluationOptions(), AnswerEvaluationOptions(1), AnswerEvaluationOptions(5)),
}
CHANGES: tuple[dict[str, Any], ...] = (
    *({"top_k": top_k, "similarity_threshold": bar} for top_k, bar in product((1, 4, 8), (0.0, 0.3, 0.45))),
    {"min_confidence": 0.0},
    {"min_confidence": 0.8},
    {"min_confidence": 1.0, "max_rewrites": 1},
    {"max_rewrites": 0},
    {"context": "last_round", "top_k": 3},
    {"answer_unverified": True, "min_confidence": 0.9},
    {"gate": "min_relevant", "min_relevant": 2},
    {"grade_pass_threshold": 0.2},
    {"probe_k": 5},
    {"expand": "none"},
    {"expand": "section"},
)
_EXPANDED: tuple[Expand, ...] = ("none", "neighbours", "section")
_QUESTIONS = ("What is a truth table?", "离散数学", "糖尿病的早期症状有哪些？", "Compare a relation and a function.")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=Path(tmp_path_factory.mktemp("data")))
    with Engine(settings, SameRoles(settings, of=lambda config: config.workflow)) as opened:
        opened.wait_until_ready()
        yield opened


@pytest.mark.parametrize("workflow", OPTIONS)
def test_where_the_path_is_known_a_real_run_takes_it_and_where_the_answer_is_known_it_gives_it(
    engine: Engine, workflow: WorkflowName
) -> None:
    """QL-01 to QL-05, DL-03, DL-04, AE-01, AE-04: everything that decides, options and the rest."""
    states: Counter[State] = Counter()
    asked = tuple(item.question for item in sample_questions()) if WHOLE else _QUESTIONS
    base = RunConfig(workflow=workflow, options=OPTIONS[workflow][0], budget_s=600)
    for place, question in enumerate(asked):
        base = replace(base, expand=_EXPANDED[place % 3])
        recorded = engine.run(question, base)
        own = what_if(recorded, base)
        assert own.same_path and own.answer == recorded.answer and own.decisions == recorded.decisions
        assert own.cost.built_in_calls == recorded.built_in_calls - refused(recorded)
        for config in _variations(base, place):
            predicted = what_if(recorded, config)
            states[predicted.state] += 1
            if predicted.path_known:
                assert _differences(predicted, engine.run(question, config)) == [], (question, config)
    assert states["known"] > 5 and states["needs_calls"] > 0


def _variations(base: RunConfig, place: int) -> list[RunConfig]:
    """Every change where all are asked for; else every question takes its turn of them."""
    turns = 1 if WHOLE else 3
    options = OPTIONS[base.workflow]
    changed = [replace(base, **change) for change in CHANGES[place % turns :: turns]]
    both = [
        replace(base, options=own, **CHANGES[(place + count) % len(CHANGES)]) for count, own in enumerate(options[1:])
    ]
    return [*(replace(base, options=own) for own in options[1:]), *changed, *both]


def _differences(predicted: WhatIf, real: RunRecord) -> list[str]:
    found = differences(predicted, real)
    bounded = any(step.ungraded or step.unseen for step in predicted.steps)
    qualities = [item.quality for item in real.rounds]
    if found != ["path"] and not bounded and [step.round.quality for step in predicted.steps] != qualities:
        found.append("quality")
    return found


def test_a_remembered_answer_and_a_forgotten_one_are_distinguished(engine: Engine) -> None:
    """DL-06: memory off is known where nothing was recalled, and decided again by the built-in router where it was."""
    question = "What is a truth table?"
    first = engine.run(question, RunConfig(workflow="dual_loop"))
    assert what_if(first, replace(first.config, options=_FORGETFUL)).same_path
    again = engine.run(question, RunConfig(workflow="dual_loop"))
    assert again.route is not None and (again.route.route, again.route.code) == ("direct", "remembered")
    forgotten = what_if(again, replace(again.config, options=_FORGETFUL))
    assert forgotten.decisions[0].reason == "search"
    assert (forgotten.state, forgotten.gap) == ("needs_calls", "unrecorded")
