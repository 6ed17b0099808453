"""Whole runs of the dual loop over a real embedded store, built in and on chat models: DL-01 to DL-06."""

from __future__ import annotations

import pytest

from engine.builtin.direct import without_markers
from engine.engine import Engine
from engine.evaluation.cases import Case
from engine.evaluation.concurrent_cases import RunsHere, ask_all
from engine.model.config import RoleModel, RoleModels
from engine.model.language import sentences
from engine.model.values import RunRecord
from engine.records.codec import record_from_dict
from pages.parts.runs.run_columns import start_all
from tests.support.dual_fakes import dual
from tests.support.fakes import path
from tests.support.ollama_stand_in import OllamaStandIn, Reply

CHAT = RoleModel("ollama:qwen3:8b")
EVERY_ROLE = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT, evaluator=CHAT, router=CHAT)
SIGNS = "What are the early signs of type 1 diabetes?"


def statuses(record: RunRecord) -> list[tuple[str, str]]:
    return [(item.strategy, item.status) for item in record.tried_routes]


def test_a_question_asked_again_is_answered_from_memory_that_names_its_sources(engine: Engine) -> None:
    """DL-01, DL-02, DL-06"""
    first = engine.run(SIGNS, dual())
    assert (first.outcome, statuses(first)) == ("answered", [("direct_chunk_search", "searched")])
    assert first.remembered is not None
    assert first.remembered.sources
    assert first.manifest["strategies"] == "hierarchical_search,direct_chunk_search"
    again = engine.run(SIGNS, dual())
    assert path(again)[2] == "direct_response"
    assert again.answer.startswith("From memory")
    memory = first.remembered
    assert memory.claim
    assert len(sentences(without_markers(memory.claim))) <= 2
    assert len(memory.claim) <= len(first.answer)
    assert memory.claim in again.answer
    cited = {item.passage_id for item in first.citations}
    assert [item.marker for item in memory.citations] == list(range(1, len(memory.citations) + 1))
    assert memory.citations and {item.passage_id for item in memory.citations} <= cited
    assert again.citations == memory.citations, "citations from memory keep their markers"
    assert all(f"[{item.marker}]" in again.answer for item in again.citations)
    assert not again.removed_markers
    kept = next(item for item in engine.memories() if item.id == memory.id)
    assert (kept.claim, kept.citations, kept.answer) == (memory.claim, memory.citations, first.answer)
    assert again.route is not None
    assert again.route.without_memory == "direct_chunk_search"
    assert engine.run(SIGNS, dual(memory=False)).rounds, "without memory it is searched again"


def test_a_trial_searches_by_its_settings_as_the_what_if_said_and_leaves_nothing_behind(engine: Engine) -> None:
    """DL-06: settings are compared by what they do, not by what an earlier run of the question left."""
    question = "How many rows does a truth table with five variables need?"
    asked = engine.run(question, dual())
    assert asked.remembered is not None and asked.remembered.passed
    other = dual(max_corrections=1)
    said = engine.what_if(asked, other)
    assert said.path_known and said.steps
    run_id = engine.start(question, other, trial=True)
    engine.wait(run_id)
    real = engine.record(run_id)
    assert [item.reason for item in real.decisions] == [item.reason for item in said.decisions]
    assert real.rounds and real.recall is not None and real.recall.own == (asked.remembered.id,)
    assert (real.trial, real.remembered) == (True, None)
    kept = next(item for item in engine.memories() if item.id == asked.remembered.id)
    assert kept.run_id == asked.id, "what the question left stands"
    assert record_from_dict(real.to_dict()) == real
    answered = engine.run(question, other)
    assert (answered.trial, answered.rounds) == (False, ()), "asked in the ordinary way, memory answers"
    unknown = engine.what_if(answered, dual(top_k=3))
    assert (unknown.state, unknown.gap) == ("needs_calls", "memory")


