"""Roles of a replay: they answer from the record of a finished run, or say what the record does not tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from engine.builtin.parts import parts_of
from engine.builtin.strips import picked, strips_of
from engine.builtin.sufficiency import by_words
from engine.errors import ModelError, StoreError
from engine.flow.context import Retrieval, RunClock
from engine.flow.declaration import gradings_a_passage
from engine.model.config import Expand, RoleModel, RoleName, RunConfig
from engine.model.cost import Cost
from engine.model.decide import by_cut, cascades, judging, open_parts
from engine.model.events import ContextAssembled
from engine.model.surroundings import from_store
from engine.model.values import (
    ANSWERED,
    BY_HAND,
    Context,
    Passage,
    PassageId,
    Rewrite,
    Round,
    RunRecord,
    Sentence,
    SetVerdict,
    Surrounding,
    Translation,
    Verdict,
    contents,
)
from engine.replay.clock import RecordedClock
from engine.replay.cost import CostModel, cost_model
from engine.replay.course import Driver, MissingVerdict, ReplayPath, Unrecorded
from engine.replay.values import Gap
from engine.retrieval.reciprocal import most_similar_below, search_depth
from engine.roles import (
    NO_LIMIT,
    SILENT,
    GenerationRequest,
    Grader,
    RefineRequest,
    RewriteProposal,
    RewriteRequest,
    Trace,
)
from engine.version import __version__

YES = Verdict(True, 1.0, "")
NO = Verdict(False, 1.0, "")
UNREADABLE = Verdict(None, 0.0, "")
_UNSEEN = "\0unseen "
"""Begins the id of a placeholder: it comes first among passages that are otherwise equal."""


class Evidence:
    """Evidence of a run's record for another config."""

    def __init__(self, record: RunRecord, config: RunConfig) -> None:
        self.record = record
        self.config = config
        self.clock = RecordedClock(record)
        self.prices: CostModel = cost_model(record, config)
        self.upstream = record.fork.round if record.fork else 0
        """Rounds before this one were taken over from another run."""
        self.by_hand = {
            name: verdict
            for item in record.rounds
            for name, verdict in item.verdicts.items()
            if verdict.grader == BY_HAND
        }

    def same(self, role: RoleName) -> bool:
        """Return whether a role is played by the model that played it in the run."""
        return self.config.models.of(role) == self.record.config.models.of(role)

    @cached_property
    def texts(self) -> dict[PassageId, tuple[str, str, str]]:
        """Texts by verdict: an id may belong to another text after its source was ingested again."""
        return {item.passage.id: _text(item.passage) for own in self.record.rounds for item in own.candidates}

    def reaches(self, recorded: Round, limit: int) -> bool:
        """Return whether a recorded search suffices for one of ``limit`` passages: it found them, or all there were.

        A round that the run took over from another one was searched by settings that are not known here. Another
        program is known to have asked for as many as its deepest search found, and may find more where asked for
        more, unless it found nothing at all.
        """
        depth = len(recorded.candidates)
        if self.record.origin is not None:
            return depth == 0 or limit <= max(depth, self.record.config.fetch_k)
        return depth >= limit or (recorded.index >= self.upstream and depth < self.record.config.fetch_k)

    def searched(self, query: str, course: ReplayPath, limit: int = 0) -> Round | None:
        """Find the recorded round that the coming one is known by; in a real run any deep enough that searched this."""
        if not course.live:
            return self.round(len(course.rounds))
        same = (item for item in self.record.rounds if item.searched and item.query == query)
        return next((item for item in same if self.reaches(item, limit)), None)

    def round(self, index: int) -> Round | None:
        return self.record.rounds[index] if index < len(self.record.rounds) else None

    def same_open(self, rounds: Sequence[Round]) -> bool:
        """Return whether the open parts of the question that a generator hears of are those of the run."""
        return open_parts(rounds, self.config) == open_parts(self.record.rounds, self.record.config)

    @property
    def same_version(self) -> bool:
        """True if the rules of this version are those of the run."""
        return self.record.manifest.get("workbench") == __version__

    def strips(
        self, passages: Sequence[Passage], around: Collection[PassageId] = ()
    ) -> dict[PassageId, tuple[Sentence, ...]]:
        """The strips of the passages whose kept sentences, chosen by a chat model, the record has."""
        given, record = self.record.context, self.record
        if given is None or not record.config.refine or not self.same("refiner"):
            return {}
        near = {*(name for names in given.around.values() for name in names), *given.around_cut, *given.emptied}
        if {item.id for item in passages} == {*(item.id for item in given.passages), *given.cut, *near}:
            return {item.id: given.refined.get(item.id, picked(item.text, ())) for item in passages}
        calls = [call for call in record.model_calls if call.role == "refiner" and not call.error]
        replies = {call.passage_id: call.parsed or {} for call in calls}
        return {
            item.id: picked(item.text, replies[item.id].get("keep", ()), least=item.id not in around)
            for item in passages
            if self.texts.get(item.id) == _text(item)
            and (item.id in replies or len(strips_of(item.text)) < 1 + (item.id not in around))
        }

    def verdict(self, index: int, passage_id: PassageId, parts: Sequence[str] = ()) -> Verdict | None:
        """Find a verdict by a reader, else by the grader in this round, else in another one, readable if possible.

        ``parts`` are those of the question that the grader is asked about.
        """
        if passage_id in self.by_hand:
            # What a reader judged holds no matter who grades the rest.
            return self.by_hand[passage_id]
        if cascades(self.config):
            screened = self.screened(index, passage_id, parts)
            settled = screened and by_cut(screened, self.config)
            if screened is None or settled is not None:
                return settled
        return self._judged_by(self.config.models.grader, index, passage_id, parts)

    def screened(self, index: int, passage_id: PassageId, parts: Sequence[str] = ()) -> Verdict | None:
        """Find what the screener of a cascade said of a passage, or would have said."""
        return self._judged_by(self.config.models.screener, index, passage_id, parts)

    def _judged_by(self, model: RoleModel, index: int, passage_id: PassageId, parts: Sequence[str]) -> Verdict | None:
        """Find what a model judged in the run, no matter in which of the two roles."""
        found = self._judgement(model, index, passage_id)
        asked = self.record.rounds[0].parts if self.record.rounds else ()
        if found is None or tuple(parts) == asked:
            return found
        # A chat model was asked otherwise.
        return None if parts or model.chats else replace(found, parts=())

    def _judgement(self, model: RoleModel, index: int, passage_id: PassageId) -> Verdict | None:
        models, rounds = self.record.config.models, self.record.rounds

        def said(item: Round) -> Verdict | None:
            graded = item.verdicts.get(passage_id) if model == models.grader else None
            if graded is not None and not graded.by_cut:
                return graded
            return item.screened.get(passage_id) if model == models.screener else None

        own = said(rounds[index]) if index < len(rounds) else None
        if own is not None:
            return own
        others = [found for item in rounds if (found := said(item)) is not None]
        return next((item for item in others if item.relevant is not None), others[0] if others else None)

    @property
    def same_judging(self) -> bool:
        """True if passages are judged as in the run: by the same models, with the same cuts."""
        return judging(self.config) == judging(self.record.config)

    def price_of(self, verdicts: Iterable[Verdict | None], parts: int = 0) -> Cost:
        """Return the cost of these verdicts, where one that is not known may need the grader.

        ``parts`` of a question are asked of a model one by one.
        """
        each, config = list(verdicts), self.config if parts else replace(self.config, split=False)
        calls = sum(_calls(verdict, config) for verdict in each)
        screenings = len(each) * (1 + parts * (not config.models.screener.built_in))
        return self.prices.screening * screenings + self.prices.grading * calls


