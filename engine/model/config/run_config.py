"""Settings of one run: :class:`RunConfig`, and its parsing from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, cast

from engine.errors import InvalidConfig
from engine.messages import N_, NC_
from engine.model.config.registry import USUAL, WORKFLOWS, declared
from engine.model.config.role_models import (
    PRESETS,
    ContextPolicy,
    Expand,
    GatePolicy,
    Mode,
    Reasons,
    RoleModel,
    RoleModels,
    SearchMethod,
    WorkflowName,
)
from engine.model.config.setting import (
    Options,
    Parameter,
    Setting,
    check_settings,
    choice,
    number,
    numbers_in,
    require,
    settings_in,
    switch,
)

_LONGEST_ADDRESS = 200
_ALL_BUILT_IN = RoleModels()
_LEFT_OUT = Options()
OLD_GATE: GatePolicy = "pass_rate"
"""The gate of configs, files and links that name none: they were made when it was the default."""
_OLD_SEARCH: SearchMethod = "vector"
"""How records and files that name no search were searched."""
_FIRST = (
    "top_k",
    "similarity_threshold",
    "grade_pass_threshold",
    "max_rewrites",
    "min_confidence",
    "context",
    "probe_k",
)
"""Settings that every record has, and a request hardly ever names all of."""


class _Unset:
    """Marker of a setting left out of a config: the workflow then decides."""


def default_of(workflow: WorkflowName, name: str) -> Any:
    """The default of a setting of :class:`RunConfig` under a workflow."""
    return declared(workflow).defaults.get(name, SETTINGS[name].default)


def default_gate(*, threshold_named: bool) -> GatePolicy:
    """The gate where none is named: one passed passage is enough, unless a pass threshold is named.

    A threshold implies the gate that reads it, and so did every config that was kept before gates had
    another default: those name it always.
    """
    return OLD_GATE if threshold_named else "min_relevant"


def for_workflow(config: RunConfig, workflow: WorkflowName) -> RunConfig:
    """The config under another workflow: settings that stand at their defaults move to those of the other one."""
    if workflow == config.workflow:
        return config
    usual = {name: default_of(config.workflow, name) for name in SETTINGS if name != "gate"}
    kept = {name: getattr(config, name) for name in usual if getattr(config, name) != usual[name]}
    models = {role: getattr(config.models, role) for role in declared(config.workflow).temperatures}
    for role, warmth in declared(config.workflow).temperatures.items():
        if models[role].temperature == warmth:
            # This warmth is that workflow's own default too.
            models[role] = replace(models[role], temperature=RoleModel().temperature)
    moved: RunConfig = replace(
        config,
        workflow=workflow,
        models=replace(config.models, **models),
        options=_LEFT_OUT,
        **{name: kept.get(name, _UNSET) for name in usual},
    )
    return moved


_UNSET: Any = _Unset()
Own = TypeVar("Own", bound=Options)
_Class = TypeVar("_Class", bound=type)


def _defaults_by_workflow(config: _Class) -> _Class:
    """Leave the settings of a config that are not named unset: a workflow may have another default of each."""
    for item in vars(config).values():
        if isinstance(item, Field) and "setting" in item.metadata:
            item.default = _UNSET
    return config


class _ByWorkflow:
    """Serialiser of options: they are of the class that the config's workflow declares."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def read(plain: Any, info: Any) -> Options:
            if isinstance(plain, Options):
                return plain
            own = declared(info.data["workflow"])
            # What a later version wrote may have more.
            return own.options(**{name: value for name, value in plain.items() if name in own.own_settings})

        written = core_schema.plain_serializer_function_ser_schema(asdict)
        return core_schema.with_info_plain_validator_function(read, serialization=written)


