"""Exported projects on other stores, embedding models and providers decide as the workbench does: EX-01."""

from __future__ import annotations

from pathlib import Path

from engine.engine import Engine
from engine.knowledge.items import IngestItem
from engine.library.values import Connection, Place
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from tests.exporting.comparing import assert_alike, exported, recorded
from tests.exporting.test_same_decisions import CHATS, small_model
from tests.support.foreign_milvus import QUESTION, Elsewhere, fill
from tests.support.ollama_stand_in import EndsEarly, OllamaStandIn, ServerError
from tests.support.openai_stand_in import OpenAIStandIn

_TEXT = "# Tea\n\nGreen tea is brewed at 80 degrees.\n\n# Coffee\n\nIt is roasted.\n\n# 茶\n\n绿茶用八十度的水冲泡。"
TEA = IngestItem("tea.md", data=_TEXT.encode())
QUESTIONS = [QUESTION, "绿茶应该怎么泡？", "coffee"]
LOCAL = RoleModel("openai:local-model")
LOCALS = RoleModels(grader=LOCAL, rewriter=LOCAL, generator=LOCAL)


def test_places_of_other_programs_other_embedding_models_and_an_openai_server(tmp_path: Path) -> None:
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
        said = exported(tmp_path, list(ways), QUESTIONS, OPENAI_API_KEY=key)
    assert not [file for file in tmp_path.glob("*/*") if file.is_file() and key.encode() in file.read_bytes()]
    for name in ways:
        assert_alike(records[name], said[name])
    assert {item.outcome for item in records["embedded"]} & {"answered", "answered_forced"}


def test_faults_of_a_model_server_end_alike(tmp_path: Path) -> None:
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
        said = exported(tmp_path, ["faults"], [QUESTION])
    assert_alike(records, said["faults"])
    assert [item.relevant for item in records[0].rounds[0].verdicts.values()].count(None) == 1
