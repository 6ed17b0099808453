"""What a run is asked to do (:class:`RunConfig`) and the ranges its parameters may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from engine.errors import InvalidConfig

WorkflowName = Literal["self_corrective", "quality_loop", "dual_loop", "answer_evaluation", "graph_hybrid"]
SearchMethod = Literal["vector", "full_text", "fused"]
"""By meaning (vectors), by words (BM25), or both fused by reciprocal rank."""
Mode = Literal["naive", "local", "global", "hybrid", "mix", "bypass"]
GatePolicy = Literal["pass_rate", "min_relevant"]
ContextPolicy = Literal["union", "last_round"]
RoleName = Literal["grader", "rewriter", "generator", "evaluator", "router", "extractor", "vision"]

GradeOn = Literal["weighted", "top3"]

BUILTIN = "builtin"
_LONGEST_ADDRESS = 200
_ROUNDING = 1e-3
_QUALITY_TEMPERATURE = 0.3


@dataclass(frozen=True, slots=True)
class Parameter:
    """Range, default and usual range of one number of a run (SPEC SC-08)."""

    low: float
    high: float
    default: float
    step: float
    whole: bool
    usual: tuple[float, float] | None = None


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "top_k": Parameter(1, 20, 5, 1, whole=True, usual=(5, 10)),
        "similarity_threshold": Parameter(0, 1, 0.3, 0.01, whole=False, usual=(0.3, 0.5)),
        "grade_pass_threshold": Parameter(0, 1, 0.6, 0.01, whole=False, usual=(0.4, 0.8)),
        "max_rewrites": Parameter(0, 5, 3, 1, whole=True, usual=(2, 3)),
        "min_confidence": Parameter(0, 1, 0.5, 0.01, whole=False),
        "probe_k": Parameter(1, 100, 20, 1, whole=True),
        "min_relevant": Parameter(1, 20, 1, 1, whole=True),
        "budget_s": Parameter(1, 3600, 120, 1, whole=False),
    }
)

QUALITY_WEIGHTS = ("coverage_weight", "relevance_weight", "diversity_weight", "count_weight")

QUALITY_PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "coverage_weight": Parameter(0, 1, 0.4, 0.05, whole=False),
        "relevance_weight": Parameter(0, 1, 0.3, 0.05, whole=False),
        "diversity_weight": Parameter(0, 1, 0.2, 0.05, whole=False),
        "count_weight": Parameter(0, 1, 0.1, 0.05, whole=False),
        "high_score": Parameter(0, 1, 0.7, 0.01, whole=False),
        "medium_score": Parameter(0, 1, 0.5, 0.01, whole=False),
    }
)
"""The numbers of :class:`QualityOptions` (SPEC QL-01, QL-02)."""

DUAL_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({"max_corrections": Parameter(0, 5, 2, 1, whole=True)})
"""The numbers of :class:`DualLoopOptions`."""

EVALUATION_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({"gener_epoch": Parameter(1, 10, 3, 1, whole=True)})
"""The numbers of :class:`AnswerEvaluationOptions`."""

ROLES_OF: Mapping[WorkflowName, tuple[RoleName, ...]] = MappingProxyType(
    {
        "self_corrective": ("grader", "rewriter", "generator"),
        "quality_loop": ("grader", "rewriter", "generator", "router"),
        "dual_loop": ("grader", "rewriter", "generator", "evaluator", "router"),
        "answer_evaluation": ("grader", "rewriter", "generator", "evaluator"),
        "graph_hybrid": ("grader", "rewriter", "generator"),
    }
)
"""The model roles that a workflow asks."""

OPTION_PARAMETERS: Mapping[WorkflowName, Mapping[str, Parameter]] = MappingProxyType(
    {
        "self_corrective": MappingProxyType({}),
        "quality_loop": QUALITY_PARAMETERS,
        "dual_loop": DUAL_PARAMETERS,
        "answer_evaluation": EVALUATION_PARAMETERS,
        "graph_hybrid": MappingProxyType({}),
    }
)

WORKFLOW_DEFAULTS: Mapping[WorkflowName, Mapping[str, float]] = MappingProxyType(
    {
        "self_corrective": MappingProxyType({}),
        "quality_loop": MappingProxyType({"top_k": 10, "max_rewrites": 2, "budget_s": 10}),
        "dual_loop": MappingProxyType({}),
        "answer_evaluation": MappingProxyType({}),
        "graph_hybrid": MappingProxyType({}),
    }
)
"""Where a workflow's defaults are other than those of :data:`PARAMETERS` (SPEC QL-01, QL-05)."""

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


