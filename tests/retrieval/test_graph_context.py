"""The context of graph + vector retrieval: GH-05 and GH-06."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from engine.builtin.context_text import graph_text, table_text
from engine.builtin.refiner import refined
from engine.model.config import RunConfig
from engine.model.values import (
    Attachment,
    Candidate,
    Entity,
    FoundEntity,
    GraphEvidence,
    Passage,
    PassageId,
    Relationship,
    Round,
    Verdict,
)
from engine.retrieval.graph_context import assembled, graph_of, graph_within, importance
from engine.retrieval.graph_options import GraphOptions

HUB = Entity("diabetes", "Diabetes", "DISEASE", "High blood glucose.", degree=20)
DRUG = Entity("metformin", "Metformin", "DRUG", "A tablet.", degree=4)
RARE = Entity("biguanide", "Biguanide", "CLASS", degree=1)
TREATS = Relationship("metformin", "diabetes", "TREATS", "first line", (PassageId("p0"),), weight=2.0)
IS_A = Relationship("metformin", "biguanide", "IS_A", "", (PassageId("p1"),), weight=1.0)
EVIDENCE = GraphEvidence(
    "mix",
    entities=(
        FoundEntity(DRUG, "name", 1.0),
        FoundEntity(HUB, "neighbour", 0.5, 1),
        FoundEntity(RARE, "neighbour", 0.4, 1),
    ),
    relationships=(IS_A, TREATS),
)


def round_of(sizes: list[int], evidence: GraphEvidence | None = EVIDENCE) -> Round:
    passages = [Passage(PassageId(f"p{at}"), f"{at}.md", "x" * size, 0.9, 0.9) for at, size in enumerate(sizes)]
    return Round(
        index=0,
        query="q",
        candidates=tuple(Candidate(item, rank, "kept", 0.5) for rank, item in enumerate(passages, 1)),
        verdicts={item.id: Verdict(True, 0.9 - at / 100, "x") for at, item in enumerate(passages)},
        graph=evidence,
    )


def config_of(tokens: int, **options: object) -> RunConfig:
    return RunConfig(
        workflow="graph_hybrid",
        top_k=20,
        options=replace(GraphOptions(context_tokens=tokens), **options),  # type: ignore[arg-type]
    )


def test_the_graph_is_ordered_by_relevance_times_centrality() -> None:
    """GH-06"""
    worth = importance(EVIDENCE.entities)
    assert worth["metformin"] > worth["diabetes"] > worth["biguanide"]
    graph = graph_of((round_of([10]),), config_of(1000))
    assert [item.id for item in graph.entities] == ["metformin", "diabetes", "biguanide"]
    assert [item.type for item in graph.relationships] == ["TREATS", "IS_A"]


def test_neither_relevance_nor_centrality_orders_the_graph_alone() -> None:
    """GH-06"""
    edge, hub = FoundEntity(RARE, "neighbour", 0.5, 1), FoundEntity(HUB, "neighbour", 0.45, 1)
    worth = importance((edge, hub))
    assert worth["diabetes"] > worth["biguanide"], "about as relevant, and far more central"
    worth = importance((replace(edge, score=1.0), replace(hub, score=0.1)))
    assert worth["biguanide"] > worth["diabetes"], "central, and hardly relevant"
    assert all(0 <= value <= 1 for value in worth.values())


def test_rounds_are_united_or_the_last_one_counts_as_for_passages() -> None:
    """GH-06"""
    other = GraphEvidence("mix", entities=(FoundEntity(RARE, "name", 1.0),))
    rounds = (round_of([10]), round_of([10], other))
    assert {item.id for item in graph_of(rounds, config_of(1000)).entities} == {"metformin", "diabetes", "biguanide"}
    last = replace(config_of(1000), context="last_round")
    assert [item.id for item in graph_of(rounds, last).entities] == ["biguanide"]


def test_what_of_the_graph_does_not_fit_is_the_least_important() -> None:
    """GH-06"""
    whole = graph_of((round_of([10]),), config_of(1000))
    assert graph_text(whole).splitlines()[0] == "Metformin -[TREATS]-> Diabetes: first line"
    some, left_out = graph_within(whole, 75, len)
    assert [item.id for item in some.entities] == ["metformin"]
    assert [item.type for item in some.relationships] == ["TREATS"]
    assert some.tokens <= 75 < some.tokens + left_out


def test_the_context_says_what_went_in_and_what_the_budget_cut() -> None:
    """GH-06"""
    made = assembled("q", (round_of([300, 300, 300, 300]),), config_of(1000), most_tokens=5000, count_tokens=len)
    context = made.context
    assert context.token_budget == 1000
    assert [item.id for item in context.passages] == ["p0", "p1"]
    assert context.cut == ("p2", "p3")
    assert [(item.kind, item.id, item.given) for item in context.parts] == [
        ("graph", "", True),
        ("passage", "p0", True),
        ("passage", "p1", True),
        ("passage", "p2", False),
        ("passage", "p3", False),
    ]
    assert context.tokens == sum(item.tokens for item in context.parts if item.given) <= 1000
    assert context.graph is not None


def test_the_generator_s_own_budget_is_never_passed() -> None:
    """GH-06"""
    made = assembled("q", (round_of([300, 300, 300]),), config_of(2000), most_tokens=500, count_tokens=len)
    assert made.context.token_budget == 500
    assert made.context.tokens <= 500


TABLE = Attachment(
    "table",
    "doses.csv",
    rows=(("Drug", "Dose (mg)"), *((f"Drug {n}", str(100 + n)) for n in range(1, 30)), ("Metformin", "500")),
)


def test_a_table_that_is_too_long_gives_the_rows_that_bear_on_the_question_under_their_own_numbers() -> None:
    """GH-05, GH-06"""
    question = "What is the dose of metformin?"
    made = assembled(question, (round_of([100]),), config_of(300), tables=(TABLE,), most_tokens=5000, count_tokens=len)
    (given_table,) = made.tables
    assert made.context.tables == (1,)
    assert (31, ("Metformin", "500")) in given_table.rows
    assert given_table.left_out == 30 - len(given_table.rows) > 0
    lines = table_text(given_table).splitlines()
    assert lines[:3] == ["doses.csv", " | A | B", "1 | Drug | Dose (mg)"]
    assert lines[-1] == f"({given_table.left_out} more rows are not shown)"
    assert made.context.tokens <= 300


def test_a_table_without_room_is_named_among_the_parts_as_left_out() -> None:
    """GH-06"""
    wide = Attachment("table", "wide.csv", rows=(("a" * 400, "b" * 400), ("c", "d")))
    made = assembled("q", (round_of([100]),), config_of(300), tables=(wide,), most_tokens=5000, count_tokens=len)
    assert made.context.tables == ()
    assert [(item.kind, item.id, item.given) for item in made.context.parts if item.kind == "table"] == [
        ("table", "1", False)
    ]


def test_refined_passages_take_less_and_the_record_keeps_what_was_cut() -> None:
    """GH-06"""
    text = "Metformin lowers blood glucose. It does. The moon is far away from here. Nobody likes rain."
    passage = Passage(PassageId("p0"), "0.md", text, 0.9, 0.9)
    found = replace(round_of([10]), candidates=(Candidate(passage, 1, "kept", 0.5),))
    question, config = "What does metformin lower?", config_of(1000)
    cut = refined(question, [passage], config.sentence_threshold)
    made = assembled(question, (found,), config, cut=cut, most_tokens=5000, count_tokens=len)
    assert made.context.passages == (passage,), "citations point to the whole passage"
    assert made.passages[0].text == "Metformin lowers blood glucose. It does."
    assert "".join(item.text for item in made.context.refined[passage.id]) == text
    (part,) = [item for item in made.context.parts if item.kind == "passage"]
    assert part.tokens == len(made.passages[0].text)


@given(
    st.lists(st.integers(1, 400), max_size=8),
    st.integers(100, 2000),
    st.integers(0, 2),
    st.booleans(),
)
def test_only_the_best_passage_may_go_beyond_the_budget(
    sizes: list[int], tokens: int, tables: int, with_graph: bool
) -> None:
    """GH-06"""
    found = round_of(sizes, EVIDENCE if with_graph else None)
    made = assembled("q", (found,), config_of(tokens), tables=(TABLE,) * tables, most_tokens=4000, count_tokens=len)
    context = made.context
    given_passages = [item for item in context.parts if item.kind == "passage" and item.given]
    others = context.tokens - sum(item.tokens for item in given_passages[:1])
    assert context.tokens <= context.token_budget or others <= context.token_budget
    assert bool(context.passages) == bool(sizes)
    assert [item.id for item in context.passages] + list(context.cut) == [f"p{at}" for at in range(len(sizes))]