def test_races_batches_and_evaluations_are_trials(engine: Engine) -> None:
    """DL-06"""
    question = "Who was the first person treated with insulin, and when?"
    assert engine.run(question, dual()).remembered is not None
    ids, faults = start_all(engine, question, [dual(), dual(top_k=2)])
    assert not faults
    for run_id in ids:
        engine.wait(run_id)
    evaluated, _ = ask_all(RunsHere(engine), [Case("1", question)], dual(), 1, lambda: None)
    for record in (*(engine.record(run_id) for run_id in ids), evaluated["1"]):
        assert record.trial and record.rounds and record.remembered is None


def test_the_answer_to_an_opposite_question_is_neither_repeated_from_memory_nor_remembered_as_right(
    engine: Engine,
) -> None:
    """DL-04, DL-06"""
    fastest = engine.run("Which mealtime insulins act fastest?", dual())
    assert (fastest.outcome, "fastest" in fastest.answer) == ("answered", True)
    longest = engine.run("Which mealtime insulins act longest?", dual())
    assert "direct_response" not in path(longest)
    # No sample says it: what is found tells of the fastest, and every answer from it is doubted for that.
    assert (longest.outcome, "fastest" in longest.answer) == ("answered_forced", True)
    said = [item.code for draft in longest.drafts if draft.evaluation for item in draft.evaluation.suggestions]
    assert set(said) == {"other_pole"} and len(said) == len(longest.drafts)
    assert longest.remembered is not None and not longest.remembered.passed


def test_a_broad_chinese_question_looks_into_summaries_first(engine: Engine) -> None:
    """DL-03"""
    record = engine.run("离散数学", dual(memory=False))
    assert record.outcome == "answered"
    assert record.rounds[0].strategy == "hierarchical_search"
    sections = {(item.source, item.section) for item in record.rounds[0].sections}
    sources = {source for source, _ in sections}
    assert sections
    assert {item.passage.source for item in record.rounds[0].candidates} <= sources


@pytest.mark.parametrize("question", ["How much does a box of insulin glargine pens cost?", "糖尿病人可以献血吗？"])
def test_a_question_that_the_sources_do_not_answer_falls_back_in_its_language(engine: Engine, question: str) -> None:
    """DL-03"""
    record = engine.run(question, dual())
    assert (record.outcome, record.reason) == ("fallback", "strategies_exhausted")
    assert statuses(record) == [
        ("direct_chunk_search", "searched"),
        ("hierarchical_search", "searched"),
        ("web_search", "skipped"),
    ]
    assert record.answer.startswith("没有找到" if question.endswith("？") else "I could not find")
    assert record.remembered is None


def test_thanks_are_answered_at_once(engine: Engine) -> None:
    """DL-02"""
    for said in ("谢谢！", "Thank you very much!", "Who are you?", "好的，明白了，谢谢"):
        record = engine.run(said, dual())
        assert (said, record.outcome, path(record)[2]) == (said, "answered", "direct_response")


def test_every_role_runs_on_chat_models_and_leaves_its_prompts(engine: Engine) -> None:
    """DL-01, SC-10"""
    record = engine.run("Which insulin acts fastest?", dual(models=EVERY_ROLE, memory=False))
    assert record.outcome in ("answered", "answered_forced", "fallback")
    assert {call.role for call in record.model_calls} >= {"router", "rewriter", "grader"}
    assert record.built_in_calls == 0
    assert record.manifest["router_prompt"].startswith("strategy-router")
    assert record.manifest["rewriter_prompt"].startswith("dual-rewriter")
    assert all(call.error == "" for call in record.model_calls)


def test_a_chat_evaluator_that_is_not_content_gets_a_corrective_pass(engine: Engine, ollama: OllamaStandIn) -> None:
    """DL-04, DL-05"""
    off = '{"passed": false, "suggestions": [{"dimension": "reasonableness", "suggestion": "Name the weight loss."}]}'
    ollama.script("chat", Reply(off))
    record = engine.run(SIGNS, dual(models=RoleModels(evaluator=CHAT), memory=False))
    assert [item.attempt for item in record.drafts][:2] == [0, 1]
    assert record.rewrites[1].round == 0
    assert record.rounds[1].attempt == 1
    assert record.rounds[1].strategy == "hierarchical_search"
