"""A trace of another program as the evidence of a run: rounds, verdicts and queries, before anything is decided.

Pure. The four-node loop over it comes from :mod:`plugins.traces.deciding`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise

from engine.errors import RunError
from engine.model.config import PARAMETERS, RoleModel, RoleModels, RunConfig
from engine.model.decide import gated
from engine.model.values import (
    IMPORTED,
    NO_SCALE,
    THEIR_SCALE,
    Fault,
    Origin,
    OriginNote,
    Passage,
    PassageId,
    Rewrite,
    Round,
    RunId,
    RunRecord,
    Scale,
    Verdict,
)
from engine.roles.rewrite_input import rewrite_request
from engine.version import __version__
from plugins.traces.foreign import ForeignSearch, ForeignTrace, ForeignVerdict

MOST_CANDIDATES = int(PARAMETERS["probe_k"].high)
MOST_KEPT = int(PARAMETERS["top_k"].high)
_LONGEST_COLLECTION = 60
_NAME = re.compile(r"[^A-Za-z0-9]+")
_LONGEST_MODEL = 80


@dataclass(frozen=True, slots=True)
class Program:
    """Facts about the program behind one import's traces: one program has one way of working."""

    similarity: Scale
    confidence: Scale
    config: RunConfig
    """As far as it is known without looking at where the program went: depth, models, collection."""


def run_id_of(trace: ForeignTrace) -> RunId:
    """The same trace is the same run, however often and from what file it is imported (TR-02)."""
    return RunId(sha256(f"{trace.tool}\0{trace.trace_id}".encode("utf-8", "replace")).hexdigest()[:32])


def program_of(traces: Sequence[ForeignTrace], collection: str = "") -> Program:
    """Combine the facts from all traces of an import."""
    depth = max((len(search.passages) for trace in traces for search in trace.searches), default=1)
    depth = min(max(depth, 1), MOST_CANDIDATES)
    projects = sorted({trace.project for trace in traces if trace.project})
    named = projects[0] if len(projects) == 1 else "traces"
    config = RunConfig(
        collection=collection or f"{IMPORTED}_{_NAME.sub('_', named)}"[:_LONGEST_COLLECTION].rstrip("_"),
        top_k=min(depth, MOST_KEPT),
        probe_k=depth,
        similarity_threshold=0.0,
        max_rewrites=max(3, min(5, max(len(trace.searches) for trace in traces) - 1)),
        budget_s=PARAMETERS["budget_s"].high,
        models=_models(traces),
    )
    return Program(similarity_of(traces), _confidence(traces), config)


def _models(traces: Sequence[ForeignTrace]) -> RoleModels:
    """Roles are played by the models of the other program; where nothing was graded, by the grader that will do it."""
    judged = any(trace.verdicts for trace in traces)
    return RoleModels(
        grader=_model(traces, "grader") if judged else RoleModel(),
        rewriter=_model(traces, "rewriter"),
        generator=_model(traces, "generator"),
    )


def _model(traces: Sequence[ForeignTrace], role: str) -> RoleModel:
    names = sorted({call.model for trace in traces for call in trace.calls if call.role == role and call.model})
    name = names[0] if len(names) == 1 else "several" if names else "unknown"
    return RoleModel(f"{IMPORTED}:{name.strip()[:_LONGEST_MODEL] or 'unknown'}")


def similarity_of(traces: Sequence[ForeignTrace]) -> Scale:
    """``given`` where every score is in [0, 1] and falls with the rank, in all searches of the program (TR-03)."""
    searches = [search for trace in traces for search in trace.searches if search.passages]
    for search in searches:
        scores = [item.score for item in search.passages]
        known = [score for score in scores if score is not None]
        if len(known) < len(scores) or not all(0 <= score <= 1 for score in known):
            return "unknown"
        if any(after > before for before, after in pairwise(known)):
            return "unknown"
    return "given" if searches else "unknown"


def _confidence(traces: Sequence[ForeignTrace]) -> Scale:
    """``given`` where every verdict came with a share, and none was yes or no alone."""
    verdicts = [item for trace in traces for item in trace.verdicts if item.relevant is not None]
    return "given" if all(item.score is not None for item in verdicts) else "unknown"


