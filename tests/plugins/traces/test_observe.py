"""The decorators for a loop of one's own: what they record, and that they never harm what they observe (TR-01)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.graph import END, START, StateGraph

from plugins.traces.assembling import evidence_of, program_of
from plugins.traces.deciding import decided, settings_for
from plugins.traces.foreign import ForeignTrace
from plugins.traces.trace_file import recognised
from rag_workbench import observe
from rag_workbench.observe import observe_generation, observe_grading, observe_retrieval, observe_run

NOTES = {
    "moon": "The moon pulls the sea, and that makes the tides.",
    "sun": "The sun pulls the sea less than the moon does.",
    "bread": "Bread dough rises twice before it is baked.",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    before = dict(observe._settings)
    observe.configure(folder=str(tmp_path / "out"), url="", project="my loop")
    yield tmp_path / "out"
    observe.flush()
    observe._settings.update(before)
    observe._warned.clear()


def written(folder: Path) -> list[ForeignTrace]:
    assert observe.flush()
    files = [(file.name, file.read_bytes()) for file in sorted(folder.glob("*.jsonl"))]
    return list(recognised(files).traces)


class State(TypedDict, total=False):
    question: str
    asked: str
    documents: list[Document]
    generation: str


def found_by(query: str) -> list[Document]:
    words = set(query.lower().strip("?").split())
    ranked = sorted(NOTES, key=lambda name: -len(words & set(NOTES[name].lower().strip(".").split())))
    return [Document(NOTES[name], metadata={"source": f"{name}.md"}) for name in ranked[:2]]


def a_loop() -> Any:
    """A corrective loop as many are written: nodes of a graph over a state; three lines observe it."""

    @observe_retrieval
    def retrieve(state: State) -> State:
        return {"documents": found_by(state["question"])}

    @observe_grading
    def grade_documents(state: State) -> State:
        return {"documents": [item for item in state["documents"] if "tides" in item.page_content]}

    def transform_query(state: State) -> State:
        return {"question": "moon sea"}

    @observe_generation
    def generate(state: State) -> State:
        return {"generation": state["documents"][0].page_content}

    graph = StateGraph(State)
    for name, node in (("retrieve", retrieve), ("grade", grade_documents), ("transform", transform_query)):
        graph.add_node(name, node)
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade")
    graph.add_conditional_edges("grade", lambda state: "generate" if state["documents"] else "transform")
    graph.add_edge("transform", "retrieve")
    graph.add_edge("generate", END)
    return graph.compile()


def test_three_lines_record_a_loop_that_the_four_nodes_follow(folder: Path) -> None:
    loop = a_loop()
    assert loop.invoke({"question": "Why does bread rise?"})["generation"] == NOTES["moon"]
    [trace] = written(folder)
    assert (trace.tool, trace.project, trace.question) == ("observed", "my loop", "Why does bread rise?")
    assert [search.query for search in trace.searches] == ["Why does bread rise?", "moon sea"]
    assert {item.source for item in trace.searches[1].passages} == {"moon.md", "sun.md"}
    assert [verdict.relevant for verdict in trace.verdicts].count(True) == 1
    assert trace.answer == NOTES["moon"]
    program = program_of([trace])
    evidence = evidence_of(trace, program, "2026")
    record = decided(evidence, settings_for([evidence], program.config))
    assert [item.route for item in record.decisions] == ["rewrite", "generate"]
    assert record.outcome == "answered"


def test_several_questions_at_once_keep_apart_with_one_line_more(folder: Path) -> None:
    @observe_retrieval
    async def search(question: str) -> list[tuple[str, float]]:
        await asyncio.sleep(0)
        return [(NOTES["moon"], 0.9), (NOTES["bread"], 0.1)]

    @observe_grading
    async def relevant(question: str, document: str) -> bool:
        await asyncio.sleep(0)
        return "moon" in document

    @observe_run
    async def answer(question: str) -> str:
        passed = [text for text, _ in await search(question) if await relevant(question, text)]
        return f"{question} {passed[0]}"

    async def both() -> None:
        await asyncio.gather(answer("What makes tides?"), answer("What pulls the sea?"))

    asyncio.run(both())
    traces = {trace.question: trace for trace in written(folder)}
    assert set(traces) == {"What makes tides?", "What pulls the sea?"}
    for question, trace in traces.items():
        assert trace.answer == f"{question} {NOTES['moon']}"
        assert sorted(verdict.relevant is True for verdict in trace.verdicts) == [False, True]


@dataclass
class Node:
    text: str
    node_id: str = "n1"


@dataclass
class NodeWithScore:
    node: Node
    score: float


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ([Document("One.", id="d1", metadata={"source": "a.md"})], [("d1", "One.", "a.md", None)]),
        ([NodeWithScore(Node("One."), 0.5)], [("n1", "One.", "", 0.5)]),
        ([({"id": 7, "content": "One."}, 0.25)], [("7", "One.", "", 0.25)]),
        ({"documents": ["One.", "Two."]}, [(None, "One.", "", None), (None, "Two.", "", None)]),
    ],
    ids=["LangChain", "LlamaIndex", "pairs", "texts"],
)
def test_documents_of_any_kind_are_read(folder: Path, result: Any, expected: Sequence[Any]) -> None:
    observe_run(observe_retrieval(lambda question: result))("Which?")
    [trace] = written(folder)
    passages = trace.searches[0].passages
    assert [(item.text, item.source, item.score) for item in passages] == [item[1:] for item in expected]
    assert all(name is None or item.id == name for item, (name, *_) in zip(passages, expected, strict=True))


class Hostile:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("do not look at me")


@pytest.mark.parametrize("wrap", [observe_retrieval, observe_grading, observe_generation, observe_run])
def test_what_cannot_be_read_changes_nothing_for_the_program(
    wrap: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    hostile = Hostile()
    observed = wrap(lambda thing: thing)
    assert observed(hostile) is hostile
    assert observed(hostile) is hostile
    assert len(caplog.records) <= 1


def test_an_error_of_the_program_stays_its_own_and_is_recorded(folder: Path) -> None:
    @observe_run
    def answer(question: str) -> str:
        observe_retrieval(lambda query: [NOTES["moon"]])(question)
        raise KeyError("no model")

    with pytest.raises(KeyError, match="no model"):
        answer("What makes tides?")
    [trace] = written(folder)
    assert "no model" in trace.error


def test_a_workbench_that_is_not_there_holds_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    observe.configure(url="http://127.0.0.1:9")
    observed = observe_run(observe_retrieval(lambda question: [NOTES["moon"]]))
    for _ in range(3):
        assert observed("What makes tides?") == [NOTES["moon"]]
    assert observe.flush()
    assert [record.message.split(":")[0] for record in caplog.records] == ["a trace could not be delivered"]


def test_the_module_needs_nothing_of_the_program_and_no_package() -> None:
    program = (
        "import sys; before = set(sys.modules); import rag_workbench.observe; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == ["rag_workbench"]
