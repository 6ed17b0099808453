"""The scripts of the workflow picture, run by the node program that Playwright brings."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.live_run import PICTURE_SCRIPTS, slim
from components.markup import script
from components.words_live import live_words
from components.workflow_picture import PictureView
from engine.events import Event, fold_all
from engine.records.codec import event_to_json, record_to_dict
from engine.workflows.graph import WorkflowGraph
from tests.components.test_workflow_export import LOOP

_DRIVER = """
import { readFileSync } from "node:fs";
import { fold, view, fit, widthOf, operands, changeOf } from "./picture.mjs";
const given = JSON.parse(readFileSync(0, "utf8"));
const { events, record, edges, names, words, texts, comparisons, cuts, changes = [] } = given;
const folded = [];
let current = null;
for (const event of events) { current = fold(current, event); folded.push(current); }
const views = cuts.map((cut) => view(edges, names, folded[cut], words));
const again = events.reduce(fold, current);
console.log(JSON.stringify({
  views, stored: view(edges, names, record, words), rest: view(edges, names, null, words),
  same: JSON.stringify(again) === JSON.stringify(current), answer: current?.answer,
  texts: texts.map((text) => [widthOf(text, 12), fit([text], 60, 12)]), operands: comparisons.map(operands),
  changes: changes.map(([before, after]) => changeOf(before, after)),
}));
"""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    driver = pytest.importorskip("playwright._impl._driver")
    folder: Path = tmp_path_factory.mktemp("picture")
    (folder / "picture.mjs").write_text(
        script(*(name for name in PICTURE_SCRIPTS if "draw" not in name)), encoding="utf-8"
    )
    (folder / "driver.mjs").write_text(_DRIVER, encoding="utf-8")
    return [str(driver.compute_driver_executable()[0]), str(folder / "driver.mjs")]


def in_browser(
    node: list[str],
    told: list[Event],
    language: str = "en",
    leave_out: int = 0,
    graph: WorkflowGraph = LOOP,
    **more: Any,
) -> dict[str, Any]:
    """What the scripts make of the events, at every cut and as a stored record."""
    given = {
        "events": [json.loads(event_to_json(event)) for event in told[leave_out:]],
        "record": slim(record_to_dict(fold_all(told))),
        "edges": [{"source": e.source, "target": e.target, "conditional": e.conditional} for e in graph.edges],
        "names": graph.nodes,
        "words": dict(live_words("zh" if language == "zh" else "en")),
        "texts": [],
        "comparisons": [],
        "changes": [],
        "cuts": list(range(len(told))),
        **more,
    }
    ran = subprocess.run(node, input=json.dumps(given), capture_output=True, text=True, check=True, encoding="utf-8")
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def plain(picture: PictureView) -> dict[str, Any]:
    """A view of ours as the browser writes its own."""
    return {
        "nodes": {
            name: {
                "title": item.title,
                "tone": item.tone,
                "visits": item.visits,
                "lines": [list(line) for line in item.lines],
                "progress": item.progress,
                "spoken": item.spoken,
            }
            for name, item in picture.nodes.items()
        },
        "edges": {
            f"{source}>{target}": {
                "taken": item.taken,
                "tone": item.tone,
                "live": item.live,
                "chips": list(item.chips),
                "detail": item.detail,
            }
            for (source, target), item in picture.edges.items()
        },
        "status": picture.status,
    }
