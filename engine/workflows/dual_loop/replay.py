"""Recorded roles of the dual loop: its memory, its router, its searches by strategy, its answers and their judge.

A search is answered by the recorded one of the same strategy and query, an answer by the recorded one that was written
from the same passages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.builtin.strategy_router import choose
from engine.errors import ModelError, WorkbenchError
from engine.flow.context import Retrieval, Roles, SectionRetrieval
from engine.model.config import RoleName
from engine.model.cost import Cost
from engine.model.values import (
    STRATEGIES,
    Context,
    Decision,
    Draft,
    Evaluation,
    Rewrite,
    Round,
    RouteChoice,
    RunRecord,
    Strategy,
    TriedRoute,
)
from engine.replay.course import Driver, ReplayPath, Unrecorded, decisions_of
from engine.replay.recorded import (
    Evidence,
    RecordedRetriever,
    RecordedRewriter,
    ReplayClock,
    context_of,
    is_unseen,
    retrieved,
    same_surroundings,
    source_of,
)
from engine.replay.replay import Replay
from engine.replay.values import Gap
from engine.retrieval.assemble import assemble
from engine.roles import (
    NO_LIMIT,
    SILENT,
    DirectRequest,
    DistilRequest,
    EvaluationRequest,
    GenerationRequest,
    RewriteRequest,
    StrategyRequest,
    Trace,
)
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import (
    WEB,
    skips,
    untried,
    usable_strategies,
)
from engine.workflows.dual_loop.recorded_memory import RecordedMemory, RecordedRecallGrader, own_memories
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.workflow import passes

ANSWER = "grade_relevance"
"""The node that decides about answers."""
_SEARCH = "retrieve_documents"


class DualReplay(Replay):
    """A what-if of the dual loop."""

    def __init__(self, record: RunRecord, config: Any) -> None:
        super().__init__(record, config)
        self.searches = _Searches(record)
        self.web_unknown = dual_options(config).web_search and not dual_options(record.config).web_search
        """Whether the web may be searched now and nothing says whether this machine has a search engine."""
        # Under its own settings nothing is tried: what the run itself remembers of its question stands.
        self.driver.run.trial = config != record.config

    def unknown_from_the_start(self) -> Gap | None:
        return super().unknown_from_the_start() or (None if self.evidence.same("router") else "routing")

    def opening_price(self) -> Cost:
        return self.evidence.prices.routing

    def clock(self) -> ReplayClock:
        return _DualClock(self.evidence, self.driver, self.searches)

    def roles(self) -> Roles:
        search = _RecordedSearch(self)
        answers = _RecordedAnswers(self)
        rewriter = _RecordedDualRewriter(self.evidence, self.driver)
        web = search.web if WEB in self.searches.could_use else None
        recall = self.record.recall
        fresh = [item for item in recall.memories if item.id not in recall.stale] if recall else []
        recalled = fresh[0] if fresh else None
        return replace(
            super().roles(),
            retriever=search.direct,
            rewriter=rewriter,
            stand_in=rewriter,
            generator=answers,
            own=DualRoles(
                sections=search,
                router=_RecordedStrategyRouter(self),
                direct=answers,
                evaluator=answers,
                memory=RecordedMemory(self),
                recall_grader=RecordedRecallGrader(self),
                # Those of the collection as it was: what is stale, and so not graded, is so here too.
                fingerprint=recalled.fingerprint if recalled else "",
                collection=recalled.collection if recalled else "",
                distiller=answers,
                web=web,
            ),
        )

    def restore_recorded(self, name: str, course: ReplayPath) -> None:
        recall = self.record.recall
        if name == "retrieve_memory" and recall is not None and not course.state["recall"].off:
            now = course.state["recall"]
            kept = tuple(item for item in recall.memories if item.id not in now.own)
            course.state["recall"] = replace(recall, memories=kept, refused=now.refused, own=now.own or recall.own)
        if name == _SEARCH and self.web_unknown and self._nothing_found(course):
            raise Unrecorded("web", self.evidence.prices.round(self.config))

    def _nothing_found(self, course: ReplayPath) -> bool:
        """Return whether the newest search was made, was not of the web, and kept nothing."""
        current, tried = course.rounds[-1], course.state["tried_routes"]
        searched = [item for item in tried if (item.strategy, item.attempt) == (current.strategy, current.attempt)]
        return current.strategy != WEB and bool(searched) and searched[-1].status == "nothing_found"

    def compare(self, course: ReplayPath) -> None:
        for place in range(course.compared + 1, len(course.rounds) - 1):
            # Nothing was kept, so nothing was decided: it is the recorded round where that kept nothing too.
            recorded = self.evidence.round(source_of(course, place))
            same = recorded is not None and not recorded.kept and source_of(course, place) == place
            course.compared, course.as_recorded = place, course.as_recorded and same
        place = len(course.rounds) - 1
        if place >= 0 and course.sources.get(place, place) != place:
            course.as_recorded = False
        super().compare(course)

    def check(self, course: ReplayPath, name: str, before: ReplayPath) -> Unrecorded | None:
        if len(decisions_of(course)) == len(decisions_of(before)):
            return None
        decision, prices = decisions_of(course)[-1], self.evidence.prices
        writing = prices.generation + prices.evaluation
        if name == ANSWER:
            late = self._late_answer(course, decision)
            return Unrecorded("time", writing, undecided=True) if late else None
        if name != self.driver.flow.gate:
            return None
        if self._late_documents(course, decision):
            return Unrecorded("time", writing, undecided=True)
        if self.web_unknown and decision.reason == "strategies_exhausted":
            return Unrecorded("web", prices.round(self.config), undecided=True)
        return self._unsaid(course, decision)

    def _late_documents(self, course: ReplayPath, decision: Decision) -> bool:
        """Return whether the clock, which no replay can turn back, might have decided otherwise about a round."""
        index, clock = source_of(course), self.evidence.clock
        recorded, found = clock.decision(index), self.record.rounds[index]
        left_out = found.searched and any(item.id not in found.verdicts for item in found.kept)
        cut_short = recorded is not None and not clock.unreached(index) and left_out
        tried = self.searches.tried(found)
        out_of_time = tried is None and not found.searched and source_of(course) == len(course.rounds) - 1
        slow = tried is not None and tried.status == "failed" and not self._same_budget()
        if not (out_of_time or clock.over(index) or cut_short or slow or clock.ended_s(index) >= self.config.budget_s):
            return False
        same = recorded is not None and recorded.reason == decision.reason
        return not (same and course.as_recorded and self._same_budget())

    def _late_answer(self, course: ReplayPath, decision: Decision) -> bool:
        visit = course.visits[ANSWER]
        recorded = self.evidence.clock.decision_of_visit(ANSWER, visit)
        assert recorded is not None
        ended_s = self.evidence.clock.visit_ended_s(ANSWER, visit)
        failed = course.state["writer_failed"]
        if recorded.reason != "deadline" and not failed and ended_s < self.config.budget_s:
            return False
        return not (recorded.reason == decision.reason and self.as_recorded(course) and self._same_budget())

    def _unsaid(self, course: ReplayPath, decision: Decision) -> Unrecorded | None:
        """A refusal says how many passages were read, those below the gates included: were they?"""
        ended = decision.route == "end" and decision.reason != "grader_failed"
        if not ended or course.state["response"] in {item.text for item in course.state["drafts"]}:
            return None
        then, now = self.record.config, self.config
        if self.as_recorded(course) and (then.grade_probe, then.fetch_k) == (now.grade_probe, now.fetch_k):
            # What was left unjudged there is part of the recording.
            return None
        missing = self.evidence.prices.judging * (len(course.probed) + self._below_the_record(course))
        unknown = bool(course.probed) or self._below_the_record(course) > 0
        return Unrecorded("verdicts", missing, path_known=True) if unknown else None

    def _below_the_record(self, course: ReplayPath) -> int:
        """Passages below the recorded depth that a deeper search would have judged too."""
        depth, deeper = self.record.config.fetch_k, self.config.fetch_k
        if not self.config.grade_probe or deeper <= depth:
            return 0
        known = [sum(not is_unseen(i.passage.id) for i in item.candidates) for item in course.rounds if item.searched]
        return sum(deeper - depth for count in known if count >= depth)

    def as_recorded(self, course: ReplayPath) -> bool:
        """Return whether an answer comes after the recorded rounds and no others, and so at its recorded time."""
        return course.as_recorded and len(course.rounds) == len(self.rounds_until(course))

    def rounds_until(self, course: ReplayPath, record: RunRecord | None = None) -> list[Round]:
        """Return the rounds searched before the answer of this pass was written."""
        return [item for item in (record or self.record).rounds if item.attempt <= course.state["correction_attempts"]]

    def _same_budget(self) -> bool:
        return self.config.budget_s == self.record.config.budget_s

    def context_known(self, gap: Gap) -> bool:
        return gap in ("answer", "evaluation")

    def rest(self, picture: RunRecord, course: ReplayPath, gap: Gap) -> Cost:
        """Return the worst cost of what is left: every search, answer and pass."""
        prices, corrections = self.evidence.prices, course.state.get("correction_attempts", 0)
        left_over = max(0, dual_options(self.config).max_corrections - corrections)
        rest = passes(prices, self.config, left_over) + prices.checks
        if gap not in ("answer", "evaluation"):
            rest = rest + prices.generation + prices.evaluation
        if gap in ("answer", "evaluation", "unrecorded"):
            return rest
        usable = usable_strategies(course.state.get("skipped") or self.searches.skips(self.config))
        left = untried(usable, course.state.get("tried_routes", ()), corrections)
        return rest + prices.round(self.config) * (len(left) + self.web_unknown)


class _Searches:
    """The searches of a recorded run with what each found, and the strategies that it could use."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        named = record.manifest.get("strategies")
        skipped = {item.strategy for item in record.tried_routes if item.status == "skipped"}
        if not dual_options(record.config).web_search:
            skipped.add(WEB)
        listed = STRATEGIES if named is None else tuple(item for item in STRATEGIES if item in named.split(","))
        self.could_use: tuple[Strategy, ...] = tuple(item for item in listed if item not in skipped)
        """By its manifest, by its options and by what it skipped itself."""

    def skips(self, config: Any) -> dict[Strategy, Any]:
        """Strategies that settings leave out, each with the reason."""
        web_on = dual_options(config).web_search
        return skips(summaries="hierarchical_search" in self.could_use, web_on=web_on, web_set=WEB in self.could_use)

    def tried(self, found: Round) -> TriedRoute | None:
        """Return the result of the search that opened a round; None if the time was over before it."""
        same = (i for i in self._record.tried_routes if (i.strategy, i.attempt) == (found.strategy, found.attempt))
        return next(same, None)

    def round_of(self, strategy: Strategy, query: str, attempt: int) -> Round | None:
        """The recorded round that tells what a strategy finds for a query; None where none does."""
        same = [item for item in self._record.rounds if (item.strategy, item.query) == (strategy, query)]
        first = next((item for item in same if item.searched), None)
        own = next((item for item in same if item.attempt == attempt), None)
        if own is None:
            return first
        tried = self.tried(own)
        return own if tried is None or tried.status == "failed" or own.searched else first


