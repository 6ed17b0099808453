"""Replays of the other loops: one plain sentence for each of their steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from components.ask.presenter_sentences import sentence
from components.common.i18n import words_for
from engine.engine import Engine
from engine.model.config import RunConfig, WorkflowName
from engine.model.events import Event, fold_all
from engine.replay.playback import steps
from engine.settings import Settings

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


@pytest.mark.parametrize("name", LOOPS)
def test_every_step_of_a_loop_has_a_sentence(
    runs: dict[tuple[WorkflowName, str], Sequence[Event]], name: WorkflowName
) -> None:
    words = words_for("zh")
    for question in QUESTIONS:
        events = runs[name, question]
        record = fold_all(events)
        followed = steps(events)
        said = [sentence(step, record, words) for step in followed]
        assert all(said)
        assert len({step.kind for step in followed}) >= 4
        assert said[-1] != said[0]
        assert not any("presenter." in item for item in said)
