"""Which model plays which role, and what the numbers of a model may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal

from engine.errors import InvalidConfig
from engine.messages import N_
from engine.model.config.setting import Parameter, checked

CROSS_ENCODER = "cross_encoder:"
"""Begins the name of a model of this process that reads question and passage together and gives a score."""
LOCAL = "local:"
"""Begins the name of a GGUF file that llama.cpp runs on this machine; one that gives scores is a cross encoder."""
RERANK_SERVER = "rerank:"
"""Begins the name of such a model behind ``WORKBENCH_RERANK_URL``."""
_FIT = re.compile(r"[0-9a-f]{12}")
_SCORING = frozenset({"grader", "screener", "reranker", "verifier"})
"""Roles that a model can play which gives scores and writes nothing."""
_FITTED = frozenset({"grader", "screener"})
WorkflowName = str
"""A name of the registry, :data:`engine.model.config.registry.WORKFLOWS`."""
SearchMethod = Literal["vector", "full_text", "fused"]
"""By meaning (vectors), by words (BM25), or both fused by reciprocal rank."""
Mode = Literal["naive", "local", "global", "hybrid", "mix", "bypass"]
GatePolicy = Literal["pass_rate", "min_relevant"]
ContextPolicy = Literal["union", "last_round"]
Expand = Literal["none", "neighbours", "section"]
Reasons = Literal["after", "before", "never"]
RoleName = Literal[
    "grader",
    "screener",
    "rewriter",
    "generator",
    "evaluator",
    "router",
    "reranker",
    "refiner",
    "extractor",
    "vision",
    "verifier",
]
CallRole = RoleName | Literal["judge"]
"""Who may ask a model: a role of a run, or the judge of answers, which looks at runs that have ended."""

BUILTIN = "builtin"

MODEL_PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "temperature": Parameter(0, 2, 0, 0.1, whole=False),
        "seed": Parameter(-(2**31), 2**31 - 1, 7, 1, whole=True),
        "num_ctx": Parameter(512, 1_048_576, 8192, 512, whole=True),
    }
)
"""The numbers of a :class:`RoleModel`; built-in models have none."""

PRESETS: Mapping[str, float] = MappingProxyType({"lenient": 0.4, "balanced": 0.6, "strict": 0.8})
"""Named values of ``grade_pass_threshold``; a preset sets nothing else."""


@dataclass(frozen=True, slots=True)
class RoleModel:
    """Model of a role: ``builtin``, ``ollama:MODEL`` or any ``provider:model`` of LangChain.

    ``cross_encoder:NAME`` and ``rerank:MODEL`` give scores, see :attr:`scores`; ``local:FILE`` is a GGUF file, as is
    ``cross_encoder:FILE.gguf``.
    """

    model: str = BUILTIN
    temperature: float = 0.0
    seed: int = 7
    num_ctx: int = 8192
    """Tokens of context asked of Ollama and for a model of a file; other providers ignore it."""
    fit: str = ""
    """Id of the fit to a collection that a grader judges with, also written ``MODEL#ID``; empty: as shipped."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, str):
            raise InvalidConfig.model_not_text()
        model, mark, fit = self.model.rpartition("#")
        if mark and _FIT.fullmatch(fit):
            object.__setattr__(self, "model", model)
            object.__setattr__(self, "fit", fit)
        if not isinstance(self.fit, str) or (self.fit and not _FIT.fullmatch(self.fit)):
            raise InvalidConfig.unknown_fit(fit=str(self.fit)[:80])
        provider, colon, name = self.model.partition(":")
        if self.model != BUILTIN:
            if not colon or not provider.strip() or len(self.model) > 200:
                raise InvalidConfig.model_without_provider(model=self.model[:80])
            if not name.strip():
                raise InvalidConfig.provider_without_model(model=self.model[:80])
        for field_name, parameter in MODEL_PARAMETERS.items():
            object.__setattr__(self, field_name, checked(field_name, getattr(self, field_name), parameter))

    @property
    def name(self) -> str:
        """Model and fit in one text, from which the same can be read again."""
        return f"{self.model}#{self.fit}" if self.fit else self.model

    def named(self, name: str) -> RoleModel:
        """Another model, asked with the same numbers."""
        return replace(self, model=name, fit="")

    @property
    def built_in(self) -> bool:
        return self.model == BUILTIN

    @property
    def scores(self) -> bool:
        """True if it gives a score for question and passage, and writes nothing."""
        return self.model.startswith((CROSS_ENCODER, RERANK_SERVER))

    @property
    def in_file(self) -> bool:
        """True if llama.cpp runs it from a GGUF file."""
        return self.model.startswith(LOCAL) or (
            self.model.startswith(CROSS_ENCODER) and self.model.lower().endswith(".gguf")
        )

    @property
    def in_process(self) -> bool:
        """True if it runs in this process: what it does is no call of a model server."""
        return self.built_in or (self.model.startswith(CROSS_ENCODER) and not self.in_file)

    @property
    def chats(self) -> bool:
        """True if it is a chat model, which is asked with a prompt."""
        return not self.built_in and not self.scores


def _role(name: str) -> Any:
    """Declare a role by the message that names it."""
    return field(default=RoleModel(), metadata={"name": name})


@dataclass(frozen=True, slots=True)
class RoleModels:
    """The model of every role of a run."""

    grader: RoleModel = _role(N_("grader"))
    rewriter: RoleModel = _role(N_("rewriter"))
    generator: RoleModel = _role(N_("generator"))
    evaluator: RoleModel = _role(N_("evaluator"))
    router: RoleModel = _role(N_("router"))
    reranker: RoleModel = _role(N_("reranker"))
    """Built in: the run's grader; or a model of its own."""
    refiner: RoleModel = _role(N_("refiner"))
    """Built in: by words; or a chat model, which picks the sentences."""
    extractor: RoleModel = _role(N_("extractor"))
    vision: RoleModel = _role(N_("image reader"))
    verifier: RoleModel = _role(N_("verifier"))
    """Built in: by numbers, names and code words; or a model, which is asked about each sentence of the answer."""
    screener: RoleModel = _role(N_("screener"))
    """Decides in a cascade what the grader is not asked: built in, or a model that gives scores."""

    def __post_init__(self) -> None:
        for item in fields(self):
            model: RoleModel = getattr(self, item.name)
            if model.scores and item.name not in _SCORING:
                raise InvalidConfig.only_scores(only_scores=model.model[:80], role=item.name)
            if model.fit and item.name not in _FITTED:
                raise InvalidConfig.only_graders_fit(model=model.name[:80], role=item.name)
        if self.screener.chats:
            raise InvalidConfig.screener_chats(model=self.screener.model[:80])

    def of(self, role: RoleName) -> RoleModel:
        model: RoleModel = getattr(self, role)
        return model

    @property
    def writes_and_judges(self) -> str | None:
        """The chat model that both writes and evaluates answers; None where two do, or a built-in one (AE-05)."""
        same = self.evaluator.model == self.generator.model and not self.evaluator.built_in
        return self.evaluator.model if same else None


ROLES: Mapping[str, str] = MappingProxyType({item.name: item.metadata["name"] for item in fields(RoleModels)})
"""The message that names each role."""