class _DualClock(ReplayClock):
    """A clock whose time is over before a search where it was over before the same recorded search."""

    def __init__(self, evidence: Evidence, driver: Driver, searches: _Searches) -> None:
        super().__init__(evidence, driver)
        self._searches = searches

    def over(self, course: ReplayPath) -> bool:
        state = course.state
        strategy: Strategy = WEB if course.opening else state["route"]
        own = self._searches.round_of(strategy, state["updated_query"], state["correction_attempts"])
        late = own is not None and not own.searched and self._searches.tried(own) is None
        if late and own is not None:
            course.sources[course.coming] = own.index
        return late


class _RecordedSearch:
    """Finds by strategy what the recorded run found."""

    def __init__(self, replay: DualReplay) -> None:
        self._replay = replay
        self.direct = _ByStrategy(self, "direct_chunk_search")
        self.web = _ByStrategy(self, WEB)

    async def has_summaries(self) -> bool:
        return "hierarchical_search" in self._replay.searches.could_use

    async def search_sections(self, query: str, limit: int) -> SectionRetrieval:
        found = self.found("hierarchical_search", query, limit)
        return SectionRetrieval(found.sections, retrieved(found, self._replay.evidence, limit))

    def found(self, strategy: Strategy, query: str, limit: int) -> Round:
        """The recorded round; raises what the recorded search raised."""
        replay, course = self._replay, self._replay.driver.course
        found = replay.searches.round_of(strategy, query, course.state["correction_attempts"])
        if course.live and found is not None and not (found.searched and replay.evidence.reaches(found, limit)):
            found = None
        if found is None:
            gap: Gap = "web" if strategy == WEB else "unrecorded"
            raise Unrecorded(gap, replay.evidence.prices.round(replay.config))
        course.sources[course.coming] = found.index
        tried = replay.searches.tried(found)
        if tried is not None and tried.status == "failed":
            raise _failed(tried.why)
        course.cost += replay.evidence.prices.search
        return found