# Up here because the defaults of the classes below are checked as they are made.
def _checked(name: str, value: object, parameter: Parameter) -> int | float:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    if not usable or not parameter.low <= value <= parameter.high:  # type: ignore[operator]
        raise InvalidConfig.out_of_range(name, parameter.low, parameter.high)
    number = float(value)  # type: ignore[arg-type]
    if not parameter.whole:
        return round(number, 4)
    if number != int(number):
        raise InvalidConfig(
            f"{name} must be a whole number.",
            remedy=f"Set {name} to a whole number from {parameter.low:.10g} to {parameter.high:.10g}.",
            params={"field": name},
            field=name,
        )
    return int(number)


def _check_all(value: object, parameters: Mapping[str, Parameter]) -> None:
    for name, parameter in parameters.items():
        object.__setattr__(value, name, _checked(name, getattr(value, name), parameter))


def _require(field_name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidConfig.not_one_of(field_name, allowed)


def _require_flags(value: object, *names: str) -> None:
    for name in names:
        if not isinstance(getattr(value, name), bool):
            raise InvalidConfig.not_one_of(name, ("true", "false"))


@dataclass(frozen=True, slots=True)
class RoleModel:
    """Which model plays a role: ``builtin``, ``ollama:MODEL`` or any ``provider:model`` of LangChain."""

    model: str = BUILTIN
    temperature: float = 0.0
    seed: int = 7
    num_ctx: int = 8192
    """Tokens of context asked of Ollama; other providers ignore it."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, str):
            raise _unusable_model("The name of a model must be a text.", "")
        provider, colon, name = self.model.partition(":")
        if self.model != BUILTIN:
            if not colon or not provider.strip() or len(self.model) > 200:
                raise _unusable_model(f"The model {self.model[:80]!r} has no provider.", self.model[:80])
            if not name.strip():
                raise _unusable_model(f"The model {self.model[:80]!r} names a provider and no model.", self.model[:80])
        for field_name, parameter in MODEL_PARAMETERS.items():
            object.__setattr__(self, field_name, _checked(field_name, getattr(self, field_name), parameter))

    @property
    def built_in(self) -> bool:
        return self.model == BUILTIN


@dataclass(frozen=True, slots=True)
class RoleModels:
    """The model of every role of a run."""

    grader: RoleModel = RoleModel()
    rewriter: RoleModel = RoleModel()
    generator: RoleModel = RoleModel()
    evaluator: RoleModel = RoleModel()
    router: RoleModel = RoleModel()
    extractor: RoleModel = RoleModel()
    vision: RoleModel = RoleModel()

    def of(self, role: RoleName) -> RoleModel:
        model: RoleModel = getattr(self, role)
        return model


@dataclass(frozen=True, slots=True)
class SelfCorrectiveOptions:
    """What only the four-node loop has: nothing beyond :class:`RunConfig`."""


@dataclass(frozen=True, slots=True)
class QualityOptions:
    """What only the quality-control loop has: weights, cut-offs and the graded number (SPEC QL-01, QL-02)."""

    coverage_weight: float = 0.4
    relevance_weight: float = 0.3
    diversity_weight: float = 0.2
    count_weight: float = 0.1
    grade_on: GradeOn = "weighted"
    high_score: float = 0.7
    medium_score: float = 0.5
    """Scores from which a round is graded high, and medium; below it is low and rewritten."""

    def __post_init__(self) -> None:
        _check_all(self, QUALITY_PARAMETERS)
        _require("grade_on", self.grade_on, get_args(GradeOn))
        total = sum(getattr(self, name) for name in QUALITY_WEIGHTS)
        if abs(total - 1.0) > _ROUNDING:
            raise InvalidConfig(
                f"The four quality weights sum to {total:.4g}.",
                remedy=f"Set {', '.join(QUALITY_WEIGHTS)} so that they sum to 1.",
                params={"field": "coverage_weight", "sum": f"{total:.4g}"},
                field="coverage_weight",
            )
        if self.high_score < self.medium_score:
            raise InvalidConfig.out_of_range("high_score", self.medium_score, 1)


@dataclass(frozen=True, slots=True)
class DualLoopOptions:
    """What only the dual loop has (SPEC DL-04, DL-06, DL-07)."""

    max_corrections: int = 2
    """Answers that may be corrected; at most one more answer than that is written."""
    memory: bool = True
    """Whether earlier answers are recalled and this one is kept."""
    web_search: bool = False
    """Whether the web may be searched where the settings of this machine name a search engine."""

    def __post_init__(self) -> None:
        _check_all(self, DUAL_PARAMETERS)
        _require_flags(self, "memory", "web_search")


@dataclass(frozen=True, slots=True)
class AnswerEvaluationOptions:
    """What only the answer-evaluation loop has (SPEC AE-01)."""

    gener_epoch: int = 3
    """Answers that may be written at most, the first included."""

    def __post_init__(self) -> None:
        _check_all(self, EVALUATION_PARAMETERS)


WorkflowOptions = SelfCorrectiveOptions | QualityOptions | DualLoopOptions | AnswerEvaluationOptions

OPTIONS: Mapping[WorkflowName, type[WorkflowOptions]] = MappingProxyType(
    {
        "self_corrective": SelfCorrectiveOptions,
        "quality_loop": QualityOptions,
        "dual_loop": DualLoopOptions,
        "answer_evaluation": AnswerEvaluationOptions,
        "graph_hybrid": SelfCorrectiveOptions,
    }
)
"""The class of ``RunConfig.options`` by workflow."""


_DEFAULT: Any = object()
"""What a number of a config is that was left out: the workflow decides then."""


def default_of(workflow: WorkflowName, name: str) -> float:
    """The default of one of :data:`PARAMETERS` under a workflow."""
    return WORKFLOW_DEFAULTS[workflow].get(name, PARAMETERS[name].default)


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
        models=models,
        options=SelfCorrectiveOptions(),
        **{name: kept.get(name, _DEFAULT) for name in PARAMETERS},
    )
    return moved


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that decides how one question is run; two equal configs mean the same run.

    Numbers left out, and options, are the workflow's own defaults. Raises ``InvalidConfig`` naming field and range.
    Thresholds are rounded to four decimals.
    """

    workflow: WorkflowName = "self_corrective"
    collection: str = "samples"
    milvus_address: str = ""
    """Another Milvus server than the settings' own; must be one that they list. Empty: the settings' own."""
    mode: Mode = "naive"
    search: SearchMethod = "vector"
    """How passages are looked for; the similarity threshold is about the vectors in any case (SPEC SC-02)."""
    top_k: int = _DEFAULT
    similarity_threshold: float = _DEFAULT
    grade_pass_threshold: float = _DEFAULT
    max_rewrites: int = _DEFAULT
    min_confidence: float = _DEFAULT
    gate: GatePolicy = "pass_rate"
    min_relevant: int = _DEFAULT
    context: ContextPolicy = "union"
    answer_unverified: bool = False
    probe_k: int = _DEFAULT
    grade_probe: bool = False
    """Grade every probed candidate, so that what-if knows the verdicts of those below the gate too."""
    ignore_cache: bool = False
    budget_s: float = _DEFAULT
    models: RoleModels = RoleModels()
    options: WorkflowOptions = SelfCorrectiveOptions()
    """Of the class that :data:`OPTIONS` names; left out, the defaults of the workflow."""

    def __post_init__(self) -> None:
        _require("workflow", self.workflow, get_args(WorkflowName))
        for name, parameter in PARAMETERS.items():
            given = getattr(self, name)
            value = default_of(self.workflow, name) if given is _DEFAULT else given
            object.__setattr__(self, name, _checked(name, value, parameter))
        _require_flags(self, "answer_unverified", "grade_probe", "ignore_cache")
        rewriter = self.models.rewriter
        if self.workflow == "quality_loop" and not rewriter.built_in and rewriter.temperature == 0:
            # SPEC QL-04; somebody who wants nearly none sets 0.01.
            warmer = replace(self.models, rewriter=replace(rewriter, temperature=_QUALITY_TEMPERATURE))
            object.__setattr__(self, "models", warmer)
        if isinstance(self.options, SelfCorrectiveOptions):
            object.__setattr__(self, "options", OPTIONS[self.workflow]())
        if type(self.options) is not OPTIONS[self.workflow]:
            raise InvalidConfig(
                f"These options are not those of the workflow {self.workflow!r}.",
                remedy="Leave options out, or send those of the workflow.",
                params={"field": "options", "workflow": self.workflow},
                field="options",
            )
        _require("mode", self.mode, get_args(Mode))
        _require("search", self.search, get_args(SearchMethod))
        _require("gate", self.gate, get_args(GatePolicy))
        _require("context", self.context, get_args(ContextPolicy))
        if not isinstance(self.collection, str) or not 1 <= len(self.collection) <= 60:
            raise InvalidConfig(
                "collection must have 1 to 60 characters.",
                remedy="Name an existing collection.",
                params={"field": "collection"},
                field="collection",
            )
        if not isinstance(self.milvus_address, str) or len(self.milvus_address) > _LONGEST_ADDRESS:
            raise InvalidConfig(
                f"milvus_address must have at most {_LONGEST_ADDRESS} characters.",
                remedy="Leave milvus_address empty, or name an address of WORKBENCH_MILVUS_ADDRESSES.",
                params={"field": "milvus_address"},
                field="milvus_address",
            )

    @property
    def preset(self) -> str | None:
        """The preset whose pass threshold this config has, if any."""
        return next((name for name, value in PRESETS.items() if value == self.grade_pass_threshold), None)

    @property
    def fetch_k(self) -> int:
        """How many candidates one search fetches: ``max(top_k, probe_k)`` (SPEC SC-02)."""
        return max(self.top_k, self.probe_k)


CONFIG_FIELDS: tuple[str, ...] = tuple(item.name for item in fields(RunConfig))


def config_from_dict(plain: Mapping[str, Any]) -> RunConfig:
    """A config from JSON-ready values; raises ``InvalidConfig`` for an unknown field or a value out of range."""
    _refuse_unknown(plain, CONFIG_FIELDS)
    values = dict(plain)
    workflow = values.get("workflow", "self_corrective")
    _require("workflow", workflow, get_args(WorkflowName))
    values["options"] = options_from_dict(workflow, _object("options", values.pop("options", {})))
    models = _object("models", values.pop("models", {}))
    _refuse_unknown(models, tuple(item.name for item in fields(RoleModels)))
    return RunConfig(models=RoleModels(**{role: _role_model(role, model) for role, model in models.items()}), **values)


def options_from_dict(workflow: WorkflowName, plain: Mapping[str, Any]) -> WorkflowOptions:
    """Options of a workflow; raises ``InvalidConfig`` for one that it does not have, or out of range."""
    _refuse_unknown(plain, tuple(item.name for item in fields(OPTIONS[workflow])))
    return OPTIONS[workflow](**plain)


def _role_model(role: str, plain: Any) -> RoleModel:
    if isinstance(plain, str):
        return RoleModel(plain)
    values = _object(f"models.{role}", plain)
    _refuse_unknown(values, tuple(item.name for item in fields(RoleModel)))
    return RoleModel(**values)


def _unusable_model(fact: str, model: str) -> InvalidConfig:
    remedy = "Write `builtin`, `ollama:MODEL` or `provider:model`."
    named = {"model": model} if model else {}
    return InvalidConfig(fact, remedy=remedy, params={"field": "models", **named}, field="models")


def _object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidConfig(
            f"{name} must be an object.", remedy=f"Send {name} as a JSON object.", params={"field": name}, field=name
        )
    return value


def _refuse_unknown(plain: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in plain:
        if name not in known:
            short = str(name)[:40]
            raise InvalidConfig(
                f"There is no setting named {short!r}.",
                remedy=f"Known settings: {', '.join(known) or 'none'}.",
                params={"field": short},
                field=short,
            )
