"""Typed events of a run, and :func:`fold`: the one way a picture of a run is made, live or replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

from engine.model.config import RunConfig
from engine.model.values import (
    AnswerNote,
    Attachment,
    Candidate,
    CellCitation,
    Chat,
    Citation,
    Context,
    Decision,
    Draft,
    Evaluation,
    Excerpt,
    Fault,
    Fork,
    FoundSection,
    GraphEvidence,
    Memory,
    ModelCall,
    NodeExecution,
    Origin,
    Outcome,
    PassageId,
    QualityCheck,
    QueryAnalysis,
    ReasonAsked,
    Recall,
    Rewrite,
    Round,
    RouteChoice,
    Routing,
    RunId,
    RunRecord,
    SentenceCheck,
    SetVerdict,
    Strategy,
    Surrounding,
    Translation,
    TriedRoute,
    UnsupportedMarker,
    UnsupportedSentence,
    Verdict,
)

Picture = RunRecord | SimpleNamespace
"""A record as far as it has come; a namespace with its fields while many events are folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    seq: int = 0
    """From 1, per run; assigned when the event is emitted."""
    t_ms: float = 0.0
    """Since the run began."""
    stored: ClassVar[bool] = True
    """Whether the record keeps a row for it; token deltas are not rows."""
    sets: ClassVar[Mapping[str, str]] = {}
    """By field of the record: the field of the event that it becomes."""
    adds: ClassVar[Mapping[str, str]] = {}
    """By list of the record: the field of the event that is put at its end."""

    def changes(self, record: Picture) -> dict[str, Any]:
        """New values of the fields of the record that it changes."""
        changed = {name: getattr(self, own) for name, own in self.sets.items()}
        return changed | {name: (*getattr(record, name), getattr(self, own)) for name, own in self.adds.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(_Event):
    run_id: RunId
    question: str
    config: RunConfig
    started_at: str
    fork: Fork | None = None
    attachments: tuple[Attachment, ...] = ()
    trial: bool = False
    author: str = ""
    origin: Origin | None = None
    chat: Chat | None = None
    kind: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(_Event):
    """The collection is open and the roles are chosen; the manifest says which."""

    manifest: Mapping[str, str]
    kind: Literal["prepared"] = "prepared"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"manifest": {**record.manifest, **self.manifest}}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStarted(_Event):
    node: str
    round: int
    visit: int
    kind: Literal["node_started"] = "node_started"

    def changes(self, record: Picture) -> dict[str, Any]:
        execution = NodeExecution(node=self.node, round=self.round, visit=self.visit, start_ms=self.t_ms)
        return {"nodes": (*record.nodes, execution)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinished(_Event):
    execution: NodeExecution
    kind: Literal["node_finished"] = "node_finished"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"nodes": _with_finished(record.nodes, self.execution)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(_Event):
    """A round begins: its query was searched, or the former candidates stand (``searched`` false)."""

    round: int
    query: str
    candidates: tuple[Candidate, ...]
    floor: float
    anchors: str
    searched: bool = True
    rewrite_input: str = ""
    routing: Routing | None = None
    strategy: Strategy | None = None
    attempt: int = 0
    sections: tuple[FoundSection, ...] = ()
    graph: GraphEvidence | None = None
    parts: tuple[str, ...] = ()
    translation: Translation | None = None
    kind: Literal["retrieved"] = "retrieved"

    @classmethod
    def opening(cls, opened: Round) -> Retrieved:
        """The event that begins a round with what its search found; verdicts come in events of their own."""
        return cls(round=opened.index, **_shared(opened, cls))

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"rounds": (*record.rounds, Round(index=self.round, **_shared(self, Round)))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed(_Event):
    """The source kinds of the coming round are chosen (quality-control loop)."""

    round: int
    routing: Routing
    kind: Literal["routed"] = "routed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused(_Event):
    """The lists of a round became one: its candidates in their new order, with gates and margins."""

    round: int
    candidates: tuple[Candidate, ...]
    kind: Literal["fused"] = "fused"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"rounds": _with_round(record.rounds, self.round, candidates=self.candidates)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed(_Event):
    """The query was looked at before anything is searched (graph + vector retrieval)."""

    analysis: QueryAnalysis
    kind: Literal["analysed"] = "analysed"
    sets: ClassVar[Mapping[str, str]] = {"analysis": "analysis"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked(_Event):
    """The kept passages of a round by P(relevant), best first."""

    round: int
    order: tuple[PassageId, ...]
    kind: Literal["reranked"] = "reranked"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"rounds": _with_round(record.rounds, self.round, reranked=self.order)}


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityChecked(_Event):
    round: int
    check: QualityCheck
    kind: Literal["quality_checked"] = "quality_checked"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"rounds": _with_round(record.rounds, self.round, quality=self.check)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecalled(_Event):
    recall: Recall
    kind: Literal["memory_recalled"] = "memory_recalled"
    sets: ClassVar[Mapping[str, str]] = {"recall": "recall"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteChosen(_Event):
    choice: RouteChoice
    kind: Literal["route_chosen"] = "route_chosen"
    sets: ClassVar[Mapping[str, str]] = {"route": "choice"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTried(_Event):
    tried: TriedRoute
    kind: Literal["route_tried"] = "route_tried"
    adds: ClassVar[Mapping[str, str]] = {"tried_routes": "tried"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKept(_Event):
    memory: Memory
    kind: Literal["memory_kept"] = "memory_kept"
    sets: ClassVar[Mapping[str, str]] = {"remembered": "memory"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBegun(_Event):
    """Another answer begins: what was streamed of the one before is no longer the answer."""

    draft: int
    kind: Literal["answer_begun"] = "answer_begun"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"answer": "", "citations": (), "removed_markers": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted(_Event):
    """An answer is complete and will be evaluated; :class:`AnswerCompleted` makes it the run's."""

    draft: Draft
    kind: Literal["drafted"] = "drafted"
    adds: ClassVar[Mapping[str, str]] = {"drafts": "draft"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated(_Event):
    draft: int
    evaluation: Evaluation
    seen: tuple[Excerpt, ...] = ()
    kind: Literal["evaluated"] = "evaluated"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"drafts": _with_evaluation(record.drafts, self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageGraded(_Event):
    round: int
    passage_id: PassageId
    verdict: Verdict
    reused: bool = False
    kind: Literal["passage_graded"] = "passage_graded"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"rounds": _with_verdict(record.rounds, self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageScreened(_Event):
    """The screener of a cascade judged a passage; where its verdict stands, it follows as that of the round."""

    round: int
    passage_id: PassageId
    verdict: Verdict
    kind: Literal["passage_screened"] = "passage_screened"

    def changes(self, record: Picture) -> dict[str, Any]:
        screened = {**record.rounds[self.round].screened, self.passage_id: self.verdict}
        return {"rounds": _with_round(record.rounds, self.round, screened=screened)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetJudged(_Event):
    """The passages that passed were judged together."""

    round: int
    verdict: SetVerdict
    kind: Literal["set_judged"] = "set_judged"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"rounds": _with_round(record.rounds, self.round, whole=self.verdict)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(_Event):
    call: ModelCall
    kind: Literal["model_called"] = "model_called"
    adds: ClassVar[Mapping[str, str]] = {"model_calls": "call"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(_Event):
    decision: Decision
    kind: Literal["decided"] = "decided"
    adds: ClassVar[Mapping[str, str]] = {"decisions": "decision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten(_Event):
    rewrite: Rewrite
    kind: Literal["rewritten"] = "rewritten"
    adds: ClassVar[Mapping[str, str]] = {"rewrites": "rewrite"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surrounded(_Event):
    """What surrounds candidates was read; what is among them, or was read before, is left out."""

    surroundings: tuple[Surrounding, ...]
    kind: Literal["surrounded"] = "surrounded"

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"surroundings": (*(record.surroundings or ()), *self.surroundings)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAssembled(_Event):
    context: Context
    kind: Literal["context_assembled"] = "context_assembled"
    sets: ClassVar[Mapping[str, str]] = {"context": "context"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStreamed(_Event):
    text: str
    kind: Literal["token_streamed"] = "token_streamed"
    stored: ClassVar[bool] = False

    def changes(self, record: Picture) -> dict[str, Any]:
        return {"answer": record.answer + self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCompleted(_Event):
    answer: str
    citations: tuple[Citation, ...] = ()
    removed_markers: tuple[str, ...] = ()
    cell_citations: tuple[CellCitation, ...] = ()
    unsupported: tuple[UnsupportedMarker, ...] = ()
    kind: Literal["answer_completed"] = "answer_completed"
    sets: ClassVar[Mapping[str, str]] = {
        name: name for name in ("answer", "citations", "removed_markers", "cell_citations", "unsupported")
    }

    @classmethod
    def of(cls, draft: Draft) -> AnswerCompleted:
        """The event that makes a draft the answer."""
        return cls(answer=draft.text, citations=draft.citations, removed_markers=draft.removed_markers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(_Event):
    warning: Fault
    kind: Literal["warned"] = "warned"
    adds: ClassVar[Mapping[str, str]] = {"warnings": "warning"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(_Event):
    outcome: Outcome
    reason: str
    error: Fault | None = None
    answer_note: AnswerNote = ""
    unsupported_sentences: tuple[UnsupportedSentence, ...] | None = None
    """None where the answer was not checked, and in runs of older versions."""
    checks: tuple[SentenceCheck, ...] | None = None
    kind: Literal["run_finished"] = "run_finished"
    sets: ClassVar[Mapping[str, str]] = {
        name: name for name in ("outcome", "reason", "error", "answer_note", "unsupported_sentences", "checks")
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonGiven(_Event):
    """The reason of a verdict was asked for once the run was over: the one event that may follow ``run_finished``."""

    asked: ReasonAsked
    kind: Literal["reason_given"] = "reason_given"

    def changes(self, record: Picture) -> dict[str, Any]:
        rounds = tuple(_with_reason(current, self.asked) for current in record.rounds)
        return {"reasons": (*record.reasons, self.asked), "rounds": rounds}


Event = (
    RunStarted
    | Prepared
    | NodeStarted
    | NodeFinished
    | Retrieved
    | Routed
    | Fused
    | Analysed
    | Reranked
    | QualityChecked
    | MemoryRecalled
    | RouteChosen
    | RouteTried
    | MemoryKept
    | AnswerBegun
    | Drafted
    | Evaluated
    | PassageGraded
    | PassageScreened
    | SetJudged
    | ModelCalled
    | Decided
    | Rewritten
    | Surrounded
    | ContextAssembled
    | TokenStreamed
    | AnswerCompleted
    | Warned
    | RunFinished
    | ReasonGiven
)

Emit = Callable[[Event], None]


def fold(record: RunRecord | None, event: Event) -> RunRecord:
    """Add one event to the picture of a run; pure, and deaf to a sequence number it has already seen.

    The first event must be :class:`RunStarted`; raises ``ValueError`` otherwise.
    """
    if isinstance(event, RunStarted):
        if record is not None:
            return record
        return RunRecord(id=event.run_id, last_seq=event.seq, **_shared(event, RunRecord))
    if record is None:
        raise ValueError(f"a run begins with run_started, not {event.kind}")
    if event.seq <= record.last_seq:
        return record
    return replace(record, **_changes(record, event))


def fold_all(events: Iterable[Event]) -> RunRecord:
    """The picture that a whole sequence of events makes, as :func:`fold` would; raises ``ValueError`` for an empty one.

    Made in place: a record of its own for every event would cost most of the time that reading a stored run takes.
    """
    sequence = iter(events)
    first = next(sequence, None)
    if first is None:
        raise ValueError("no events")
    begun = fold(None, first)
    picture = SimpleNamespace(**{item.name: getattr(begun, item.name) for item in fields(begun)})
    for event in sequence:
        if event.seq > picture.last_seq and not isinstance(event, RunStarted):
            vars(picture).update(_changes(picture, event))
    return RunRecord(**vars(picture))


def _changes(record: Picture, event: Event) -> dict[str, Any]:
    changed = event.changes(record)
    changed["last_seq"] = event.seq
    changed["duration_ms"] = max(record.duration_ms, event.t_ms)
    return changed


def _shared(value: Any, kind: type[Any]) -> dict[str, Any]:
    """The fields of a value that another kind of value has too."""
    return {item.name: getattr(value, item.name) for item in fields(value) if item.name in kind.__dataclass_fields__}


def _with_round(rounds: tuple[Round, ...], index: int, **changes: Any) -> tuple[Round, ...]:
    return (*rounds[:index], replace(rounds[index], **changes), *rounds[index + 1 :])


def _with_evaluation(drafts: tuple[Draft, ...], event: Evaluated) -> tuple[Draft, ...]:
    return tuple(
        replace(item, evaluation=event.evaluation, seen=event.seen) if item.index == event.draft else item
        for item in drafts
    )


def _with_verdict(rounds: tuple[Round, ...], event: PassageGraded) -> tuple[Round, ...]:
    current = rounds[event.round]
    reused = (*current.reused, event.passage_id) if event.reused else current.reused
    verdicts = {**current.verdicts, event.passage_id: event.verdict}
    return _with_round(rounds, event.round, verdicts=verdicts, reused=reused)


def _with_reason(current: Round, asked: ReasonAsked) -> Round:
    verdict = current.verdicts.get(asked.passage_id)
    if verdict is None or verdict.kind != "token" or verdict.reason:
        return current
    explained = replace(verdict, reason=asked.reason)
    return replace(current, verdicts={**current.verdicts, asked.passage_id: explained})


def _with_finished(nodes: tuple[NodeExecution, ...], finished: NodeExecution) -> tuple[NodeExecution, ...]:
    same = (finished.node, finished.visit)
    return tuple(finished if (item.node, item.visit) == same else item for item in nodes)
