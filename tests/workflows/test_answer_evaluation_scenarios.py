"""Every scenario of the specification of the answer-evaluation loop, one test each; docstrings give their names.

Epochs as AE-01 decides: the first generation reads 0, only the completion of a generation adds 1.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from engine.builtin.evaluator import BuiltinEvaluator
from engine.engine import Engine
from engine.flow import workflow
from engine.llm.evaluator import ChatEvaluator
from engine.llm.writer_prompts import revision_message
from engine.model.config import RoleModel, RoleModels
from engine.model.events import Evaluated
from engine.model.values import Evaluation, Passage, PassageId
from engine.records.observations import Observations
from engine.roles import EvaluationRequest
from engine.roles.conversation import Revision, revision_of
from engine.settings import Settings
from engine.workflows.answer_evaluation.policy import excerpts
from tests.contracts.chat_models import obedient
from tests.llm.recording import settings_for
from tests.support.answer_fakes import (
    FAILED,
    NAME,
    OFF,
    PASSED,
    UNCITED,
    AnswerResources,
    FakeEvaluator,
    FakeWriter,
    answering,
    events_of,
    finished,
    states_of,
)
from tests.support.fakes import path
from tests.support.ollama_stand_in import OllamaStandIn

QUESTION = "How many rows does a truth table with five variables need?"
PASSAGES = (
    Passage(
        PassageId("a"), "a.md", "Every variable doubles the rows of a truth table: five variables need 32.", 0.6, 0.9
    ),
    Passage(PassageId("b"), "b.md", "A formula that is true in every row of its table is a tautology.", 0.3, 0.8),
)
GOOD = "Every variable doubles the rows of a truth table: five variables need 32. [1]"

State = Mapping[str, Any]


def failing(times: int) -> FakeEvaluator:
    return FakeEvaluator([FAILED] * times)


def judged(answer: str, question: str = QUESTION, passages: tuple[Passage, ...] = PASSAGES) -> Evaluation:
    """What the built-in evaluator says of an answer to these passages."""

    async def similarities(_: str, given: Any) -> list[float]:
        return [item.similarity for item in given]

    request = EvaluationRequest(question, answer, passages, "en")
    return asyncio.run(BuiltinEvaluator(similarities).evaluate(request))


def after(states: list[tuple[str, State]], node: str) -> list[State]:
    return [state for name, state in states if name == node]


def before(states: list[tuple[str, State]], node: str) -> list[State]:
    return [states[place - 1][1] for place, (name, _) in enumerate(states) if name == node]


@pytest.fixture
def ollama() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b", "llama3.2:3b"], reply=obedient) as server:
        yield server


# 答案生成评估循环


def test_a_first_answer_is_handed_to_its_evaluation_with_epoch_0_on_entry() -> None:
    """Scenario: 首次生成与评估 (AE-01)."""
    resources = AnswerResources()
    states = states_of(resources)
    assert [state["epoch"] for state in before(states, "generate_answer")] == [0]
    assert resources.evaluator.requests[0].answer == after(states, "generate_answer")[0]["messages"][-1].content
    assert [name for name, _ in states][-2:] == ["generate_answer", "eval_answer"]


def test_a_passed_evaluation_ends_the_run_with_that_answer() -> None:
    """Scenario: 评估通过直接结束 (AE-01)."""
    states = states_of(AnswerResources())
    assert states[-1][1]["decision"].route == "end"
    record = finished(AnswerResources())
    assert path(record) == ["retrieve", "grade", "prepare", "generate_answer", "eval_answer"]
    assert (record.outcome, record.reason) == ("answered", "evaluation_passed")
    assert record.answer == record.drafts[0].text == states[-1][1]["final_answer"]


def test_a_passed_evaluation_appends_an_observation_to_its_file(tmp_path: Path) -> None:
    """Scenario: 评估通过触发观测数据持久化 (AE-08)."""
    with Engine.open(Settings.load(data_dir=tmp_path)) as engine:
        engine.wait_until_ready()
        record = engine.run(QUESTION, answering())
    assert record.reason == "evaluation_passed"
    (kept,) = Observations(tmp_path / "observational_data.json").read()
    assert (kept["query"], kept["answer"], kept["epoch"]) == (QUESTION, record.answer, len(record.drafts))
    assert kept["time"].endswith("+00:00")
    judged_there = {item.id: verdict.p_relevant for item, verdict in record.graded(0)}
    assert {score["id"] for score in kept["retrieved_nodes_score"]} == set(judged_there)
    for score in kept["retrieved_nodes_score"]:
        assert set(score) == {"id", "source", "similarity", "p_relevant"}
        assert score["p_relevant"] == pytest.approx(judged_there[score["id"]], abs=1e-6)
    assert json.loads((tmp_path / "observational_data.json").read_text("utf-8"))


def test_a_failed_evaluation_below_the_limit_generates_again_from_its_suggestions() -> None:
    """Scenario: 评估不通过且未达上限 (AE-01, AE-07)."""
    resources = AnswerResources(evaluator=failing(1))
    states = states_of(resources)
    assert [state["decision"].route for state in after(states, "eval_answer")] == ["generate_answer", "end"]
    assert [state["epoch"] for state in before(states, "generate_answer")] == [0, 1]
    assert UNCITED.text in resources.writer.conversations[1][-1].text


def test_a_failed_evaluation_at_the_limit_ends_with_the_newest_answer_and_a_logged_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Scenario: 评估不通过且已达上限 (AE-01)."""
    with caplog.at_level(logging.WARNING, "engine"):
        record = finished(AnswerResources(evaluator=failing(9)), answering(2))
    assert (record.outcome, record.reason) == ("answered_forced", "max_epochs")
    assert record.answer == record.drafts[-1].text == "Answer number 2 [1][2][3][4][5] ."
    assert [(item.quantity, item.value, item.bound) for item in record.decisions[-1].comparisons] == [
        ("suggestions", 2, 1),
        ("epoch", 2, 2),
    ]
    assert "limit of 2 answers" in caplog.text
    assert [item.code for item in record.warnings] == ["WB421"]


