"""The recorded demos: each shows its scenario, reads with today's code, and needs neither model, store nor network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest

from engine.engine import Engine
from engine.errors import UnknownRun, WorkbenchError
from engine.model.config import GatePolicy, Options, RunConfig
from engine.model.events import fold_all
from engine.model.language import language_of
from engine.model.values import RunRecord
from engine.records.codec import event_from_json, event_to_json
from engine.replay import what_if
from engine.samples.demos import Demo, DemoLanguage, Scenario, all_demos, demo_events, demo_record
from engine.settings import Settings
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.answer_evaluation.suggestions import suggestion_states
from engine.workflows.dual_loop.options import DualLoopOptions

MOST_BYTES = 460_000
ALL = pytest.mark.parametrize("demo", all_demos(), ids=lambda demo: demo.id)


def of(scenario: Scenario) -> list[RunRecord]:
    return [demo_record(demo.id) for demo in all_demos() if demo.scenario == scenario]


def test_every_scenario_is_recorded_in_both_languages() -> None:
    assert {(demo.scenario, demo.language) for demo in all_demos()} == {
        (scenario, language) for scenario in get_args(Scenario) for language in get_args(DemoLanguage)
    }


@ALL
def test_a_recording_reads_with_the_codec_of_today_and_writes_back_the_same(demo: Demo) -> None:
    events = demo_events(demo.id)
    assert [event_from_json(event_to_json(event)) for event in events] == list(events)
    assert all(event.stored for event in events)
    record = fold_all(events)
    assert (record.id, record.question) == (demo.id, demo.question)
    assert language_of(record.question) == demo.language
    assert not record.active


@ALL
def test_a_demo_was_run_with_default_settings_and_built_in_roles(demo: Demo) -> None:
    """Whoever asks the same question on a fresh machine sees the same."""
    record = demo_record(demo.id)
    options = DualLoopOptions(memory=False) if demo.workflow == "dual_loop" else Options()
    gate: GatePolicy = "pass_rate" if demo.scenario == "forced" else "min_relevant"
    assert record.config == demo.config == RunConfig(workflow=demo.workflow, options=options, gate=gate)
    assert record.calls == 0
    assert record.built_in_calls > 0


@ALL
def test_what_if_with_its_own_settings_knows_the_path_and_finds_it_unchanged(demo: Demo) -> None:
    record = demo_record(demo.id)
    given = what_if(record, record.config)
    assert (given.state, given.same_path, given.answer) == ("known", True, record.answer)


def test_passes_at_once_needs_no_rewrite_and_every_passage_helps() -> None:
    for record in of("passes"):
        assert (record.outcome, len(record.decisions)) == ("answered", 1)
        assert record.decisions[0].passed == record.decisions[0].kept == 5


def test_noise_is_dropped_and_the_rest_suffices() -> None:
    for record in of("noise"):
        assert (record.outcome, len(record.decisions)) == ("answered", 1)
        assert 0 < record.decisions[0].passed < record.decisions[0].kept
        assert record.context is not None
        assert len(record.context.passages) == record.decisions[0].passed


def test_a_rewrite_rescues_what_failed_as_asked_and_the_answers_first_sentence_answers() -> None:
    first_sentence = {
        "Is sport safe when my sugar is high?": "Above 13.9 mmol/L, test for ketones: with ketones of 1.5 mmol/L "
        "or more do not exercise",
        "糖尿病能不能治好？": "患2型糖尿病的时间不长，体重又减得足够多，病情有可能缓解",
    }
    assert {record.question for record in of("rescue")} == set(first_sentence)
    for record in of("rescue"):
        assert (record.outcome, record.answer_note) == ("answered", "")
        assert [item.reason for item in record.decisions] == ["below_gate", "passed"]
        assert record.decisions[0].passed == 0
        said = record.answer.partition("：" if record.answer.startswith("资料") else ": ")[2]
        assert said.startswith(first_sentence[record.question])
        assert what_if(record, replace(record.config, max_rewrites=0)).outcome == "abstained"


def test_a_forced_exit_would_have_given_the_same_answer_at_once_under_a_lower_bar() -> None:
    """The story of the product: one slider, no call, the same answer without three rewrites."""
    for record in of("forced"):
        assert (record.outcome, record.reason, len(record.rewrites)) == ("answered_forced", "max_rewrites", 3)
        lower = what_if(record, replace(record.config, grade_pass_threshold=record.decisions[0].pass_rate))
        assert (lower.state, lower.outcome, len(lower.decisions)) == ("known", "answered", 1)
        assert lower.answer == record.answer
        other_gate = what_if(record, replace(record.config, gate="min_relevant"))
        assert (other_gate.state, len(other_gate.decisions)) == ("known", 1)


def test_an_honest_abstention_looked_at_near_misses_and_cites_nothing() -> None:
    for record in of("abstains"):
        assert (record.outcome, record.citations) == ("abstained", ())
        assert all(item.kept and not item.passed for item in record.decisions)
        assert record.answer


def test_the_quality_score_rises_with_history_and_several_sources() -> None:
    """QL-01, QL-03"""
    for record in of("quality"):
        assert (record.outcome, record.reason) == ("answered", "quality_met")
        checks = [item.quality for item in record.rounds if item.quality]
        assert (checks[0].grade, checks[-1].grade) == ("low", "medium")
        last = record.rounds[-1].routing
        assert last is not None
        assert set(last.shares) >= {"vector", "temporal"}


def test_an_answer_is_corrected_twice_and_then_stands_marked() -> None:
    """DL-04: with roles that see words, another search changes little; the run says so instead of pretending."""
    for record in of("correction"):
        assert (record.outcome, record.reason) == ("answered_forced", "max_corrections")
        assert len(record.drafts) == 3
        assert all(item.evaluation and not item.evaluation.passed for item in record.drafts)
        fewer = replace(record.config, options=DualLoopOptions(max_corrections=0, memory=False))
        assert what_if(record, fewer).state == "known"


def test_a_revision_answers_what_the_evaluator_asked_for() -> None:
    """AE-07"""
    for record in of("revision"):
        assert (record.outcome, record.reason, len(record.drafts)) == ("answered", "evaluation_passed", 2)
        assert set(suggestion_states(record.drafts, 0)) == {"addressed"}
        once = replace(record.config, options=AnswerEvaluationOptions(gener_epoch=1))
        given = what_if(record, once)
        assert (given.state, given.answer) == ("known", record.drafts[0].text)


def test_a_chain_of_relationships_joins_two_passages_that_the_answer_cites() -> None:
    """GH-01, GH-02, GH-06, GH-07"""
    for record in of("chain"):
        assert (record.outcome, [item.reason for item in record.decisions]) == ("answered", ["needs_search", "passed"])
        assert record.analysis is not None
        assert (record.analysis.complexity, len(record.analysis.entities)) == ("multi_hop", 2)
        (only,) = record.rounds
        assert only.graph is not None
        assert not only.graph.notes
        cited = [item for item in only.candidates if item.passage.id in {one.passage_id for one in record.citations}]
        assert len(cited) == 2
        assert all("local" in item.found_in and item.via and item.rerank_score for item in cited)
        # One of them is too unlike the question for vectors: only the graph keeps it.
        assert min(item.passage.similarity for item in cited) < record.config.similarity_threshold
        assert record.context is not None
        assert record.context.graph is not None
        assert record.context.graph.relationships


def test_recordings_stay_small_and_there_are_no_others() -> None:
    entries = list((files("engine.samples") / "recordings").iterdir())
    assert {entry.name for entry in entries} == {f"{demo.id}.jsonl.gz" for demo in all_demos()}
    assert sum(len(entry.read_bytes()) for entry in entries) < MOST_BYTES


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine whose knowledge base cannot open: a file stands where its folder should be."""
    (tmp_path / "taken").write_text("not a folder", encoding="utf-8")
    settings = Settings(
        data_dir=tmp_path, milvus_uri=str(tmp_path / "taken" / "kb.db"), ollama_url="http://127.0.0.1:1"
    )
    with Engine.open(settings) as opened:
        yield opened


