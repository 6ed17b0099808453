"""The workflow of ``settings.json`` as a LangGraph graph: ``graph`` takes ``{"question": …}``.

Nodes, ways between them and what decides come from the workflow's own declaration in ``engine/workflows``. The result
has ``answer``, ``citations`` and ``outcome``, and in ``record`` every round with its verdicts and decisions.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict, get_type_hints

from langgraph.channels import UntrackedValue
from langgraph.graph import END, START, StateGraph

from engine.flow import workflow
from engine.flow.context import visit
from engine.flow.flow import decided
from engine.model.decide import passed_ids
from engine.model.values import Citation, RunRecord
from plugins.export.program import Program, Run

program = Program(Path(__file__).parent)
own = workflow(program.config.workflow)
flow = own.flow


class Question(TypedDict):
    """Input of the graph."""

    question: str


class Answer(TypedDict):
    """Output of the graph."""

    answer: str
    citations: tuple[Citation, ...]
    outcome: str
    record: Annotated[RunRecord, UntrackedValue]


typed: Any = TypedDict
State = typed(
    "State",
    {
        **get_type_hints(flow.state, include_extras=True),
        **get_type_hints(Answer, include_extras=True),
        "run": Annotated[Run, UntrackedValue],
    },
)


async def begin(state: Mapping[str, Any]) -> dict[str, Any]:
    """Open the collection, and begin with nothing searched."""
    if not state["question"].strip():
        raise ValueError("The question is empty.")
    return {**own.initial_state(state["question"]), "run": await program.run(state["question"])}


async def finish(state: Mapping[str, Any]) -> dict[str, Any]:
    """Say how it ended."""
    record = await state["run"].end()
    return {"record": record, "answer": record.answer, "citations": record.citations, "outcome": record.outcome}


def node(name: str) -> Any:
    """One node of the workflow, which runs its step."""

    async def step(state: Mapping[str, Any]) -> dict[str, Any]:
        return await visit(name, flow.nodes[name].step, state, state["run"].context, flow.round_of(name, state))

    return step


def built() -> Any:
    """The compiled graph."""
    made: Any = StateGraph(State, input_schema=Question, output_schema=Answer)
    made.add_node("begin", begin)
    made.add_node("finish", finish)
    for name in flow.nodes:
        made.add_node(name, node(name))
    made.add_edge(START, "begin")
    made.add_edge("begin", flow.start)
    made.add_edge("finish", END)
    for source, way in flow.ways.items():
        if isinstance(way, str):
            made.add_edge(source, {"end": "finish"}.get(way, way))
        else:
            targets = {item: {"end": "finish"}.get(item, item) for item in way}
            made.add_conditional_edges(source, flow.routes.get(source, decided), targets)
    return made.compile(name=own.id).with_config(recursion_limit=own.recursion_limit(program.config) + 2)


graph = built()


async def main(question: str) -> None:
    """Ask one question, and print the result."""
    record = (await graph.ainvoke({"question": question}))["record"]
    for item in record.rounds:
        passed = len(passed_ids(item, program.config))
        print(f"round {item.index}: {item.query!r}: {len(item.kept)} kept, {passed} passed")
    print(f"{record.outcome}, {record.reason}\n\n{record.answer}")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
