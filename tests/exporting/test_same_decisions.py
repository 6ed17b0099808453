"""An exported project decides as the workbench does, in a process that has nothing of it: EX-01."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.grader import load_coefficients
from engine.engine import Engine
from engine.knowledge.items import IngestItem
from engine.library.values import Connection, Place
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import RunRecord
from engine.samples import sample_questions
from engine.settings import Settings
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.exporting.comparing import Driver, assert_alike, driving, recorded
from tests.support.foreign_milvus import QUESTION, Elsewhere, fill
from tests.support.ollama_stand_in import EndsEarly, OllamaStandIn, RecordedRequest, ServerError
from tests.support.ollama_stand_in.demo import demo_reply
from tests.support.ollama_stand_in.small_models import HABITS
from tests.support.openai_stand_in import OpenAIStandIn
from tests.support.rerank_stand_in import RerankStandIn

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
_TEXT = "# Tea\n\nGreen tea is brewed at 80 degrees.\n\n# Coffee\n\nIt is roasted.\n\n# 茶\n\n绿茶用八十度的水冲泡。"
TEA = IngestItem("tea.md", data=_TEXT.encode())
QUESTIONS = [QUESTION, "绿茶应该怎么泡？", "coffee"]
LOCAL = RoleModel("openai:local-model")
LOCALS = RoleModels(grader=LOCAL, rewriter=LOCAL, generator=LOCAL)
Both = tuple[Mapping[str, list[dict[str, Any]]], dict[str, list[RunRecord]], Path]
_HABITS = ("no_markers", "undecided", "same_query", "runaway", "echoed", "markers_only", "denial")


def small_model(request: RecordedRequest) -> str:
    """A model that does what it is asked for some questions, and what small models do for others."""
    usual = demo_reply(request)
    asked = str(request.messages[1]["content"]).partition("<question>")[2].partition("</question>")[0]
    habit = hashlib.sha256(asked.encode()).digest()[0] % 14
    return HABITS[_HABITS[habit]](request, usual) if habit < len(_HABITS) else usual


def asked(name: str) -> list[str]:
    """Twenty questions; half of them where words search, which takes the most time."""
    return twenty()[:: 1 if SETTINGS[name].search == "vector" else 2]


def twenty() -> list[str]:
    """Sample questions in both languages: plain, vague and unanswerable ones."""
    every = sample_questions()
    kinds: dict[tuple[str, str], list[str]] = {}
    for item in every:
        kinds.setdefault((item.language, item.kind), []).append(item.question)
    in_turn = [group[place] for place in range(20) for group in kinds.values() if place < len(group)]
    return in_turn[:20]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with driving(tmp_path_factory.mktemp("driver")) as started:
        yield started


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, driver: Driver) -> Iterator[Both]:
    """What the exported projects say, the workbench's own records, and the folder of both, by settings."""
    folder = tmp_path_factory.mktemp("exported")
    with OllamaStandIn(["qwen3:8b"], reply=small_model) as ollama:
        settings = Settings.load(data_dir=folder / "data", ollama_url=ollama.url, max_concurrent_runs=20)
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            records = {name: recorded(engine, folder / name, own, asked(name)) for name, own in SETTINGS.items()}
        said = {name: driver(folder / name, asked(name)) for name in SETTINGS}
        yield said, records, folder


@pytest.mark.parametrize("name", SETTINGS)
def test_questions_are_decided_alike(name: str, both: Both) -> None:
    """EX-01: rounds, verdicts, routes with reasons, visits, rewrites, citations, outcome and answer."""
    said, records, _ = both
    assert len(records[name]) == len(asked(name)) >= 10
    assert_alike(records[name], said[name])


def test_the_runs_take_many_ways(both: Both) -> None:
    """A comparison in which every run ends alike would show nothing."""
    _, records, _ = both
    every = [record for found in records.values() for record in found]
    assert {record.outcome for record in every} >= {"answered", "answered_forced", "abstained", "failed"}
    reasons = {item.reason for record in every for item in record.decisions}
    assert reasons >= {"passed", "below_gate", "max_rewrites"}


WORKFLOWS: Mapping[str, RunConfig] = {
    "quality_loop": RunConfig(workflow="quality_loop", max_rewrites=1, models=CHATS),
    "dual_loop": RunConfig(workflow="dual_loop", max_rewrites=1, options=DualLoopOptions(memory=False)),
    "answer_evaluation": RunConfig(workflow="answer_evaluation", models=RoleModels(evaluator=CHAT, generator=CHAT)),
    "graph_hybrid": RunConfig(workflow="graph_hybrid", mode="mix"),
}


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory, driver: Driver) -> Both:
    """The same of the workflows that are not the usual one."""
    folder = tmp_path_factory.mktemp("others")
    with OllamaStandIn(["qwen3:8b"], reply=small_model) as ollama:
        settings = Settings.load(data_dir=folder / "data", ollama_url=ollama.url)
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            asked = twenty()[:6]
            records = {name: recorded(engine, folder / name, own, asked) for name, own in WORKFLOWS.items()}
            # A real run is remembered, and recalled by who asks the same.
            remembering = RunConfig(workflow="dual_loop")
            recorded(engine, folder / "remembered", remembering, [])
            for _ in range(2):
                recalled = engine.start(asked[0], remembering)
                engine.wait(recalled)
            records["remembered"] = [engine.record(recalled)]
        said = {name: driver(folder / name, asked) for name in WORKFLOWS}
        said["remembered"] = driver(folder / "remembered", asked[:1])
    return said, records, folder


