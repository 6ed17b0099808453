"""Runs exported projects in a process that has nothing of the workbench, one for each line of its input."""

import asyncio
import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any


async def answers(folder: Path, questions: list[str]) -> list[dict[str, Any]]:
    """What the graph that ``langgraph.json`` names says to each question."""
    graphs = json.loads((folder / "langgraph.json").read_text())["graphs"]
    path, _, name = next(iter(graphs.values())).partition(":")
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("graph", folder / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["graph"] = module
    spec.loader.exec_module(module)
    found = [await one(getattr(module, name), question) for question in questions]
    module.milvus().close()
    sys.path.remove(str(folder))
    del sys.modules["graph"], sys.modules["workbench_parts"]
    return found


async def one(graph: Any, question: str) -> dict[str, Any]:
    """One run: every round, decision and rewrite, and how it ended."""
    decisions: list[list[str]] = []
    state: dict[str, Any] = {}
    try:
        async for update in graph.astream({"question": question}, stream_mode="updates"):
            for change in update.values():
                state.update(change)
                if "decision" in change:
                    item = change["decision"]
                    decisions.append([item.route, item.reason])
    except Exception as fault:
        state["outcome"], state["answer"] = "failed", f"{type(fault).__name__}: {fault}"
    return {
        "rounds": [
            {
                "query": item.query,
                "candidates": [[passage.id, round(passage.similarity, 5)] for passage in item.candidates],
                "kept": [passage.id for passage in item.kept],
                "verdicts": {key: [said.relevant, said.confidence] for key, said in item.verdicts.items()},
            }
            for item in state["rounds"]
        ],
        "decisions": decisions,
        "rewrites": [[item.rewritten_query, item.repeated, item.failed] for item in state.get("rewrites", [])],
        "cited": [item.passage_id for item in state.get("citations", [])],
        "outcome": state.get("outcome", "failed"),
        "answer": state.get("answer", ""),
    }


if __name__ == "__main__":
    assert importlib.util.find_spec("engine") is None, "the workbench is on the path"
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.update(asked["environment"])
        print(json.dumps(asyncio.run(answers(Path(asked["folder"]), asked["questions"]))), flush=True)
