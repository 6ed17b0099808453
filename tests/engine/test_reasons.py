"""Reasons of verdicts of one word: after the answer, with the verdict, or never (SC-03, BE-03)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from engine.engine import Engine
from engine.errors import UnknownRun
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.config.role_models import Reasons
from engine.model.events import Event, ReasonGiven, RunFinished
from engine.model.values import PassageId, ReasonAsked, RunId, RunRecord
from engine.running.runs import LiveRun
from engine.settings import Settings
from tests.contracts.chat_models import obedient, obedient_word
from tests.engine.whatif.foretold import differences
from tests.support.gates import until
from tests.support.ollama_stand_in import Gate, OllamaStandIn, RecordedRequest, Slow

CHAT = RoleModel("ollama:qwen3:8b")
QUESTION = "How many rows does a truth table with five variables need?"
CONFIG = RunConfig(models=RoleModels(grader=CHAT), max_rewrites=0)


def asks_why(request: RecordedRequest) -> bool:
    return request.schema is not None and list(request.schema["properties"]) == ["why"]


def reply(request: RecordedRequest) -> str:
    said = request.messages[2]["content"] if asks_why(request) else ""
    return json.dumps({"why": f"Because {said}."}) if said else obedient(request)


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"], reply=reply, weigh=obedient_word) as running:
        yield running


@pytest.fixture
def engine(server: OllamaStandIn, tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(Settings.load(data_dir=tmp_path, ollama_url=server.url)) as opened:
        yield opened


def explained(engine: Engine, run_id: str) -> RunRecord:
    """The record once all reasons were asked for."""
    until(lambda: not engine.record(run_id).unexplained)
    return engine.record(run_id)


def test_reasons_come_once_the_answer_is_out_and_are_kept(engine: Engine) -> None:
    at_once = engine.run(QUESTION, CONFIG)
    later = explained(engine, at_once.id)
    verdicts = later.rounds[0].verdicts.values()
    assert {item.kind for item in verdicts} == {"token"}
    assert [item.reason for item in verdicts] == [f"Because {'Yes' if item.relevant else 'No'}." for item in verdicts]
    assert {item.passage_id for item in later.reasons} == set(later.rounds[0].verdicts)
    assert (later.calls, later.duration_ms, later.answer) == (at_once.calls, at_once.duration_ms, at_once.answer)
    assert all(item.calls[0].reply for item in later.reasons)


def test_reasons_outlast_the_program(server: OllamaStandIn, tmp_path: Path) -> None:
    settings = Settings.load(data_dir=tmp_path, ollama_url=server.url)
    with Engine.open(settings) as engine:
        before = explained(engine, engine.run(QUESTION, CONFIG).id)
    with Engine.open(settings) as engine:
        assert engine.record(before.id) == before


@pytest.mark.parametrize("setting", get_args(Reasons))
def test_a_setting_says_when_they_are_asked_for(engine: Engine, server: OllamaStandIn, setting: Reasons) -> None:
    record = engine.run(QUESTION, replace(CONFIG, reasons=setting))
    if setting == "after":
        explained(engine, record.id)
    asked = sum(asks_why(request) for request in server.requests_to("chat"))
    verdicts = record.rounds[0].verdicts.values()
    assert asked == (0 if setting == "never" else len(verdicts))
    assert all(bool(item.reason) is (setting == "before") for item in verdicts if setting != "after")
    assert record.calls == len(verdicts) * (2 if setting == "before" else 1)


def test_a_reason_that_cannot_be_read_leaves_the_verdict_as_it_is(tmp_path: Path) -> None:
    def speechless(request: RecordedRequest) -> str:
        return "{}" if asks_why(request) else obedient(request)

    with (
        OllamaStandIn(["qwen3:8b"], reply=speechless, weigh=obedient_word) as server,
        Engine.open(Settings.load(data_dir=tmp_path, ollama_url=server.url)) as engine,
    ):
        at_once = engine.run(QUESTION, CONFIG)
        later = explained(engine, at_once.id)
    assert later.rounds == at_once.rounds
    assert [item.reason for item in later.reasons] == [""] * len(later.rounds[0].verdicts)
    assert all(len(item.calls) == 2 and item.calls[-1].error for item in later.reasons)


def test_a_server_that_is_gone_is_not_waited_for_at_every_passage(tmp_path: Path) -> None:
    """What was not asked for is not said to be unreadable."""
    server = OllamaStandIn(["qwen3:8b"], reply=reply, weigh=obedient_word).__enter__()
    gate = Gate()
    with Engine.open(Settings.load(data_dir=tmp_path, ollama_url=server.url)) as engine:
        plain = engine.run(QUESTION, replace(CONFIG, reasons="never"))
        server.script("chat", Slow(gate=gate))
        run = engine.start(QUESTION, CONFIG)
        engine.wait(run)
        server.close()
        until(lambda: not engine.reasons_coming(engine.record(run)))
        record = engine.record(run)
    (asked,) = record.reasons
    assert not asked.reason and len(asked.calls) <= 2
    assert len(record.unexplained) == len(plain.rounds[0].verdicts) - 1


def test_a_trial_asks_for_none(engine: Engine, server: OllamaStandIn) -> None:
    run = engine.start(QUESTION, CONFIG, trial=True)
    engine.wait(run)
    engine.run(QUESTION, replace(CONFIG, reasons="never"))
    assert not any(asks_why(request) for request in server.requests_to("chat"))
    assert engine.record(run).unexplained


def test_a_run_that_is_deleted_meanwhile_stays_deleted(engine: Engine, server: OllamaStandIn) -> None:
    run = engine.start(QUESTION, CONFIG)
    engine.wait(run)
    engine.delete_run(run)
    explained(engine, engine.run(QUESTION, CONFIG).id)
    with pytest.raises(UnknownRun):
        engine.record(run)


NONE_ASKED = replace(CONFIG, reasons="never")


def test_a_run_that_is_still_given_reasons_is_not_forgotten(
    engine: Engine, server: OllamaStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else no one could say that they are coming, and they would be added to a record that was deleted."""
    monkeypatch.setattr("engine.running.live_runs.KEPT_IN_MEMORY", 1)
    gate = Gate()
    engine.run(QUESTION, NONE_ASKED)
    server.script("chat", Slow(gate=gate))
    run = engine.start(QUESTION, CONFIG)
    until(lambda: any(map(asks_why, server.requests_to("chat"))))
    for _ in range(3):
        engine.run(QUESTION, NONE_ASKED)
    assert engine.reasons_coming(engine.record(run))
    engine.delete_run(run)
    server.wait_for(lambda seen: seen.in_flight == 0)
    with pytest.raises(UnknownRun):
        engine.record(run)


