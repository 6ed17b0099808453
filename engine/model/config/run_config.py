"""What one question is run with: :class:`RunConfig`, and how it is read from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast, get_args

from engine.errors import InvalidConfig
from engine.model.config.options import OPTIONS, SelfCorrectiveOptions, WorkflowOptions
from engine.model.config.parameters import (
    PARAMETERS,
    PRESETS,
    WORKFLOW_DEFAULTS,
    ContextPolicy,
    GatePolicy,
    Mode,
    SearchMethod,
    WorkflowName,
    checked,
    require,
    require_flags,
)
from engine.model.config.role_models import RoleModel, RoleModels

_LONGEST_ADDRESS = 200
_QUALITY_TEMPERATURE = 0.3
_ALL_BUILT_IN = RoleModels()
_LEFT_OUT = SelfCorrectiveOptions()
OLD_GATE: GatePolicy = "pass_rate"
"""The gate of configs, files and links that name none: they were made when it was the default."""
_DEFAULT: Any = object()
"""What a number of a config is that was left out: the workflow decides then."""


def default_of(workflow: WorkflowName, name: str) -> float:
    """The default of one of :data:`PARAMETERS` under a workflow."""
    return WORKFLOW_DEFAULTS[workflow].get(name, PARAMETERS[name].default)


def default_mode(workflow: WorkflowName) -> Mode:
    """The mode of a workflow where none is named."""
    return "mix" if workflow == "graph_hybrid" else "naive"


def default_gate(*, threshold_named: bool) -> GatePolicy:
    """The gate where none is named: one passed passage is enough, unless a pass threshold is named.

    Whoever names a threshold means the gate that reads it, and so did every config that was kept before gates had
    another default: those name it always.
    """
    return OLD_GATE if threshold_named else "min_relevant"


def for_workflow(config: RunConfig, workflow: WorkflowName) -> RunConfig:
    """The config under another workflow: numbers that stand at their defaults move to those of the other one."""
    if workflow == config.workflow:
        return config
    kept = {
        name: getattr(config, name) for name in PARAMETERS if getattr(config, name) != default_of(config.workflow, name)
    }
    models, rewriter = config.models, config.models.rewriter
    if config.workflow == "quality_loop" and rewriter.temperature == _QUALITY_TEMPERATURE:
        # This warmth is that loop's own default too.
        models = replace(models, rewriter=replace(rewriter, temperature=RoleModel().temperature))
    moved: RunConfig = replace(
        config,
        workflow=workflow,
        mode=_DEFAULT if config.mode == default_mode(config.workflow) else config.mode,
        models=models,
        options=SelfCorrectiveOptions(),
        **{name: kept.get(name, _DEFAULT) for name in PARAMETERS},
    )
    return moved


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that decides how one question is run; two equal configs mean the same run.

    Numbers left out, and options, are the workflow's own defaults; a gate left out is :func:`default_gate`. Raises
    ``InvalidConfig`` naming field and range. Thresholds are rounded to four decimals.
    """

    workflow: WorkflowName = "self_corrective"
    collection: str = "samples"
    milvus_address: str = ""
    """Another Milvus server than the settings' own; must be one that they list. Empty: the settings' own."""
    mode: Mode = _DEFAULT
    """Left out: ``mix`` with graph + vector retrieval, ``naive`` with the other workflows, which know no other."""
    search: SearchMethod = "vector"
    """How passages are looked for; the similarity threshold is about the vectors in any case (SC-02)."""
    top_k: int = _DEFAULT
    similarity_threshold: float = _DEFAULT
    grade_pass_threshold: float = _DEFAULT
    max_rewrites: int = _DEFAULT
    min_confidence: float = _DEFAULT
    gate: GatePolicy = _DEFAULT
    min_relevant: int = _DEFAULT
    context: ContextPolicy = "union"
    answer_unverified: bool = False
    probe_k: int = _DEFAULT
    grade_probe: bool = False
    """Grade every probed candidate, so that what-if knows the verdicts of those below the gate too."""
    ignore_cache: bool = False
    budget_s: float = _DEFAULT
    models: RoleModels = _ALL_BUILT_IN
    options: WorkflowOptions = _LEFT_OUT
    """Of the class that :data:`OPTIONS` names; left out, the defaults of the workflow."""

    def __post_init__(self) -> None:
        require("workflow", self.workflow, get_args(WorkflowName))
        if self.gate is _DEFAULT:
            object.__setattr__(self, "gate", default_gate(threshold_named=self.grade_pass_threshold is not _DEFAULT))
        for name, parameter in PARAMETERS.items():
            given = getattr(self, name)
            value = default_of(self.workflow, name) if given is _DEFAULT else given
            object.__setattr__(self, name, checked(name, value, parameter))
        require_flags(self, "answer_unverified", "grade_probe", "ignore_cache")
        rewriter = self.models.rewriter
        if self.workflow == "quality_loop" and not rewriter.built_in and rewriter.temperature == 0:
            # QL-04; somebody who wants nearly none sets 0.01.
            warmer = replace(self.models, rewriter=replace(rewriter, temperature=_QUALITY_TEMPERATURE))
            object.__setattr__(self, "models", warmer)
        if isinstance(self.options, SelfCorrectiveOptions):
            object.__setattr__(self, "options", OPTIONS[self.workflow]())
        if type(self.options) is not OPTIONS[self.workflow]:
            raise InvalidConfig.options_of_another_workflow(workflow=self.workflow)
        if self.mode is _DEFAULT:
            object.__setattr__(self, "mode", default_mode(self.workflow))
        require("mode", self.mode, get_args(Mode))
        require("search", self.search, get_args(SearchMethod))
        require("gate", self.gate, get_args(GatePolicy))
        require("context", self.context, get_args(ContextPolicy))
        if not isinstance(self.collection, str) or not 1 <= len(self.collection) <= 60:
            raise InvalidConfig.collection_name()
        if not isinstance(self.milvus_address, str) or len(self.milvus_address) > _LONGEST_ADDRESS:
            raise InvalidConfig.address_too_long(most=_LONGEST_ADDRESS)

    @property
    def preset(self) -> str | None:
        """The preset whose pass threshold this config has, if any."""
        return next((name for name, value in PRESETS.items() if value == self.grade_pass_threshold), None)

    @property
    def fetch_k(self) -> int:
        """How many candidates one search fetches: ``max(top_k, probe_k)`` (SC-02)."""
        return max(self.top_k, self.probe_k)


