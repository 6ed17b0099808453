"""What a record says of the circumstances of its run: enough to explain it later on another machine."""

from __future__ import annotations

from pathlib import Path

from engine.engine import Engine
from engine.knowledge.ingest import IngestItem
from engine.llm.prompts import (
    GENERATOR_PROMPT_VERSION,
    GRADER_PROMPT_VERSION,
    REASON_PROMPT_VERSION,
    REWRITER_PROMPT_VERSION,
    YES_NO_PROMPT_VERSION,
)
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from engine.version import __version__
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn

TEXT = b"# Tea\n\n## Green\nGreen tea is brewed at 80 degrees for two minutes.\n"


def test_a_record_holds_versions_models_collection_and_settings(tmp_path: Path) -> None:
    """SC-10: settings are the record's config, the rest is its manifest."""
    with Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1", call_timeout_s=45)) as engine:
        record = engine.run("What is a truth table?", RunConfig(top_k=3))
        plain = record.to_dict()
        manifest = record.manifest
        info = engine.describe("samples")
    assert plain["config"]["top_k"] == 3
    assert plain["manifest"] == dict(manifest)
    assert manifest["workbench"] == __version__
    assert {"python", "langgraph", "langchain-core", "pymilvus"} <= manifest.keys()
    assert [manifest[role] for role in ("grader", "rewriter", "generator")] == ["builtin"] * 3
    assert manifest["collection"] == "samples"
    assert manifest["collection_fingerprint"] == info.fingerprint != ""
    assert manifest["embedding_model"] == info.embedding_model
    assert (manifest["call_timeout_s"], manifest["grader_concurrency"]) == ("45", "4")
    assert all(isinstance(value, str) for value in manifest.values())


def test_models_of_ollama_are_recorded_with_digests_and_prompts_with_versions(tmp_path: Path) -> None:
    """SC-10"""
    with OllamaStandIn(["qwen3:8b", "nomic-embed-text"], reply=obedient) as ollama:
        settings = Settings(data_dir=tmp_path, ollama_url=ollama.url, embedding_model="ollama:nomic-embed-text")
        chat = RoleModel("ollama:qwen3:8b")
        with Engine.open(settings) as engine:
            engine.ingest([IngestItem("tea.md", data=TEXT)], "tea")
            models = RoleModels(grader=chat, rewriter=chat, generator=chat)
            manifest = engine.run("How hot is green tea?", RunConfig(collection="tea", models=models)).manifest
            digests = {item.name: item.digest for item in engine.ollama().models}
    assert manifest["grader"] == f"ollama:qwen3:8b@{digests['qwen3:8b']}"
    assert manifest["embedding_digest"] == digests["nomic-embed-text:latest"] != ""
    assert manifest["ollama"] != ""
    prompts = [manifest[f"{role}_prompt"] for role in ("grader", "rewriter", "generator")]
    assert prompts == [GRADER_PROMPT_VERSION, REWRITER_PROMPT_VERSION, GENERATOR_PROMPT_VERSION]
    assert manifest["grader_word_prompt"] == YES_NO_PROMPT_VERSION
    assert manifest["reason_prompt"] == REASON_PROMPT_VERSION