@dataclass(frozen=True, slots=True)
@_defaults_by_workflow
class RunConfig:
    """Everything that decides how one question is run; two equal configs mean the same run.

    Settings left out, and options, are the workflow's own defaults; a gate left out is :func:`default_gate`. Raises
    ``InvalidConfig`` naming field and range. Thresholds are rounded to four decimals.
    """

    workflow: WorkflowName = USUAL
    collection: str = "samples"
    milvus_address: str = ""
    """Another Milvus server than the settings' own; must be one that they list. Empty: the settings' own."""
    mode: Mode = choice(
        {
            "naive": N_("Naive"),
            "local": N_("Local"),
            "global": N_("Global"),
            "hybrid": N_("Hybrid"),
            "mix": N_("Mix"),
            "bypass": N_("Bypass"),
        },
        N_("Mode"),
        N_(
            "Where passages are looked for. A mode that cannot do its own work (no graph, no entity found) says "
            "so. Usual: mix."
        ),
        notes={
            "naive": N_("Vectors alone; the graph is not looked at."),
            "local": N_("Entities of the query and their neighbourhood: precise where the question names things."),
            "global": N_("Summaries of communities: broad, for questions about the whole."),
            "hybrid": N_("Local and global at once, merged and reranked."),
            "mix": N_("Graph and vectors together, reranked: the usual choice."),
            "bypass": N_("No search: answered without passages, so nothing is graded or cited."),
        },
    )
    """``naive`` in workflows that know no other."""
    search: SearchMethod = choice(
        {"vector": N_("by meaning"), "full_text": N_("by words"), "fused": N_("both")},
        N_("Search"),
        N_(
            "By meaning (vectors) finds what says the same in other words. By words (BM25) finds exact names, "
            "numbers "
            "and terms. Both merges the two lists by reciprocal rank, so that what either puts first comes early; "
            "a collection without full text is then searched by meaning. Usual: both."
        ),
        default="fused",
        notes={
            "full_text": N_(
                "Words decide the order. The similarity threshold is still about meaning: each passage found is "
                "measured against the question and dropped below it."
            ),
            "fused": N_(
                "Both lists decide the order. The similarity threshold is still about meaning: what words alone "
                "found is measured too, and dropped below it."
            ),
        },
    )
    """How passages are looked for; the similarity threshold is about the vectors in any case (SC-02)."""
    top_k: int = number(
        (1, 20, 5, 1),
        N_("Top-k"),
        N_(
            "How many of the best candidates may be kept and graded. More finds more and costs more grading. "
            "Usual: 5–10."
        ),
        whole=True,
        usual=(5, 10),
    )
    similarity_threshold: float = number(
        (0, 1, 0.3, 0.01),
        N_("Min. similarity"),
        N_(
            "Candidates less similar than this are dropped before grading, and stay visible with their margin. 0 "
            "is unrelated text, a right passage is usually near 0.5. It is about meaning also where words decide "
            "the order. Usual: 0.30–0.50."
        ),
        usual=(0.3, 0.5),
    )
    grade_pass_threshold: float = number(
        (0, 1, 0.6, 0.01),
        N_("Min. pass rate"),
        N_("Share of kept passages that must pass the grader; below it the question is rewritten. Usual: 0.40–0.80."),
        usual=(0.4, 0.8),
    )
    max_rewrites: int = number(
        (0, 5, 3, 1),
        N_("Max rewrites"),
        N_("How often the question may be rephrased and searched again. Each one adds a full round. Usual: 2–3."),
        whole=True,
        usual=(2, 3),
    )
    min_confidence: float = number(
        (0, 1, 0.5, 0.01),
        N_("Min. P(relevant)"),
        N_("A passage passes when the grader's probability that it is relevant reaches this."),
    )
    cascade: bool = switch(
        N_("Screen before the grader"),
        N_(
            "A cheap screener judges every passage first: the built-in grader, or a model that gives scores. Where "
            "it is sure, its verdict stands; between the two cuts the grader is asked. Min. P(relevant) is then "
            "about the grader's verdicts alone."
        ),
    )
    cascade_low: float = number(
        (0, 1, 0.2, 0.01),
        N_("Screener's no below"),
        N_("A passage whose P(relevant) by the screener is below this does not pass, and the grader is not asked."),
    )
    cascade_high: float = number(
        (0, 1, 0.9, 0.01),
        N_("Screener's yes from"),
        N_("A passage whose P(relevant) by the screener reaches this passes, and the grader is not asked."),
    )
    gate: GatePolicy = choice(
        {"min_relevant": N_("Number of relevant passages"), "pass_rate": NC_("setting", "Pass rate")},
        N_("Answer when"),
        N_(
            "When to stop searching: when a share of the kept passages passed, or as soon as n passages passed. "
            "Where one passage holds the answer, a pass rate of 0.60 cannot be met while five are kept."
        ),
    )
    min_relevant: int = number(
        (1, 20, 1, 1),
        N_("Min. relevant passages"),
        N_("Distinct passages that passed, over all rounds when the context is their union."),
        whole=True,
    )
    needs_whole: bool = switch(
        N_("Require complete coverage"),
        N_(
            "Once enough passages passed, they are judged as a whole: do they answer the question together? If "
            "only in part, the search continues. Built in by the words that they cover together; a chat model as "
            "grader is asked once more in such a round."
        ),
    )
    split: bool = switch(
        N_("Split the question"),
        N_(
            "A question that asks several things is split into parts. Until a passed passage answers each of them, "
            "rewrites search for the part that is open. Built in by clauses, with a chat model as rewriter in one "
            "further call."
        ),
    )
    translate: bool = switch(
        N_("Translate the question"),
        N_(
            "Where the collection is in another language than the question, its query is searched in that language "
            "too, and both lists become one. Needs a chat model as rewriter: one call a round."
        ),
    )
    context: ContextPolicy = choice(
        {"union": NC_("setting", "All rounds"), "last_round": N_("Last round")},
        N_("Passages for the answer"),
        N_("Passed passages of all rounds together, or of the last round alone."),
    )
    answer_unverified: bool = switch(
        N_("Answer even if nothing passed"),
        N_("Uses the best unverified passages; the answer is then marked as unverified."),
    )
    expand: Expand = choice(
        {"none": N_("Nothing more"), "neighbours": N_("Neighbours"), "section": N_("Section")},
        N_("Around each passage"),
        N_(
            "What a passage for the answer brings along from its source, as far as the token budget has room once "
            "every passage is in. More context, and more tokens."
        ),
        notes={
            "neighbours": N_("The passage before it and the one after it."),
            "section": N_("The rest of its section, up to eight passages on each side."),
        },
    )
    refine: bool = switch(
        N_("Trim passages"),
        N_(
            "Leaves out sentences that do not bear on the question before the answer is written. Citations still "
            "point to the whole passage. Built in by words; a chat model as refiner picks the sentences, one call "
            "a passage."
        ),
    )
    sentence_threshold: float = number(
        (0, 1, 0.3, 0.01),
        N_("Min. sentence relevance"),
        N_(
            "Sentences less relevant to the question than this are left out; the most relevant ones of a passage "
            "always stay. Usual: 0.20–0.50."
        ),
        usual=(0.2, 0.5),
    )
    min_support: float = number(
        (0, 1, 0.5, 0.01),
        N_("Min. P(supported)"),
        N_(
            "A sentence of the answer is supported when the verifier's probability that what it cites says it "
            "reaches this. The built-in verifier says 0 or 1."
        ),
    )
    probe_k: int = number(
        (1, 100, 20, 1),
        N_("Candidates retrieved"),
        N_("How deep the search looks. What is beyond top-k is not graded but stays visible."),
        whole=True,
    )
    grade_probe: bool = switch(
        N_("Grade all candidates"), N_("Also grades what the gates dropped: costs more, shows more.")
    )
    """Every probed candidate is graded, so that what-if knows the verdicts of those below the gate too."""
    reasons: Reasons = choice(
        {"after": N_("After the answer"), "before": N_("With the verdict"), "never": N_("Never")},
        N_("Reasons of verdicts"),
        N_(
            "When a chat model whose verdict is the probability of one word is asked why: one call a passage, in "
            "the background once the answer is out, or before the next step. Any other verdict comes with its "
            "reason."
        ),
        notes={
            "before": N_("A rewriter sees them too. Every verdict takes a call more."),
            "never": N_("Verdicts have a probability and no reason."),
        },
    )
    ignore_cache: bool = switch(N_("Re-grade"), N_("Asks a chat model again even where the same verdict is stored."))
    budget_s: float = number(
        (1, 3600, 120, 1),
        N_("Time budget, seconds"),
        N_("After it, no further search: one answer is made from what there is."),
        boxed=True,
    )
    models: RoleModels = _ALL_BUILT_IN
    options: Annotated[Options, _ByWorkflow] = _LEFT_OUT
    """Of the class that the workflow declares; left out, its defaults."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def read(plain: Any) -> Any:
            known = isinstance(plain, Mapping) and plain.get("workflow", USUAL) in WORKFLOWS
            return with_shared(plain) if known else plain

        return core_schema.no_info_before_validator_function(read, handler(source))

    def __post_init__(self) -> None:
        require("workflow", self.workflow, tuple(WORKFLOWS))
        own = declared(self.workflow)
        if self.gate is _UNSET:
            named = self.grade_pass_threshold is not _UNSET
            object.__setattr__(self, "gate", default_gate(threshold_named=named))
        if self.search is _UNSET and all(getattr(self, name) is not _UNSET for name in _FIRST):
            object.__setattr__(self, "search", _OLD_SEARCH)
        for name in SETTINGS:
            if getattr(self, name) is _UNSET:
                object.__setattr__(self, name, default_of(self.workflow, name))
        check_settings(self)
        if self.cascade_low > self.cascade_high:
            raise InvalidConfig.cuts_crossed(low=self.cascade_low, high=self.cascade_high)
        for role, warmth in own.temperatures.items():
            model = self.models.of(role)
            if not model.built_in and model.temperature == 0:
                # QL-04; to keep nearly none, set 0.01.
                warmer: Any = {role: replace(model, temperature=warmth)}
                object.__setattr__(self, "models", replace(self.models, **warmer))
        if type(self.options) is Options:
            object.__setattr__(self, "options", own.options())
        if type(self.options) is not own.options:
            raise InvalidConfig.options_of_another_workflow(workflow=self.workflow)
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
        """Number of candidates that one search fetches: ``max(top_k, probe_k)`` (SC-02)."""
        return max(self.top_k, self.probe_k)


def own_options(config: RunConfig, kind: type[Own]) -> Own:
    """The options of a config of the workflow that has ``kind``; raises ``ValueError`` for any other config."""
    if not isinstance(config.options, kind):
        raise ValueError(f"a config of the workflow {config.workflow!r} has no {kind.__name__}")
    return config.options


SETTINGS: Mapping[str, Setting] = settings_in(RunConfig)
"""The settings that workflows share, by the name of their field."""
PARAMETERS: Mapping[str, Parameter] = numbers_in(RunConfig)
"""The ranges of those that are numbers."""


@cache
def settings_of(workflow: WorkflowName) -> tuple[str, ...]:
    """The fields of a config that count for anything in a workflow; its own options are not among them."""
    idle = declared(workflow).idle
    return ("collection", *(name for name in SETTINGS if name not in idle))


@cache
def every_setting() -> Mapping[str, Setting]:
    """The settings that workflows share, and those that one of them alone has, by name."""
    return MappingProxyType(
        {**SETTINGS, **{k: v for own in map(declared, WORKFLOWS) for k, v in own.own_settings.items()}}
    )


def number_of(name: str) -> Parameter | None:
    """The range of a setting that is a number; None for any other name."""
    setting = every_setting().get(name)
    return setting.limits if setting else None


CONFIG_FIELDS: tuple[str, ...] = tuple(item.name for item in fields(RunConfig))


def config_from_dict(plain: Mapping[str, Any], usual: RoleModels = _ALL_BUILT_IN) -> RunConfig:
    """A config from JSON-ready values; raises ``InvalidConfig`` for an unknown field or a value out of range.

    ``usual`` are the models of roles that are not named: a stored config has built-in ones there, a request those of
    this machine.

        >>> config_from_dict({"top_k": 8, "models": {"grader": "ollama:qwen3:8b"}}).models.grader.model
        'ollama:qwen3:8b'
    """
    _refuse_unknown(plain, CONFIG_FIELDS)
    workflow = plain.get("workflow", USUAL)
    require("workflow", workflow, tuple(WORKFLOWS))
    values = with_shared(plain)
    values["options"] = options_from_dict(workflow, _object("options", values.pop("options", {})))
    models = models_from_dict(values.pop("models", {}), usual)
    return RunConfig(models=models, **values)


def with_shared(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A config's plain values with what earlier versions had among the options of its workflow among the settings."""
    options = plain.get("options")
    names = declared(plain.get("workflow", USUAL)).options.now_shared
    if not isinstance(options, Mapping):
        return dict(plain)
    own = {name: value for name, value in options.items() if name not in names}
    return {**plain, **{name: options[name] for name in names if name in options}, "options": own}


