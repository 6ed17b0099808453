"""What pages, command line and API get about collections, ingestions and graphs, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from engine.errors import InvalidConfig
from engine.model.values import Account, Fault, PassageId, SourceKind
from engine.model.values import SourceNote as SourceNote  # noqa: PLC0414  read from here by pages and components
from engine.roles import StoredPassage
from engine.roles.graph import GraphInfo

JobState = Literal[
    "waiting",
    "reading",
    "embedding",
    "writing",
    "describing",
    "extracting",
    "summarising",
    "indexing",
    "measuring",
    "downloading",
    "done",
    "stopped",
    "failed",
    "interrupted",
]
"""``describing`` writes sentences of context, ``extracting`` and ``summarising`` build a knowledge graph, ``indexing``
and ``measuring`` are of an index.

``stopped`` by the user and ``interrupted`` by the end of the process can both be resumed."""
JobKind = Literal["ingest", "reembed", "add_full_text", "graph", "index", "pull", "draft"]
IN_COLLECTIONS: frozenset[JobKind] = frozenset({"ingest", "reembed", "add_full_text", "graph", "index"})
"""Those that write into a collection, one after the other."""

CHUNK_LIMITS: dict[str, tuple[int, int]] = {
    "target_tokens": (40, 1000),
    "most_tokens": (60, 1500),
    "overlap_tokens": (0, 200),
}


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Cutting of documents into passages, in estimated tokens; raises ``InvalidConfig`` out of range."""

    target_tokens: int = 200
    most_tokens: int = 320
    overlap_tokens: int = 60
    """Longest sentence that two neighbouring pieces of one section share; 0 for none."""

    def __post_init__(self) -> None:
        for name, (low, high) in CHUNK_LIMITS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise InvalidConfig.out_of_range(field=name, low=low, high=high)
        if self.most_tokens < self.target_tokens:
            raise InvalidConfig.out_of_range(
                field="most_tokens", low=self.target_tokens, high=CHUNK_LIMITS["most_tokens"][1]
            )
        if self.overlap_tokens > self.target_tokens // 2:
            raise InvalidConfig.out_of_range(field="overlap_tokens", low=0, high=self.target_tokens // 2)

    @property
    def key(self) -> str:
        """Value recorded with a source; empty for the defaults, so that earlier sources count as cut by them."""
        if self == ChunkOptions():
            return ""
        return f"{self.target_tokens}/{self.most_tokens}/{self.overlap_tokens}"


DEFAULT_CHUNKS = ChunkOptions()


@dataclass(frozen=True, slots=True)
class PreviewedSource:
    """One readable file, cut but neither embedded nor written."""

    name: str
    title: str
    format: str
    """Suffix without its dot, in small letters."""
    kind: SourceKind
    size: int
    """In bytes."""
    encoding: str
    """Of a text file; empty for formats that say it themselves."""
    passages: tuple[StoredPassage, ...]
    tokens: tuple[int, ...]
    """Estimated tokens of each passage."""
    account: Account = field(default_factory=Account)
    """What was read of it and what was left out."""
    same_as: str = ""
    """Source of the collection, or earlier file of the batch, with the same content; this one will be skipped."""
    replaces: bool = False
    """A source of this name with other content is there and will be replaced."""
    recorded: bool = False
    """It is there as it is, and only what was read of it will be recorded."""


@dataclass(frozen=True, slots=True)
class ContextPrice:
    """What sentences of context for some passages cost, before they are written."""

    model: str
    calls: int
    tokens: int
    """Estimated, of all prompts."""
    seconds: float | None
    """Estimated; None for a model that was never timed here."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Preview of an ingestion."""

    sources: tuple[PreviewedSource, ...]
    failed: tuple[tuple[str, Fault], ...]
    """Files that cannot be used, with the reason."""
    passages: int
    """To embed: those of files that will not be skipped."""
    seconds: float | None
    """Estimated time of embedding them; None for a model that was never timed here and whose usual pace is unknown."""
    measured: bool = True
    """The time is by the pace measured on this machine, and not by that of a common one."""
    writing: ContextPrice | None = None
    """Of the sentences of context, where a chat model writes them; not in ``seconds``."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How far one job has come; a new value at every change."""

    id: str
    kind: JobKind
    collection: str
    """Where passages go, or drafts come from; empty for the download of a model."""
    state: JobState
    started_at: str
    """ISO 8601, UTC."""
    files: int
    """Files, or sources, to work on."""
    files_done: int = 0
    done: int = 0
    total: int = 0
    """Passages to embed, or to read for a graph."""
    per_second: float = 0.0
    remaining_s: float | None = None
    source: str = ""
    """The source being worked on."""
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """File and the source that has the same content."""
    failed: tuple[tuple[str, Fault], ...] = ()
    notes: tuple[tuple[str, SourceNote], ...] = ()
    """What a reader should know of files that went in."""
    passages: int = 0
    """Written by now."""
    seconds: float = 0.0
    fault: Fault | None = None
    """What ended a failed job."""
    extractor: str = ""
    """The model: what reads the passages of a graph or is ``builtin`` there, what writes drafts, or is downloaded."""
    entities: int = 0
    relationships: int = 0
    communities: int = 0
    unreadable: int = 0
    """Passages of which the model's reply could not be read: the next building of a graph tries them again, and
    without a sentence of context they stand under their headings alone."""
    follow_up: str = ""
    """Id of the job that builds the graph once this ingestion is done; empty until then, and where none was asked."""
    author: str = ""
    """Who began it, where people sign in."""

    @property
    def over(self) -> bool:
        return self.state in ("done", "stopped", "failed", "interrupted")

    @property
    def resumable(self) -> bool:
        return self.state in ("stopped", "failed", "interrupted")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, its files in the form that an ingestion's report has."""
        plain = asdict(self)
        del plain["author"]
        return {
            **plain,
            "resumable": self.resumable,
            "added": list(self.added),
            "replaced": list(self.replaced),
            "skipped": [{"name": name, "same_as": same} for name, same in self.skipped],
            "failed": [{"name": name, **fault.said()} for name, fault in self.failed],
            "notes": [{"name": name, "code": note.code, "params": note.params} for name, note in self.notes],
            "fault": self.fault.said() if self.fault else None,
        }


@dataclass(frozen=True, slots=True)
class Job:
    """A line of the list of jobs, the same for every kind; batches are among them."""

    id: str
    kind: JobKind | Literal["batch"]
    title: str
    """The collection, the model of a download, or the query set of a batch."""
    state: JobState | Literal["running"]
    done: int
    total: int
    """Passages, bytes of a download, or questions of a batch; 0 where it is not known yet."""
    per_second: float
    remaining_s: float | None
    started_at: str
    """ISO 8601, UTC."""
    author: str
    """Who began it, where people sign in."""
    fault: Fault | None = None
    """What ended it."""

    @classmethod
    def of(cls, status: JobStatus) -> Job:
        """The line of a job that is no batch."""
        title = status.collection or status.extractor
        counts = (status.done, status.total, status.per_second, status.remaining_s)
        return cls(status.id, status.kind, title, status.state, *counts, status.started_at, status.author, status.fault)

    @property
    def over(self) -> bool:
        return self.state in ("done", "stopped", "failed", "interrupted")

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "fault": self.fault.said() if self.fault else None}


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """One hit of a search on the Knowledge page."""

    passage: StoredPassage
    similarity: float
    cosine: float
    vector_rank: int | None = None
    text_rank: int | None = None
    text_score: float | None = None


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A passage's place on the two-dimensional map."""

    id: PassageId
    source: str
    section: str
    text: str
    """Its first characters."""
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class PassageMap:
    """Passages of a collection, and a query, on their first two principal components."""

    points: tuple[MapPoint, ...]
    explained: tuple[float, float]
    """Shares of the variance that the two axes show, in [0, 1]."""
    total: int
    """Passages of the collection: more than ``points`` where only a sample is drawn."""
    query: tuple[float, float] | None = None
    hits: tuple[PassageId, ...] = ()
    """Nearest to the query, best first."""


