"""What is said of an answer beside its outcome: that it says it cannot tell, or that it names no passage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.builtin.answer_note import denies, noted, wordless
from engine.engine import Engine
from engine.model.config import WORKFLOWS, RoleModel, RoleModels, RunConfig, WorkflowName
from engine.model.events import AnswerBegun, RunFinished, fold_all
from engine.running.seed_response import seed_response
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest

CHAT = RoleModel("ollama:qwen3:8b")
QUESTION = "How many rows does a truth table with five variables need?"


@pytest.mark.parametrize(
    "text",
    [
        "The passages do not say what the capital of Mongolia is.",
        "The provided passages do not contain any information about Kafka [1][2].",
        "I'm sorry, but I cannot answer that. No passage mentions it.",
        "There is no information about this in the context.",
        "资料中没有提到怎样诊断糖尿病。",
        "根据提供的片段，无法确定答案[1]。",
        "很抱歉，片段中没有相关信息。",
    ],
)
def test_a_denial_is_told_from_an_answer(text: str) -> None:
    assert denies(text)


@pytest.mark.parametrize(
    "text",
    [
        "A truth table with five variables needs 32 rows [1].",
        "It needs 32 rows.",
        "The cause of the disease is not known [1].",
        "It needs 32 rows [1]. The passages do not say who counted them.",
        "The passages do not say so. It has 32 rows. Each of them is a line. They are counted from the top.",
        "真值表有32行[1]，资料没有提到别的数字。",
        "五个变元要列32行。",
        "",
    ],
)
def test_what_answers_is_no_denial(text: str) -> None:
    assert not denies(text)


def test_markers_and_signs_alone_are_no_words() -> None:
    assert all(map(wordless, ("[1][2]", "【1】、[2, 3]。", " … ", "[T1:B3]")))
    assert not any(map(wordless, ("32 [1]", "是[1]", "[see above]")))


def test_the_question_alone_is_no_answer() -> None:
    question = "胰岛素应该怎样保存？"
    assert wordless("胰岛素应该怎样保存？[1]", question) and wordless("[1] 胰岛素应该怎样保存", question)
    assert not wordless("胰岛素应该冷藏保存。[1]", question)


@pytest.mark.parametrize("text", ["The port of the server is [1].", "The ports are: 【1】、[2].", "端口号是[1]。"])
def test_a_marker_in_place_of_what_is_asked_for_is_no_answer(text: str) -> None:
    """As small models write: the passage is named, and nothing of it said."""
    assert wordless(text, "Which port does the server use?")
    assert not wordless(f"{text} It is 8080 [1].", "Which port does the server use?")
    assert not wordless(text, "Is the port of the server open?") and not wordless("是[1]", "端口开着吗？")


class World:
    """A real engine on a stand-in of Ollama whose generator says what it is told."""

    def __init__(self, folder: Path) -> None:
        self.says: list[str] = []
        self.server = OllamaStandIn(["qwen3:8b"], reply=self._reply)
        self.server.start()
        self.engine = Engine.open(Settings.load(data_dir=folder, ollama_url=self.server.url))
        self.engine.wait_until_ready()

    def close(self) -> None:
        self.engine.close()
        self.server.close()

    def _reply(self, request: RecordedRequest) -> str:
        if request.schema is None:
            tries: int = sum(message["role"] == "assistant" for message in request.messages)
            return self.says[min(tries, len(self.says) - 1)]
        return str(obedient(request))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("notes"))
    yield made
    made.close()


def config(workflow: str = "self_corrective") -> RunConfig:
    return RunConfig(workflow=workflow, max_rewrites=0, models=RoleModels(generator=CHAT))


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_an_invented_figure_never_passes_unsaid_in_any_workflow(world: World, workflow: str) -> None:
    """SC-07: no passage holds the price; the answer cites one all the same."""
    world.says = ["A truth table with five variables costs $10.00. [1]"]
    record = world.engine.run(QUESTION, config(workflow))
    assert record.outcome in ("answered", "answered_forced")
    assert (record.answer_note, record.support) == ("unsupported", "unsupported")
    assert [item.missing for item in record.unsupported_sentences or ()] == [("$10.00",)]
    said = seed_response(record)
    assert (said["outcome"], said["support"], said["answerNote"]) == (record.outcome, "unsupported", "unsupported")
    assert said["unsupportedSentences"][0]["missing"] == ["$10.00"]


@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize("question", ["How is an Euler circuit programmed?", "怎样治愈1型糖尿病？"])
def test_an_answer_about_all_but_what_is_to_be_done_is_not_called_one(
    world: World, workflow: WorkflowName, question: str
) -> None:
    """SC-07, DL-06: passages passed that no word of programming stands in; no memory is made of what they say."""
    record = world.engine.run(question, RunConfig(workflow=workflow))
    assert record.outcome in ("answered", "answered_forced") and record.citations
    assert (record.answer_note, record.support, record.remembered) == ("cannot_tell", "cannot_tell", None)


def test_a_run_of_an_older_version_is_checked_when_it_is_read(world: World) -> None:
    world.says = ["A truth table with five variables costs $10.00. [1]"]
    run_id = world.engine.start(QUESTION, config())
    events = list(world.engine.events(run_id))
    old = [
        replace(event, answer_note="", unsupported_sentences=None) if isinstance(event, RunFinished) else event
        for event in events
    ]
    assert noted(fold_all(old)) == world.engine.record(run_id)


def test_no_memory_is_made_of_an_answer_that_is_not_supported(world: World) -> None:
    """DL-06: a later question would be told the invention as a plain fact."""
    question = "How many rows does a truth table with four variables need?"
    world.says = ["A truth table with four variables costs $10.00. [1]"]
    doubted = world.engine.run(question, config("dual_loop"))
    assert (doubted.answer_note, doubted.remembered) == ("unsupported", None)


def test_a_cited_answer_and_a_built_in_one_have_no_note(world: World) -> None:
    world.says = ["A truth table with five variables needs 32 rows [1]."]
    assert world.engine.run(QUESTION, config()).answer_note == ""
    assert world.engine.run(QUESTION, RunConfig()).answer_note == ""


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_second_try_replaces_what_was_streamed(world: World, workflow: str) -> None:
    """At every moment the answer shown is one text: the one before it is gone when the next begins."""
    world.says = ["It needs a great many rows.", "A truth table with five variables needs 32 rows [1]."]
    run_id = world.engine.start(QUESTION, config(workflow))
    events = list(world.engine.events(run_id))
    record = world.engine.record(run_id)
    assert record.answer.startswith("A truth table with five variables")
    begun = next(place for place, event in enumerate(events) if isinstance(event, AnswerBegun))
    assert fold_all(events[:begun]).answer.startswith("It needs") and fold_all(events[: begun + 1]).answer == ""
    assert not any("rows.A truth" in fold_all(events[:place]).answer for place in range(begun, len(events)))


def test_markers_alone_twice_end_the_run_with_a_fault_and_a_remedy(world: World) -> None:
    world.says = ["[1][2]"]
    record = world.engine.run(QUESTION, config())
    assert (record.outcome, record.reason) == ("failed", "WB417")
    assert record.error is not None and "another model" in record.error.remedy


def test_a_branch_of_a_retried_run_repeats_the_answer_that_stood(world: World) -> None:
    world.says = ["It needs a great many rows.", "A truth table with five variables needs 32 rows [1]."]
    parent = world.engine.run(QUESTION, config())
    world.says = ["Something else [1]."]
    child_id = world.engine.fork(parent, config())
    world.engine.wait(child_id)
    child = world.engine.record(child_id)
    assert (child.answer, child.answer_note) == (parent.answer, "")
    found = world.engine.what_if(parent, config())
    assert (found.state, found.outcome, found.answer, found.same_path) == (
        "known",
        parent.outcome,
        parent.answer,
        True,
    )
