"""What a chat model wants to remember: kept where it adds nothing, else the answer's own sentences are: DL-06."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.errors import RunWarning
from engine.llm.distiller import ChatDistiller
from engine.model.values import RunRecord
from tests.contracts.chat_models import obedient
from tests.llm.recording import role_model, settings_for
from tests.support.dual_fakes import OFF, DualResources, FakeEvaluator, dual, finished
from tests.support.fakes import FakeGrader
from tests.support.ollama_stand_in import OllamaStandIn, Reply, ServerError
from tests.support.ollama_stand_in.recorder import RecordedRequest
from tests.support.ollama_stand_in.small_models import HABITS

OWN = "It is so [1][2]."


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"], reply=obedient) as running:
        yield running


def remembered(server: OllamaStandIn, **parts: object) -> RunRecord:
    """A run whose answer is :data:`OWN`, and whose memory the model of the server words."""
    distiller = ChatDistiller(role_model(), settings_for(server))
    grader = FakeGrader(relevant=frozenset({"s1", "s2"}))
    resources = DualResources(grader=grader, distiller=distiller, **parts)  # type: ignore[arg-type]
    return finished(resources, dual(max_corrections=0))


def test_what_adds_nothing_is_kept_in_the_models_words(server: OllamaStandIn) -> None:
    server.script("chat", Reply("So it is [1]."))
    record = remembered(server)
    assert record.remembered is not None
    assert (record.remembered.claim, record.remembered.claim_by) == ("So it is [1].", role_model().model)
    assert [item.marker for item in record.remembered.citations] == [1]
    (call,) = [item for item in record.model_calls if item.node == "consolidate_memory"]
    assert OWN in call.messages[-1].content and record.warnings == ()


@pytest.mark.parametrize("habit", ["markers_only", "no_markers", "denial", "embellished", "talkative"])
def test_a_silly_reply_is_refused_and_the_answers_own_sentence_remembered(habit: str) -> None:
    def reply(request: RecordedRequest) -> str:
        return HABITS[habit](request, obedient(request))

    with OllamaStandIn(["qwen3:8b"], reply=reply) as silly:
        record = remembered(silly)
    assert record.remembered is not None
    assert (record.remembered.claim, record.remembered.claim_by) == (OWN, "")
    assert [(item.code, item.node) for item in record.warnings] == [
        (RunWarning.claim_not_cited.code, "consolidate_memory")
    ]
    assert record.outcome == "answered"
    if habit == "embellished":
        assert "'1997'" in record.warnings[0].fact


def test_a_server_that_fails_costs_its_words_alone(server: OllamaStandIn) -> None:
    server.script("chat", ServerError(), ServerError())
    record = remembered(server)
    assert record.remembered is not None and record.remembered.claim == OWN
    assert [item.node for item in record.warnings] == ["consolidate_memory"]
    assert len([item for item in record.model_calls if item.node == "consolidate_memory"]) == 2


def test_an_answer_that_did_not_pass_costs_no_call(server: OllamaStandIn) -> None:
    record = remembered(server, evaluator=FakeEvaluator(says=(OFF,)))
    assert record.remembered is not None and not record.remembered.passed
    assert record.remembered.claim == OWN
    assert all(item.node != "consolidate_memory" for item in record.model_calls)