class _ByStrategy(RecordedRetriever):
    def __init__(self, search: _RecordedSearch, strategy: Strategy) -> None:
        super().__init__(search._replay.evidence, search._replay.driver)
        self._search = search
        self._strategy: Strategy = strategy

    async def search(self, query: str, limit: int) -> Retrieval:
        return retrieved(self._search.found(self._strategy, query, limit), self._evidence, limit)


def _failed(code: str) -> WorkbenchError:
    """The error of that code with which a recorded search failed."""
    error = WorkbenchError.restored("The recorded search failed.", "")
    vars(error)["code"] = code
    return error


class _RecordedStrategyRouter:
    """Chooses as recorded where it is asked the same; the built-in one is the same for the same question."""

    def __init__(self, replay: DualReplay) -> None:
        self._replay = replay

    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice:
        replay, record = self._replay, self._replay.record
        routing = replay.evidence.prices.routing
        recorded, recall = record.route, record.recall
        if recorded is None or recall is None:
            raise Unrecorded("unrecorded", routing)
        former = recall.holding
        same_memories = request.memories == former
        if same_memories and request.strategies == replay.searches.could_use and not replay.web_unknown:
            choice = recorded
        elif replay.config.models.router.built_in:
            choice = choose(request)
        else:
            raise Unrecorded("routing" if same_memories else "memory", routing)
        if replay.web_unknown and choose(replace(request, strategies=(*request.strategies, WEB))).route != choice.route:
            raise Unrecorded("web", routing)
        forgotten = replay.driver.run.trial and own_memories(record) and dual_options(replay.config).memory
        if forgotten and choice.route != "direct" and recorded.route == "direct":
            # What memory answered was never searched, so nothing tells what a search finds.
            raise Unrecorded("memory", routing)
        replay.driver.course.cost += routing
        return choice