@pytest.mark.parametrize("name", [*WORKFLOWS, "remembered"])
def test_other_workflows_decide_alike(name: str, others: Both) -> None:
    """EX-01: each of them with its own roles, its graph, its kinds of sources, its memories."""
    said, records, _ = others
    assert_alike(records[name], said[name])


def test_places_of_other_programs_other_embedding_models_and_an_openai_server(tmp_path: Path, driver: Driver) -> None:
    theirs = Elsewhere(str(tmp_path / "theirs.db"), "t_")
    fill(theirs)
    key = "sk-PLANTED"
    with (
        OllamaStandIn(["qwen3:8b", "nomic-embed-text"], reply=small_model) as ollama,
        OpenAIStandIn(["local-model"], reply=small_model, key=key) as openai,
    ):
        settings = Settings.load(
            data_dir=tmp_path / "data", ollama_url=ollama.url, openai_url=openai.url, openai_api_key=key
        )
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            engine.ingest([TEA], "tea", embedding_model="ollama:nomic-embed-text")
            found = engine.connections.inspect(Place(theirs.uri), "t_wiki")
            assert found.proposed is not None
            place = Connection("wiki", Place(theirs.uri), "t_wiki", found.proposed, 0, "", "hashing")
            engine.connections.connect(place)
            ways = {
                "embedded": RunConfig(collection="tea", search="fused", similarity_threshold=0.1, models=LOCALS),
                "theirs": RunConfig(collection="wiki", similarity_threshold=0.1, models=RoleModels(generator=LOCAL)),
            }
            records = {name: recorded(engine, tmp_path / name, own, QUESTIONS) for name, own in ways.items()}
        said = {name: driver(tmp_path / name, QUESTIONS, OPENAI_API_KEY=key) for name in ways}
    assert not [file for file in tmp_path.glob("*/*") if file.is_file() and key.encode() in file.read_bytes()]
    for name in ways:
        assert_alike(records[name], said[name])
    assert {item.outcome for item in records["embedded"]} & {"answered", "answered_forced"}


def test_faults_of_a_model_server_end_alike(tmp_path: Path, driver: Driver) -> None:
    """One passage whose calls fail is unreadable, a reply that breaks off is asked for again, on both sides."""
    faults = ServerError(500), ServerError(500), EndsEarly()
    config = RunConfig(collection="tea", top_k=3, similarity_threshold=0.0, max_rewrites=0, models=CHATS)
    with OllamaStandIn(["qwen3:8b"], reply=small_model) as ollama:
        settings = Settings.load(
            data_dir=tmp_path / "data", ollama_url=ollama.url, embedding_model="hashing", grader_concurrency=1
        )
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            engine.ingest([TEA], "tea")
            ollama.script("chat", *faults)
            records = recorded(engine, tmp_path / "faults", config, [QUESTION])
        ollama.script("chat", *faults)
        said = driver(tmp_path / "faults", [QUESTION])
    assert_alike(records, said)
    assert [item.relevant for item in records[0].rounds[0].verdicts.values()].count(None) == 1


def shared_words(question: str, texts: Sequence[str]) -> list[float]:
    """The logit of a reranker that counts words."""
    asked = set(question.lower().split())
    return [len(asked & set(text.lower().split())) - 2.0 for text in texts]


def test_graders_that_give_scores_and_fitted_ones_decide_alike(tmp_path: Path, driver: Driver) -> None:
    """EX-01: a server's scores become verdicts here and there, and coefficients of a collection go along."""
    own = load_coefficients()["en"]
    shifted = {"intercept": own.intercept - 1.0, "weights": dict(own.weights), "strength": 1.0}
    fit = GraderFit("coefficients", "builtin", "samples", {"languages": {"en": shifted}})
    with RerankStandIn("infinity", shared_words) as server:
        settings = Settings.load(data_dir=tmp_path / "data", rerank_url=server.url)
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            graders = {
                "scores": RoleModel("rerank:words"),
                "fitted": RoleModel("builtin", fit=engine.grader_fits.keep(fit).id),
            }
            ways = {name: RunConfig(models=RoleModels(grader=grader)) for name, grader in graders.items()}
            records = {name: recorded(engine, tmp_path / name, way, twenty()[:6]) for name, way in ways.items()}
        for name in ways:
            assert_alike(records[name], driver(tmp_path / name, twenty()[:6]))
    assert len(server.requests) > 2


@pytest.mark.parametrize("name", ["builtin", "rate"])
def test_twenty_questions_are_decided_alike_where_only_the_requirements_are_installed(
    name: str, both: Both, tmp_path: Path
) -> None:
    """EX-01: in an environment that pip would make of ``requirements.txt``."""
    _, records, folder = both
    environment = tmp_path / "environment"
    uv = [str(Path(sys.executable).parent / "uv"), "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(environment)], check=True)
    python = str(environment / "bin" / "python")
    required = folder / name / "requirements.txt"
    if subprocess.run([*uv, "pip", "install", "--python", python, "-r", str(required)], check=False).returncode:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)("the packages cannot be had")
    with driving(tmp_path, python) as driver:
        said = driver(folder / name, asked(name))
    assert len(said) == 20
    assert_alike(records[name], said)
