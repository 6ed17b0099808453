"""Building blocks of a run's roles in a workflow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from engine.flow.context import Roles, Translator
from engine.flow.declaration import translates
from engine.model.config import RoleModel, RoleName, RunConfig
from engine.model.decide import cascades
from engine.model.grader_fit import GraderFit
from engine.roles import Evaluator, Grader, GraphStore, LongTermMemory, SetJudge, StoredPassage, Vector, Verifier

if TYPE_CHECKING:
    from engine.builtin.grader import Similarity
    from engine.retrieval.graph_looks import GraphLooks
    from engine.retrieval.search import CollectionRetriever
    from engine.retrieval.source_kinds import SourceKinds
    from engine.settings import Settings


class History(Protocol):
    """The history of weak points, as a run searches it."""

    def passages(self, collection: str, question: str) -> list[StoredPassage]:
        """The newest entries of a collection, without those of the question itself."""


class Knowledge(Protocol):
    """What a run may find in addition to its collection, in the workbench and in a program that it exported."""

    @property
    def graphs(self) -> GraphStore: ...

    @property
    def weak_points(self) -> History: ...

    @property
    def weak_point_vectors(self) -> dict[tuple[str, str], Vector]: ...

    def memory(self) -> LongTermMemory: ...


@dataclass(frozen=True, slots=True)
class RunResources:
    """One run's config, and what it draws on."""

    config: RunConfig
    settings: Settings
    retriever: CollectionRetriever
    knowledge: Knowledge
    looks: GraphLooks

    @property
    def own_store(self) -> bool:
        """True if the collection is one of the settings' own store: graphs and histories belong to those alone."""
        address = self.config.milvus_address
        return not address or self.settings.known_address(address) == self.settings.store_uri

    @property
    def graphs(self) -> Callable[[], GraphStore] | None:
        """Opens the graphs of the collection's store; None for another store, whose names are not names here."""
        return (lambda: self.knowledge.graphs) if self.own_store else None

    def source_kinds(self) -> SourceKinds:
        """Searches the kinds of sources of the collection."""
        from engine.retrieval.source_kinds import SourceKinds

        collection = self.retriever.manifest["collection"]

        async def weak_points(question: str) -> list[StoredPassage]:
            return await asyncio.to_thread(self.knowledge.weak_points.passages, collection, question)

        return SourceKinds(
            self.retriever,
            self.config,
            self.looks,
            self.graphs,
            # Of another store nothing is noted, no matter what its collections are called.
            weak_points=weak_points if self.own_store else None,
            vectors=self.knowledge.weak_point_vectors,
        )

    def roles(self, grader: Grader) -> Roles:
        """The roles that every run has; its workflow adds those that it alone has."""
        from engine.builtin.generator import BuiltinGenerator
        from engine.builtin.parts import BuiltinSplitter
        from engine.builtin.rewriter import BuiltinRewriter
        from engine.builtin.sufficiency import WordSetJudge

        whole: SetJudge = WordSetJudge()
        models = self.config.models
        by_chat = self.config.refine and not models.refiner.built_in
        if models.grader.chats:
            whole = self.chat("grader", "engine.llm.sufficiency:ChatSetJudge")
        splitter = self.role("rewriter", BuiltinSplitter, "engine.llm.splitter:ChatSplitter")
        return Roles(
            self.retriever,
            grader,
            translator=self._translator(),
            splitter=splitter if self.config.split else None,
            generator=self.role("generator", BuiltinGenerator, "engine.llm.generator:ChatGenerator"),
            whole=whole,
            refiner=self.chat("refiner", "engine.llm.refiner:ChatRefiner") if by_chat else None,
            verifier=verifier_of(models.verifier, self.settings),
            **self.rewriters(BuiltinRewriter, "engine.llm.rewriter:ChatRewriter"),
        )

    def _translator(self) -> Translator | None:
        """Nothing built in knows two languages."""
        if not translates(self.config):
            return None
        from engine.llm.translator import ChatTranslator

        languages, search = self.retriever.languages, self.retriever.search_both
        return ChatTranslator(self.config.models.rewriter, self.settings, languages, search)

    def role(self, name: RoleName, built_in: Callable[[], Any], chat: str) -> Any:
        """The built-in role, or the chat model that the config names: ``module:Class``, imported for it alone."""
        return built_in() if self.config.models.of(name).built_in else self.chat(name, chat)

    def chat(self, name: RoleName, chat: str) -> Any:
        """A chat model in a role."""
        return resolve_name(chat)(self.config.models.of(name), self.settings)

    def evaluator(self) -> Evaluator:
        """The evaluator of answers."""
        from engine.builtin.evaluator import BuiltinEvaluator

        built_in = partial(BuiltinEvaluator, self.retriever.similarity_of)
        evaluator: Evaluator = self.role("evaluator", built_in, "engine.llm.evaluator:ChatEvaluator")
        return evaluator

    def rewriters(self, built_in: type, chat: str) -> dict[str, Any]:
        """The rewriter and, where it is a chat model, the built-in one that stands in for it: it may repeat itself."""
        rewriter = self.role("rewriter", built_in, chat)
        return {"rewriter": rewriter, "stand_in": None if isinstance(rewriter, built_in) else built_in()}


def judge_of(
    config: RunConfig,
    settings: Settings,
    similarity: Similarity | None,
    fits: Mapping[RoleName, GraderFit],
    **kept: Any,
) -> Grader:
    """The run's grader, behind a screener where the config asks for one; ``fits`` go by role."""
    grader = grader_of(config.models.grader, settings, similarity, fits.get("grader"), **kept)
    if not cascades(config):
        return grader
    from engine.workflows.cascade import Cascade

    return Cascade(grader_of(config.models.screener, settings, similarity, fits.get("screener")), grader, config)


def grader_of(
    model: RoleModel, settings: Settings, similarity: Similarity | None, fit: GraderFit | None = None, **kept: Any
) -> Grader:
    """The grader on a model; the built-in one needs ``similarity``, and a chat model remembers by what is ``kept``."""
    if model.built_in:
        assert similarity is not None
        from engine.builtin.grader import BuiltinGrader

        return BuiltinGrader(similarity, fit)
    if model.scores:
        from engine.llm.scorers import scorer_of
        from engine.llm.scoring import ScoringGrader

        return ScoringGrader(scorer_of(model, settings), fit)
    from engine.llm.grader import ChatGrader

    return ChatGrader(model, settings, fit=fit, **kept)


def verifier_of(model: RoleModel, settings: Settings) -> Verifier | None:
    """The verifier on a model; None for the built-in one."""
    if model.built_in:
        return None
    from engine.llm.verifier import ChatVerifier, ScoringVerifier

    if not model.scores:
        return ChatVerifier(model, settings)
    from engine.llm.scorers import verifying_scorer

    return ScoringVerifier(verifying_scorer(model, settings))
