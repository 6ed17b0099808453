"""Replay of a finished run under other settings: its workflow, run again over its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.builtin.answer_note import Checked, noted
from engine.flow import workflow
from engine.flow.context import Roles
from engine.flow.declaration import translates
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.decide import gated, passed_together
from engine.model.events import ContextAssembled, Decided, Event, Retrieved
from engine.model.values import ANSWERED, AnswerNote, Decision, Outcome, Reason, Round, RunRecord, Verdict
from engine.replay.admitted import admitted
from engine.replay.cost import checks_of, unanswered
from engine.replay.course import Driver, End, ReplayPath, Unrecorded, decisions_of, follow, picture_of
from engine.replay.frozen import FrozenRounds
from engine.replay.recorded import (
    NO,
    UNREADABLE,
    YES,
    Evidence,
    RecordedGenerator,
    RecordedGrader,
    RecordedRefiner,
    RecordedRetriever,
    RecordedRewriter,
    RecordedSetJudge,
    RecordedSplitter,
    RecordedTranslator,
    ReplayClock,
    is_unseen,
    knows_surroundings,
    source_of,
)
from engine.replay.values import CallsNeeded, Gap, State, Step, WhatIf
from engine.retrieval.reciprocal import search_depth

RETRIEVAL_SETTINGS = ("workflow", "collection", "milvus_address", "mode", "search")
"""Settings that make another search, which a record knows nothing about."""
_MET: frozenset[Reason] = frozenset({"passed", "quality_met"})
"""Reasons that no clock can take back: what is asked of the passages is met."""
"""Where a route leads that continues with another query."""


def retrieval_differs(recorded: RunConfig, config: RunConfig) -> bool:
    """Return whether ``config`` searches somewhere else than a run did, or in another way."""
    if any(getattr(config, name) != getattr(recorded, name) for name in RETRIEVAL_SETTINGS):
        return True
    # A list by vectors only ends sooner; one that words had a part in may be in another order.
    return config.search != "vector" and search_depth(config.fetch_k) != search_depth(recorded.fetch_k)


def unmeasured(record: RunRecord, config: RunConfig) -> bool:
    """Return whether ``config`` moves a threshold that an imported trace gives no scale for (TR-03)."""
    origin, recorded = record.origin, record.config
    if origin is None:
        return False
    similar = origin.similarity == "given" or config.similarity_threshold == recorded.similarity_threshold
    confident = origin.confidence == "given" or config.min_confidence == recorded.min_confidence
    return not (similar and confident)


class Replay:
    """One what-if: the workflow's steps over recorded roles, and their result."""

    bounded = True
    """Whether counting passages below the record as failed and as passed bounds every decision both ways."""

    def __init__(self, record: RunRecord, config: RunConfig) -> None:
        self.record = record
        self.ran = record
        """The run itself, where the record has the verdicts of another calibration."""
        self.config = config
        self.module = workflow(config.workflow)
        self.evidence = Evidence(record, config)
        self.driver = _Driver(self)

    def what_if(self) -> WhatIf:
        """The path as far as the record can tell."""
        course = ReplayPath(self._beginning(), [])
        gap = self.unknown_from_the_start()
        if gap is not None:
            return self._result([End(course, Unrecorded(gap, self.opening_price()), ())])
        self.begin()
        if self.record.fork is not None:
            fork = replace(self.record.fork, query="")
            self.driver.run.override = FrozenRounds(
                type(self)(self.record, self.record.config).begin(), fork, self.record
            )
        flow = self.driver.flow
        return self._result(follow(self.driver, course, flow.start, self.check, self._suppositions()))

    def _beginning(self) -> dict[str, Any]:
        """The state before the first step; a branch, or another program, may have started with a query of its own."""
        state, record = dict(self.module.initial_state(self.record.question)), self.record
        own = record.fork is not None or record.origin is not None
        return state | {"query": record.rounds[0].query} if own and record.rounds else state

    def begin(self) -> Driver:
        """The driver with the roles and the clock of the record."""
        self.driver.give(self.roles(), self.clock())
        return self.driver

    # -- what a workflow may have otherwise ---------------------------------------------------------------------

    def unknown_from_the_start(self) -> Gap | None:
        """Explain why no part of the path is known; None if its first round may be recorded."""
        if retrieval_differs(self.record.config, self.config):
            return "retrieval"
        return "unmeasured" if unmeasured(self.record, self.config) else None

    def opening_price(self) -> Cost:
        """The next step of a run whose path is not known at all."""
        return self.evidence.prices.round(self.config)

    def clock(self) -> ReplayClock:
        """The recorded time."""
        return ReplayClock(self.evidence, self.driver)

    def roles(self) -> Roles:
        """Make the roles that answer from the record."""
        evidence, driver = self.evidence, self.driver
        rewriter = RecordedRewriter(evidence, driver)
        return Roles(
            retriever=RecordedRetriever(evidence, driver),
            # How far passages suffice together, or for a part, cannot be supposed of a verdict that is not known.
            grader=RecordedGrader(
                evidence, driver, bounded=self.bounded and not (self.config.needs_whole or self.config.split)
            ),
            translator=RecordedTranslator(evidence, driver) if translates(self.config) else None,
            splitter=RecordedSplitter(evidence, driver),
            whole=RecordedSetJudge(evidence, driver),
            rewriter=rewriter,
            generator=RecordedGenerator(evidence, driver),
            refiner=None if self.config.models.refiner.built_in else RecordedRefiner(evidence, driver),
            stand_in=rewriter,
        )

    def restore_recorded(self, name: str, course: ReplayPath) -> None:
        """Put back, after a visit, what of its result must be as the record has it."""

    def context_known(self, gap: Gap) -> bool:
        """Return whether what was put together last is what the generator would be given, where the path is open."""
        return True

    def deadline_s(self, config: RunConfig) -> float:
        """Seconds after which nothing more is searched."""
        return config.budget_s

    def rest(self, picture: RunRecord, course: ReplayPath, gap: Gap) -> Cost:
        """Return the worst cost of what is left of a run that has come so far: every round and every answer."""
        prices, done = self.evidence.prices, max(0, len(picture.rounds) - 1)
        return prices.rounds_after(done, self.config) + prices.answering(self.config)

    # -- while it runs ------------------------------------------------------------------------------------------

    def _suppositions(self) -> tuple[Verdict, ...]:
        """Return the possible values of a missing verdict: a certain "no" passes where even P(relevant) = 0 does."""
        return (NO, YES, UNREADABLE) if self.config.models.grader.chats else (NO, YES)

    def compare(self, course: ReplayPath) -> None:
        """Return whether the newest round is the recorded one: the same passages kept, judged as far as then."""
        place = len(course.rounds) - 1
        if course.compared == place or place < 0:
            return
        course.compared, index = place, source_of(course)
        recorded = self.evidence.round(index)
        course.as_recorded = (
            course.as_recorded
            and recorded is not None
            and self.record.origin is None
            and self.evidence.same_judging
            and self.evidence.clock.decision(index) is not None
            and course.rounds[-1].kept == self._kept_then(recorded)
            and course.rounds[-1].parts == recorded.parts
        )

    def _kept_then(self, recorded: Round) -> tuple[Any, ...]:
        """Gate a recorded round again in a branch, which took over rounds that had the gates of other settings."""
        if self.record.fork is None or recorded.index < self.evidence.upstream:
            return tuple(recorded.kept)
        candidates = gated([item.passage for item in recorded.candidates], self.record.config)
        return tuple(replace(recorded, candidates=candidates).kept)

    def check(self, course: ReplayPath, name: str, before: ReplayPath) -> Unrecorded | None:
        """Check after a visit whether the clock, which no replay can turn back, might have decided otherwise."""
        made = decisions_of(course)
        if len(made) == len(decisions_of(before)) or name != self.driver.flow.gate:
            return None
        decision, index = made[-1], source_of(course)
        if not self._time_matters(course, decision, index):
            return None
        prices = self.evidence.prices
        next_price = prices.rewrite if decision.route in self.driver.flow.of_kind("rewrite") else prices.generation
        return Unrecorded("time", next_price, Cost(), undecided=True)

    def _time_matters(self, course: ReplayPath, decision: Decision, index: int) -> bool:
        clock, deadline_s = self.evidence.clock, self.deadline_s(self.config)
        if index < self.evidence.upstream:
            return False
        if not (clock.cut_short(index) or clock.ended_s(index) >= deadline_s):
            return False
        if deadline_s != self.deadline_s(self.record.config) or course.unknown:
            return True
        # Time being up, only a gate that is met or what was decided then can be relied on.
        recorded = clock.decision(index)
        return decision.reason not in _MET and (recorded is None or decision.reason != recorded.reason)

    # -- the result ---------------------------------------------------------------------------------------------

    def _result(self, ends: Sequence[End]) -> WhatIf:
        """Combine everything that was tried into one what-if."""
        first = ends[0]
        turn = _first_difference([_path(end.decisions) for end in ends])
        if turn is not None:
            return self._undecided(ends, turn)
        stopped = next((end for end in ends if end.missing is not None), None)
        missing = stopped.missing if stopped else None
        prefix = self._until(first.course, len(first.decisions) - bool(missing and missing.undecided))
        outcomes = {self._ending(end) for end in ends}
        outcome = outcomes.pop() if len({item[0] for item in outcomes}) == 1 else (None, "")
        if missing is None or stopped is None:
            return self._made(prefix, ends, "known", outcome)
        prefix.course = stopped.course
        return self._made(prefix, ends, "generation" if self._last(stopped) else "needs_calls", outcome, missing)

    def _last(self, end: End) -> bool:
        """Return whether all that is missing is the answer."""
        if end.missing is None or end.missing.path_known is not None:
            return end.missing is not None and bool(end.missing.path_known)
        return self.driver.flow.ends(end.course.node) and end.missing.gap in ("answer", "verdicts")

    def _undecided(self, ends: Sequence[End], turn: int) -> WhatIf:
        """Decide the path from here by what is missing."""
        course = ends[0].course.copy()
        course.cost, course.state = course.marks[turn]
        prefix = self._until(course, turn)
        index, prices = len(prefix.picture.rounds) - 1, self.evidence.prices
        ungraded, unseen = len(course.ungraded.get(index, ())), course.unseen.get(index, 0)
        # What a deeper search finds may be dropped unread.
        price = prices.judging * (ungraded + (unseen if self.config.grade_probe else 0))
        missing = Unrecorded("candidates", prices.search + price) if unseen else Unrecorded("verdicts", price)
        return self._made(prefix, ends, "needs_calls", (None, ""), missing)

    def _until(self, course: ReplayPath, decisions: int) -> _Prefix:
        """All before the decision of that number, counted from 0; all where there are no more."""
        made = [place for place, event in enumerate(course.events) if isinstance(event, Decided)]
        events = course.events[: made[decisions]] if decisions < len(made) else course.events
        return _Prefix(course, self._picture(events, course), events)

    def _ending(self, end: End) -> tuple[Outcome | None, str]:
        """Return the outcome of a run that came this far, and why; None where the record does not say."""
        if end.missing is not None and not self._last(end):
            return None, ""
        if end.decisions and end.decisions[-1].reason == "grader_failed":
            return "failed", "grader_failed"
        return self.ending(end)

    def ending(self, end: End) -> tuple[Outcome | None, str]:
        """Ask the workflow how a run ended, and why."""
        return self.module.ending(self._picture(end.course.events, end.course))

    def _picture(self, events: Sequence[Event], course: ReplayPath) -> RunRecord:
        """Fold what has happened into a record, with the recorded answer where that still holds."""
        picture = picture_of(events, self.record, self.config)
        if not course.stands:
            return picture
        kept = ("answer", "citations", "removed_markers", "cell_citations", "unsupported")
        return replace(picture, **{name: getattr(self.record, name) for name in kept})

    def _made(
        self,
        prefix: _Prefix,
        ends: Sequence[End],
        state: State,
        ending: tuple[Outcome | None, str],
        missing: Unrecorded | None = None,
    ) -> WhatIf:
        picture, course = prefix.picture, prefix.course
        decisions = tuple(picture.decisions)
        outcome, reason = (None, "") if state == "needs_calls" else ending
        needed = CallsNeeded()
        if missing is not None:
            written = state == "generation"
            rest = self.evidence.prices.checks if written else self.rest(picture, course, missing.gap)
            needed = CallsNeeded(missing.missing, (missing.missing if written else missing.before) + rest)
        same = _path(decisions) == _path(self.record.decisions) and outcome == self.record.outcome
        ended = state != "needs_calls" and bool(decisions)
        if state == "known":
            given = outcome in ANSWERED
        else:
            given = prefix.context_is_new and not course.unknown
            given = given and (state == "generation" or missing is None or self.context_known(missing.gap))
        context = (course.given or picture.context) if given else None
        verified = context.verified if context and context.passages else True
        steps = prefix.steps(self.driver.flow.gate, ends)
        rounds = [step.round for step in steps]
        read = context.passages if context else passed_together(rounds, self.config) if outcome in ANSWERED else ()
        answer = picture.answer if state == "known" and outcome != "failed" else ""
        checks = self._checks(answer if outcome in ANSWERED else "", written=state == "generation")
        return WhatIf(
            config=self.config,
            state=state,
            steps=steps,
            gap=missing.gap if missing else None,
            outcome=outcome,
            reason=reason or (decisions[-1].reason if ended else ""),
            passages=context.passages if context else (),
            around=context.around if context and knows_surroundings(self.record, self.config) else None,
            verified=verified,
            answer=answer,
            answer_note=self._note(picture, answer, outcome) if outcome in ANSWERED else "",
            calls_needed=needed.without_times() if unanswered(self.record, self.config) else needed,
            cost=course.cost + self.evidence.prices.checking * (checks or 0),
            checks=checks,
            opening=prefix.opening(),
            answers=course.answers,
            admits=admitted(self.record, self.config, rounds, read, verified=verified),
            same_path=state != "needs_calls" and same,
        )

    def _checks(self, answer: str, *, written: bool) -> int | None:
        """Calls that check the answer of a path, or one to be ``written``; None where the record does not tell."""
        if not (answer or written) or self.config.models.verifier.built_in:
            return 0
        return checks_of(self.record, self.config) if answer == self.record.answer else None

    def _note(self, picture: RunRecord, answer: str, outcome: Outcome | None) -> AnswerNote:
        """Return the note on the answer that stands: the run's own, or an earlier draft's."""
        if not answer or answer == self.record.answer:
            return Checked.of(self.record).under(self.config) if answer else ""
        if not self.config.models.verifier.built_in:
            return "unchecked"
        return noted(replace(picture, origin=self.record.origin), outcome).answer_note


