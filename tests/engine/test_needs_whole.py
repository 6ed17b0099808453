"""Passages that must suffice together: decided in a run, foreseen by a what-if, and asked again by a branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from components.common.i18n import words_for
from components.sentences.steps import sentence
from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.decide import Evidence, decide
from engine.model.values import SetVerdict, inequality
from engine.replay.diagnosis import diagnose
from engine.replay.gate_cost import gate_cost
from engine.replay.grid import at_once
from engine.replay.playback import steps
from engine.replay.table import run_table
from engine.samples import sample_questions
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.engine.forking import forked, routes
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest
from tests.support.rerank_stand_in import RerankStandIn

CHAT = RoleModels(grader=RoleModel("ollama:qwen3:8b"))
QUESTION = "How many rows does a truth table with five variables need?"
PLAIN = [item.question for item in sample_questions() if item.language == "en"][:14]


def config(**more: object) -> RunConfig:
    return RunConfig(grade_probe=True, **more)  # type: ignore[arg-type]


def whole(config: RunConfig) -> RunConfig:
    return replace(config, needs_whole=True)


def test_a_round_that_suffices_only_in_part_goes_on_searching(engine: Engine) -> None:
    records = [engine.run(question, whole(config())) for question in PLAIN]
    judged = [item for record in records for item in record.rounds if item.whole is not None]
    assert {item.whole.answered for item in judged if item.whole} >= {"yes", "part"}
    for record in records:
        for current, decision in zip(record.rounds, record.decisions, strict=False):
            if current.whole is None:
                assert decision.reason != "passed"
            else:
                assert (decision.reason == "passed") == (current.whole.answered == "yes")
                assert decision.comparisons[0].quantity == "sufficiency" or decision.reason == "passed"


def test_without_the_setting_nothing_is_judged_together(engine: Engine) -> None:
    record = engine.run(QUESTION, config())
    assert all(item.whole is None for item in record.rounds)
    assert all(call.passage_id for call in record.model_calls if call.role == "grader")


@pytest.mark.parametrize("workflow", ["self_corrective", "graph_hybrid", "answer_evaluation"])
def test_a_what_if_is_the_run_that_it_foretells(engine: Engine, workflow: str) -> None:
    """SC-04: judged again by words where the record does not have it, and by nothing that is supposed."""
    usual = config(workflow=workflow, max_rewrites=1)
    known = 0
    for question in PLAIN[:3]:
        for former, wanted in ((usual, whole(usual)), (whole(usual), usual)):
            record, real = engine.run(question, former), engine.run(question, wanted)
            foretold = engine.what_if(record, wanted)
            assert engine.what_if(record, record.config).same_path
            if foretold.path_known:
                known += 1
                assert [(item.route, item.reason) for item in foretold.decisions] == routes(real), question
    assert known >= 3


def test_a_passage_that_no_one_judged_leaves_it_open(engine: Engine) -> None:
    record = engine.run(QUESTION, RunConfig(top_k=1))
    foretold = engine.what_if(record, RunConfig(top_k=6, similarity_threshold=0.0, needs_whole=True))
    assert not foretold.path_known and foretold.gap == "verdicts"


def test_the_arrays_of_a_sweep_leave_it_to_the_replay(engine: Engine) -> None:
    record = engine.run(QUESTION, config())
    table = run_table(record)
    assert at_once(table, record.config) and not at_once(table, whole(record.config))


def test_a_run_that_never_sufficed_says_so_and_not_that_too_few_passed(engine: Engine) -> None:
    records = (engine.run(question, whole(config(max_rewrites=1))) for question in PLAIN)
    forced = next(item for item in records if item.decisions[-1].comparisons[0].quantity == "sufficiency")
    assert forced.outcome == "answered_forced"
    assert inequality(forced.decisions[-1].comparisons).startswith("sufficiency of the passages together 0.50 < 1.00")
    assert forced.context is not None
    found = diagnose(forced, {item.id: (0,) for item in forced.context.passages})
    assert found is not None and "wanted" not in found.figures and found.figures["sufficiency"] == 0.5
    said = [sentence(step, forced, words_for("en")) for step in steps(tuple(engine.events(forced.id)))]
    assert any(item.endswith("pass: below the bar → Rewrite.") for item in said)
    assert gate_cost(replace(forced, config=replace(forced.config, gate="pass_rate"))) is None


# -- a chat model ---------------------------------------------------------------------------------------------------


def test_a_chat_grader_is_asked_once_more_and_its_verdict_is_recorded(engine: Engine) -> None:
    wanted = whole(config(models=CHAT, max_rewrites=1, top_k=3, probe_k=3))
    record = engine.run(QUESTION, wanted)
    judged = next(item.whole for item in record.rounds if item.whole is not None)
    assert judged.grader == "ollama:qwen3:8b" and judged.answered in ("yes", "part", "no")
    calls = [call for call in record.model_calls if call.role == "grader" and call.passage_id is None]
    assert len(calls) == sum(item.whole is not None for item in record.rounds)
    assert record.manifest["together_prompt"]
    assert engine.worst_case_calls(wanted) > engine.worst_case_calls(replace(wanted, needs_whole=False))
    assert engine.what_if(record, wanted).same_path
    assert engine.record(record.id).rounds == record.rounds, "as the file has it"


def test_a_what_if_of_a_chat_grader_needs_the_call_and_a_branch_makes_it(engine: Engine) -> None:
    usual = config(models=CHAT, max_rewrites=0, top_k=3, probe_k=3)
    record = engine.run(QUESTION, usual)
    assert record.decisions[0].reason == "passed"
    foretold = engine.what_if(record, whole(usual))
    assert not foretold.path_known and foretold.gap == "verdicts"
    made = forked(engine, record, whole(usual))
    fresh = [call for call in made.model_calls if call.role == "grader" and not call.cached]
    assert made.rounds[0].whole is not None and len(fresh) == 1, "all single verdicts come from the parent"
    repeated = forked(engine, made, made.config)
    asked = [call for call in repeated.model_calls if call.role == "grader"]
    assert all(call.cached for call in asked) and any(call.passage_id is None for call in asked)
    assert repeated.rounds[0].whole == made.rounds[0].whole


def test_a_reply_that_cannot_be_read_suffices_not(tmp_path: Path) -> None:
    def garbled(request: RecordedRequest) -> str:
        fields = request.schema["properties"] if request.schema else {}
        return "perhaps" if "answered" in fields or "answered" in str(request.messages[-1]) else obedient(request)

    with (
        OllamaStandIn(["qwen3:8b"], reply=garbled) as ollama,
        Engine.open(Settings.load(data_dir=tmp_path, ollama_url=ollama.url)) as engine,
    ):
        engine.wait_until_ready()
        record = engine.run(QUESTION, whole(config(models=CHAT, max_rewrites=0, top_k=3, probe_k=3)))
        (judged,) = [item.whole for item in record.rounds if item.whole]
        assert judged.answered is None and judged.sufficiency == 0.0
        assert record.outcome == "answered_forced" and record.decisions[-1].reason == "max_rewrites"
        assert engine.what_if(record, record.config).same_path


@pytest.mark.parametrize("rewrites", [0, 2])
def test_words_judge_next_to_a_rerank_server_and_cost_no_call_of_it(tmp_path: Path, rewrites: int) -> None:
    def all_pass(_: str, texts: Sequence[str]) -> list[float]:
        return [0.9] * len(texts)

    with (
        RerankStandIn("llama.cpp", all_pass) as server,
        Engine.open(Settings.load(data_dir=tmp_path, rerank_url=server.url)) as engine,
    ):
        engine.wait_until_ready()
        scored = RoleModels(grader=RoleModel("rerank:tiny"))
        wanted = whole(config(models=scored, max_rewrites=rewrites, top_k=3, probe_k=3))
        record = engine.run(PLAIN[1], wanted)
        assert record.rounds[0].whole is not None and record.rounds[0].whole.grader == "builtin"
        foretold = engine.what_if(record, wanted)
        chat = sum(not call.built_in for call in record.model_calls)
        assert foretold.same_path and foretold.cost.calls == chat
        assert foretold.cost.built_in_calls == len(record.model_calls) - chat
        assert engine.worst_case_calls(wanted) == engine.worst_case_calls(replace(wanted, needs_whole=False))


# -- the policy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sufficiency", "reason"), [(None, "passed"), (1.0, "passed"), (0.5, "below_gate")])
def test_the_decision_names_what_is_missing(engine: Engine, sufficiency: float | None, reason: str) -> None:
    record = engine.run(QUESTION, config())
    decision = decide(Evidence(record.rounds[:1], sufficiency=sufficiency), whole(config()))
    assert decision.reason == reason
    named = [item for item in decision.comparisons if item.quantity == "sufficiency"]
    assert [(item.value, item.bound) for item in named] == ([] if sufficiency is None else [(sufficiency, 1)])


def test_yes_in_part_and_no_are_numbers() -> None:
    verdict = SetVerdict((), "yes", "")
    said = [replace(verdict, answered=item).sufficiency for item in ("yes", "part", "no", None)]
    assert said == [1.0, 0.5, 0.0, 0.0]