# 评估维度合理性


def test_an_answer_on_the_question_in_order_and_without_contradiction_is_reasonable() -> None:
    """Scenario: 合理性检查通过 (AE-02)."""
    assert [item for item in judged(GOOD).suggestions if item.dimension == "reasonableness"] == []


def test_an_answer_to_another_question_fails_and_the_evaluation_says_what_is_wrong() -> None:
    """Scenario: 合理性检查失败 (AE-02)."""
    off = judged("Penguins live on the southern half of the globe. [1]")
    assert not off.passed
    said = [item for item in off.suggestions if item.dimension == "reasonableness"]
    assert any("five" in item.text for item in said)
    against_itself = judged(f"{GOOD} A truth table with five variables needs 64 rows of truth. [1]")
    assert not against_itself.passed


# 评估提示包含检索上下文并截断


def test_the_evaluator_s_prompt_holds_as_many_passages_as_top_k(ollama: OllamaStandIn) -> None:
    """Scenario: 评估提示加入检索内容 (AE-04)."""
    resources = AnswerResources()
    resources.evaluator = ChatEvaluator(RoleModel("ollama:qwen3:8b"), settings_for(ollama))  # type: ignore[assignment]
    config = answering(1, top_k=2, context="union", grade_probe=True, min_relevant=1, gate="min_relevant")
    record = finished(resources, config)
    (call,) = [item for item in record.model_calls if item.role == "evaluator"]
    prompt = call.messages[-1].content
    assert record.question in prompt
    assert [f'<passage number="{n}">' in prompt for n in (1, 2, 3)] == [True, True, False]
    assert "The text of p1." in prompt
    assert len(record.drafts[0].seen) == 2


def test_a_passage_longer_than_500_characters_is_cut_and_marked() -> None:
    """Scenario: 检索内容截断 (AE-04)."""
    exact, longer = (replace(PASSAGES[0], text="字" * length) for length in (500, 501))
    assert [(item.text, item.cut) for item in excerpts([exact, longer], 5)] == [
        ("字" * 500, False),
        ("字" * 500 + "…", True),
    ]


# 评估证据标注准确性