def models_from_dict(plain: object, usual: RoleModels = _ALL_BUILT_IN) -> RoleModels:
    """A model for each role from JSON-ready values, those not named as ``usual``; raises ``InvalidConfig``."""
    models = _object("models", plain)
    _refuse_unknown(models, tuple(item.name for item in fields(RoleModels)))
    return replace(usual, **{role: _role_model(role, model, usual) for role, model in models.items()})


def config_from_stored(plain: Mapping[str, Any], usual: RoleModels = _ALL_BUILT_IN) -> RunConfig:
    """:func:`config_from_dict` for what was kept in a file; what it does not name was the default then."""
    return config_from_dict({"gate": OLD_GATE, "search": _OLD_SEARCH, **plain}, usual)


def options_from_dict(workflow: WorkflowName, plain: Mapping[str, Any]) -> Options:
    """Options of a workflow; raises ``InvalidConfig`` for one that it does not have, or out of range."""
    options = declared(workflow).options
    _refuse_unknown(plain, tuple(item.name for item in fields(options)))
    return options(**plain)


def _role_model(role: str, plain: Any, usual: RoleModels) -> RoleModel:
    if isinstance(plain, str):
        return RoleModel(plain)
    values = _object(f"models.{role}", plain)
    _refuse_unknown(values, tuple(item.name for item in fields(RoleModel)))
    if "model" in values:
        # A fit belongs to its model.
        values = {"fit": "", **values}
    return replace(cast(RoleModel, getattr(usual, role)), **values)


def _object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidConfig.not_an_object(field=name)
    return value


def _refuse_unknown(plain: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in plain:
        if name not in known:
            raise InvalidConfig.unknown_setting(field=str(name)[:40], known=known or "none")