@dataclass(frozen=True, slots=True)
class RemoteField:
    """A field of a collection that another program made."""

    name: str
    type: str
    """As Milvus calls it, e.g. ``VARCHAR``; ``dynamic`` for a key seen in the dynamic field."""
    primary: bool = False
    dim: int = 0
    """Of a vector field."""
    metric: str = ""
    """Of a vector field's index; empty without one."""
    sample: str = ""
    """The beginning of one row's value."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Role of each field; an empty name means that there is none."""

    id: str
    text: str
    vector: str
    source: str = ""
    title: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class ProposedModel:
    """An embedding model that the vectors of a collection may come from."""

    model: str
    """``builtin``, ``hashing``, ``ollama:NAME`` or ``local:FILE``."""
    dim: int
    available: bool
    """Whether it can be used here now."""
    why: str
    """Code of the reason: ``dimension``, ``installed``, ``not_pulled``, ``recorded``."""
    tokens_per_s: float | None = None
    """How fast it makes vectors; None for a model that was never timed here and whose usual pace is unknown."""
    measured: bool = False
    """The pace is that of this machine, and not that of a common one."""


Advice = Literal["lite_slow", "lite_large", "server_small"]


@dataclass(frozen=True, slots=True)
class GrowthAdvice:
    """Advice on the store for a collection's size; see the table of ``tests.benchmarks growth``."""

    code: Advice
    passages: int
    search_ms: float
    """Expected on this kind of store at this size, from the measured table."""


@dataclass(frozen=True, slots=True)
class GraphState:
    """The graph of one collection, as far as it is."""

    info: GraphInfo
    """Empty, with the extractor of the job, while nothing was read yet."""
    stale: bool
    """Whether the collection has changed since the graph was finished."""
    collection_passages: int
    """Passages that the collection has now; ``info.passages`` were read."""
    job: JobStatus | None = None
    """The job that builds it and is not done: it is running, waits, or can be resumed."""

    @property
    def unread(self) -> int:
        """Passages that another building would read, at least."""
        return max(0, self.collection_passages - self.info.passages)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values."""
        return {
            "graph": {**asdict(self.info), "finished": self.info.finished},
            "stale": self.stale,
            "collection_passages": self.collection_passages,
            "job": self.job.to_dict() if self.job is not None else None,
        }