def test_an_answer_whose_claims_have_their_source_and_whose_gaps_are_said_passes() -> None:
    """Scenario: 证据标注检查通过 (AE-02)."""
    assert judged(f"{GOOD}\n\nThe passages do not say who invented the tables.").passed


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("Every variable doubles the rows of a truth table: five variables need 32.", "uncited"),
        (GOOD.replace("[1]", "[2]"), "unsupported"),
    ],
)
def test_a_claim_without_a_source_or_with_the_wrong_one_fails_and_is_named(answer: str, code: str) -> None:
    """Scenario: 证据标注检查失败 (AE-02)."""
    evaluation = judged(answer)
    (found,) = [item for item in evaluation.suggestions if item.dimension == "evidence_marking"]
    assert not evaluation.passed
    assert found.code == code
    assert found.quote in answer
    assert "[1]" in found.text
    unsaid = judged(GOOD, f"{QUESTION[:-1]} according to Wittgenstein?")
    assert [item.code for item in unsaid.suggestions] == ["terms_unsaid"]


# 防止无限循环


def test_a_run_begins_with_epoch_0() -> None:
    """Scenario: Epoch 初始化 (AE-01)."""
    assert workflow(NAME).initial_state("why?")["epoch"] == 0


def test_each_completed_generation_adds_one_to_the_epoch_that_it_read() -> None:
    """Scenario: Epoch 计数 (AE-01)."""
    states = states_of(AnswerResources(evaluator=failing(2)))
    read = [state["epoch"] for state in before(states, "generate_answer")]
    assert read == [0, 1, 2]
    assert [state["epoch"] for state in after(states, "generate_answer")] == [value + 1 for value in read]
    assert [state["epoch"] for state in after(states, "eval_answer")] == [1, 2, 3]


@pytest.mark.parametrize("limit", [1, 3])
def test_the_loop_stops_when_the_epoch_reaches_its_limit(limit: int, caplog: pytest.LogCaptureFixture) -> None:
    """Scenario: Epoch 达到上限 (AE-01)."""
    resources = AnswerResources(evaluator=failing(99))
    with caplog.at_level(logging.WARNING, "engine"):
        record = finished(resources, answering(limit))
    assert len(resources.writer.conversations) == len(record.drafts) == limit
    assert record.answer == record.drafts[-1].text
    assert [item.levelno for item in caplog.records if "limit" in item.getMessage()] == [logging.WARNING]


# 使用独立评估模型


