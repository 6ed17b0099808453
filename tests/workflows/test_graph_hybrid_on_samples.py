"""Graph + vector retrieval as it ships: built-in roles on the sample collection and its graph, in every mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from engine.engine import Engine
from engine.model.config import Mode, RunConfig
from engine.model.values import LISTS_OF_MODE, RunRecord
from engine.settings import Settings
from tests.support.mode_fakes import graph_config

QUESTIONS = ("What did Best and Macleod do for Banting?", "贝斯特和麦克劳德是什么关系？")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("samples"), ollama_url="http://127.0.0.1:1")
    with Engine.open(settings) as opened:
        opened.wait_until_ready()
        yield opened


@pytest.fixture(scope="module")
def records(engine: Engine) -> dict[tuple[str, Mode], RunRecord]:
    """One run of each question in each mode, with no threshold set."""
    return {
        (question, mode): engine.run(question, _without_thresholds(mode))
        for question in QUESTIONS
        for mode in get_args(Mode)
    }


def _without_thresholds(mode: Mode) -> RunConfig:
    return graph_config(mode=mode, similarity_threshold=0, rerank_threshold=0, max_rewrites=0)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("mode", [mode for mode in get_args(Mode) if mode != "bypass"])
def test_each_mode_does_its_own_work_and_keeps_top_k(
    records: dict[tuple[str, Mode], RunRecord], question: str, mode: Mode
) -> None:
    """GH-01, GH-02, GH-08"""
    record = records[question, mode]
    assert (record.error, record.warnings) == (None, ())
    assert record.outcome in ("answered", "answered_forced", "abstained")
    (only,) = record.rounds
    assert only.graph is not None
    assert (only.graph.mode, only.graph.notes, only.graph.fell_back_to) == (mode, (), ())
    assert {name for item in only.candidates for name in item.found_in} - {"near"} == set(LISTS_OF_MODE[mode])
    assert len(only.kept) == record.config.top_k
    assert all(0 <= item.passage.similarity <= 1 for item in only.candidates)
    assert all(item.graph_score is None or 0 <= item.graph_score <= 1 for item in only.candidates)
    assert (record.manifest["graph"], record.manifest["graph_extractor"]) == ("ready", "samples")


def test_naive_finds_what_the_four_node_loop_finds(engine: Engine) -> None:
    """GH-02: vectors alone are vectors alone, no matter what the workflow is called, once dates count for nothing."""
    plain = engine.run(QUESTIONS[0], RunConfig(max_rewrites=0))
    naive = engine.run(QUESTIONS[0], graph_config(mode="naive", freshness_weight=0, max_rewrites=0))
    (here,), (there,) = naive.rounds, plain.rounds
    assert [(item.passage, item.gate) for item in here.candidates] == [
        (item.passage, item.gate) for item in there.candidates
    ]
    assert here.verdicts == there.verdicts
    assert naive.answer == plain.answer