class _RecordedDualRewriter(RecordedRewriter):
    """Words the question, and after a rejected answer another query, as recorded."""

    counted = False

    def made(self, course: ReplayPath) -> Rewrite | None:
        wanted = not course.state["drafts"]
        found = [item for item in self._evidence.record.rewrites if item.initial == wanted]
        place = 0 if wanted else course.state["correction_attempts"]
        return found[place] if place < len(found) else None

    def gap(self, made: Rewrite | None, request: RewriteRequest, course: ReplayPath) -> Gap | None:
        if made is None:
            return "unrecorded"
        other = bool(course.state["drafts"]) and request.digest() != made.input_hash
        return "rewrite" if other or not self._evidence.same("rewriter") else None


class _RecordedAnswers:
    """Writes the recorded answers again, judges them as they were judged, and keeps nothing of them."""

    context_tokens = NO_LIMIT
    name = ""

    def __init__(self, replay: DualReplay) -> None:
        self._replay = replay

    def count_tokens(self, text: str) -> int:
        return 0

    def _same(self, role: RoleName) -> bool:
        return self._replay.evidence.same(role)

    @property
    def _writing(self) -> Cost:
        return self._replay.evidence.prices.generation + self._replay.evidence.prices.evaluation

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        replay, course = self._replay, self._replay.driver.course
        if course.unknown:
            raise Unrecorded("answer", replay.evidence.prices.judging * course.unknown + self._writing)
        given = context_of(course)
        former = assemble(replay.rounds_until(course, replay.ran), replay.ran.config, NO_LIMIT, len)
        same = self._same("generator") and same_surroundings(replay.record, replay.config)
        if not (same and (former.passages, former.verified) == (given.passages, given.verified)):
            course.given = given
            raise Unrecorded("answer", self._writing)
        draft = self._draft(course)
        if draft is None:
            return self._none(course)
        return self._give(draft, course)

    def _draft(self, course: ReplayPath) -> Draft | None:
        """The answer of this number, where the same pass wrote it."""
        number, drafts = len(course.state["drafts"]), self._replay.record.drafts
        found = drafts[number] if number < len(drafts) else None
        return found if found is not None and found.attempt == course.state["correction_attempts"] else None

    def _none(self, course: ReplayPath) -> str:
        judged = self._replay.evidence.clock.decision_of_visit(ANSWER, course.visits.get(ANSWER, 0) + 1)
        if course.live or not course.state["drafts"] or judged is None:
            raise Unrecorded("unrecorded", self._writing)
        # An answer that did not come about: those before it stand.
        course.cost += self._replay.evidence.prices.generation
        raise ModelError.restored("The recorded answer came to nothing.", "")

    def _give(self, draft: Draft, course: ReplayPath) -> str:
        course.cost += self._replay.evidence.prices.generation
        course.answers += 1
        return draft.text

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        draft = self._draft(self._replay.driver.course)
        known = draft is not None and draft.direct and self._same_memories() and self._same("generator")
        if draft is None or not known:
            raise Unrecorded("answer" if draft else "unrecorded", self._writing)
        return self._give(draft, self._replay.driver.course)

    def _same_memories(self) -> bool:
        """Return whether an answer without a search would be written from the same memories."""
        replay, recall = self._replay, self._replay.record.recall
        if own_memories(replay.record) and replay.driver.run.trial:
            return False
        now, then = dual_options(replay.config).memory, dual_options(replay.record.config).memory
        if recall is not None and replay.driver.course.state["recall"].refused != recall.refused:
            return False
        return now == then or recall is None or not recall.holding

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        replay, course = self._replay, self._replay.driver.course
        price = replay.evidence.prices.evaluation
        number = len(course.state["drafts"]) - 1
        if number >= len(replay.record.drafts) or replay.record.drafts[number].text != course.state["drafts"][-1].text:
            raise Unrecorded("evaluation", price)
        draft = replay.record.drafts[number]
        failing = draft.evaluation is None and (course.live or not replay.as_recorded(course))
        if failing or not self._same("evaluator") or not self._same_excerpts(draft, course.state["contexts"][-1]):
            raise Unrecorded("evaluation", price)
        if not course.live and replay.evidence.clock.decision_of_visit(ANSWER, course.visits[ANSWER]) is None:
            raise Unrecorded("unrecorded", price)
        if draft.evaluation is None:
            raise ModelError.restored("The recorded evaluation came to nothing.", "")
        course.cost += price
        return draft.evaluation

    def _same_excerpts(self, draft: Draft, context: Context) -> bool:
        """Return whether the evaluator would see as many of the passages; those cut off it saw in neither case."""
        shown, now, then = len(context.passages), self._replay.config.top_k, self._replay.record.config.top_k
        all_seen = len(draft.seen) < then and draft.evaluation is not None and now >= len(draft.seen)
        return min(now, shown) == min(then, shown) or all_seen

    async def distil(self, request: DistilRequest, trace: Trace = SILENT) -> str:
        return ""