def test_the_evaluator_has_a_model_setting_of_its_own(tmp_path: Path) -> None:
    """Scenario: 评估模型初始化 (AE-05)."""
    config = answering(models=RoleModels(evaluator=RoleModel("ollama:llama3.2:3b")))
    with Engine.open(Settings.load(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        record = engine.run(QUESTION, config)
    assert (record.manifest["generator"], record.manifest["evaluator"]) == ("builtin", "ollama:llama3.2:3b")
    assert record.manifest["evaluator_prompt"]


def test_the_evaluator_is_called_apart_from_the_generator(ollama: OllamaStandIn, tmp_path: Path) -> None:
    """Scenario: 评估模型独立调用 (AE-05)."""
    models = RoleModels(generator=RoleModel("ollama:qwen3:8b"), evaluator=RoleModel("ollama:llama3.2:3b"))
    with Engine.open(Settings.load(data_dir=tmp_path, ollama_url=ollama.url)) as engine:
        engine.wait_until_ready()
        record = engine.run(QUESTION, answering(1, models=models))
        shared = engine.run(QUESTION, answering(1, models=replace(models, evaluator=models.generator)))
    assert {(item.role, item.model) for item in record.model_calls if not item.built_in} == {
        ("generator", "ollama:qwen3:8b"),
        ("evaluator", "ollama:llama3.2:3b"),
    }
    assert "WB420" not in [item.code for item in record.warnings]
    assert "WB420" in [item.code for item in shared.warnings], "sharing a model is allowed and warned about"


# 使用 Messages 字段传递 prompt 和对话历史


def test_a_run_begins_with_a_system_and_a_human_message() -> None:
    """Scenario: 初始构建 SystemMessage 和 HumanMessage (AE-06)."""
    system, human = workflow(NAME).initial_state("为什么？")["messages"]
    assert isinstance(system, SystemMessage)
    assert isinstance(human, HumanMessage)
    assert "[1]" in system.text
    assert "为什么？" in human.text


def test_the_writing_step_sends_the_messages_of_the_state_and_builds_none() -> None:
    """Scenario: 生成节点读取 messages (AE-06)."""
    resources = AnswerResources(evaluator=failing(2))
    states = states_of(resources)
    sent = [tuple(conversation) for conversation in resources.writer.conversations]
    assert sent == [state["messages"] for state in before(states, "generate_answer")]
    assert [len(conversation) for conversation in sent] == [2, 4, 6]
    assert all("The text of p1." in conversation[1].text for conversation in sent)


def test_the_evaluating_step_reads_the_newest_message_which_the_assistant_wrote() -> None:
    """Scenario: 评估节点读取最近一次答案 (AE-06)."""
    resources = AnswerResources(evaluator=failing(1))
    states = states_of(resources)
    newest = [state["messages"][-1] for state in before(states, "eval_answer")]
    assert all(isinstance(message, AIMessage) for message in newest)
    assert [request.answer for request in resources.evaluator.requests] == [message.content for message in newest]


# 评估节点返回结构化建议


def test_a_passed_evaluation_has_no_suggestions() -> None:
    """Scenario: 评估通过返回 (AE-03)."""
    assert judged(GOOD) == Evaluation(passed=True, suggestions=(), evaluator="builtin")


def test_a_failed_evaluation_has_an_actionable_suggestion_for_each_failed_dimension() -> None:
    """Scenario: 评估不通过返回建议 (AE-03)."""
    evaluation = judged("Penguins live on the southern half of the globe.")
    assert not evaluation.passed
    assert {item.dimension for item in evaluation.suggestions} == {"reasonableness", "evidence_marking"}
    assert all(len(item.text.split()) >= 5 for item in evaluation.suggestions)
    assert any(item.quote for item in evaluation.suggestions), "the sentence is named"


# State 存储历史答案和评估


def test_a_run_begins_without_a_last_answer_and_a_last_evaluation() -> None:
    """Scenario: 首次生成前初始化 (AE-07)."""
    state = workflow(NAME).initial_state("why?")
    assert (state["last_answer"], state["last_evaluation"], state["epoch"]) == ("", None, 0)


def test_an_evaluation_is_kept_and_the_answer_that_it_is_about_stays_as_it_was() -> None:
    """Scenario: 评估后保存结果 (AE-07)."""
    states = states_of(AnswerResources(evaluator=failing(1)))
    done = after(states, "eval_answer")
    assert [state["last_evaluation"] for state in done] == [FAILED, PASSED]
    assert [state["last_answer"] for state in done] == [state["last_answer"] for state in before(states, "eval_answer")]


def test_before_writing_it_is_known_whether_there_are_suggestions() -> None:
    """Scenario: 生成前读取历史 (AE-07)."""
    states = states_of(AnswerResources(evaluator=failing(1)))
    first, second = before(states, "generate_answer")
    assert (first["last_answer"], first["last_evaluation"]) == ("", None)
    assert (second["last_answer"], second["last_evaluation"]) == ("Answer number 1 [1][2][3][4][5] .", FAILED)


# 基于评估建议增量修改答案


def test_a_first_answer_is_written_from_question_and_passages_alone() -> None:
    """Scenario: 首次生成（无历史建议） (AE-07)."""
    resources = AnswerResources()
    record = finished(resources)
    (conversation,) = resources.writer.conversations
    assert [message.type for message in conversation] == ["system", "human"]
    assert revision_of(conversation) is None
    assert record.question in conversation[1].text
    assert all(passage.text in conversation[1].text for passage in record.rounds[0].kept)


def test_a_revision_sees_question_passages_last_answer_and_suggestions_and_keeps_what_was_good() -> None:
    """Scenario: 基于建议修改答案 (AE-07)."""
    resources = AnswerResources(evaluator=failing(1), writer=FakeWriter(["Good sentence [1]. Bad sentence [2]."]))
    record = finished(resources)
    sent = "\n".join(message.text for message in resources.writer.conversations[1])
    assert record.question in sent
    assert "The text of p1." in sent
    newest = resources.writer.conversations[1][-1]
    assert "Good sentence [1]. Bad sentence [2]." in newest.text
    assert OFF.text in newest.text and UNCITED.text in newest.text
    assert "not criticised word for word" in newest.text
    assert newest.text == revision_message(Revision(record.drafts[0].text, FAILED)).text
    evaluated = [event for event in events_of(AnswerResources(evaluator=failing(1))) if isinstance(event, Evaluated)]
    assert [event.draft for event in evaluated] == [0, 1]
