"""The path of a run as rows: every visit of a node, and every decision, in the order in which they came."""

from __future__ import annotations

from dataclasses import dataclass, replace

from components.common.outcomes import REASONS
from engine.flow import workflow
from engine.flow.flow import Flow
from engine.model.values import Decision, NodeExecution, RunRecord


@dataclass(frozen=True, slots=True)
class Stop:
    """One visit of a node, or a decision of a record that tells of no visit."""

    node: str
    visit: NodeExecution | None
    decision: Decision | None
    """What was decided at its end."""
    seen: RunRecord
    """The record with nothing but what this visit made."""
    last_answer: bool = False
    """Whether it is the newest visit that wrote an answer."""

    @property
    def round(self) -> int:
        """The round it worked for, from 0."""
        return self.visit.round if self.visit else self.decision.round if self.decision else 0

    @property
    def grades(self) -> bool:
        """Whether it is where passages of a round are judged."""
        flow = workflow(self.seen.workflow).flow
        return _kind(flow, self.node) == "grade" and bool(self.seen.rounds)

    @property
    def sends_back(self) -> bool:
        """Whether its decision asked for another attempt."""
        return self.decision is not None and again(self.decision.reason)


@dataclass(frozen=True, slots=True)
class Row:
    """One attempt: as asked, after a rewrite, with another search, or another answer."""

    stops: tuple[Stop, ...]
    number: int
    """Of this kind of attempt, from 1; 0 for the first row, which is as asked."""


def again(reason: str) -> bool:
    """Return whether a decision's reason leads to another attempt."""
    return reason in REASONS and REASONS[reason].glyph == "↻"


def rows_of(record: RunRecord) -> tuple[Row, ...]:
    """Cut the visits of a run into rows: one begins after a decision for another attempt, or at a node seen before.

    What came since the last decision of the former row belongs to the row that it leads to.
    """
    rows: list[list[Stop]] = [[]]
    for stop in stops_of(record):
        row = rows[-1]
        if row and row[-1].sends_back:
            rows.append([])
        elif any(item.node == stop.node for item in row):
            rows.append(_led_to(row, stop))
            del row[len(row) - len(rows[-1]) :]
        rows[-1].append(stop)
    flow = workflow(record.workflow).flow
    numbers: dict[str, int] = {}
    made = []
    for place, row in enumerate(rows):
        if place:
            kind = _kind(flow, row[0].node)
            numbers[kind] = numbers.get(kind, 1 if kind == "answer" else 0) + 1
            made.append(Row(tuple(row), numbers[kind]))
        elif row:
            made.append(Row(tuple(row), 0))
    return tuple(made)


def _led_to(row: list[Stop], coming: Stop) -> list[Stop]:
    """The stops since the last decision of a row; none where there is no such decision, or the node is among them."""
    decided = max((place for place, item in enumerate(row) if item.decision), default=len(row) - 1)
    since = row[decided + 1 :]
    return [] if any(item.node == coming.node for item in since) else since


def stops_of(record: RunRecord) -> list[Stop]:
    """Every visit with the decision made at its end; then decisions that no visit was recorded of."""
    flow = workflow(record.workflow).flow
    left = list(record.decisions)
    stops = []
    counts: dict[str, int] = {}
    answered = max((at for at, item in enumerate(record.nodes) if _kind(flow, item.node) == "answer"), default=-1)
    for place, visit in enumerate(record.nodes):
        decision = next((item for item in left if item.node == visit.node), None)
        if decision is not None:
            left.remove(decision)
        nth = counts[visit.node] = counts.get(visit.node, -1) + 1
        seen = _seen(record, flow, place, decision, nth)
        stops.append(Stop(visit.node, visit, decision, seen, last_answer=place == answered))
    for decision in left:
        rounds = tuple(item for item in record.rounds if item.index == decision.round)
        stops.append(Stop(decision.node, None, decision, replace(record, rounds=rounds, decisions=(decision,))))
    return stops


def _seen(record: RunRecord, flow: Flow, place: int, decision: Decision | None, nth: int) -> RunRecord:
    visit = record.nodes[place]
    kind, last = _kind(flow, visit.node), visit.round
    if kind == "search":
        # One visit may search again and again: each is a round, and the next visit begins after them.
        following = [item.round for item in record.nodes[place + 1 :] if item.node == visit.node]
        last = min(following) - 1 if following else max((item.index for item in record.rounds), default=last)
    judged = kind in ("answer", "evaluate")
    drafts = [item for item in record.nodes[: place + judged] if _kind(flow, item.node) == "answer"] if judged else []
    return replace(
        record,
        nodes=(visit,),
        rounds=tuple(item for item in record.rounds if visit.round <= item.index <= last),
        decisions=(decision,) if decision else (),
        rewrites=record.rewrites[nth : nth + 1] if kind == "rewrite" else (),
        drafts=record.drafts[len(drafts) - 1 : len(drafts)] if drafts else (),
        model_calls=tuple(
            item for item in record.model_calls if item.node == visit.node and _within(item.start_ms, visit)
        ),
    )


def _kind(flow: Flow, name: str) -> str:
    return flow.nodes[name].kind if name in flow.nodes else ""


def _within(start_ms: float, visit: NodeExecution) -> bool:
    return visit.start_ms <= start_ms and (visit.duration_ms is None or start_ms <= visit.start_ms + visit.duration_ms)
