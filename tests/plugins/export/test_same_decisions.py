"""An exported project decides as the workbench does, in a process that has nothing of it: EX-01."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.grader import load_coefficients
from engine.engine import Engine
from engine.knowledge.items import IngestItem
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import RunRecord
from engine.samples import sample_questions
from engine.settings import Settings
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.contracts.chat_models import obedient
from tests.plugins.export.comparing import Driver, assert_same, driving, recorded
from tests.support.foreign_milvus import QUESTION, Elsewhere, fill
from tests.support.ollama_stand_in import EndsEarly, OllamaStandIn, RecordedRequest, ServerError
from tests.support.ollama_stand_in.small_models import HABITS
from tests.support.openai_stand_in import OpenAIStandIn
from tests.support.rerank_stand_in import RerankStandIn
from tests.support.wheel import use_compiled

CHAT = RoleModel("ollama:qwen3:8b")
CHATS = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT)
SETTINGS: Mapping[str, RunConfig] = {
    "builtin": RunConfig(
        gate="pass_rate", grade_pass_threshold=0.6, max_rewrites=2, needs_whole=True, expand="neighbours"
    ),
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
    "scores": RunConfig(models=RoleModels(grader=RoleModel("rerank:words"))),
    "quality_loop": RunConfig(workflow="quality_loop", max_rewrites=1, models=CHATS),
    "dual_loop": RunConfig(workflow="dual_loop", max_rewrites=1, options=DualLoopOptions(memory=False)),
    "answer_evaluation": RunConfig(workflow="answer_evaluation", models=RoleModels(evaluator=CHAT, generator=CHAT)),
    "graph_hybrid": RunConfig(workflow="graph_hybrid", mode="mix"),
}
_TEXT = "# Tea\n\nGreen tea is brewed at 80 degrees.\n\n# Coffee\n\nIt is roasted.\n\n# 茶\n\n绿茶用八十度的水冲泡。"
TEA = IngestItem("tea.md", data=_TEXT.encode())
QUESTIONS = [QUESTION, "绿茶应该怎么泡？", "coffee"]
LOCAL = RoleModel("openai:local-model")
LOCALS = RoleModels(grader=LOCAL, rewriter=LOCAL, generator=LOCAL)
Said = Mapping[str, list[dict[str, Any]]]
_HABITS = ("no_markers", "undecided", "same_query", "runaway", "echoed", "markers_only", "denial")


def small_model(request: RecordedRequest) -> str:
    """A model that does what it is asked for some questions, and what small models do for others."""
    usual = obedient(request)
    asked = str(request.messages[1]["content"]).partition("<question>")[2].partition("</question>")[0]
    habit = hashlib.sha256(asked.encode()).digest()[0] % 14
    return HABITS[_HABITS[habit]](request, usual) if habit < len(_HABITS) else usual


def shared_words(question: str, texts: Sequence[str]) -> list[float]:
    """The logit of a reranker that counts words."""
    words = set(question.lower().split())
    return [len(words & set(text.lower().split())) - 2.0 for text in texts]


def twenty() -> list[str]:
    """Sample questions in both languages: plain, vague and unanswerable ones."""
    every = sample_questions()
    kinds: dict[tuple[str, str], list[str]] = {}
    for item in every:
        kinds.setdefault((item.language, item.kind), []).append(item.question)
    in_turn = [group[place] for place in range(20) for group in kinds.values() if place < len(group)]
    return in_turn[:20]


def asked(name: str) -> list[str]:
    """All questions for one of the settings, one in five for the others."""
    return twenty()[:: 1 if name == "rate" else 5]


@dataclass(frozen=True)
class Both:
    """What the workbench recorded and what the exported projects said, by name."""

    records: Mapping[str, Sequence[RunRecord]]
    said: Said
    alone: bool
    """Whether these had an environment of their own, with their requirements and nothing else."""
    environment: Path
    driver: Driver
    """The process that said it."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("exported")
    with OllamaStandIn(["qwen3:8b"], reply=small_model) as ollama, RerankStandIn("infinity", shared_words) as server:
        settings = Settings.load(
            data_dir=folder / "data", ollama_url=ollama.url, rerank_url=server.url, max_concurrent_runs=20
        )
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            records = {name: recorded(engine, folder / name, way, asked(name)) for name, way in SETTINGS.items()}
            records["fitted"] = recorded(engine, folder / "fitted", fitted(engine), asked("fitted"))
            records["remembered"] = remembered(engine, folder / "remembered")
        python = installed(folder / "environment", [folder / name / "requirements.txt" for name in records])
        with driving(folder, python or sys.executable) as driver:
            said = {name: driver(folder / name, [item.question for item in found]) for name, found in records.items()}
            assert len(server.requests) > 2
            yield Both(records, said, python is not None, folder / "environment", driver)


