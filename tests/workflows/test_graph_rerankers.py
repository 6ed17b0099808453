"""Who reranks passages in a run of graph + vector retrieval, and what a run does without its reranker: GH-04."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

import pytest

from engine.builtin.rerank import GraderReranker
from engine.flow.context import Roles
from engine.llm.reranker import RERANKER_PROMPT_VERSION
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import fold_all
from engine.model.values import RunRecord
from engine.replay import what_if
from engine.retrieval.graph_options import GraphOptions
from engine.roles import Grader, Reranker
from engine.running.resources import PROMPTS
from engine.settings import Settings
from engine.workflows.graph_hybrid.build_roles import reranker_of
from engine.workflows.run_resources import RunResources
from tests.components.graph_events import LISTS, QUESTION, GraphResources, events_of, graph_config
from tests.contracts.chat_models import settings as stand_in_settings
from tests.support.fakes import FakeGrader
from tests.support.tiny_cross_encoder import write_cross_encoder

CROSS = RoleModel("cross_encoder:tiny/overlap")
CHAT = RoleModel("ollama:qwen3:8b")


@dataclass
class Reranking(GraphResources):
    """The reranker is the one that the config names."""

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        made, manifest = await super().roles(config)
        return replace(made, own=replace(made.own, reranker=reranker_for(config, self.settings, self.grader))), manifest


def reranker_for(config: RunConfig, settings: Settings, grader: Grader) -> Reranker:
    """The reranker that a config names; nothing else of a run is needed for it."""
    return reranker_of(RunResources(config, settings, *([cast(Any, None)] * 3)), grader)


def run(model: RoleModel, settings: Settings, **changes: Any) -> RunRecord:
    grader = FakeGrader(relevant=frozenset({"g1", "g2", "v1", "v2", "v3", "v4"}))
    # The scores of tiny models say something of the order, and nothing of the height.
    config = graph_config(models=RoleModels(reranker=model), options=GraphOptions(rerank_threshold=0), **changes)
    return fold_all(events_of(Reranking(settings=settings, grader=grader), config))


def scored(record: RunRecord) -> list[str]:
    return [item.passage.id for item in record.rounds[0].candidates if item.rerank_score is not None]


def test_the_built_in_reranker_is_the_run_s_grader() -> None:
    """GH-04"""
    grader = FakeGrader()
    assert isinstance(reranker_for(graph_config(), Settings(), grader), GraderReranker)


def test_a_cross_encoder_orders_and_the_grader_judges(tmp_path: Path) -> None:
    """GH-04: scores of another model are no verdicts."""
    texts = [QUESTION, *(item.passage.text for items in LISTS.values() for item in items)]
    write_cross_encoder(tmp_path / "rerankers" / "tiny" / "overlap", texts)
    record = run(CROSS, Settings(data_dir=tmp_path))
    scores = [item.rerank_score for item in record.rounds[0].candidates]
    assert record.outcome == "answered" and len(scored(record)) == 6
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    assert {call.role for call in record.model_calls if call.node == "retrieve"} == {"reranker"}
    assert {item.grader for item in record.rounds[0].verdicts.values()} == {"fake"}
    assert all(call.built_in for call in record.model_calls if call.role == "reranker")
    assert what_if(record, record.config).same_path
    assert what_if(record, replace(record.config, top_k=2, similarity_threshold=0.0)).path_known


def test_a_chat_model_orders_and_its_calls_are_counted() -> None:
    """GH-04, SC-10"""
    record = run(CHAT, stand_in_settings())
    assert record.outcome == "answered" and len(scored(record)) == 6
    assert [call.model for call in record.model_calls if call.role == "reranker"] == [CHAT.model]
    again = what_if(record, record.config)
    # The fakes of the other roles count as chat models in the record, and as built in by the config.
    assert again.same_path and again.cost.calls == 1


@pytest.mark.parametrize("model", ["cross_encoder:owner/absent", "ollama:absent"])
def test_a_reranker_that_fails_costs_the_new_order_alone_and_says_so(model: str, tmp_path: Path) -> None:
    """GH-04"""
    settings = in_folder(stand_in_settings(), tmp_path)
    record = run(RoleModel(model), settings)
    assert record.outcome == "answered" and scored(record) == []
    codes = {"cross_encoder:owner/absent": "WB342", "ollama:absent": "WB402"}
    assert [(item.code, item.node) for item in record.warnings] == [(codes[model], "retrieve")]
    assert what_if(record, record.config).same_path


def in_folder(settings: Settings, data_dir: Path) -> Settings:
    return Settings.load(ollama_url=settings.ollama_url, data_dir=data_dir)


def test_a_chat_reranker_s_prompt_has_a_version() -> None:
    """GH-04"""
    assert resolve_name(PROMPTS["reranker"]) == RERANKER_PROMPT_VERSION