CONFIG_FIELDS: tuple[str, ...] = tuple(item.name for item in fields(RunConfig))


def config_from_dict(plain: Mapping[str, Any], usual: RoleModels = _ALL_BUILT_IN) -> RunConfig:
    """A config from JSON-ready values; raises ``InvalidConfig`` for an unknown field or a value out of range.

    ``usual`` are the models of roles that are not named: a stored config has built-in ones there, a request those of
    this machine.
    """
    _refuse_unknown(plain, CONFIG_FIELDS)
    values = dict(plain)
    workflow = values.get("workflow", "self_corrective")
    require("workflow", workflow, get_args(WorkflowName))
    values["options"] = options_from_dict(workflow, _object("options", values.pop("options", {})))
    models = models_from_dict(values.pop("models", {}), usual)
    return RunConfig(models=models, **values)


def models_from_dict(plain: object, usual: RoleModels = _ALL_BUILT_IN) -> RoleModels:
    """A model for each role from JSON-ready values, those not named as ``usual``; raises ``InvalidConfig``."""
    models = _object("models", plain)
    _refuse_unknown(models, tuple(item.name for item in fields(RoleModels)))
    return replace(usual, **{role: _role_model(role, model, usual) for role, model in models.items()})


def config_from_stored(plain: Mapping[str, Any], usual: RoleModels = _ALL_BUILT_IN) -> RunConfig:
    """:func:`config_from_dict` for what was kept in a file; one without a gate keeps that which it was made with."""
    return config_from_dict({"gate": OLD_GATE, **plain}, usual)


def options_from_dict(workflow: WorkflowName, plain: Mapping[str, Any]) -> WorkflowOptions:
    """Options of a workflow; raises ``InvalidConfig`` for one that it does not have, or out of range."""
    _refuse_unknown(plain, tuple(item.name for item in fields(OPTIONS[workflow])))
    return OPTIONS[workflow](**plain)


def _role_model(role: str, plain: Any, usual: RoleModels) -> RoleModel:
    if isinstance(plain, str):
        return RoleModel(plain)
    values = _object(f"models.{role}", plain)
    _refuse_unknown(values, tuple(item.name for item in fields(RoleModel)))
    return replace(cast(RoleModel, getattr(usual, role)), **values)


def _object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidConfig.not_an_object(field=name)
    return value


def _refuse_unknown(plain: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in plain:
        if name not in known:
            raise InvalidConfig.unknown_setting(field=str(name)[:40], known=known or "none")