def _calls(verdict: Verdict | None, config: RunConfig) -> int:
    """Calls of the grader for a verdict; for one that could not be read, at most."""
    if verdict is None:
        return gradings_a_passage(replace(config, reasons="never"))
    if verdict.by_cut:
        return 0
    parts = len(verdict.parts) if verdict.kind in ("score", "token") else 0
    return 1 + parts + (verdict.kind == "token" and verdict.relevant is not None and config.reasons == "before")


class ReplayClock(RunClock):
    """The recorded time: over where it was over then, and a moment before any budget else."""

    def __init__(self, evidence: Evidence, driver: Driver) -> None:
        super().__init__(0.0)
        self._evidence = evidence
        self._driver = driver

    def elapsed_s(self) -> float:
        course = self._driver.course
        if course.node in self._driver.flow.opening:
            return float("inf") if self.over(course) else 0.0
        if course.node == self._driver.flow.gate:
            recorded = self._evidence.clock.decision(source_of(course)) if course.as_recorded else None
        else:
            recorded = self._evidence.clock.decision_of_visit(course.node, course.visits[course.node])
        late = recorded is not None and recorded.reason == "deadline"
        return recorded.comparisons[-1].value if recorded is not None and late else 0.0

    def elapsed_ms(self) -> float:
        return 0.0

    def left_s(self) -> float:
        course = self._driver.course
        late = course.node in self._driver.flow.opening and self.over(course)
        return 0.0 if late else float("inf")

    def over(self, course: ReplayPath) -> bool:
        """Return whether there was no time left to search the round to come."""
        index = len(course.rounds)
        recorded = self._evidence.round(index)
        if recorded is None or recorded.searched:
            return False
        before = self._evidence.clock.rewrite_before(index)
        return not (before and (before.repeated or before.failed))


