"""Runs a workflow again over the record of a finished run: its own steps, with roles that answer from the record.

Nothing is waited for, so the coroutines of the steps are driven to their end without an event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from engine.errors import WorkbenchError
from engine.flow.context import NodeTrace, Roles, RunClock, RunContext, no_override
from engine.flow.flow import END, Flow
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.events import Decided, Event, Retrieved, RunStarted, Warned, fold_all
from engine.model.values import Context, Decision, PassageId, Round, RunId, RunRecord, Verdict
from engine.replay.values import Gap

_NOTHING = nullcontext()
_RUN = RunId("replay")


class Unrecorded(Exception):
    """The record does not say what a role would answer here.

    ``missing`` is what asking would cost; ``before`` is the part of it that is not among the steps left of the run.
    """

    def __init__(
        self,
        gap: Gap,
        missing: Cost,
        before: Cost | None = None,
        *,
        undecided: bool = False,
        path_known: bool | None = None,
    ) -> None:
        super().__init__(gap)
        self.gap: Gap = gap
        self.missing = missing
        self.before = missing if before is None else before
        self.undecided = undecided
        """Whether the newest decision does not hold."""
        self.path_known = path_known
        """Whether only the wording of the end is missing; None: where the node that asks is the last one."""


class MissingVerdict(Exception):
    """A verdict is asked for that the record does not have, and nothing is supposed of it yet."""


@dataclass(slots=True)
class ReplayPath:
    """One way through a workflow: where it has come to, what it supposes, and what it cost."""

    state: dict[str, Any]
    events: list[Event]
    node: str = ""
    supposed: Verdict | None = None
    """What a verdict that the record does not have is taken for."""
    frozen: bool = False
    """Roles give what was recorded, no matter what they are asked."""
    live: bool = False
    """The course of a real run, whose other roles stand behind the recorded ones: nothing is supposed in it."""
    source_round: int = -1
    """The round whose recorded calls answered what was asked last."""
    as_recorded: bool = True
    """Every round so far is the recorded one, so that what went wrong then goes wrong here too."""
    compared: int = -1
    """The newest round that was compared with the recorded one."""
    cost: Cost = field(default_factory=Cost)
    answers: int = 0
    ungraded: dict[int, tuple[PassageId, ...]] = field(default_factory=dict)
    """By round: kept passages whose verdict is supposed."""
    unseen: dict[int, int] = field(default_factory=dict)
    """By round: placeholders for passages below the recorded depth."""
    visits: dict[str, int] = field(default_factory=dict)
    """By node."""
    probed: frozenset[PassageId] = frozenset()
    """Passages below the gates that were judged, with a verdict that the record does not have."""
    marks: list[tuple[Cost, dict[str, Any]]] = field(default_factory=list)
    """By decision: cost and state until then."""
    sources: dict[int, int] = field(default_factory=dict)
    """By round: the recorded round that it was answered from, where that is another one."""
    opening: int = 0
    """Rounds that the visit under way has opened."""
    searched: int = -1
    """The newest round whose search was counted."""
    unpicked: int = 0
    """Passages whose kept sentences a chat model would choose, which the record does not say."""
    given: Context | None = None
    """What the generator would be given that cannot be asked."""
    stands: bool = False
    """The generator gave the recorded answer."""
    proposals: list[Any] | None = None
    """What the rewriter has still to say in this visit."""

    @property
    def coming(self) -> int:
        """Index of the round that is searched next, in the visit under way too."""
        return len(self.rounds) + self.opening

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds that were opened so far."""
        found: tuple[Round, ...] = self.state.get("rounds", ())
        return found

    @property
    def unknown(self) -> int:
        """Kept passages of the newest round without a known verdict."""
        index = len(self.rounds) - 1
        return len(self.ungraded.get(index, ())) + self.unseen.get(index, 0)

    def copy(self, **changes: Any) -> ReplayPath:
        """The course as it is now, to be followed in another way."""
        return replace(
            self,
            events=list(self.events),
            ungraded=dict(self.ungraded),
            unseen=dict(self.unseen),
            visits=dict(self.visits),
            marks=list(self.marks),
            sources=dict(self.sources),
            **changes,
        )


@dataclass(slots=True)
class End:
    """The end of a course, or the place where the record says no more."""

    course: ReplayPath
    missing: Unrecorded | None
    decisions: tuple[Decision, ...]

    def score(self, index: int) -> float:
        """Score that routes a round of the quality-control loop; 0 in other workflows."""
        rounds = self.course.rounds
        check = rounds[index].quality if index < len(rounds) else None
        return check.routing_score if check else 0.0