def test_demos_are_shown_and_replayed_and_questioned_without_a_knowledge_base(engine: Engine) -> None:
    with pytest.raises(WorkbenchError):
        engine.wait_until_ready()
    record = engine.record("demo-forced-en")
    assert fold_all(engine.events("demo-forced-en")) == record
    assert [event.kind for event in engine.events("demo-forced-en", after=record.last_seq - 1)] == ["run_finished"]
    assert engine.wait("demo-forced-en", 0.0) is True
    assert engine.cancel("demo-forced-en") is False
    lower = engine.what_if(record, replace(record.config, grade_pass_threshold=record.decisions[0].pass_rate))
    assert (lower.state, lower.outcome) == ("known", "answered")
    assert engine.runs() == []


def test_an_event_loop_reads_the_events_of_a_demo_too(engine: Engine) -> None:
    async def read() -> list[int]:
        return [event.seq async for event in engine.aevents("demo-passes-zh", after=3)]

    assert asyncio.run(read()) == [event.seq for event in demo_events("demo-passes-zh") if event.seq > 3]


@pytest.mark.parametrize("name", ["demo-", "demo-forced-fr", "demo-../questions-dc"])
def test_an_id_that_only_looks_like_a_demo_is_an_unknown_run(engine: Engine, name: str) -> None:
    with pytest.raises(UnknownRun):
        engine.record(name)
    with pytest.raises(UnknownRun):
        list(engine.events(name))