def source_of(course: ReplayPath, index: int | None = None) -> int:
    """The recorded round that tells a round of a course, the newest unless another one is named."""
    place = len(course.rounds) - 1 if index is None else index
    return course.sources.get(place, place)


class RecordedRole:
    """A role that answers from the evidence, at the place to which its driver has come."""

    def __init__(self, evidence: Evidence, driver: Driver) -> None:
        self._evidence = evidence
        self._driver = driver


class RecordedSplitter(RecordedRole):
    """Gives the recorded parts; clauses are looked for again, by the rules that they were found by."""

    async def split(self, question: str, trace: Trace = SILENT) -> tuple[str, ...]:
        evidence, course = self._evidence, self._driver.course
        course.cost += evidence.prices.rewrite
        if evidence.record.config.split and evidence.same("rewriter") and evidence.record.rounds:
            return evidence.record.rounds[0].parts
        if evidence.config.models.rewriter.built_in and evidence.same_version:
            return parts_of(question)
        splitting = evidence.prices.rewrite
        # The first round is still to come.
        raise Unrecorded("rewrite", splitting, splitting + evidence.prices.round(evidence.config))


class RecordedRetriever(RecordedRole):
    """Gives the recorded candidates of the round, and placeholders for what a deeper search might keep."""

    async def search(self, query: str, limit: int) -> Retrieval:
        return self.searched(query, "", limit)

    def searched(self, query: str, translated: str, limit: int) -> Retrieval:
        """Give what was found by exactly these queries."""
        evidence, course = self._evidence, self._driver.course
        recorded = evidence.searched(query, course, limit)
        own = recorded.translation.query if recorded and recorded.translation else ""
        # Of two lists, how far each went decides their order.
        if own != translated or (own and search_depth(limit) != search_depth(evidence.record.config.fetch_k)):
            raise Unrecorded("retrieval", evidence.prices.round(evidence.config))
        if recorded is None:
            raise Unrecorded("unrecorded", evidence.prices.round(evidence.config))
        if evidence.config.split and recorded.query != query:
            # An open part is searched without a rewriter that would know whether it was searched then.
            raise Unrecorded("rewrite", evidence.prices.round(evidence.config))
        course.cost += evidence.prices.search
        if course.frozen:
            return Retrieval(tuple(item.passage for item in recorded.candidates), recorded.floor, recorded.anchors)
        found = retrieved(recorded, evidence, limit)
        if recorded.translation is None:
            return found
        return replace(
            found,
            found_by={item.passage.id: item.found_by for item in recorded.candidates},
            translated_floor=recorded.translation.floor,
            translated_anchors=recorded.translation.anchors,
        )

    async def around(self, passages: Sequence[Passage], expand: Expand) -> list[Surrounding]:
        """What the record has around its candidates; what another way to expand would read is not in it."""
        record, live = self._evidence.record, self._driver.course.live
        known = from_store(record.rounds)
        unread = record.surroundings is None or not knows_surroundings(record, self._evidence.config)
        if live and (unread or any(item.id not in known for item in passages)):
            raise Unrecorded("answer", Cost())
        if record.surroundings is None or unread:
            raise StoreError.restored("What surrounds the passages was not read.", "")
        return [*record.surroundings, *map(Surrounding.of, known.values())]


