"""The spans of a run, made from its record: the run, the visits of its nodes, and every call of a model in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from openinference.semconv.trace import OpenInferenceSpanKindValues as Kind
from openinference.semconv.trace import SpanAttributes

from engine.flow import workflow
from engine.model.config import ROLES, SETTINGS
from engine.model.traceparent import TRACEPARENT, parent_in
from engine.model.values import Fault, ModelCall, RunRecord
from plugins.telemetry import scores
from plugins.telemetry.calls import called, describe_call
from plugins.telemetry.fields import Fields, Wanted
from plugins.telemetry.steps import (
    Step,
    describe_reranking,
    describe_step,
    round_of,
    steps_of,
    verdict_events,
)
from plugins.telemetry.values import Score, Span, SpanEvent, Trace, Value

_OF_MANIFEST = ("workbench", "search", "embedding_model", "collection_fingerprint", "collection_passages", "graph")
"""What of the manifest is no content: names of models, figures and hashes."""
_FAILED = frozenset({"failed", "interrupted"})


def trace_of(record: RunRecord, *, content: bool, clean: Callable[[str], str] = str) -> Trace:
    """The spans of a run that has ended, the root first; the same record gives the same ids.

    Without ``content`` they hold figures, ids, and names of nodes, settings and models, and nothing that a person, a
    source or a model wrote. ``clean`` takes secrets out of what errors say.
    """
    return _Making(record, Wanted(content=content), clean).trace()


class _Making:
    def __init__(self, record: RunRecord, wanted: Wanted, clean: Callable[[str], str]) -> None:
        self._record = record
        self._wanted = wanted
        self._clean = clean
        self._began_ns = int(datetime.fromisoformat(record.started_at).timestamp() * 1000) * 1_000_000
        self._caller = parent_in(record.manifest.get(TRACEPARENT, ""))
        # Numbered in the order in which they were found, so that an id without content means the same in every span.
        for name in record.passages:
            wanted.passage(name)

    def trace(self) -> Trace:
        own = self._record.id if re.fullmatch(r"(?!0{32})[0-9a-f]{32}", self._record.id) else self._id("trace", 32)
        return Trace(self._caller[0] if self._caller else own, tuple(self._spans()))

    def _spans(self) -> list[Span]:
        root = self._root()
        found = [root]
        steps = steps_of(self._record)
        for place, step in enumerate(steps):
            found += self._of_step(place, step, steps, root)
        placed = {number for step in steps for number, _ in step.calls}
        loose = [item for item in enumerate(self._record.model_calls) if item[0] not in placed]
        return found + [self._of_call(number, call, root) for number, call in loose]

    # -- the run --------------------------------------------------------------------------------------------------

    def _root(self) -> Span:
        record, fields = self._record, Fields(self._wanted)
        fields.put(SpanAttributes.OPENINFERENCE_SPAN_KIND, Kind.CHAIN.value)
        fields.put("gen_ai.operation.name", "invoke_workflow")
        fields.put("gen_ai.workflow.name", record.workflow)
        fields.say_input(record.question)
        fields.say_output(record.answer)
        fields.say(SpanAttributes.USER_ID, record.author)
        fields.put(SpanAttributes.TAG_TAGS, ("trial",) if record.trial else ())
        fields.put_json(SpanAttributes.METADATA, self._metadata())
        fields.put("workbench.run_id", record.id)
        fields.put("workbench.imported_from", record.origin.tool if record.origin else None)
        fields.put("workbench.outcome", record.outcome or "running")
        fields.put("workbench.reason", record.reason)
        fields.put("workbench.answer_note", record.answer_note)
        fields.put("workbench.rounds", len(record.rounds))
        fields.put("workbench.rewrites", len(record.rewrites))
        fields.put("workbench.model_calls", record.calls)
        fields.put("workbench.cached_calls", record.cached_calls)
        fields.put("workbench.built_in_calls", record.built_in_calls)
        fields.put("workbench.best_similarity", record.best_similarity)
        parent = self._caller[1] if self._caller else ""
        end = self._ns(record.duration_ms)
        events = [self._fault_event("warning", item, end) for item in record.warnings]
        error = self._said(record.error) if record.error else (record.outcome if record.outcome in _FAILED else None)
        if record.error:
            events.append(self._fault_event("exception", record.error, end))
        span = Span(
            self._id("run"), parent, record.workflow, self._began_ns, end, fields.found, tuple(events), error,
            scores.of_run(record),
        )  # fmt: skip
        return replace(span, remote_parent=bool(parent))

    def _metadata(self) -> dict[str, Any]:
        record, config = self._record, self._record.config
        settings = {name: getattr(config, name) for name in SETTINGS}
        own = {name: getattr(config.options, name) for name in workflow(record.workflow).own_settings}
        models = {role: config.models.of(role).name for role in ROLES if role in record.manifest}  # type: ignore[arg-type]
        named = {name: record.manifest[name] for name in _OF_MANIFEST if name in record.manifest}
        collection = {"collection": record.collection} if self._wanted.content else {}
        fork = {"parent": record.fork.parent, "round": record.fork.round} if record.fork else None
        return {**collection, **named, "models": models, "settings": {**settings, **own}, "branch_of": fork}

    # -- nodes and calls ------------------------------------------------------------------------------------------

    def _of_step(self, place: int, step: Step, steps: list[Step], root: Span) -> list[Span]:
        fields = Fields(self._wanted)
        judged = describe_step(step, steps, self._record, fields)
        name = f"node-{place}"
        start, end = self._within(root, step.visit.start_ms, step.visit.duration_ms)
        span = Span(self._id(name), root.id, step.visit.node, start, end, fields.found, scores=judged)
        span = replace(span, events=tuple(self._events(step, span)), error=self._failure(step.visit.error))
        below, calls = [span], step.calls
        current = round_of(step, self._record)
        if step.does == "search" and current is not None and current.reranked and not _has_rerank(steps):
            below.append(self._reranking(name, step, span))
        parent = below[-1]
        return below + [self._of_call(number, call, parent) for number, call in calls]

    def _reranking(self, name: str, step: Step, span: Span) -> Span:
        """The part of a search that reorders what it found: from its first call of a model to the last."""
        current = round_of(step, self._record)
        assert current is not None
        fields = Fields(self._wanted)
        describe_reranking(current, step.calls, self._record, fields)
        ends = [call.start_ms + call.duration_ms for _, call in step.calls]
        start_ms = min((call.start_ms for _, call in step.calls), default=None)
        if start_ms is None:
            start, end = span.end_ns, span.end_ns
        else:
            start, end = self._within(span, start_ms, max(ends) - start_ms)
        return Span(self._id(f"{name}-rerank"), span.id, "rerank", start, end, fields.found)

    def _of_call(self, number: int, call: ModelCall, parent: Span) -> Span:
        fields = Fields(self._wanted)
        describe_call(call, self._record, fields)
        start, end = self._within(parent, call.start_ms, call.duration_ms)
        error = self._failure(call.error)
        return Span(self._id(f"call-{number}"), parent.id, called(call).name, start, end, fields.found, error=error)

    # -- events ---------------------------------------------------------------------------------------------------

    def _events(self, step: Step, span: Span) -> list[SpanEvent]:
        visit, events = step.visit, []
        for at_ms, score, passage in verdict_events(step, self._record, self._wanted):
            events.append(self._judged(score, self._inside(span, at_ms), passage))
        events += [self._judged(score, span.end_ns) for score in span.scores if score.document is None]
        for decision in step.decisions:
            attributes: dict[str, Value] = {"route": decision.route, "reason": decision.reason}
            attributes |= {"inequality": decision.inequality} if decision.comparisons else {}
            attributes |= {"passed": decision.passed, "kept": decision.kept, "pass_rate": decision.pass_rate}
            events.append(SpanEvent("decision", span.end_ns, attributes))
        if visit.error:
            fault = self._record.error
            if fault is not None and fault.node == visit.node and fault.code == visit.error:
                events.append(self._fault_event("exception", fault, span.end_ns))
            else:
                failure = self._failure(visit.error) or ""
                events.append(SpanEvent("exception", span.end_ns, {"exception.type": failure}))
        return sorted(events, key=lambda event: event.at_ns)

    def _judged(self, score: Score, at_ns: int, passage: str = "") -> SpanEvent:
        more = {"document.id": passage} if passage else {}
        return SpanEvent(scores.EVENT, at_ns, scores.attributes_of(score, **more))

    def _fault_event(self, name: str, fault: Fault, at_ns: int) -> SpanEvent:
        attributes: dict[str, Value] = {"exception.type": fault.code}
        if self._wanted.content:
            attributes |= {"exception.message": self._said(fault), "workbench.remedy": self._clean(fault.remedy)}
        return SpanEvent(name, at_ns, attributes)

    def _failure(self, failure: str) -> str | None:
        """Describe a failure; without content, by its code or the class of exception it starts with."""
        if not failure:
            return None
        first = re.match(r"\w{1,60}(?=:|$)", failure, re.ASCII)
        return self._wanted.text(self._clean(failure)) or (first[0] if first else "error")

    def _said(self, fault: Fault) -> str:
        fact = self._wanted.text(self._clean(fault.fact))
        return f"{fault.code}: {fact}" if fact else fault.code

    # -- times and ids --------------------------------------------------------------------------------------------

    def _ns(self, ms: float) -> int:
        return self._began_ns + round(ms * 1_000_000)

    def _inside(self, parent: Span, ms: float) -> int:
        return min(max(self._ns(ms), parent.start_ns), parent.end_ns)

    def _within(self, parent: Span, start_ms: float, duration_ms: float | None) -> tuple[int, int]:
        """Start and end inside a parent; what never ended is taken to have ended with it."""
        start = self._inside(parent, start_ms)
        return start, parent.end_ns if duration_ms is None else max(start, self._inside(parent, start_ms + duration_ms))

    def _id(self, name: str, digits: int = 16) -> str:
        return sha256(f"{self._record.id}/{name}".encode()).hexdigest()[:digits]


def _has_rerank(steps: list[Step]) -> bool:
    return any(step.kind is Kind.RERANKER for step in steps)
