"""Request bodies of the HTTP API; pydantic stands here, at the edge, and refuses what it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from engine.api import published
from engine.api.addresses import with_listed_address
from engine.flow import workflows
from engine.library.values import CHUNK_LIMITS, DEFAULT_CHUNKS, ChunkOptions
from engine.model.config import PARAMETERS, WORKFLOWS, Parameter, RunConfig
from engine.model.values import Outcome, PassageContext
from engine.records.listing import Filters
from engine.settings import Settings

_DEFAULTS = RunConfig()
_DEEPEST = 6
_MOST_ROWS = 10_000
_MOST_CELLS = 1000
_Cell = StrictStr | StrictInt | StrictFloat | StrictBool | None


def _whole(name: str) -> Any:
    limits = PARAMETERS[name]
    return Field(int(limits.default), ge=int(limits.low), le=int(limits.high))


def _fraction(name: str) -> Any:
    limits = PARAMETERS[name]
    # A range of two types is checked, but not described by pydantic.
    return Field(limits.default, ge=limits.low, le=limits.high, json_schema_extra=published.range_of(name))


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _shallow(config: dict[str, Any]) -> dict[str, Any]:
    """Nothing in a config is deeply nested, and anything that prints a value a thousand levels deep fails."""
    level: list[Any] = [config]
    for _ in range(_DEEPEST):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return config
    raise ValueError("nested too deeply")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _plain_rows(rows: Any) -> Any:
    """Rows of cells. Looked through here and not by pydantic, which notes four faults for each cell that is none: a
    request of some megabytes would fill the memory with them."""
    if not isinstance(rows, list) or len(rows) > _MOST_ROWS:
        raise ValueError(f"must be a list of at most {_MOST_ROWS} rows")
    for row in rows:
        if not isinstance(row, list) or len(row) > _MOST_CELLS:
            raise ValueError(f"every row must be a list of at most {_MOST_CELLS} cells")
        if not all(cell is None or isinstance(cell, str | int | float) for cell in row):
            raise ValueError("every cell must be a text, a number, true, false or null")
    return rows


def _known(name: str) -> str:
    if name not in WORKFLOWS:
        raise ValueError(f"one of {', '.join(WORKFLOWS)}")
    return name


_Workflow = Annotated[StrictStr, AfterValidator(_known), Field(json_schema_extra={"enum": [*WORKFLOWS]})]


def _ranges(parameters: Mapping[str, Parameter]) -> str:
    return ", ".join(f"{name} {limits.low:.10g} to {limits.high:.10g}" for name, limits in parameters.items())


def _config_in_words() -> str:
    """Describe the fields of a config: numbers with their ranges, and the options of each workflow that has some."""
    lines = [f"Fields of a config; those left out are the workflow's own defaults. Numbers: {_ranges(PARAMETERS)}."]
    for workflow, own in workflows().items():
        others = [name for name in own.own_settings if name not in own.numbers]
        if own.own_settings:
            lines.append(f"`options` of {workflow}: {', '.join(filter(None, [_ranges(own.numbers), *others]))}.")
    return " ".join(lines)


class MilvusConfig(_Body):
    address: Annotated[StrictStr, Field(max_length=200)] = ""
    collectionName: Annotated[StrictStr, Field(min_length=1, max_length=60)] = _DEFAULTS.collection


class SeedRequest(_Body):
    """Body of ``POST /api/self-corrective-rag``."""

    query: StrictStr = Field(min_length=1, json_schema_extra=published.NOT_BLANK)
    topK: StrictInt = _whole("top_k")
    similarityThreshold: StrictFloat | StrictInt = _fraction("similarity_threshold")
    maxRewriteAttempts: StrictInt = _whole("max_rewrites")
    gradePassThreshold: StrictFloat | StrictInt = _fraction("grade_pass_threshold")
    milvusConfig: MilvusConfig = MilvusConfig()
    models: Annotated[dict[str, Any], AfterValidator(_shallow)] = Field(
        {},
        description="A model for each role, as in a config: `builtin`, `ollama:MODEL` or `provider:model`, or an "
        "object with `model`, `temperature`, `seed`, `num_ctx`, `fit`. Roles left out have the models that this "
        "machine's settings name.",
    )


_CONTENT = AliasChoices("content_base64", "data")
"""The name of a file's bytes in every request; the second one is that of earlier versions."""


class AttachmentBody(_Body):
    """An image or a table of a question: exactly one of ``content_base64``, ``text`` and ``rows``.

    What ``POST /api/attachments`` answered may be sent back, corrected or not.
    """

    name: StrictStr = Field(min_length=1, max_length=300)
    kind: Literal["image", "table"] | None = None
    """Of ``text``: what an image shows, or a table in CSV, Markdown or HTML. A file says it itself."""
    data: StrictStr = Field(
        "",
        validation_alias=_CONTENT,
        description="The bytes of a file, as base64.",
        json_schema_extra=published.FILE,
    )
    text: Annotated[StrictStr, Field(max_length=100_000)] = ""
    rows: Annotated[list[list[_Cell]], PlainValidator(_plain_rows, json_schema_input_type=list[list[_Cell]])] = []
    header: StrictBool = True
    """Whether the first row names the columns."""
    read_by: Annotated[StrictStr, Field(max_length=200)] = ""
    digest: Annotated[StrictStr, Field(max_length=64)] = ""
    cut: Annotated[StrictStr, Field(max_length=20)] = ""
    edited: StrictBool = False


