"""The answer step of graph + vector retrieval: GH-02, GH-05, GH-06, GH-07."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.builtin.generator import BuiltinGenerator
from engine.errors import ModelError
from engine.llm.prompts import generator_messages, rules_tokens
from engine.model.events import Event, TokenStreamed, fold_all
from engine.model.values import Attachment, Entity, GraphContext, Passage, PassageId, Relationship
from engine.replay import what_if
from engine.roles import SILENT, GenerationRequest, TableGiven, Trace
from tests.components.graph_events import TABLE, GraphResources, events_of, graph_config
from tests.support.fakes import FakeGrader

RELEVANT = frozenset({"g1", "g2", "v1"})


@dataclass
class SayingGenerator:
    """Says these pieces, then raises what it is given; notes what it was asked."""

    pieces: Sequence[str]
    error: Exception | None = None
    requests: list[GenerationRequest] = field(default_factory=list)
    context_tokens: int = 4000

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        self.requests.append(request)
        for piece in self.pieces:
            trace.token(piece)
        if self.error is not None:
            raise self.error
        return "".join(self.pieces)


def events_with(
    generator: SayingGenerator, attachments: tuple[Attachment, ...] = (), **settings: object
) -> list[Event]:
    resources = GraphResources(grader=FakeGrader(relevant=RELEVANT), generator=generator)
    return events_of(resources, graph_config(gate="min_relevant", **settings), attachments=attachments)


def streamed(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TokenStreamed))


def test_what_is_streamed_is_the_answer_of_the_record_with_its_markers_resolved() -> None:
    """GH-07: tokens one by one, citations with the sentence, nothing taken back."""
    events = events_with(SayingGenerator(["The text ", "of g1 ", "[1", "][", "9].", " The text of v1【3】。"]))
    record = fold_all(events)
    assert record.answer == "The text of g1 [1]. The text of v1[3]。"
    assert streamed(events) == record.answer
    assert record.removed_markers == ("[9]",)
    assert [item.marker for item in record.citations] == [1, 3]


def test_a_sentence_that_its_passage_does_not_bear_out_loses_the_marker_in_the_stream_too() -> None:
    """GH-07"""
    events = events_with(SayingGenerator(["Columbus crossed the Atlantic in 1492 [1]. The text of g1 [1]."]))
    record = fold_all(events)
    assert record.answer == "Columbus crossed the Atlantic in 1492. The text of g1 [1]."
    assert streamed(events) == record.answer
    assert [(item.marker, item.sentence) for item in record.unsupported] == [
        ("[1]", "Columbus crossed the Atlantic in 1492.")
    ]


def test_the_generator_is_given_graph_tables_and_passages_within_the_budget() -> None:
    """GH-05, GH-06"""
    generator = SayingGenerator(["500 for metformin [T1:B2]."])
    record = fold_all(events_with(generator, (TABLE,)))
    (request,) = generator.requests
    assert request.graph is not None
    assert [item.name for item in request.graph.entities] == ["Metformin", "Galega"]
    assert [item.number for item in request.tables] == [1]
    assert record.context is not None
    assert record.context.tokens <= record.context.token_budget == 2000
    assert [item.marker for item in record.cell_citations] == ["T1:B2"]


def test_what_had_arrived_stays_when_the_generator_fails() -> None:
    """GH-07"""
    gone = ModelError.ollama_unreachable(address="http://127.0.0.1:1")
    record = fold_all(events_with(SayingGenerator(["The text of g1 [1]", ". And"], error=gone)))
    assert (record.outcome, record.answer) == ("failed", "The text of g1 [1]. And")
    assert [item.marker for item in record.citations] == [1]


def test_nothing_but_a_marker_is_an_empty_reply() -> None:
    """GH-07"""
    record = fold_all(events_with(SayingGenerator(["[9]"])))
    assert record.outcome == "failed"
    assert record.error is not None
    assert record.error.code == ModelError.empty_reply.code


def test_the_prompt_fences_graph_and_cells_and_says_how_to_cite_them() -> None:
    """GH-05, GH-06"""
    passage = Passage(PassageId("p"), "p.md", "Metformin.", 0.5, 0.5)
    drug = Entity("metformin", "Metformin </entities>", "DRUG")
    graph = GraphContext((drug,), (Relationship("metformin", "x", "TREATS", passages=(passage.id,)),), 9)
    table = TableGiven(1, "doses.csv", ("Drug", "Dose"), ((2, ("Metformin", "500 </cells>")),))
    plain = generator_messages(GenerationRequest("Why?", (passage,), "en"))
    rules, asked = generator_messages(GenerationRequest("Why?", (passage,), "en", graph=graph, tables=(table,)))
    assert (
        asked.content.index("<entities>") < asked.content.index('<cells table="1">') < asked.content.index("<passage")
    )
    assert asked.content.count("</entities>") == asked.content.count("</cells>") == 1
    assert "2 | Metformin | 500" in asked.content
    assert "[T1:B3]" in rules.content
    assert "[T1:B3]" not in plain[0].content
    assert rules_tokens() > 0


def test_a_table_that_covers_the_question_saves_the_rewrites() -> None:
    """GH-05, GH-01"""
    plants = Attachment("table", "plants.csv", rows=(("Drug", "Plant"), ("Metformin", "Goat's rue")), read_by="csv")
    resources = GraphResources(grader=FakeGrader(relevant=frozenset()), generator=BuiltinGenerator())
    record = fold_all(events_of(resources, graph_config(max_rewrites=3), attachments=(plants,)))
    assert (record.outcome, record.reason, len(record.rounds)) == ("answered", "table_answers", 1)
    assert [item.marker for item in record.cell_citations] == ["T1:B2"]
    assert what_if(record, record.config).same_path
    # A table of something else changes nothing.
    other = fold_all(events_of(resources, graph_config(max_rewrites=1), attachments=(TABLE,)))
    assert other.reason != "table_answers" and len(other.rounds) == 2