def installed(environment: Path, required: Sequence[Path]) -> str | None:
    """The Python of an environment with what is required and nothing else; None where it cannot be had here."""
    uv, python = [str(Path(sys.executable).parent / "uv"), "--quiet"], str(environment / "bin" / "python")
    if not environment.exists():
        subprocess.run([*uv, "venv", "--python", sys.executable, str(environment)], check=True)
    lists = [part for path in required for part in ("-r", str(path))]
    if subprocess.run([*uv, "pip", "install", "--python", python, *lists], check=False).returncode:
        return None
    use_compiled(environment)
    return python


def fitted(engine: Engine) -> RunConfig:
    """A grader with coefficients of its own for the collection."""
    own = load_coefficients()["en"]
    shifted = {"intercept": own.intercept - 1.0, "weights": dict(own.weights), "strength": 1.0}
    fit = engine.grader_fits.keep(GraderFit("coefficients", "builtin", "samples", {"languages": {"en": shifted}}))
    return RunConfig(models=RoleModels(grader=RoleModel("builtin", fit=fit.id)))


def remembered(engine: Engine, folder: Path) -> list[RunRecord]:
    """A question that is asked again: no trial, for these are not remembered."""
    config = RunConfig(workflow="dual_loop")
    recorded(engine, folder, config, [])
    for _ in range(2):
        run_id = engine.start(twenty()[0], config)
        engine.wait(run_id)
    return [engine.record(run_id)]


@pytest.mark.parametrize("name", [*SETTINGS, "fitted", "remembered"])
def test_questions_are_decided_in_the_same_way(name: str, both: Both) -> None:
    """EX-01: rounds, verdicts, routes with reasons, visits, rewrites, citations, outcome and answer."""
    assert len(both.records[name]) == {"rate": 20, "remembered": 1}.get(name, 4)
    assert_same(both.records[name], both.said[name])


def test_twenty_questions_are_decided_in_the_same_way_where_only_the_requirements_are_installed(both: Both) -> None:
    """EX-01: no package of the workbench's own environment is within reach."""
    if not both.alone:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)("the packages cannot be had")
    assert len(both.said["rate"]) == 20


def test_the_runs_take_many_ways(both: Both) -> None:
    """A comparison in which every run ends in the same way would show nothing."""
    every = [record for found in both.records.values() for record in found]
    assert {record.outcome for record in every} >= {"answered", "answered_forced", "abstained", "failed"}
    reasons = {item.reason for record in every for item in record.decisions}
    assert reasons >= {"passed", "below_gate", "max_rewrites"}
    recall = both.records["remembered"][0].recall
    assert recall is not None and recall.memories


def test_places_of_other_programs_other_models_of_vectors_an_openai_server_and_faults(
    tmp_path: Path, both: Both
) -> None:
    """One passage whose calls fail is unreadable, a reply that breaks off is asked for again, on both sides."""
    theirs = Elsewhere(str(tmp_path / "theirs.db"), "t_")
    fill(theirs)
    connected = pytest.importorskip("tests.plugins.connected")
    key = "sk-PLANTED"
    faults = ServerError(500), ServerError(500), EndsEarly()
    with (
        OllamaStandIn(["qwen3:8b", "nomic-embed-text"], reply=small_model) as ollama,
        OpenAIStandIn(["local-model"], reply=small_model, key=key) as openai,
    ):
        settings = Settings.load(
            data_dir=tmp_path / "data",
            ollama_url=ollama.url,
            openai_url=openai.url,
            openai_api_key=key,
            grader_concurrency=1,
        )
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            engine.ingest([TEA], "tea", embedding_model="ollama:nomic-embed-text")
            connected.connect_as(engine, theirs.uri, "t_wiki", "wiki")
            ways = {
                "embedded": RunConfig(collection="tea", search="fused", similarity_threshold=0.1, models=LOCALS),
                "theirs": RunConfig(collection="wiki", similarity_threshold=0.1, models=RoleModels(generator=LOCAL)),
                "faults": RunConfig(collection="tea", top_k=3, similarity_threshold=0.0, max_rewrites=0, models=CHATS),
            }
            asked = {name: QUESTIONS if name != "faults" else [QUESTION] for name in ways}
            records = {}
            for name, config in ways.items():
                ollama.script("chat", *faults * (name == "faults"))
                records[name] = recorded(engine, tmp_path / name, config, asked[name])
        if both.alone:
            assert installed(both.environment, [tmp_path / name / "requirements.txt" for name in ways])
        for name in ways:
            ollama.script("chat", *faults * (name == "faults"))
            assert_same(records[name], both.driver(tmp_path / name, asked[name], OPENAI_API_KEY=key))
    every = [file for name in ways for file in (tmp_path / name).rglob("*") if file.is_file()]
    assert len(every) > 300 and not [file for file in every if key.encode() in file.read_bytes()]
    assert {item.outcome for item in records["embedded"]} & {"answered", "answered_forced"}
    assert [item.relevant for item in records["faults"][0].rounds[0].verdicts.values()].count(None) == 1