class RecordedTranslator(RecordedRetriever):
    """Gives the recorded translation of a query, and what was found by both."""

    async def translate(self, query: str, trace: Trace) -> Translation | None:
        evidence, course = self._evidence, self._driver.course
        recorded = evidence.searched(query, course)
        same = evidence.record.config.translate and evidence.same("rewriter")
        if recorded is None or recorded.query != query or not same:
            raise Unrecorded("retrieval", evidence.prices.round(evidence.config))
        if recorded.translation is not None:
            course.cost += evidence.prices.rewrite
        return recorded.translation

    async def search_both(self, query: str, translated: str, limit: int) -> Retrieval:
        return self.searched(query, translated, limit)


def retrieved(recorded: Round, evidence: Evidence, limit: int) -> Retrieval:
    """Return the results of a round's search, with placeholders for what a deeper one might keep."""
    passages, config, depth = recorded.candidates[:limit], evidence.config, len(recorded.candidates)
    more = 0
    if not evidence.reaches(recorded, limit) and config.top_k > depth:
        method = "fused" if recorded.translation and recorded.translation.query else config.search
        most = most_similar_below(recorded.candidates[-1].passage, method)
        more = config.top_k - depth if most >= config.similarity_threshold else 0
    below = (unseen(place, most) for place in range(more))
    return Retrieval((*(item.passage for item in passages), *below), recorded.floor, recorded.anchors)


def unseen(place: int, similarity: float, kind: str = "") -> Passage:
    """A placeholder for a passage below the recorded depth, as similar as one can be there."""
    return Passage(PassageId(f"{_UNSEEN}{kind}{place}"), "", "", similarity, similarity)


def is_unseen(passage_id: PassageId) -> bool:
    return passage_id.startswith(_UNSEEN)


