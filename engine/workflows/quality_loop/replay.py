"""Recorded roles of the quality-control loop: its router, and its search by kinds of sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.builtin.rerank import GraderReranker
from engine.flow.context import Retrieval, Roles
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.values import Passage, Round, Routing, SourceKind
from engine.replay.course import ReplayPath, Unrecorded
from engine.replay.recorded import RecordedRole, is_unseen, undecided, unseen
from engine.replay.replay import Replay
from engine.replay.values import Gap
from engine.retrieval.fuse import lists_of, quotas
from engine.retrieval.reciprocal import most_similar_below
from engine.roles import SILENT, RoutingRequest, Trace
from engine.workflows.quality_loop.policy import deadline_s
from engine.workflows.quality_loop.roles import QualityRoles


class QualityReplay(Replay):
    """A what-if of the quality-control loop; counting a passage without verdict as 0 and as 1 bounds its score."""

    def unknown_from_the_start(self) -> Gap | None:
        return super().unknown_from_the_start() or (None if self.evidence.same("router") else "routing")

    def roles(self) -> Roles:
        roles = super().roles()
        kinds = _RecordedKinds(self.evidence, self.driver)
        return replace(roles, own=QualityRoles(kinds, kinds, GraderReranker(roles.grader)))

    def deadline_s(self, config: RunConfig) -> float:
        return deadline_s(config)

    def restore_recorded(self, name: str, course: ReplayPath) -> None:
        recorded = self.evidence.round(len(course.rounds))
        if name == "question_router" and recorded is not None and recorded.routing is not None:
            # As it was searched: shares are not made even a second time.
            course.state["routing"] = recorded.routing

        if name == "fuse" and course.rounds[-1].searched:
            self._seen(course)

    def _seen(self, course: ReplayPath) -> None:
        """Raise where passages below a list might be kept, for they change how many places every kind has."""
        current, place = course.rounds[-1], len(course.rounds) - 1
        recorded = self.evidence.record.rounds[place]
        course.unseen[place] = self._unseen(recorded)
        if course.unseen[place]:
            judged = {
                name for item in course.rounds[:-1] for name, v in item.verdicts.items() if v.relevant is not None
            }
            course.ungraded[place] = tuple(
                item.id
                for item in current.kept
                if not is_unseen(item.id) and item.id not in judged and self.evidence.verdict(place, item.id) is None
            )
            raise undecided(course, self.evidence.prices)

    def _unseen(self, recorded: Round) -> int:
        """Places that a list would fill with passages below its recorded depth."""
        routing, depth, top_k = recorded.routing, self.record.config.fetch_k, self.config.top_k
        if routing is None or not recorded.searched or top_k <= depth:
            return 0
        places, count = quotas(routing.shares, top_k), 0
        for kind, items in lists_of(recorded.candidates).items():
            # A list shorter than was asked for has nothing below it.
            cut_off = len(items) >= depth and most_similar(kind, items, self.config) >= self.config.similarity_threshold
            wanted = top_k if routing.wide else places.get(kind, 0)
            count += max(0, wanted - len(items)) if cut_off else 0
        return min(count, top_k)

    def check(self, course: ReplayPath, name: str, before: ReplayPath) -> Unrecorded | None:
        late = self.evidence.clock.answered_s() > self.config.budget_s != self.record.config.budget_s
        if name == "generate" and course.stands and late:
            # The answer has no time of its own here: it would have come too late.
            return Unrecorded("time", self.evidence.prices.generation, Cost(), path_known=False)
        return super().check(course, name, before)


class _RecordedKinds(RecordedRole):
    """Routes as recorded, and gives the recorded lists with placeholders for the passages below them."""

    async def kinds(self, question: str = "") -> tuple[SourceKind, ...]:
        if self._driver.course.live:
            raise Unrecorded("unrecorded", Cost())
        return tuple(self._routing(question).shares)

    async def route(self, request: RoutingRequest, trace: Trace = SILENT) -> Routing:
        self._driver.course.cost += self._evidence.prices.routing
        return self._routing(request.query)

    async def search_kind(self, query: str, kind: SourceKind, limit: int) -> Retrieval:
        course, index = self._driver.course, len(self._driver.course.rounds)
        recorded = self._searched(query, kind, limit) if course.live else self._evidence.record.rounds[index]
        if course.searched != index:
            # One search a round, in all its kinds at the same time.
            course.searched, course.cost = index, course.cost + self._evidence.prices.search
        items, depth = lists_of(recorded.candidates).get(kind, ()), self._evidence.record.config.fetch_k
        below = limit - len(items) if items and len(items) >= depth else 0
        most = most_similar(kind, items, self._evidence.config) if below else 0.0
        more = (unseen(place, most, kind) for place in range(below))
        return Retrieval((*items[:limit], *more), recorded.floor, recorded.anchors)

    def _searched(self, query: str, kind: SourceKind, limit: int) -> Round:
        """The recorded round that searched the same in a kind, as deep at least."""
        depth = self._evidence.record.config.fetch_k
        for item in self._evidence.record.rounds:
            if item.searched and item.routing is not None and item.routing.query_for(kind) == query:
                found = len(lists_of(item.candidates).get(kind, ()))
                if found and (found >= limit or found < depth):
                    return item
        raise Unrecorded("unrecorded", Cost())

    def _routing(self, query: str) -> Routing:
        recorded = self._evidence.round(len(self._driver.course.rounds))
        if self._driver.course.live:
            same = (item for item in self._evidence.record.rounds if item.searched and item.query == query)
            recorded = next(same, None) if self._evidence.same("router") else None
        if recorded is None or recorded.routing is None:
            raise Unrecorded("unrecorded", self._evidence.prices.round(self._evidence.config))
        return recorded.routing


def most_similar(kind: SourceKind, items: Sequence[Passage], config: RunConfig) -> float:
    """The highest similarity that a passage below a list can have; a graph orders by what leads to a passage."""
    return 1.0 if kind == "graph" else most_similar_below(items[-1], config.search)
