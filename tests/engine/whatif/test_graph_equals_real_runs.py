"""What the record of a graph + vector run says would happen is what happens: sample questions, a grid of settings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.model.config import Expand, Mode, RunConfig
from engine.model.values import RunRecord
from engine.replay import State, WhatIf, what_if
from engine.retrieval.graph_options import GraphOptions
from engine.samples import multi_hop_questions, sample_questions
from engine.settings import Settings
from tests.engine.forking import forked
from tests.engine.whatif.foretold import differences
from tests.support.same_roles import SameRoles

WHOLE = bool(os.environ.get("WORKBENCH_TEST_WHOLE_GRID"))
"""Every setting for every question: a quarter of an hour instead of some seconds."""
MODES: tuple[Mode, ...] = ("naive", "local", "global", "hybrid", "mix", "bypass")
QUESTIONS = (
    "What is a truth table?",
    "离散数学",
    "What is the capital of France?",
    "为什么吃磺脲类药物的人要小心饮酒？",
)
CHANGES: tuple[dict[str, Any], ...] = (
    *({"mode": mode} for mode in MODES),
    *({"mode": mode, "rerank": "never"} for mode in ("local", "global", "hybrid", "mix")),
    *({"top_k": top_k, "similarity_threshold": bar} for top_k, bar in ((1, 0.0), (3, 0.45), (8, 0.2), (20, 0.0))),
    {"graph_threshold": 0.3, "similarity_threshold": 0.9},
    {"graph_threshold": 0.5, "mode": "local", "rerank": "never"},
    {"rerank_threshold": 0.5},
    {"rerank_threshold": 0.2, "rerank_k": 5},
    {"rerank_k": 40},
    {"rerank": "always", "mode": "naive"},
    {"graph_weight": 0.0},
    {"graph_weight": 1.0, "rerank_k": 5},
    {"duplicate_threshold": 0.5, "freshness_weight": 1.0, "rerank": "never"},
    {"freshness_weight": 0.0},
    {"min_confidence": 0.8},
    {"min_confidence": 1.0, "max_rewrites": 1},
    {"max_rewrites": 0, "grade_pass_threshold": 1.0},
    {"context": "last_round", "grade_pass_threshold": 0.9},
    {"answer_unverified": True, "min_confidence": 0.95},
    {"gate": "min_relevant", "min_relevant": 2},
    {"grade_pass_threshold": 0.2, "probe_k": 5},
    {"probe_k": 2, "top_k": 2},
    {"probe_k": 40},
    {"hops": 1},
    {"max_communities": 1, "mode": "local"},
    {"max_communities": 1, "mode": "global"},
    {"context_tokens": 300},
    {"context_tokens": 4000},
    {"refine": True},
    {"mode_from": "analysis"},
    {"answer_directly": False},
    {"grade_probe": True},
    {"expand": "neighbours"},
)
_EXPANDED: tuple[Expand, ...] = ("none", "neighbours", "section")
_OPTIONS = frozenset(GraphOptions.__slots__)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=Path(tmp_path_factory.mktemp("data")))
    with Engine(settings, SameRoles(settings)) as opened:
        opened.wait_until_ready()
        yield opened


def changed(base: RunConfig, **changes: Any) -> RunConfig:
    """The config with other settings, options of the workflow among them."""
    assert isinstance(base.options, GraphOptions)
    own = {name: value for name, value in changes.items() if name in _OPTIONS}
    rest = {name: value for name, value in changes.items() if name not in _OPTIONS}
    return replace(base, options=replace(base.options, **own), **rest)


@pytest.mark.parametrize("recorded_mode", ["mix", "hybrid", "local", "naive", "bypass"])
def test_where_the_path_is_known_a_real_run_takes_it_and_where_the_answer_is_known_it_gives_it(
    engine: Engine, recorded_mode: Mode
) -> None:
    """GH-02, GH-04, GH-06: everything that decides, options and the rest."""
    states: Counter[State] = Counter()
    base = RunConfig(workflow="graph_hybrid", mode=recorded_mode, budget_s=600)
    for place, question in enumerate(_questions(recorded_mode)):
        base = replace(base, expand=_EXPANDED[place % 3])
        recorded = engine.run(question, base)
        own = what_if(recorded, base)
        assert own.same_path and own.answer == recorded.answer and own.decisions == recorded.decisions
        assert [step.round.candidates for step in own.steps] == [item.candidates for item in recorded.rounds]
        for config in _variations(base, place):
            predicted = what_if(recorded, config)
            states[predicted.state] += 1
            if predicted.path_known:
                assert _differences(predicted, engine.run(question, config)) == [], (question, config)
    if recorded_mode == "mix":
        assert min(states[state] for state in ("known", "generation", "needs_calls")) > 3


def _questions(mode: Mode) -> tuple[str, ...]:
    if WHOLE:
        asked = (*sample_questions(), *multi_hop_questions())
        return (*QUESTIONS, "Hello!", *(item.question for item in asked))
    if mode == "mix":
        return QUESTIONS
    # One that names an entity and one that names none; without a search, small talk as well.
    return (QUESTIONS[0], "Hello!" if mode == "bypass" else QUESTIONS[2])


def _variations(base: RunConfig, place: int) -> list[RunConfig]:
    """Every change where all are asked for or the record tells most; else every question takes its turn of them."""
    turns = 1 if WHOLE else 4 if base.mode == "mix" else 8
    return [changed(base, **change) for change in CHANGES[place % turns :: turns]]


def _differences(predicted: WhatIf, real: RunRecord) -> list[str]:
    found = differences(predicted, real)
    if found == ["path"]:
        return found
    for step, round_ in zip(predicted.steps, real.rounds, strict=True):
        places = [(item.passage.id, item.rank, item.gate, item.rerank_score) for item in step.round.candidates]
        if places != [(item.passage.id, item.rank, item.gate, item.rerank_score) for item in round_.candidates]:
            found.append(f"order of round {round_.index}")
    return found


@pytest.mark.parametrize("place", range(2))
def test_a_branch_is_its_parent_again_and_with_other_settings_the_run_that_they_make(
    engine: Engine, place: int
) -> None:
    """SC-10: nothing that was searched, judged, reranked or written is asked for a second time."""
    parent = engine.run(QUESTIONS[place], RunConfig(workflow="graph_hybrid", mode="mix", budget_s=600))
    for index in range(len(parent.rounds)):
        branch = forked(engine, parent, parent.config, round=index)
        assert _course(branch) == _course(parent)
        assert all(call.cached for call in branch.model_calls)
    for changes in CHANGES[place + 10 :: 14]:
        config = changed(parent.config, **changes)
        if config.mode == parent.config.mode:
            branch, real = forked(engine, parent, config, round=0), engine.run(parent.question, config)
            assert _course(branch) == _course(real), changes
            assert sum(not call.cached for call in branch.model_calls) <= len(real.model_calls)


def _course(record: RunRecord) -> list[object]:
    return [
        [(item.node, item.route, item.reason, item.passed, item.kept) for item in record.decisions],
        [[(i.passage.id, i.rank, i.gate, i.rerank_score) for i in item.candidates] for item in record.rounds],
        [item.verdicts for item in record.rounds],
        record.outcome,
        record.answer,
    ]