class RecordedGrader(RecordedRole):
    """Gives recorded verdicts; what has none is supposed to be one thing and then the other."""

    def __init__(self, evidence: Evidence, driver: Driver, *, bounded: bool) -> None:
        super().__init__(evidence, driver)
        self._bounded = bounded
        self._parts: Sequence[str] = ()
        self.behind: Grader | None = None
        """Who judges in a real run what was never judged."""

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        course, self._parts = self._driver.course, parts
        if course.live:
            return await self._grade_live(question, passages, trace)
        self._driver.compare(course)
        place, index = len(course.rounds) - 1, source_of(course)
        kept = {item.id for item in course.rounds[-1].kept}
        recorded, clock = self._evidence.record.rounds[index], self._evidence.clock
        if course.frozen:
            self._charge(course, {i.id: recorded.verdicts[i.id] for i in passages if i.id in recorded.verdicts})
            return [recorded.verdicts.get(item.id) or UNREADABLE for item in passages]
        if clock.cut_short(index) and any(item.id in recorded.reused for item in passages):
            # What came for nothing then is asked for here, in a time that is not known to suffice.
            course.as_recorded = False
        if course.as_recorded:
            return self._as_recorded(index, passages, kept, trace)
        known = {item.id: self._known(index, item.id) for item in passages if not is_unseen(item.id)}
        missing = tuple(name for name, verdict in known.items() if verdict is None and name in kept)
        course.ungraded[place], course.unseen[place] = missing, sum(is_unseen(name) for name in kept)
        if course.unknown and not self._bounded:
            self._charge(course, known)
            raise undecided(course, self._evidence.prices)
        if course.unknown and course.supposed is None:
            raise MissingVerdict
        self._charge(course, known)
        self._report(index, known, trace)
        return [known.get(item.id) or self._supposed(course, item.id in kept) for item in passages]

    async def _grade_live(self, question: str, passages: Sequence[Passage], trace: Trace) -> list[Verdict]:
        """Recorded verdicts by passage; the grader judges the rest."""
        evidence, index = self._evidence, self._driver.course.coming - 1
        known: dict[PassageId, Verdict] = {}
        for passage in passages:
            same = evidence.texts.get(passage.id) == _text(passage)
            verdict = self._known(index, passage.id) if same or passage.id in evidence.by_hand else None
            if verdict is not None:
                known[passage.id] = verdict
                self._repeat(index, passage.id, verdict, trace)
        missing = [passage for passage in passages if passage.id not in known]
        assert self.behind is not None
        judged = await self.behind.grade(question, missing, trace, self._parts) if missing else []
        known |= {passage.id: verdict for passage, verdict in zip(missing, judged, strict=True)}
        return [known[passage.id] for passage in passages]

    def _known(self, index: int, passage_id: PassageId) -> Verdict | None:
        return self._evidence.verdict(index, passage_id, self._parts)

    def _report(self, index: int, known: Mapping[PassageId, Verdict | None], trace: Trace) -> None:
        for name, verdict in known.items():
            if verdict is not None:
                self._report_screened(index, name, verdict, trace)
                trace.verdict(name, verdict)

    def _report_screened(self, index: int, passage_id: PassageId, verdict: Verdict, trace: Trace) -> None:
        evidence = self._evidence
        if cascades(evidence.config) and verdict.grader != BY_HAND:
            screened = evidence.screened(index, passage_id, self._parts)
            assert screened is not None
            trace.screened(passage_id, screened)

    def _repeat(self, index: int, passage_id: PassageId, verdict: Verdict, trace: Trace) -> None:
        rounds, cascade = self._evidence.record.rounds, cascades(self._evidence.config)
        self._report_screened(index, passage_id, verdict, trace)
        if verdict.grader != BY_HAND:
            own = (item for item in rounds if passage_id not in item.reused)
            judged = next((item.index for item in own if item.verdicts.get(passage_id) == verdict), 0)
            screened = next((item.index for item in rounds if cascade and passage_id in item.screened), -1)
            asked = {("grader", judged, passage_id), ("screener", screened, passage_id)}
            for call in self._evidence.record.model_calls:
                if (call.role, call.round, call.passage_id) in asked:
                    trace.call(replace(call, cached=True, start_ms=trace.now_ms(), duration_ms=0.0))
        trace.verdict(passage_id, verdict)

    def _supposed(self, course: ReplayPath, kept: bool) -> Verdict:
        # What decides nothing stays unread, so that no later round takes it for judged.
        return course.supposed if kept and course.supposed is not None else UNREADABLE

    def _as_recorded(
        self, index: int, passages: Sequence[Passage], kept: set[PassageId], trace: Trace
    ) -> list[Verdict]:
        """Judge what was judged then, and omit what was omitted."""
        evidence, recorded = self._evidence, self._evidence.record.rounds[index]
        probed = evidence.record.config.grade_probe
        left_out = {i.id for i in passages if i.id not in recorded.verdicts and (i.id in kept or probed)}
        known = {item.id: self._known(index, item.id) for item in passages if item.id not in left_out}
        course = self._driver.course
        self._charge(course, known)
        # Those left out by the grader had been screened.
        screened = [replace(item, by_cut=True) for name, item in recorded.screened.items() if name in left_out]
        course.cost += evidence.price_of(screened, len(self._parts))
        self._report(index, known, trace)
        if evidence.clock.unreached(index):
            raise ModelError.restored("The grader could not be reached.", "")
        if left_out:
            raise TimeoutError
        return [known[item.id] or UNREADABLE for item in passages]

    def _charge(self, course: ReplayPath, asked: Mapping[PassageId, Verdict | None]) -> None:
        """One judgement a passage; what stays unknown is asked for once."""
        fresh = [verdict for name, verdict in asked.items() if name not in course.probed]
        course.cost += self._evidence.price_of(fresh, len(self._parts))
        course.probed |= {name for name, verdict in asked.items() if verdict is None}


