"""Parts of an exported program: config, collection, models and roles, built from its ``settings.json``."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from engine.errors import ModelError
from engine.flow import workflow
from engine.flow.context import Roles, RunClock, RunContext
from engine.model.config import RoleName, config_from_dict
from engine.model.events import Event, RunStarted, fold
from engine.model.grader_fit import GraderFit
from engine.model.language import normalised_query
from engine.model.values import RunId, RunRecord
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.shipped import calibration_of
from engine.retrieval.similarity import Calibration
from engine.roles import CollectionInfo, Embedder, PassageReader, StoredPassage, Vector
from engine.settings import Settings
from engine.workflows.run_resources import RunResources, judge_of
from engine.workflows.steps.check import checked
from plugins.export.store import ReadOnlyStore

VARIABLES: Mapping[str, str] = {
    "ollama_url": "OLLAMA_BASE_URL",
    "openai_url": "OPENAI_BASE_URL",
    "openai_api_key": "OPENAI_API_KEY",
    "rerank_url": "RERANK_URL",
    "rerank_api_key": "RERANK_API_KEY",
    "searxng_url": "SEARXNG_URL",
}
"""Environment variables that count before what was exported, by setting."""


class Program:
    """The parts of the exported folder, opened when the first question is asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._saved = saved = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        self.config = config_from_dict(saved["config"])
        given = {name: os.environ[variable] for name, variable in VARIABLES.items() if os.environ.get(variable)}
        self.settings = Settings(**{**saved["settings"], **given, "data_dir": folder})
        self.knowledge = Knowledge(saved, folder, self.settings)
        self._looks = GraphLooks()
        self._opening = asyncio.Lock()
        self._calibration: Calibration | None = None

    async def run(self, question: str) -> Run:
        """A run that begins now."""
        return Run(question, self, await self._roles())

    async def _roles(self) -> Roles:
        config, knowledge, saved = self.config, self.knowledge, self._saved
        async with self._opening:
            if self._calibration is None:
                # A served model learns its dimension from its first reply.
                await knowledge.embedder.embed_passages(())
                self._calibration = await calibration_of(knowledge.embedder, self._folder, knowledge.info.context)
        store = cast(PassageReader, knowledge.store)
        retriever = CollectionRetriever.checked(
            store, knowledge.embedder, knowledge.info, self._calibration, config.search
        )
        given = RunResources(config, self.settings, retriever, knowledge, self._looks)
        fits: dict[RoleName, GraderFit] = {role: GraderFit(**fit) for role, fit in saved["fits"].items()}
        grader = judge_of(config, self.settings, retriever.similarity_of, fits)
        roles, _ = await workflow(config.workflow).make_roles(given.roles(grader), given)
        return roles


class Knowledge:
    """The collection with what else a run may find: its graph, memories, and the history of weak points."""

    def __init__(self, saved: Mapping[str, Any], folder: Path, settings: Settings) -> None:
        self._saved, self._folder, self._settings = saved, folder, settings
        collection = saved["collection"]
        self._place = tuple(
            os.environ.get(f"MILVUS_{name.upper()}") or collection.get(name, "")
            for name in ("uri", "token", "database")
        )
        self.info = CollectionInfo(**_tuples(collection["info"]))
        self.embedder = _embedder(self.info, settings)
        self.store = ReadOnlyStore(collection, *self._place)
        self.weak_points = self
        self.weak_point_vectors: dict[tuple[str, str], Vector] = {}

    def passages(self, collection: str, question: str) -> list[StoredPassage]:
        """The history of weak points as it was exported, without what was noted of the question itself."""
        asked = normalised_query(question)
        found = (StoredPassage(**item) for item in self._saved["history"])
        return [item for item in found if normalised_query(item.text) != asked]

    @property
    def graphs(self) -> Any:
        """The knowledge graphs of the workbench, in its own file."""
        from engine.knowledge.graph.sqlite_store import SqliteGraphs

        return SqliteGraphs(Path(os.environ.get("GRAPHS") or self._saved["graphs"]), self._saved["space"])

    def memory(self) -> Any:
        """Long-term memory, which the workbench shares: it is kept in the same store."""
        from engine.builtin.embedder import builtin_embedder
        from engine.knowledge.milvus_memory import MilvusMemory

        uri, token, database = self._place
        embedder = builtin_embedder(self._settings.embedding_threads)
        return MilvusMemory(uri, token, embedder, lambda: calibration_of(embedder, self._folder), database=database)


class Run:
    """One run: its context for the steps, and its record, folded from what they report."""

    def __init__(self, question: str, program: Program, roles: Roles) -> None:
        config = program.config
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        started = RunStarted(run_id=RunId(uuid4().hex), question=question, config=config, started_at=started_at, seq=1)
        self.record: RunRecord = fold(None, started)
        self.context = RunContext(
            config=config,
            roles=roles,
            emit=self._emit,
            clock=RunClock(config.budget_s),
            generation_allowance_s=program.settings.generation_allowance_s,
            run_id=self.record.id,
        )

    async def end(self) -> RunRecord:
        """The record of a run that has come to its end; raises ``ModelError`` where no verdict could be read."""
        config, decisions = self.record.config, self.record.decisions
        if decisions and decisions[-1].reason == "grader_failed":
            raise ModelError.grader_failed(model=config.models.grader.model, passages=decisions[-1].kept)
        outcome, reason = workflow(config.workflow).ending(self.record)
        self._emit(await checked(self.context, self.record, outcome, reason))
        return self.record

    def _emit(self, event: Event) -> None:
        numbered = replace(event, seq=self.record.last_seq + 1, t_ms=self.context.clock.elapsed_ms())
        self.record = fold(self.record, numbered)


def _embedder(info: CollectionInfo, settings: Settings) -> Embedder:
    """The embedder that the collection was built with."""
    from engine.builtin.embedder import HashingEmbedder, builtin_embedder

    model, hashing = info.embedding_model, HashingEmbedder(info.dim)
    if model.startswith(("ollama:", "local:")):
        from engine.llm.embedder import make_embedder

        return make_embedder(model, settings, info.query_prefix, info.passage_prefix)
    return hashing if model == hashing.model_id else builtin_embedder(settings.embedding_threads)


def _tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Values as JSON holds them, its lists as the tuples that they were."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
