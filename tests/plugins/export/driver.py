"""Runs exported projects in a process that has nothing else of the workbench, one for each line of its input."""

import asyncio
import importlib
import json
import os
import sys
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

_compiled = cache(compile)


def _code(_: SourceFileLoader, data: bytes, path: str) -> Any:
    return _compiled(bytes(data), Path(path).name, "exec", dont_inherit=True)


async def answers(folder: Path, questions: list[str]) -> list[dict[str, Any]]:
    """What the graph that ``langgraph.json`` names says to each question."""
    graphs = json.loads((folder / "langgraph.json").read_text())["graphs"]
    file, _, name = next(iter(graphs.values())).partition(":")
    sys.path.insert(0, str(folder))
    module = importlib.import_module(Path(file).stem)
    assert all(str(item.__file__).startswith(str(folder)) for key, item in sys.modules.items() if is_ours(key))
    found = [await one(getattr(module, name), question) for question in questions]
    module.program.knowledge.store.close()
    sys.path.remove(str(folder))
    for key in [key for key in sys.modules if key == "graph" or is_ours(key)]:
        del sys.modules[key]
    return found


def is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("engine", "plugins")


async def one(graph: Any, question: str) -> dict[str, Any]:
    """One run: every round, decision and rewrite, and how it ended."""
    run: Any = None
    failed = False
    try:
        async for update in graph.astream({"question": question}, stream_mode="updates"):
            run = update.get("begin", {}).get("run", run)
    except Exception:
        failed = True
    return as_said(run.record) | ({"outcome": "failed"} if failed else {})


def as_said(record: Any) -> dict[str, Any]:
    """What a run was made of, but for its times and ids, as JSON holds it."""
    return {
        "rounds": [
            {
                "query": item.query,
                "candidates": [[one.passage.id, round(one.passage.similarity, 5)] for one in item.candidates],
                "kept": [passage.id for passage in item.kept],
                "verdicts": {key: [said.relevant, said.confidence] for key, said in item.verdicts.items()},
            }
            for item in record.rounds
        ],
        "decisions": [[item.route, item.reason] for item in record.decisions],
        "rewrites": [[item.rewritten_query, item.repeated, item.failed] for item in record.rewrites],
        "visits": [[item.node, item.round] for item in record.nodes],
        "drafts": [[item.text, item.evaluation and item.evaluation.passed] for item in record.drafts],
        "cited": [getattr(item, "passage_id", "") for item in record.citations],
        "outcome": record.outcome,
        "answer": record.answer,
        "unsupported": [item.sentence for item in record.unsupported_sentences or ()],
        "warnings": sorted(item.code for item in record.warnings),
    }


if __name__ == "__main__":
    # Most files of the projects are the same: compiling those of each is most of the time of this process.
    sys.dont_write_bytecode = True
    SourceFileLoader.source_to_code = _code  # type: ignore[method-assign, assignment]
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.update(asked["environment"])
        print(json.dumps(asyncio.run(answers(Path(asked["folder"]), asked["questions"]))), flush=True)