class RecordedSetJudge(RecordedRole):
    """Gives recorded verdicts on passages together; what goes by words is judged again, as nothing is asked for it."""

    async def judge_set(self, question: str, passages: Sequence[Passage], trace: Trace = SILENT) -> SetVerdict:
        evidence, course = self._evidence, self._driver.course
        wanted = {item.id for item in passages}
        same = all(evidence.texts.get(item.id) == _text(item) for item in passages)
        judged = (item for item in evidence.record.rounds if item.whole is not None)
        place = next((item for item in judged if item.whole and set(item.whole.passages) == wanted), None)
        known = place.whole if place is not None else None
        if not same or not evidence.same("grader") or (known is None and not self._by_words()):
            raise Unrecorded("verdicts", evidence.prices.together(evidence.config))
        course.cost += evidence.prices.together(evidence.config)
        if known is None or place is None:
            return by_words(question, passages)
        for call in evidence.record.model_calls if course.live else ():
            if (call.role, call.round, call.passage_id) == ("grader", place.index, None):
                trace.call(replace(call, cached=True, start_ms=trace.now_ms(), duration_ms=0.0))
        return known

    def _by_words(self) -> bool:
        """Return whether words decide, by the rules that decided in the run."""
        grader = self._evidence.config.models.grader
        return not grader.chats and self._evidence.same_version


def undecided(course: ReplayPath, prices: CostModel) -> Unrecorded:
    """Return what is missing to decide the newest round."""
    judging = prices.judging * course.unknown
    seen = not course.unseen.get(len(course.rounds) - 1, 0)
    return Unrecorded("verdicts", judging) if seen else Unrecorded("candidates", prices.search + judging)


class RecordedRewriter(RecordedRole):
    """Proposes again what was proposed to exactly this request, refused proposals included."""

    counted = True
    """Whether the steps that are left of a run count the rewrite itself."""

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        course = self._driver.course
        if course.proposals is None:
            course.proposals = self._proposals(request, course)
        # The last one again, where a rewriter only repeated itself.
        proposal: RewriteProposal = course.proposals.pop(0) if len(course.proposals) > 1 else course.proposals[0]
        return proposal

    def _proposals(self, request: RewriteRequest, course: ReplayPath) -> list[RewriteProposal]:
        evidence, index = self._evidence, len(course.rounds) - 1
        made = self._same_request(request) if course.live else self.made(course)
        gap = None if (course.frozen or course.live) and made is not None else self.gap(made, request, course)
        if gap is not None:
            before = evidence.prices.judging * len(course.ungraded.get(index, ()))
            whole = before + evidence.prices.rewrite
            raise Unrecorded(gap, whole, before if self.counted else whole)
        assert made is not None
        course.cost, course.source_round = course.cost + evidence.prices.rewrite, made.round
        if made.failed:
            raise ModelError.restored(made.reason, "")
        queries = (*made.refused, made.rewritten_query)
        return [RewriteProposal(query, made.reason, made.keywords, made.strategy) for query in queries]

    def _same_request(self, request: RewriteRequest) -> Rewrite | None:
        """Find what was proposed to the same request in any round."""
        digest = request.digest() if self._evidence.same("rewriter") else None
        said = (item for item in self._evidence.record.rewrites if not item.failed and item.strategy != BY_HAND)
        return next((item for item in said if item.input_hash == digest), None)

    def made(self, course: ReplayPath) -> Rewrite | None:
        """Return what was recorded at this place."""
        return self._evidence.clock.rewrite_before(len(course.rounds))

    def gap(self, made: Rewrite | None, request: RewriteRequest, course: ReplayPath) -> Gap | None:
        """Explain why the round after this one is unknown; None if it is known."""
        if made is None:
            return "unrecorded"
        if not self._evidence.same("rewriter"):
            return "rewrite"
        if course.unknown:
            return "verdicts"
        if request.digest() != made.input_hash:
            return "rewrite"
        return None if self._evidence.round(len(course.rounds)) is not None else "unrecorded"