class _Prefix:
    """The events of a course up to one of its decisions, and what they say."""

    def __init__(self, course: ReplayPath, picture: RunRecord, events: Sequence[Event]) -> None:
        self.course = course
        self.picture = picture
        self.events = events

    @property
    def context_is_new(self) -> bool:
        """True if nothing was searched since the generator's input was put together."""
        kinds = [type(event) for event in self.events if isinstance(event, ContextAssembled | Retrieved)]
        return bool(kinds) and kinds[-1] is ContextAssembled

    def opening(self) -> tuple[Decision, ...]:
        """List the decisions before the first round."""
        return self._decided_after(-1)

    def steps(self, gate: str, ends: Sequence[End]) -> tuple[Step, ...]:
        """List the rounds with what was decided of each, and what is not known."""
        return tuple(self._step(item, gate, ends) for item in self.picture.rounds)

    def _step(self, current: Round, gate: str, ends: Sequence[End]) -> Step:
        made = self._decided_after(current.index)
        decision = next((item for item in made if item.node == gate), None)
        tried = [item for end in ends for item in end.decisions if item.node == gate and item.round == current.index]
        passed = [item.passed for item in tried]
        scores = [end.score(current.index) for end in ends]
        return Step(
            round=_seen(current),
            decision=decision,
            ungraded=self.course.ungraded.get(current.index, ()),
            unseen=self.course.unseen.get(current.index, 0),
            passed=(min(passed, default=0), max(passed, default=0)),
            score=(min(scores, default=0.0), max(scores, default=0.0)),
            after=tuple(item for item in made if item is not decision),
        )

    def _decided_after(self, index: int) -> tuple[Decision, ...]:
        found: list[Decision] = []
        opened = -1
        for event in self.events:
            if isinstance(event, Retrieved):
                opened = event.round
            elif isinstance(event, Decided) and opened == index:
                found.append(event.decision)
        return tuple(found)


