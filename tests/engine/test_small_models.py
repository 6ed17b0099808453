"""Whole runs with what small real models were seen to do: each ends with a true record, in every workflow."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from engine.engine import Engine
from engine.flow import workflow
from engine.llm.examples import given_back
from engine.model.config import WORKFLOWS, RoleModel, RoleModels, RunConfig, WorkflowName
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest
from tests.support.ollama_stand_in.small_models import HABITS, Habit

CHAT = RoleModel("ollama:small:0.5b")
QUESTION = "What is a truth table?"
EVERY_ROLE = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT, evaluator=CHAT, router=CHAT, reranker=CHAT)


class Model:
    habit: Habit

    def reply(self, request: RecordedRequest) -> str:
        return self.habit(request, str(obedient(request)))


MODEL = Model()


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["small:0.5b"], reply=MODEL.reply) as running:
        yield running


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_run_ends_with_a_true_record(engine: Engine, name: WorkflowName, habit: str) -> None:
    MODEL.habit = HABITS[habit]
    # What the run before remembered would be repeated, and no habit would show.
    options = DualLoopOptions(memory=False) if name == "dual_loop" else workflow(name).options()
    config = RunConfig(workflow=name, max_rewrites=1, ignore_cache=True, models=EVERY_ROLE, options=options)
    record = engine.run(QUESTION, config)
    assert record.outcome is not None and record.outcome != "cancelled"
    if habit in ("markers_only", "question_back"):
        assert (record.outcome, record.reason) == ("failed", "WB417")
    if habit == "no_markers":
        assert record.answer_note == "uncited" and "WB418" in {item.code for item in record.warnings}
    if habit == "denial":
        assert record.answer_note == "cannot_tell"
    if habit == "undecided":
        verdicts = [verdict for item in record.rounds for verdict in item.verdicts.values()]
        assert verdicts and not any(verdict.relevant for verdict in verdicts)
    if habit == "same_query":
        assert all(item.by or not item.refused for item in record.rewrites if item.round >= 0)
    said = [verdict.reason for item in record.rounds for verdict in item.verdicts.values()]
    said += [item.reason for item in record.rewrites]
    assert not any(given_back(reason) for reason in said if reason), "the prompt's own words are no reason"
    assert all(len(reason) <= 601 for reason in said)
    if habit == "runaway":
        assert [call for call in record.model_calls if call.role == "grader"], "judged all the same"
        assert not [call for call in record.model_calls if call.error == "unreadable"]
    json.dumps(record.to_dict())