class RecordedRefiner(RecordedRole):
    """Picks again what a chat model picked of the same passages; the rest is whole, and its answer is not known."""

    async def refine(
        self, request: RefineRequest, trace: Trace = SILENT
    ) -> Mapping[PassageId, tuple[Sentence, ...] | None]:
        evidence, course = self._evidence, self._driver.course
        known = evidence.strips(request.passages, request.around)
        if course.live and len(known) < len(request.passages):
            raise Unrecorded("answer", evidence.prices.refining * len(request.passages))
        course.cost += evidence.prices.refining * len(request.passages)
        course.unpicked = len(request.passages) - len(known)
        return {**known}


class RecordedGenerator(RecordedRole):
    """Gives the recorded answer where the generator would be offered exactly what it was."""

    context_tokens = NO_LIMIT
    """What the budget cuts does not change what the generator is offered."""

    def count_tokens(self, text: str) -> int:
        return 0

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        evidence, course = self._evidence, self._driver.course
        once = evidence.prices.generation
        course.cost += once
        once = once + evidence.prices.refining * course.unpicked
        if course.unknown:
            raise Unrecorded("verdicts", evidence.prices.judging * course.unknown + once)
        if course.unpicked or evidence.record.outcome not in ANSWERED or not self.same_input(course):
            raise Unrecorded("answer", once)
        return self.give(trace)

    def give(self, trace: Trace) -> str:
        """The recorded answer; in a real run as it was written, for that of the record has its citations resolved."""
        record, course = self._evidence.record, self._driver.course
        course.stands = True
        replies = [i.reply for i in record.model_calls if i.role == "generator" and i.reply and not i.error]
        text = replies[-1] if course.live and replies else record.answer
        trace.token(text)
        return text

    def same_input(self, course: ReplayPath) -> bool:
        """Return whether the context that was just put together is the recorded one."""
        evidence = self._evidence
        same = evidence.same("generator") and evidence.same_open(course.rounds)
        return same and same_context(context_of(course), evidence.record, evidence.config)


def context_of(course: ReplayPath) -> Context:
    """Return the context just assembled for the generator."""
    return next(event.context for event in reversed(course.events) if isinstance(event, ContextAssembled))


def same_context(context: Context, record: RunRecord, config: RunConfig) -> bool:
    """Return whether a context without a limit of tokens is the recorded one, cut at the same place."""
    given = record.context
    if given is None or not same_surroundings(record, config):
        return False
    count = len(given.passages)
    rest = (*(passage.id for passage in context.passages[count:]), *context.cut)
    same = contents(context.passages[:count]) == contents(given.passages) and same_strips(context, given)
    # How much room other strips would leave for what the budget cut is not known.
    whole = not (rest or given.around_cut) and context.around == given.around
    fits = whole or same_refining(config, record.config)
    return same and fits and context.verified == given.verified and rest == given.cut


def knows_surroundings(record: RunRecord, config: RunConfig) -> bool:
    """Return whether the record tells what any of its candidates brings along."""
    recorded = config.expand == record.config.expand and record.surroundings is not None
    return config.expand == "none" or recorded


def same_surroundings(record: RunRecord, config: RunConfig) -> bool:
    """Return whether the same passages would bring along what they brought along in the run."""
    if config.expand == "none":
        return record.context is None or not (record.context.around or record.context.around_cut)
    # That the store failed is part of the recording as it stands.
    return knows_surroundings(record, config) or config == record.config


def same_strips(context: Context, given: Context) -> bool:
    """Return whether of every passage that was given, and of what surrounds it, the same strips would be kept."""
    names = [*(item.id for item in given.passages), *(name for names in given.around.values() for name in names)]
    return all(_kept(context.refined.get(name)) == _kept(given.refined.get(name)) for name in names)


def _kept(strips: Sequence[Sentence] | None) -> str | None:
    """What is kept; None where the passage is whole."""
    return None if strips is None else "".join(item.text for item in strips if item.kept)


def same_refining(now: RunConfig, then: RunConfig) -> bool:
    """Return whether passages are refined by the same rule."""
    by = [(item.refine, item.refine and (item.sentence_threshold, item.models.refiner)) for item in (now, then)]
    return by[0] == by[1]


def _text(passage: Passage) -> tuple[str, str, str]:
    """Return the text of a verdict."""
    return passage.text, passage.title, passage.section