class ReadRequest(_Body):
    """Body of ``POST /api/attachments``: one file, read as a run would read it."""

    name: StrictStr = Field(min_length=1, max_length=300)
    data: StrictStr = Field(
        min_length=1,
        validation_alias=_CONTENT,
        description="The bytes of a file, as base64.",
        json_schema_extra=published.FILE,
    )
    question: Annotated[StrictStr, Field(max_length=2000)] = ""
    """What a vision model should look for; text recognition does not need it."""
    vision: Annotated[StrictStr, Field(max_length=200, json_schema_extra=published.MODEL)] = ""
    """``builtin`` for text recognition, or a vision model; empty: the one that the settings name."""


class SettingsRequest(_Body):
    """A workflow and its settings; ``config`` takes the fields of ``RunConfig``."""

    workflow: _Workflow | None = None
    """None: the one that ``config`` names, or the four-node loop."""
    config: Annotated[
        dict[str, Any],
        AfterValidator(_shallow),
        Field(description=_config_in_words(), json_schema_extra=published.config()),
    ] = {}

    def over(self, settings: Settings) -> RunConfig:
        """The defaults of the settings with what is named here; raises ``InvalidConfig``."""
        named = {"workflow": self.workflow} if self.workflow else {}
        return with_listed_address(settings, settings.defaults_of_runs.over({**self.config, **named}))


class CheckRequest(SettingsRequest):
    """Body of ``POST /api/runs/check``."""

    question: StrictStr = Field(min_length=1, json_schema_extra=published.NOT_BLANK)


class RunRequest(CheckRequest):
    """Body of ``POST /api/runs``."""

    attachments: Annotated[list[AttachmentBody], Field(max_length=50)] = []
    """Images and tables of the question; only graph + vector retrieval looks at them."""
    wait: StrictBool = True
    trial: StrictBool = False
    """Whether the run is to show what settings do: what runs of this very question left is not recalled, and nothing is
    left behind."""


class SwitchRequest(_Body):
    """Body of ``PUT /api/collections/{name}/weak-points``."""

    on: StrictBool


class AnswerJudgementRequest(_Body):
    """Body of ``PUT /api/runs/{run_id}/answer/judgement``."""

    right: Literal["yes", "in_part", "no"] | None = Field(description="Null takes back what this judge said.")
    explanation: StrictStr = Field("", max_length=4000)
    judge: StrictStr = Field("", max_length=120, description="Name of the judge; each has a judgement of their own.")
    drawn: Literal["random", "chosen", ""] = Field(
        "", description="How the answer came to be judged; only those drawn at random stand for others."
    )


class AnswerVerdictRequest(_Body):
    """Body of ``POST /api/runs/{run_id}/answer/verdict``."""

    model: StrictStr = Field(
        "", max_length=200, description="The judge; empty: the judge of ``WORKBENCH_ROLE_MODELS``."
    )


class GraphRequest(_Body):
    """Body of ``POST /api/collections/{name}/graph``."""

    extractor: Annotated[StrictStr, Field(max_length=200, json_schema_extra=published.MODEL)] = ""
    """``builtin``, ``ollama:MODEL`` or ``provider:model``; empty: the one that the settings name."""
    replace: StrictBool = False
    """Whether a graph that another extractor has read may be thrown away."""


class DraftsRequest(_Body):
    """Body of ``POST /api/collections/{name}/drafts``."""

    limit: StrictInt = Field(40, ge=1, le=200)
    model: Annotated[StrictStr, Field(max_length=200, json_schema_extra=published.MODEL)] = ""
    """The chat model that writes the questions; empty: the generator where a run names none."""


class DraftDecision(_Body):
    """Body of ``PUT /api/drafts/{draft_id}``."""

    state: Literal["open", "accepted", "refused"]
    set: Annotated[StrictStr, Field(max_length=200)] = ""
    """The query set that an accepted question goes into; made where there is none."""
    question: Annotated[StrictStr, Field(max_length=20_000)] | None = None
    """Other words for it; left out: as it was drafted."""
    gold_answers: Annotated[list[Annotated[StrictStr, Field(max_length=2000)]], Field(max_length=10)] | None = None


class JudgementsRequest(_Body):
    """Body of ``POST /api/query-sets/{name}/judgements``: one file."""

    content: StrictStr = Field(min_length=1, max_length=50_000_000)
    name: Annotated[StrictStr, Field(max_length=300)] = ""
    format: Literal["qrels", "quepid", "jsonl"] | None = None
    """Left out: recognised by the content."""
    judge: Annotated[StrictStr, Field(max_length=80)] = ""
    """Whose judgements they are, where the file does not say."""
    relevant_from: StrictInt = Field(1, ge=0, le=100)
    """The least rating that means relevant."""


