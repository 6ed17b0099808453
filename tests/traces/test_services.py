"""Langfuse and LangSmith, as their documented schemas have it; neither was tried against the service (TR-01)."""

from __future__ import annotations

import json
from typing import Any

from engine.traces.reading import recognised
from tests.support.crag_spans import CATS, TIDES

DOCUMENTS = [
    {"page_content": TIDES, "metadata": {"source": "sea.md", "score": 0.9}, "type": "Document"},
    {"page_content": CATS, "metadata": {"source": "pets.md", "score": 0.2}, "type": "Document"},
]


def at(second: int) -> str:
    return f"2026-05-04T10:00:{second:02d}.000Z"


def test_a_trace_of_langfuse_with_its_observations() -> None:
    def observation(name: str, kind: str, second: int, **more: Any) -> dict[str, Any]:
        times = {"startTime": at(second), "endTime": at(second + 1)}
        return {"id": f"o{second}", "traceId": "lf1", "type": kind, "name": name, **times, **more}

    trace = {
        "id": "lf1",
        "projectId": "pets and seas",
        "timestamp": at(0),
        "input": {"question": "What makes tides?"},
        "output": "The moon.",
        "observations": [
            observation("retrieve", "RETRIEVER", 1, input="What makes tides?", output=DOCUMENTS),
            observation(
                "grade_documents", "GENERATION", 3, input=f"Grade: {TIDES}", output={"score": "yes"}, model="m"
            ),
            observation("grade_documents", "GENERATION", 5, input=f"Grade: {CATS}", output={"score": "no"}, model="m"),
            observation("generate", "GENERATION", 7, input=f"{TIDES} What?", output="The moon.", usage={"input": 40}),
        ],
        "scores": [{"name": "helpfulness", "value": 0.9}],
    }
    found = recognised([("langfuse.json", json.dumps({"data": [trace]}).encode())])
    [made] = found.traces
    assert (made.tool, made.project, made.question, made.answer) == (
        "langfuse",
        "pets and seas",
        "What makes tides?",
        "The moon.",
    )
    assert [(item.source, item.score) for item in made.searches[0].passages] == [("sea.md", 0.9), ("pets.md", 0.2)]
    assert sorted((item.relevant is True, item.grader) for item in made.verdicts) == [(False, "m"), (True, "m")]
    assert [call.prompt_tokens for call in made.calls] == [None, None, 40]
    # A score of the whole trace is no verdict on a passage.
    assert [item.code for item in found.left_out] == ["scores"]


def test_runs_of_langsmith_a_line_each() -> None:
    def run(name: str, kind: str, second: int, parent: str | None, inputs: Any, outputs: Any) -> dict[str, Any]:
        own = {"id": f"r{second}", "trace_id": "r0", "parent_run_id": parent, "name": name, "run_type": kind}
        extra = {"metadata": {"ls_model_name": "llama3"}}
        times = {"start_time": at(second), "end_time": at(second + 1)}
        return {**own, **times, "inputs": inputs, "outputs": outputs, "extra": extra, "session_name": "pets"}

    kept = {"documents": DOCUMENTS[:1], "question": "What makes tides?"}
    runs = [
        run("LangGraph", "chain", 0, None, {"question": "What makes tides?"}, {"generation": "The moon."}),
        run("retrieve", "chain", 1, "r0", {"question": "What makes tides?"}, {"documents": DOCUMENTS}),
        run("VectorStoreRetriever", "retriever", 2, "r1", {"query": "What makes tides?"}, {"documents": DOCUMENTS}),
        run("grade_documents", "chain", 4, "r0", {"documents": DOCUMENTS, "question": "What makes tides?"}, kept),
        run("decide_to_generate", "chain", 6, "r0", kept, {"output": "generate"}),
        run("generate", "chain", 8, "r0", kept, {"generation": "The moon."}),
        run("ChatOllama", "llm", 9, "r8", {"messages": [[{"kwargs": {"content": TIDES}}]]}, {"output": "The moon."}),
    ]
    runs[0]["end_time"] = at(20)
    lines = "\n".join(json.dumps(item) for item in reversed(runs))
    [made] = recognised([("langsmith.jsonl", lines.encode())]).traces
    assert (made.tool, made.project, made.answer, len(made.searches)) == ("langsmith", "pets", "The moon.", 1)
    by_id = {item.id: item.text for item in made.searches[0].passages}
    assert {(by_id[item.passage], item.relevant) for item in made.verdicts} == {(TIDES, True), (CATS, False)}
    assert made.given is not None
    assert [by_id[name] for name in made.given] == [TIDES]
    assert [note.params["said"] for note in made.notes if note.code == "their_decision"] == ["generate"]
    assert [(call.role, call.model) for call in made.calls] == [("generator", "llama3")]
