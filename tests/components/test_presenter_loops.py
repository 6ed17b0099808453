"""Replays of the other loops: the same picture as live, and one plain sentence for each of their steps."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence

import pytest

from components.i18n import UiLanguage, words_for
from components.presenter_events import browser_events
from components.presenter_sentences import sentence
from components.words_live import live_words
from components.workflow_picture import picture_of
from engine.config import RunConfig, WorkflowName
from engine.engine import Engine
from engine.events import Event, TokenStreamed, fold_all
from engine.records.codec import record_to_dict
from engine.replay import steps
from engine.settings import Settings
from tests.components.in_browser import node, plain

__all__ = ["node"]

LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation")
QUESTIONS = ("逻辑", "What fasting glucose level means diabetes today?", "How much does a box of insulin cost?")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[WorkflowName, str], Sequence[Event]]]:
    """Events of real runs of every loop: one that is answered, one that is refused, and a vague one."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("loops"), ollama_url="http://127.0.0.1:1")
    with Engine.open(settings) as engine:
        # The quality loop has ten seconds, opening included.
        engine.wait_until_ready()
        yield {
            (name, question): list(engine.stream(question, RunConfig(workflow=name)))
            for name in LOOPS
            for question in QUESTIONS
        }


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", LOOPS)
def test_every_moment_of_a_loop_is_the_picture_that_a_live_viewer_had(
    node: list[str], runs: dict[tuple[WorkflowName, str], Sequence[Event]], name: WorkflowName, question: str
) -> None:
    """SC-12, QL-03, DL-01, AE-01: drawn from the compiled graph, live and replayed alike."""
    from engine.workflows import compiled
    from engine.workflows.graph import graph_of

    graph = graph_of(compiled(name))
    events = [event for event in runs[name, question] if not isinstance(event, TokenStreamed)]
    given = {
        "events": browser_events(events),
        "record": None,
        "edges": [{"source": e.source, "target": e.target, "conditional": e.conditional} for e in graph.edges],
        "names": graph.nodes,
        "words": dict(live_words("en")),
        "texts": [],
        "comparisons": [],
        "cuts": list(range(len(events))),
    }
    ran = subprocess.run(node, input=json.dumps(given), capture_output=True, text=True, check=True, encoding="utf-8")
    shown = json.loads(ran.stdout)
    for cut in range(len(events)):
        record = record_to_dict(fold_all(events[: cut + 1]))
        assert shown["views"][cut] == plain(picture_of(graph, record, live_words("en"))), events[cut].kind


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", LOOPS)
def test_every_step_of_a_loop_has_a_sentence(
    runs: dict[tuple[WorkflowName, str], Sequence[Event]], name: WorkflowName, language: UiLanguage
) -> None:
    words = words_for(language)
    for question in QUESTIONS:
        events = runs[name, question]
        record = fold_all(events)
        followed = steps(events)
        said = [sentence(step, record, words) for step in followed]
        assert all(said)
        assert len({step.kind for step in followed}) >= 4
        assert said[-1] != said[0]
        assert not any("presenter." in item for item in said)


def test_no_answer_and_no_memory_travels_with_the_events(
    runs: dict[tuple[WorkflowName, str], Sequence[Event]],
) -> None:
    """Texts that a replay does not draw stay on the server; the answer is drawn at the end of the stage."""
    for events in runs.values():
        record = fold_all(events)
        sent = json.dumps([item for item in browser_events(events) if item["kind"] != "answer_completed"])
        for draft in record.drafts:
            assert draft.text[:60] not in json.loads(json.dumps(sent))
        if record.remembered:
            assert record.remembered.answer[:60] not in sent