def test_reasons_of_several_runs_take_one_place_at_the_server(server: OllamaStandIn, tmp_path: Path) -> None:
    """SC-13: the run at work has the others."""
    gate = Gate()
    settings = Settings.load(data_dir=tmp_path, ollama_url=server.url, grader_concurrency=8)
    with Engine.open(settings) as engine:
        engine.run(QUESTION, NONE_ASKED)
        server.script("chat", *[Slow(gate=gate)] * 2)
        runs = [engine.start(QUESTION, CONFIG) for _ in range(2)]
        assert all(engine.wait(run) for run in runs)
        until(lambda: any(map(asks_why, server.requests_to("chat"))))
        engine.run(QUESTION, NONE_ASKED)
        assert sum(map(asks_why, server.requests_to("chat"))) == 1
        gate.open()
        assert all(item.reason for run in runs for item in explained(engine, run).reasons)


def test_nothing_is_added_to_a_record_that_goes() -> None:
    heard: list[Event] = []
    run = LiveRun(RunId("r"), lambda _, event: heard.append(event))
    run.begin(QUESTION, CONFIG)
    run.emit(RunFinished(outcome="answered", reason="passed"))
    given = ReasonGiven(asked=ReasonAsked(PassageId("p"), "It says so."))
    run.amend(given)
    run.seal()
    run.amend(given)
    assert [event.kind for event in heard] == ["run_started", "run_finished", "reason_given"]
    assert (heard[2].seq, heard[2].t_ms) == (3, heard[1].t_ms)


def test_later_rounds_stay_knowable_whenever_the_reasons_came(engine: Engine) -> None:
    """SC-06: what the rewriter is given does not depend on reasons that come later."""
    config = replace(CONFIG, max_rewrites=1, gate="min_relevant", min_relevant=20)
    at_once = engine.run(QUESTION, config)
    later = explained(engine, at_once.id)
    assert len(later.rounds) == 2
    for record in (at_once, later):
        assert engine.what_if(record, config).gap is None


WHAT_IFS = (
    {"min_confidence": 0.96},
    {"min_confidence": 0.04, "top_k": 3},
    {"gate": "pass_rate", "grade_pass_threshold": 0.8, "max_rewrites": 1},
    {"gate": "min_relevant", "min_relevant": 3},
    {"context": "last_round", "similarity_threshold": 0.45},
    {"reasons": "never"},
    {"reasons": "before"},
)


@pytest.mark.parametrize("rewriter", ["builtin", "ollama:qwen3:8b"])
@pytest.mark.parametrize("setting", get_args(Reasons))
def test_a_real_run_does_what_a_what_if_foretold(engine: Engine, setting: Reasons, rewriter: str) -> None:
    """SC-10: verdicts of one word, decided again under other settings, with and without their reasons."""
    models = RoleModels(grader=CHAT, rewriter=RoleModel(rewriter))
    config = RunConfig(models=models, max_rewrites=2, gate="min_relevant", min_relevant=4, reasons=setting)
    known = 0
    for question in (QUESTION, "Where is rapid insulin injected?"):
        recorded = engine.run(question, config)
        if setting == "after":
            recorded = explained(engine, recorded.id)
        assert engine.what_if(recorded, config).same_path
        for changes in WHAT_IFS:
            wanted = replace(config, **changes)
            foretold = engine.what_if(recorded, wanted)
            if foretold.path_known:
                known += 1
                assert differences(foretold, engine.run(question, wanted)) == [], changes
    assert known >= 4