def _without_unkept(current: Round) -> Round:
    """A round without the placeholders that count for nothing: no text may speak of them."""
    unkept = [item for item in current.candidates if is_unseen(item.passage.id) and item.gate != "kept"]
    return replace(current, candidates=tuple(i for i in current.candidates if i not in unkept)) if unkept else current


def _seen(current: Round) -> Round:
    """A round without placeholders."""
    if not any(is_unseen(item.passage.id) for item in current.candidates):
        return current
    return replace(
        current,
        candidates=tuple(item for item in current.candidates if not is_unseen(item.passage.id)),
        reranked=tuple(name for name in current.reranked if not is_unseen(name)),
    )


def _path(decisions: Sequence[Decision]) -> list[tuple[str, str]]:
    return [(item.route, item.reason) for item in decisions]


def _first_difference(paths: Sequence[list[tuple[str, str]]]) -> int | None:
    """Number of the first decision that is not the same in all; None where they are equal."""
    longest = max(len(path) for path in paths)
    turns = (
        place
        for place in range(longest)
        if any(path[place : place + 1] != paths[0][place : place + 1] for path in paths)
    )
    return next(turns, None)


class _Driver(Driver):
    """Knows the replay that it drives for."""

    def __init__(self, replay: Replay) -> None:
        super().__init__(replay.module.flow, replay.record, replay.config)
        self._replay = replay
        self.lost = replay.evidence.prices.search

    def visit(self, name: str, course: ReplayPath) -> None:
        if name == self.flow.gate:
            self.compare(course)
        if self.flow.ends(name):
            course.state = {**course.state, "rounds": tuple(_without_unkept(item) for item in course.rounds)}
        frozen = self.run.override
        former = frozen.spent if isinstance(frozen, FrozenRounds) else None
        super().visit(name, course)
        if isinstance(frozen, FrozenRounds) and frozen.spent is not former:
            course.cost += frozen.spent

    def restore_recorded(self, name: str, course: ReplayPath) -> None:
        self._replay.restore_recorded(name, course)

    def compare(self, course: ReplayPath) -> None:
        self._replay.compare(course)
