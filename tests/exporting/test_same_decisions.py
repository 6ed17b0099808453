"""An exported project decides as the workbench does, in a process that has nothing of it: EX-01."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import RunRecord
from engine.samples import sample_questions
from engine.settings import Settings
from tests.exporting.comparing import assert_alike, exported, recorded
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest
from tests.support.ollama_stand_in.demo import demo_reply
from tests.support.ollama_stand_in.small_models import HABITS

CHAT = RoleModel("ollama:qwen3:8b")
CHATS = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT)
SETTINGS: Mapping[str, RunConfig] = {
    "rate": RunConfig(gate="pass_rate", grade_pass_threshold=0.6, top_k=3, max_rewrites=1, models=CHATS),
    "fused": RunConfig(search="fused", top_k=2, max_rewrites=1, min_relevant=2, needs_whole=True, models=CHATS),
    "strict": RunConfig(
        search="full_text",
        gate="pass_rate",
        grade_pass_threshold=0.8,
        similarity_threshold=0.35,
        top_k=2,
        max_rewrites=1,
        min_confidence=0.7,
        context="last_round",
        answer_unverified=True,
        models=CHATS,
    ),
    "builtin": RunConfig(gate="pass_rate", grade_pass_threshold=0.6, max_rewrites=2, needs_whole=True),
}
Both = tuple[Mapping[str, list[dict[str, Any]]], dict[str, list[RunRecord]]]
_HABITS = ("no_markers", "undecided", "same_query", "runaway", "echoed", "markers_only", "denial")


def small_model(request: RecordedRequest) -> str:
    """A model that does what it is asked for some questions, and what small models do for others."""
    usual = demo_reply(request)
    asked = str(request.messages[1]["content"]).partition("<question>")[2].partition("</question>")[0]
    habit = hashlib.sha256(asked.encode()).digest()[0] % 14
    return HABITS[_HABITS[habit]](request, usual) if habit < len(_HABITS) else usual


def twenty() -> list[str]:
    """Sample questions in both languages: plain, vague and unanswerable ones."""
    every = sample_questions()
    kinds: dict[tuple[str, str], list[str]] = {}
    for item in every:
        kinds.setdefault((item.language, item.kind), []).append(item.question)
    in_turn = [group[place] for place in range(20) for group in kinds.values() if place < len(group)]
    return in_turn[:20]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    """What the exported projects say, and the workbench's own records, by settings."""
    folder = tmp_path_factory.mktemp("exported")
    questions = twenty()
    with OllamaStandIn(["qwen3:8b"], reply=small_model) as ollama:
        settings = Settings.load(data_dir=folder / "data", ollama_url=ollama.url, max_concurrent_runs=20)
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            records = {name: recorded(engine, folder / name, own, questions) for name, own in SETTINGS.items()}
        said = exported(folder, list(SETTINGS), questions)
    return said, records


@pytest.mark.parametrize("name", SETTINGS)
def test_twenty_questions_are_decided_alike(name: str, both: Both) -> None:
    """EX-01: rounds, verdicts, routes with reasons, rewrites, citations, outcome and the words of the answer."""
    said, records = both
    assert len(records[name]) == 20
    assert_alike(records[name], said[name])


def test_the_twenty_runs_take_many_ways(both: Both) -> None:
    """A comparison in which every run ends alike would show nothing."""
    _, records = both
    every = [record for found in records.values() for record in found]
    assert {record.outcome for record in every} >= {"answered", "answered_forced", "abstained", "failed"}
    reasons = {item.reason for record in every for item in record.decisions}
    assert reasons >= {"passed", "below_gate", "max_rewrites"}
