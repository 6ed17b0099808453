"""Passages cut before the answer: what the generator is given, what the record keeps, what a what-if knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from components.ask.answer import around_text
from components.common.i18n import words_for
from engine.builtin.strips import kept_text, picked
from engine.errors import ModelError
from engine.flow.context import Retrieval, Roles
from engine.model.config import Expand, RoleModel, RoleModels, RunConfig
from engine.model.events import fold_all
from engine.model.surroundings import around_of, near_of
from engine.model.values import Message, ModelCall, Passage, PassageId, RunRecord, Sentence, Surrounding
from engine.replay import what_if
from engine.roles import SILENT, RefineRequest, Trace
from tests.support.fakes import FakeGenerator, FakeGrader, FakeResources, FakeRetriever, events_of

TEXT = "The first sentence. The second sentence. The third."
BY_CHAT = RunConfig(refine=True, models=RoleModels(refiner=RoleModel("ollama:fake")))


class Longer(FakeRetriever):
    """Finds passages of three sentences."""

    async def search(self, query: str, limit: int) -> Retrieval:
        found = await super().search(query, limit)
        return replace(found, passages=tuple(replace(item, text=TEXT) for item in found.passages))

    async def around(self, passages: Sequence[Passage], expand: Expand) -> list[Surrounding]:
        return [
            Surrounding(PassageId(f"{item.id}+"), item.source, f"Next to {item.id}. And more.", ordinal=1)
            for item in passages
        ]


@dataclass
class FakeRefiner:
    """Keeps the sentences of these numbers in each passage."""

    numbers: Mapping[str, tuple[int, ...] | None]
    error: Exception | None = None

    async def refine(
        self, request: RefineRequest, trace: Trace = SILENT
    ) -> Mapping[PassageId, tuple[Sentence, ...] | None]:
        said: dict[PassageId, tuple[Sentence, ...] | None] = {}
        for item in request.passages:
            if self.error is not None:
                raise self.error
            numbers = self.numbers.get(item.id, (1,))
            parsed = None if numbers is None else {"keep": numbers}
            trace.calling()
            trace.call(ModelCall("refiner", "", 0, "fake", (Message("user", "?"),), "!", parsed, item.id))
            least = item.id not in request.around
            said[item.id] = None if numbers is None else picked(item.text, numbers, least=least)
        return said


class Refining(FakeResources):
    """With a refiner, and a generator that is heard."""

    def __init__(self, refiner: FakeRefiner) -> None:
        super().__init__(retriever=Longer(), grader=FakeGrader(frozenset({"p1", "p2"})), generator=FakeGenerator())
        self.refiner = refiner

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        roles, manifest = await super().roles(config)
        return replace(roles, refiner=self.refiner), manifest


def ran(
    numbers: Mapping[str, tuple[int, ...] | None], config: RunConfig = BY_CHAT, error: Exception | None = None
) -> tuple[RunRecord, list[str]]:
    """A run, and the texts that its generator was given."""
    resources = Refining(FakeRefiner(numbers, error))
    record = fold_all(events_of(resources, config))
    (request,) = resources.generator.requests
    return record, [item.text for item in request.passages]


def test_the_generator_reads_what_was_picked_and_the_record_keeps_the_rest() -> None:
    record, read = ran({"p1": (1, 3), "p2": (2,)})
    assert record.context is not None
    assert read == ["The first sentence. The third.", "The second sentence."]
    assert [item.text for item in record.context.passages] == [TEXT, TEXT], "citations point to the whole passage"
    assert {"".join(strip.text for strip in strips) for strips in record.context.refined.values()} == {TEXT}
    assert record.warnings == ()


def test_a_chat_model_as_generator_sees_where_something_is_missing() -> None:
    models = replace(BY_CHAT.models, generator=RoleModel("ollama:fake"))
    _, read = ran({"p1": (1, 3), "p2": (2,)}, replace(BY_CHAT, models=models))
    assert read == ["The first sentence. … The third.", "… The second sentence. …"]


def test_a_passage_whose_reply_cannot_be_read_is_whole_and_that_is_said() -> None:
    record, read = ran({"p1": None})
    assert read == [TEXT, "The first sentence."]
    assert [item.code for item in record.warnings] == ["WB411"]


def test_all_passages_are_whole_where_the_refiner_fails() -> None:
    record, read = ran({}, error=ModelError.empty_reply(model="fake"))
    assert read == [TEXT, TEXT] and record.outcome == "answered"
    assert [item.node for item in record.warnings] == ["generate"]
    own = what_if(record, BY_CHAT)
    assert own.state == "known" and own.answer == record.answer


def test_a_what_if_knows_what_was_picked_and_asks_for_what_was_not() -> None:
    record, _ = ran({"p1": (1, 3), "p2": (1, 2, 3)})
    own = what_if(record, BY_CHAT)
    assert own.state == "known" and own.cost.calls == 2
    # One passage less: what was picked of the other stands, and the answer is another.
    fewer = what_if(record, replace(BY_CHAT, top_k=1))
    assert (fewer.state, fewer.calls_needed.next.calls) == ("generation", 0)
    assert what_if(record, replace(BY_CHAT, refine=False)).state == "generation"
    other = replace(BY_CHAT, models=RoleModels(refiner=RoleModel("ollama:other")))
    unknown = what_if(record, other)
    assert (unknown.state, unknown.gap, unknown.calls_needed.next.calls) == ("generation", "answer", 2)
    # Of whole passages the record says nothing that a chat model would pick.
    whole, _ = ran({}, RunConfig())
    assert what_if(whole, BY_CHAT).calls_needed.next.calls == 2


def test_what_another_rule_leaves_room_for_in_the_budget_is_not_known() -> None:
    resources = Refining(FakeRefiner({"p1": (1, 2, 3), "p2": (1, 2, 3)}))
    resources.generator.context_tokens = len(TEXT)
    record = fold_all(events_of(resources, BY_CHAT))
    assert record.context is not None and record.context.cut == ("p2",)
    assert what_if(record, BY_CHAT).state == "known"
    assert what_if(record, replace(BY_CHAT, refine=False)).state == "generation"


def test_what_surrounds_passages_is_cut_too_and_takes_the_room_of_what_is_kept() -> None:
    record, _ = ran({"p1": (1,), "p2": (1,)}, replace(BY_CHAT, expand="neighbours"))
    assert record.context is not None
    near = [name for names in record.context.around.values() for name in names]
    assert near and set(near) <= record.context.refined.keys()
    kept = sum(len(kept_text(item, record.context.refined)) for item in record.context.passages)
    around = [item for near in around_of(record).values() for item in near.every]
    assert record.context.tokens == kept + sum(len(kept_text(item, record.context.refined)) for item in around)


def test_what_surrounds_a_passage_is_left_out_where_nothing_of_it_is_picked_and_that_is_recorded() -> None:
    by_chat = replace(BY_CHAT, models=replace(BY_CHAT.models, generator=RoleModel("ollama:fake")), expand="neighbours")
    record, _ = ran({"p1": (1,), "p2": (1,), "p1+": ()}, by_chat)
    assert record.context is not None
    assert (record.context.emptied, {*record.context.around}) == (("p1+",), {"p2"})
    assert "".join(item.text for item in record.context.refined[PassageId("p1+")]) == "Next to p1. And more."
    assert record.context.around_cut == () and around_text(record, words_for("en")) == (
        "1 passage given around them, 1 left out because nothing in it bears on the question"
    )
    assert {name: [item.id for item in near.every] for name, near in near_of(record).items()} == {
        "p1": ["p1+"],
        "p2": ["p2+"],
    }
    own = what_if(record, by_chat)
    assert own.state == "known" and own.answer == record.answer and own.around == record.context.around
    # Whole passages bring along what was left out: another input, of which the answer is not known.
    assert what_if(record, replace(by_chat, refine=False)).state == "generation"