def evidence_of(trace: ForeignTrace, program: Program, imported_at: str, author: str = "") -> RunRecord:
    """The run with all that the trace tells, and no decision yet."""
    rounds = tuple(_round(index, search, trace.verdicts, program) for index, search in enumerate(trace.searches))
    known = {item.passage.id for own in rounds for item in own.candidates}
    given = None if trace.given is None or not set(trace.given) <= known else trace.given
    origin = Origin(
        tool=trace.tool,
        trace_id=trace.trace_id[:200],
        project=trace.project[:200],
        imported_at=imported_at,
        similarity=program.similarity,
        confidence=program.confidence,
        given=given,
        graders=tuple(sorted({item.grader[:120] for item in trace.verdicts if item.grader})),
        notes=(*trace.notes[:40], *_notes(trace, rounds, given)),
    )
    return RunRecord(
        id=run_id_of(trace),
        question=trace.question[:20_000],
        config=program.config,
        started_at=trace.started_at,
        manifest={"workbench": __version__, "collection": program.config.collection},
        author=author,
        origin=origin,
        rounds=rounds,
        model_calls=tuple(replace(call, round=min(call.round, len(rounds) - 1)) for call in trace.calls),
        answer=trace.answer,
        error=Fault.of(RunError.foreign_run_failed(why=trace.error)) if trace.error else None,
        duration_ms=trace.duration_ms,
    )


def _round(index: int, search: ForeignSearch, verdicts: Sequence[ForeignVerdict], program: Program) -> Round:
    scaled = program.similarity == "given"
    passages = [
        Passage(
            id=item.id,
            source=item.source or item.title or str(item.id),
            text=item.text,
            # Without a scale nothing is known but the rank: no threshold can tell one from another.
            similarity=round(item.score, 6) if scaled and item.score is not None else 0.0,
            raw_score=item.score,
            title=item.title,
            ordinal=rank,
        )
        for rank, item in enumerate(search.passages[:MOST_CANDIDATES], start=1)
    ]
    shown = {item.id for item in passages}
    return Round(
        index=index,
        query=search.query,
        candidates=gated(passages, program.config),
        anchors=THEIR_SCALE if scaled else NO_SCALE,
        verdicts={item.passage: verdict_of(item) for item in verdicts if item.round == index and item.passage in shown},
    )


def verdict_of(given: ForeignVerdict) -> Verdict:
    """A verdict of the other program; a bare yes or no counts as certain, and says that it is one."""
    confidence = 1.0
    if given.score is not None and given.relevant is not None:
        confidence = given.score if given.relevant else 1.0 - given.score
    if given.relevant is None:
        confidence = 0.0
    bare = given.relevant is not None and given.score is None
    grader = f"{IMPORTED}:{given.grader or 'unknown'}"
    return Verdict(given.relevant, round(confidence, 6), given.reason, grader=grader, bare=bare)


def _notes(trace: ForeignTrace, rounds: Sequence[Round], given: Sequence[PassageId] | None) -> tuple[OriginNote, ...]:
    notes: list[OriginNote] = []
    if (lists := max(search.lists for search in trace.searches)) > 1:
        notes.append(OriginNote("fused", {"n": str(lists)}))
    deepest = max(len(search.passages) for search in trace.searches)
    if deepest > MOST_CANDIDATES:
        notes.append(OriginNote("cut_depth", {"n": str(deepest), "limit": str(MOST_CANDIDATES)}))
    elif deepest > MOST_KEPT:
        notes.append(OriginNote("beyond_top_k", {"n": str(deepest), "limit": str(MOST_KEPT)}))
    found = sum(len(own.candidates) for own in rounds)
    judged = sum(len(own.verdicts) for own in rounds)
    if not judged:
        notes.append(OriginNote("no_verdicts"))
    elif judged < found:
        notes.append(OriginNote("some_ungraded", {"n": str(found - judged), "of": str(found)}))
    if not trace.answer:
        notes.append(OriginNote("no_answer"))
    elif given is None and all(note.code != "context_elsewhere" for note in trace.notes):
        notes.append(OriginNote("context_unknown"))
    return tuple(notes)


def with_rewrites(record: RunRecord, config: RunConfig) -> RunRecord:
    """The record under ``config``, each query after the first as the rewrite that made it."""
    rewrites: list[Rewrite] = []
    rounds = [replace(own, candidates=gated([c.passage for c in own.candidates], config)) for own in record.rounds]
    for index in range(len(rounds) - 1):
        request = rewrite_request(record.question, rounds[: index + 1], rewrites, config)
        digest = request.digest()
        rewrites.append(
            Rewrite(index, rounds[index].query, rounds[index + 1].query, "", strategy=IMPORTED, input_hash=digest)
        )
        rounds[index + 1] = replace(rounds[index + 1], rewrite_input=digest)
    return replace(record, config=config, rounds=tuple(rounds), rewrites=tuple(rewrites), decisions=())


def with_verdicts(record: RunRecord, verdicts: Mapping[PassageId, Verdict]) -> RunRecord:
    """The record with verdicts on what had none, in every round that found it."""
    rounds = tuple(
        replace(
            own,
            verdicts={
                **{
                    item.passage.id: verdicts[item.passage.id] for item in own.candidates if item.passage.id in verdicts
                },
                **own.verdicts,
            },
        )
        for own in record.rounds
    )
    return replace(record, rounds=rounds)