class RunsQuery(BaseModel):
    """Filters of ``GET /api/runs``; ``before`` is the ``cursor`` of the last run already seen."""

    limit: int = Field(50, ge=1, le=500)
    outcome: Outcome | None = None
    text: str | None = Field(None, max_length=2000)
    tag: str | None = Field(None, max_length=200)
    without_tag: str | None = Field(None, max_length=200)
    workflow: _Workflow | None = None
    collection: str | None = Field(None, max_length=200)
    author: str | None = Field(None, max_length=200)
    before: str | None = Field(None, max_length=200, description="The `cursor` of the last run already seen.")

    def filters(self) -> Filters:
        # The plus sign of a cursor's time means a space in an address that was put together without encoding it.
        before = self.before.replace(" ", "+") if self.before else None
        return Filters(
            before=before,
            outcome=self.outcome,
            text=self.text,
            tag=self.tag,
            without_tag=self.without_tag,
            workflow=self.workflow,
            collection=self.collection,
            author=self.author,
        )


class WhatIfRequest(_Body):
    """Body of ``POST /api/runs/{run_id}/what-if``: fields of ``RunConfig``; those left out are the run's own."""

    config: Annotated[dict[str, Any], AfterValidator(_shallow), Field(json_schema_extra=published.config())] = {}


class ForkChanges(_Body):
    """Body of ``POST /api/runs/{run_id}/fork/price``: what a branch changes, and from which round on."""

    config: Annotated[dict[str, Any], AfterValidator(_shallow), Field(json_schema_extra=published.config())] = {}
    """Fields of ``RunConfig``; those left out are the run's own."""
    round: StrictInt | None = Field(None, ge=0)
    """Where it begins; left out: at round 0, or where the run, a branch itself, parted."""
    query: StrictStr = ""
    """What this round searches instead of its own query; empty: its own."""
    verdicts: dict[StrictStr, StrictBool] = {}
    """By passage id: whether it counts as relevant, no matter what the grader said."""


class ForkRequest(ForkChanges):
    """Body of ``POST /api/runs/{run_id}/fork``."""

    wait: StrictBool = True


def _tokens(name: str) -> Any:
    low, high = CHUNK_LIMITS[name]
    return Field(getattr(DEFAULT_CHUNKS, name), ge=low, le=high)


class Chunks(_Body):
    """Size and overlap of the passages of a file, in estimated tokens."""

    target_tokens: StrictInt = _tokens("target_tokens")
    most_tokens: StrictInt = _tokens("most_tokens")
    overlap_tokens: StrictInt = _tokens("overlap_tokens")
    """Longest sentence that two neighbouring passages of one section share."""

    def options(self) -> ChunkOptions:
        """Build the chunk options; raises ``InvalidConfig`` where the three do not go together."""
        return ChunkOptions(self.target_tokens, self.most_tokens, self.overlap_tokens)


def _embeds(model: str) -> str:
    provider, _, name = model.partition(":")
    if model not in ("", "builtin", "hashing") and (provider not in ("ollama", "local") or not name.strip()):
        raise ValueError("must be `builtin`, `hashing`, `ollama:NAME` or `local:FILE`")
    return model


class SourceRequest(_Body):
    """Body of ``POST /api/collections/{name}/sources``: one file."""

    name: StrictStr = Field(min_length=1, max_length=300)
    content_base64: StrictStr = Field(validation_alias=_CONTENT, json_schema_extra=published.FILE)
    query_prefix: StrictStr | None = None
    passage_prefix: StrictStr | None = None
    """Prefixes of a collection that this file begins; None: those known for the model."""
    context: PassageContext | None = None
    """What is embedded in front of the passages of a collection that this file begins: nothing, their headings, or
    these and a sentence by a chat model. With sentences a file of any size goes in as a job."""
    context_model: StrictStr = Field("", max_length=200)
    """The chat model that writes these sentences; empty: the extractor of the settings."""
    chunks: Chunks = Chunks()
    hidden: StrictBool = False
    """Whether what the file's author hid goes in too: text, slides, rows, columns, sheets."""
    embedding_model: Annotated[
        StrictStr, Field(max_length=200, json_schema_extra=published.EMBEDDING_MODEL), AfterValidator(_embeds)
    ] = ""
    """``builtin``, ``hashing``, ``ollama:NAME`` or ``local:FILE``; empty: that of the collection or of the settings."""


class FieldProblem(BaseModel):
    """Error in one field, without the value sent."""

    field: str
    problem: str


class ErrorBody(BaseModel):
    """Every answer of the API that is not a success."""

    success: Literal[False] = False
    code: str
    """Stable; ``WB`` and three digits."""
    fact: str
    remedy: str
    field: str | None = None
    errors: list[FieldProblem] | None = None
    runId: str | None = None
    """Where a run had begun."""


SEED_FIELD_RANGES = {
    "topK": "top_k",
    "similarityThreshold": "similarity_threshold",
    "maxRewriteAttempts": "max_rewrites",
    "gradePassThreshold": "grade_pass_threshold",
}
"""Which parameter's range a field of the seed request has."""