class Driver:
    """Drives the steps of a workflow along a course; roles read the course from here."""

    def __init__(self, flow: Flow, record: RunRecord, config: RunConfig) -> None:
        self.flow = flow
        self.record = record
        self.course = ReplayPath({}, [])
        self.lost = Cost()
        """The next step of a run that would have ended with the recorded fault."""
        self.run = RunContext(
            config=config,
            # Given by the workflow: its roles read this driver.
            roles=None,  # type: ignore[arg-type]
            emit=self._emit,
            clock=RunClock(0.0),
            attachments=record.attachments,
            trial=True,
            within=lambda seconds: _NOTHING,
            together=_one_after_another,
            log=lambda line: None,
        )

    def give(self, roles: Roles, clock: RunClock, override: Any = no_override) -> None:
        """The roles and the clock of every visit to come."""
        self.run.roles, self.run.clock, self.run.override = roles, clock, override

    def visit(self, name: str, course: ReplayPath) -> None:
        """One visit of a node; where it raises, the course stays as far as it had come."""
        self.course = course
        course.node, course.proposals, course.opening = name, None, 0
        course.visits[name] = course.visits.get(name, 0) + 1
        index = self.flow.round_of(name, course.state)
        trace = NodeTrace(run=self.run, node=name, round=index)
        step = self.run.override(name, index) or self.flow.nodes[name].step
        course.state = {**course.state, **_driven(step(course.state, self.run, trace))}
        self.restore_recorded(name, course)

    def restore_recorded(self, name: str, course: ReplayPath) -> None:
        """Put back, after a visit, what of its result must be as the record has it."""

    def compare(self, course: ReplayPath) -> None:
        """Compare the newest round with the recorded one, before anything is judged."""

    def _emit(self, event: Event) -> None:
        if not isinstance(event, Warned):
            self.course.events.append(event)
        if isinstance(event, Retrieved):
            self.course.opening += 1
        if isinstance(event, Decided):
            self.course.marks.append((self.course.cost, self.course.state))


def picture_of(events: Sequence[Event], record: RunRecord, config: RunConfig) -> RunRecord:
    """Fold the events so far, as for any run."""
    begun = RunStarted(
        run_id=_RUN, question=record.question, config=config, started_at="", attachments=record.attachments
    )
    return fold_all([begun, *(replace(event, seq=place) for place, event in enumerate(events, start=1))])


def decisions_of(course: ReplayPath) -> tuple[Decision, ...]:
    """All decisions of a course, in order."""
    return tuple(event.decision for event in course.events if isinstance(event, Decided))


def follow(driver: Driver, course: ReplayPath, name: str, check: Any, suppositions: Sequence[Verdict]) -> list[End]:
    """Follow a course from node ``name`` to its end; several ends where a missing verdict was tried in several ways.

    ``check`` is asked after every visit that decided, and may say what is not known of it.
    """
    while name != END:
        before = course.copy()
        try:
            driver.visit(name, course)
        except MissingVerdict:
            tried = (before.copy(supposed=verdict) for verdict in suppositions)
            return [end for item in tried for end in follow(driver, item, name, check, suppositions)]
        except Unrecorded as missing:
            return [End(course, missing, decisions_of(course))]
        except WorkbenchError:
            if not before.as_recorded:
                return [End(before, Unrecorded("unrecorded", driver.lost), decisions_of(before))]
            # What went wrong in the recorded run would end this one, which never came to the same place.
            before.compared, before.as_recorded, course = course.compared, False, before
            continue
        open_question: Unrecorded | None = check(course, name, before)
        if open_question is not None:
            return [End(course, open_question, decisions_of(course))]
        name = driver.flow.after(name, course.state)
    return [End(course, None, decisions_of(course))]


async def _one_after_another(*waiting: Awaitable[Any]) -> list[Any]:
    return [await item for item in waiting]


def _driven(coroutine: Any) -> Mapping[str, Any]:
    """The result of a coroutine that never waits."""
    running: Coroutine[Any, Any, Mapping[str, Any]] = coroutine
    try:
        running.send(None)
    except StopIteration as done:
        changed: Mapping[str, Any] = done.value
        return changed
    finally:
        running.close()
    raise RuntimeError("a replayed step waited for something")
