"""The record of a whole run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.model.config import RunConfig, SearchMethod, WorkflowName, declared
from engine.model.values.answers import Citation, Context, Draft, SentenceCheck, UnsupportedMarker, UnsupportedSentence
from engine.model.values.attachments import Attachment, CellCitation
from engine.model.values.calls import Fault, ModelCall, NodeExecution, ReasonAsked, counted
from engine.model.values.chats import Chat
from engine.model.values.decisions import Decision, Rewrite
from engine.model.values.graphs import QueryAnalysis
from engine.model.values.memories import Memory, Recall, RouteChoice, TriedRoute
from engine.model.values.names import BY_HAND, AnswerNote, Outcome, PassageId, RunId, Support
from engine.model.values.origin import Origin
from engine.model.values.rounds import Passage, Round, Verdict
from engine.model.values.surroundings import Surrounding

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Fork:
    """The round at which a run branched off another one, and what was changed there; everything before was reused."""

    parent: RunId
    round: int = 0
    """The round whose decision is made again; the rounds before it stand as the parent had them."""
    settings: tuple[str, ...] = ()
    """Names of the settings that were changed."""
    query: str = ""
    """The query that this round searches instead of its own; empty where it was not changed."""
    verdicts: Mapping[PassageId, bool] = field(default_factory=dict)
    """Verdicts set by hand: whether the passage counts as relevant."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The picture of a run, made by folding its events; while it is running, ``outcome`` is None."""

    id: RunId
    question: str
    config: RunConfig
    started_at: str
    """ISO 8601, UTC."""
    manifest: Mapping[str, str] = field(default_factory=dict)
    """Versions, models with digests, collection fingerprint: what is needed to explain the run later."""
    fork: Fork | None = None
    """None for a run that began by itself."""
    trial: bool = False
    """Whether it was run to see what settings do: it recalls nothing that runs of this very question left, and leaves
    nothing behind itself."""
    author: str = ""
    """Who asked, where people sign in."""
    origin: Origin | None = None
    """The trace of another program that it was made from; None for a run that was made here."""
    chat: Chat | None = None
    """None for a run that did not begin in a chat of another program."""
    rounds: tuple[Round, ...] = ()
    decisions: tuple[Decision, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    nodes: tuple[NodeExecution, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    surroundings: tuple[Surrounding, ...] | None = None
    """What surrounds the candidates of all rounds, without those that are candidates themselves; None where nothing
    was asked for or could be read."""
    context: Context | None = None
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    removed_markers: tuple[str, ...] = ()
    cell_citations: tuple[CellCitation, ...] = ()
    unsupported: tuple[UnsupportedMarker, ...] = ()
    """Markers taken out of the answer because what they point to does not bear the sentence out."""
    attachments: tuple[Attachment, ...] = ()
    """Images and tables of the question, as they were read."""
    analysis: QueryAnalysis | None = None
    """Of the query (graph + vector retrieval)."""
    drafts: tuple[Draft, ...] = ()
    """Every answer of a workflow that evaluates its answers; ``answer`` is the one that stands."""
    recall: Recall | None = None
    route: RouteChoice | None = None
    tried_routes: tuple[TriedRoute, ...] = ()
    remembered: Memory | None = None
    """What this run left in long-term memory."""
    outcome: Outcome | None = None
    reason: str = ""
    answer_note: AnswerNote = ""
    unsupported_sentences: tuple[UnsupportedSentence, ...] | None = None
    """What the answer says and its sources do not; None where that was not checked."""
    checks: tuple[SentenceCheck, ...] | None = None
    """Every sentence that was checked; None where none was, and in runs of older versions."""
    error: Fault | None = None
    warnings: tuple[Fault, ...] = ()
    duration_ms: float = 0.0
    last_seq: int = 0
    reasons: tuple[ReasonAsked, ...] = ()
    """Reasons of verdicts that were asked for once the run was over; those that came stand with the verdicts too."""

    @property
    def workflow(self) -> WorkflowName:
        return self.config.workflow

    @property
    def collection(self) -> str:
        """The collection that was searched, by its own name: the settings may have an alias of it."""
        return self.manifest.get("collection", self.config.collection)

    @property
    def search(self) -> SearchMethod:
        """How passages were looked for: by vectors where the collection has no words."""
        done = self.manifest.get("search", self.config.search)
        return "full_text" if done == "full_text" else "fused" if done == "fused" else "vector"

    @property
    def tables(self) -> tuple[Attachment, ...]:
        """Tables of the question, in order: ``[T1:B3]`` is a cell of the first one."""
        return tuple(item for item in self.attachments if item.kind == "table")

    @property
    def active(self) -> bool:
        return self.outcome is None

    @property
    def support(self) -> Support:
        """True if what the answer says stands in what it cites."""
        if self.unsupported_sentences is None:
            return "unchecked"
        return self.answer_note or "supported"

    @property
    def query(self) -> str:
        """The query of the newest round."""
        return self.rounds[-1].query if self.rounds else self.question

    @property
    def passages(self) -> dict[PassageId, Passage]:
        """Every passage that a search found, by id and in the order of first sight, as the newest round saw it."""
        return {item.passage.id: item.passage for current in self.rounds for item in current.candidates}

    @property
    def unexplained(self) -> dict[PassageId, Verdict]:
        """Verdicts of one word that have no reason, by passage, those not counted for which none could be had."""
        asked = {item.passage_id for item in self.reasons}
        verdicts = ((name, verdict) for current in self.rounds for name, verdict in current.verdicts.items())
        return {
            name: verdict
            for name, verdict in verdicts
            if verdict.kind == "token" and not verdict.reason and name not in asked
        }

    def first_verdicts(self, *, by_hand: bool = True) -> dict[PassageId, Verdict]:
        """Map every passage to its first readable verdict, else its first one; those ``by_hand`` can be left out."""
        found: dict[PassageId, Verdict] = {}
        for name, verdict in ((name, verdict) for current in self.rounds for name, verdict in current.verdicts.items()):
            former = found.get(name)
            better = former is None or (former.relevant is None and verdict.relevant is not None)
            if better and (by_hand or verdict.grader != BY_HAND):
                found[name] = verdict
        return found

    @property
    def screened(self) -> dict[PassageId, Verdict]:
        """What the screener of a cascade said of every passage that it saw; empty without one."""
        return {name: verdict for current in self.rounds for name, verdict in current.screened.items()}

    @property
    def best_similarity(self) -> float | None:
        """The best of all rounds; None where no search found anything."""
        return max((best for item in self.rounds if (best := item.best_similarity) is not None), default=None)

    @property
    def pass_rates(self) -> Mapping[int, float]:
        """The pass rate of every round that the grader's gate decided on; answers are judged separately."""
        gate = declared(self.workflow).gate
        return {item.round: item.pass_rate for item in self.decisions if item.node == gate}

    @property
    def quality_scores(self) -> Mapping[int, float]:
        """The quality score of every round that routes it; empty where passages are not scored."""
        return {item.index: item.quality.routing_score for item in self.rounds if item.quality is not None}

    @property
    def calls(self) -> int:
        """Chat-model invocations as if nothing had been cached; built-in ones are counted separately."""
        return counted(self.model_calls).done

    @property
    def cached_calls(self) -> int:
        return counted(self.model_calls).cached

    @property
    def built_in_calls(self) -> int:
        return counted(self.model_calls).steps

    def graded(self, round_index: int) -> list[tuple[Passage, Verdict]]:
        """Passages of a round that have a verdict, in rank order."""
        verdicts = self.rounds[round_index].verdicts
        passages = (candidate.passage for candidate in self.rounds[round_index].candidates)
        return [(passage, verdicts[passage.id]) for passage in passages if passage.id in verdicts]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values with the derived figures; ``records.codec.record_from_dict`` reads them back."""
        plain: dict[str, Any] = record_adapter().dump_python(self, mode="json")
        for decision, value in zip(plain["decisions"], self.decisions, strict=True):
            decision["pass_rate"] = value.pass_rate
            decision["inequality"] = value.inequality
        plain["workflow"] = self.workflow
        plain["support"] = self.support
        plain["calls"] = {"chat": self.calls, "cached": self.cached_calls, "built_in": self.built_in_calls}
        return plain


@cache
def record_adapter() -> TypeAdapter[RunRecord]:
    """Reads and writes records as plain values; made when first needed."""
    from pydantic import TypeAdapter

    return TypeAdapter(RunRecord)
