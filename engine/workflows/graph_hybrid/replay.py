"""Recorded roles of graph + vector retrieval: its analyst, its search by modes, its reranker.

A mode is known where the recorded one searched all of its lists; other hops, entities, communities or attachments are
another search. The generator's context other than passages has to be the same for the recorded answer to stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.builtin.rerank import GraderReranker, scored_verdict
from engine.errors import RunWarning
from engine.flow.context import Roles
from engine.model.config import Mode, RunConfig
from engine.model.cost import Cost
from engine.model.values import (
    Context,
    GraphEvidence,
    ModeNoteCode,
    Outcome,
    Passage,
    PassageId,
    QueryAnalysis,
    RetrievalList,
    Round,
    RunRecord,
    Verdict,
    lists_of_mode,
)
from engine.replay.course import End, ReplayPath, Unrecorded
from engine.replay.recorded import RecordedGenerator, same_refining
from engine.replay.replay import Replay, retrieval_differs
from engine.replay.values import Gap
from engine.retrieval.graph_context import graph_of
from engine.retrieval.graph_options import graph_options
from engine.retrieval.mode_values import ModeFound, ModeRequest, QueryLook
from engine.retrieval.ordering import Found, lists_of, reranks
from engine.roles import SILENT, AnalysisRequest, DirectRequest, GenerationRequest, Trace
from engine.workflows.graph_hybrid.policy import from_tables_alone, mode_of
from engine.workflows.graph_hybrid.roles import GraphRoles

_SAID = frozenset({"answered", "answered_unverified", "abstained"})
"""How a run without a search ends where its answer is complete."""
_NOT_BEGUN: dict[RetrievalList, tuple[ModeNoteCode, ...]] = {
    "local": ("no_graph",),
    "global": ("no_graph", "no_communities"),
}
"""Notes of a list that no other setting would have filled."""
_SEEDS = 3
"""Passages by vectors from which a search of the graph begins where the query names no entity."""


class GraphReplay(Replay):
    """A what-if of graph + vector retrieval."""

    def __init__(self, record: RunRecord, config: RunConfig) -> None:
        super().__init__(record, config)
        self.lists = RecordedLists.of(record, config)

    def unknown_from_the_start(self) -> Gap | None:
        if self.record.analysis is None:
            return "unrecorded"
        # The mode is no other search where its lists are recorded, which every round says of itself.
        if retrieval_differs(self.record.config, replace(self.config, mode=self.record.config.mode)):
            return "retrieval"
        if self.searches_nothing(self.config):
            return None
        if self.searches_nothing(self.record.config):
            # Its query was looked at without a look at the graph.
            return "unrecorded"
        return None if self.evidence.same("router") else "routing"

    def opening_price(self) -> Cost:
        return self.evidence.prices.routing + self.evidence.prices.round(self.config)

    def searches_nothing(self, config: RunConfig) -> bool:
        """Return whether no analysis can lead to a search, so that none is asked for."""
        if from_tables_alone(config, tables=bool(self.record.tables)):
            return True
        return config.mode == "bypass" and graph_options(config).mode_from == "config"

    def roles(self) -> Roles:
        search, generator = _RecordedModes(self), _RecordedGraphGenerator(self)
        graph = GraphRoles(analyst=search, searcher=search, reranker=search, unsearched=generator, direct=generator)
        return replace(super().roles(), generator=generator, own=graph)

    def ending(self, end: End) -> tuple[Outcome | None, str]:
        outcome, reason = super().ending(end)
        context = self._picture(end.course.events, end.course).context
        searched = end.decisions[-1].reason not in ("simple", "bypass")
        tables_alone = bool(self.record.tables) and searched and not (context and context.passages)
        # Their answer may be an abstention, which no other input can be said to give.
        return (None if end.missing is not None and tables_alone else outcome), reason

    def same_shape(self) -> bool:
        """Return whether passages, graph and tables would be cut equally, as far as the budget cuts them."""
        now, then = graph_options(self.config), graph_options(self.record.config)
        given = self.record.context
        roomy = given is not None and all(part.given for part in given.parts) and not (given.cut or given.around_cut)
        if not (roomy or same_refining(self.config, self.record.config)):
            return False
        return now.context_tokens == then.context_tokens or (now.context_tokens > then.context_tokens and roomy)

    def same_graph(self, rounds: Sequence[Round]) -> bool:
        """Return whether entities and relationships would be those that were given."""
        return graph_of(rounds, self.config) == graph_of(self.record.rounds, self.record.config)


class _RecordedModes:
    """Analyses the query, searches by mode and reranks as recorded."""

    def __init__(self, replay: GraphReplay) -> None:
        self._replay = replay
        self._same_order = _ordered_the_same(replay)
        self._scores = _recorded_scores(replay)

    async def look(self, query: str) -> QueryLook:
        analysis = self._replay.record.analysis
        # What the analyst suggested could be searched then.
        return QueryLook(modes=(analysis.suggested_mode,)) if analysis else QueryLook()

    async def analyse(self, request: AnalysisRequest, trace: Trace = SILENT) -> QueryAnalysis:
        self._replay.driver.course.cost += self._replay.evidence.prices.routing
        analysis = self._replay.record.analysis
        assert analysis is not None
        return analysis

    async def search(self, request: ModeRequest, left_s: Callable[[], float]) -> ModeFound:
        replay, course = self._replay, self._replay.driver.course
        recorded, prices = replay.evidence.round(len(course.rounds)), replay.evidence.prices
        if course.live:
            same = (item for item in replay.record.rounds if item.searched and item.query == course.state["query"])
            recorded = next(same, None)
        if recorded is None:
            raise Unrecorded("unrecorded", prices.round(replay.config))
        evidence = replay.lists.evidence(recorded)
        if not replay.lists.covers(recorded) or evidence is None:
            raise Unrecorded("retrieval", prices.round(replay.config))
        course.cost += prices.search
        lists = dict.fromkeys(replay.lists.wanted(), ()) | replay.lists.lists(recorded)
        return ModeFound(lists, evidence, recorded.floor, recorded.anchors)

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]:
        """Rerank as recorded; raises ``TimeoutError`` where the recorded reranker left the order as it was."""
        replay, course = self._replay, self._replay.driver.course
        place, prices = len(course.rounds), replay.evidence.prices
        if course.live:
            return await self._rerank_live(question, passages, trace)
        recorded = replay.record.rounds[place]
        shared = replay.config.models.reranker.built_in
        judged = {item.id: self._judged(place, item.id, shared=shared) for item in passages}
        if self._same_order and not recorded.reranked:
            for name, verdict in recorded.verdicts.items():
                if shared and name in judged and name not in recorded.reused:
                    trace.verdict(name, verdict)
            raise TimeoutError
        missing = tuple(name for name, verdict in judged.items() if verdict is None)
        whole = prices.reranking_of(len(passages), replay.config)
        if missing and not (self._same_order and not shared):
            course.ungraded[place] = missing
            raise Unrecorded("scores", prices.judging * len(missing) if shared else whole)
        course.cost += replay.evidence.price_of(judged.values()) if shared else whole
        return [(item, known) for item in passages if (known := judged[item.id]) is not None]

    async def _rerank_live(
        self, question: str, passages: Sequence[Passage], trace: Trace
    ) -> list[tuple[Passage, Verdict]]:
        if self._replay.config.models.reranker.built_in:
            return await GraderReranker(self._replay.driver.run.roles.grader).rerank(question, passages, trace)
        judged = [(item, self._judged(0, item.id, shared=False)) for item in passages]
        known = [(item, verdict) for item, verdict in judged if verdict is not None]
        if len(known) < len(judged):
            raise Unrecorded("scores", self._replay.evidence.prices.reranking)
        return known

    def _judged(self, place: int, passage_id: PassageId, *, shared: bool) -> Verdict | None:
        """The built-in reranker is the run's grader: its scores are verdicts; of another one only scores are kept."""
        if shared:
            return self._replay.evidence.verdict(place, passage_id)
        score = self._scores.get(passage_id)
        return None if score is None else scored_verdict(score, "")


def _recorded_scores(replay: GraphReplay) -> dict[PassageId, float]:
    """Scores against the question as asked, which is the same in every round."""
    if not replay.evidence.same("reranker"):
        return {}
    return {
        item.passage.id: item.rerank_score
        for current in replay.record.rounds
        for item in current.candidates
        if item.rerank_score is not None
    }


def _ordered_the_same(replay: GraphReplay) -> bool:
    """Return whether every candidate keeps its place, no matter what became of the recorded reranker."""
    now, then = graph_options(replay.config), graph_options(replay.record.config)
    lists, shared = replay.lists, replay.config.models.reranker.built_in
    if not lists.same_mode or replay.config.fetch_k != replay.record.config.fetch_k:
        return False
    ranked = [(item.graph_weight, item.duplicate_threshold, item.freshness_weight) for item in (now, then)]
    if ranked[0] != ranked[1]:
        return False
    if not reranks(lists.mode, replay.config) or not reranks(lists.recorded_mode, replay.record.config):
        return reranks(lists.mode, replay.config) == reranks(lists.recorded_mode, replay.record.config)
    same_scorer = replay.evidence.same("reranker") and (not shared or replay.evidence.same_judging)
    return same_scorer and now.rerank_k == then.rerank_k


class _RecordedGraphGenerator(RecordedGenerator):
    """Gives the recorded answer where passages, graph and tables would be the same."""

    def __init__(self, replay: GraphReplay) -> None:
        super().__init__(replay.evidence, replay.driver)
        self._replay = replay

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        course = self._driver.course
        if course.state["decision"].reason == "tables_only":
            return self._alone(trace, same=self._replay.same_shape())
        if not request.passages and request.tables and not course.unknown:
            course.given = Context(())
            known = self._evidence.record.outcome is not None and self.same_input(course)
            return self._alone(trace, same=known, searched=True)
        return await super().generate(request, trace)

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        """Small talk or mode ``bypass``."""
        return self._alone(trace, same=True)

    def same_input(self, course: ReplayPath) -> bool:
        replay = self._replay
        return super().same_input(course) and replay.same_shape() and replay.same_graph(course.rounds)

    def _alone(self, trace: Trace, *, same: bool, searched: bool = False) -> str:
        """Answer without passages: the recorded answer holds where the run answered so too."""
        evidence, course = self._evidence, self._driver.course
        record, once = evidence.record, evidence.prices.generation
        course.cost += once
        same_route = searched or (record.decisions == (course.state["decision"],) and record.outcome in _SAID)
        if not (same_route and same and evidence.same("generator")):
            raise Unrecorded("answer", once)
        return self.give(trace)


@dataclass(frozen=True, slots=True)
class RecordedLists:
    """The lists of a record, asked for by another config."""

    record: RunRecord
    config: RunConfig
    mode: Mode
    """That these settings search."""
    recorded_mode: Mode

    @classmethod
    def of(cls, record: RunRecord, config: RunConfig) -> RecordedLists:
        analysis = record.analysis
        if analysis is None:
            return cls(record, config, config.mode, record.config.mode)
        return cls(record, config, mode_of(config, analysis), mode_of(record.config, analysis))

    @property
    def same_mode(self) -> bool:
        return self.mode == self.recorded_mode

    def covers(self, recorded: Round) -> bool:
        """Return whether the round has what a search under these settings would find."""
        evidence = recorded.graph
        if evidence is None:
            # Nothing could be searched in time: that says nothing of any other search.
            return self.same_mode
        return (
            (self.same_mode or self._searched_all(evidence))
            and self._same_reach(evidence)
            and self._deep_enough(recorded, evidence)
            and self._has_vectors(recorded)
            and (self.same_mode or self._same_scores(recorded))
        )

    def lists(self, recorded: Round) -> dict[RetrievalList, tuple[Found, ...]]:
        """Return the lists to be fused; vectors if the mode's lists are empty or leave places open."""
        found = lists_of(recorded.candidates)
        wanted = self.wanted()
        if self._seeded(recorded.graph) and "vector" not in wanted:
            # Its entities came from passages that this mode does not look for.
            found.pop("local", None)
        used = {name: found[name] for name in wanted if name in found}
        own = self._distinct(used)
        if "vector" not in wanted and own < self.config.fetch_k:
            used["near" if own else "vector"] = found.get("vector") or found.get("near") or ()
        return used

    def evidence(self, recorded: Round) -> GraphEvidence | None:
        """Return the graph evidence that a search under these settings would have used."""
        evidence = recorded.graph
        if evidence is None or self.same_mode:
            return evidence
        wanted = self.wanted()
        used = self.lists(recorded)
        local = "local" in wanted and ("vector" in wanted or not self._seeded(evidence))
        return replace(
            evidence,
            mode=self.mode,
            entities=evidence.entities if local else (),
            relationships=evidence.relationships if local else (),
            communities=evidence.communities if "global" in wanted else (),
            notes=tuple(note for note in evidence.notes if note.list in wanted),
            fell_back_to=("vector",) if "vector" in used and "vector" not in wanted else (),
        )

    def _distinct(self, used: Mapping[RetrievalList, Sequence[Found]]) -> int:
        """Passages that the mode's own lists bring."""
        depth = self.config.fetch_k
        own = (items[:depth] for name, items in used.items() if name not in ("near", "attachment"))
        return len({item.passage.id for items in own for item in items})

    def wanted(self) -> tuple[RetrievalList, ...]:
        return lists_of_mode(self.mode, attached=bool(self.record.attachments))

    def _searched_all(self, evidence: GraphEvidence) -> bool:
        """Return whether every list that is wanted was searched, and would have found the same in this mode."""
        wanted, in_mode = self.wanted(), lists_of_mode(self.recorded_mode, attached=bool(self.record.attachments))
        if self._cut_off() or _unreachable(evidence):
            return False
        if not set(wanted) <= {*in_mode, *evidence.fell_back_to}:
            return False
        # With vectors too, the search around entities begins from their passages where none is named.
        seeding = "vector" in wanted and "local" in wanted and "vector" not in in_mode
        if seeding and any(note.code == "no_entity" for note in evidence.notes):
            return False
        return not self._falls_back(evidence) or "vector" in in_mode or "vector" in evidence.fell_back_to

    def _has_vectors(self, recorded: Round) -> bool:
        """Return whether what vectors find is recorded, where these settings need it for open places."""
        used = self.lists(recorded)
        return "near" not in used or any({"near", "vector"} & item.found_in.keys() for item in recorded.candidates)

    def _cut_off(self) -> bool:
        """Return whether a search was prevented; that a mode found nothing of its own is no such case."""
        return any(
            item.node == "retrieve" and item.code != RunWarning.mode_fell_back.code for item in self.record.warnings
        )

    def _falls_back(self, evidence: GraphEvidence) -> bool:
        """Return whether this mode might find nothing of its own, and search by vectors instead."""
        wanted = set(self.wanted()) - {"attachment"}
        empty = {note.list for note in evidence.notes if note.code.startswith("no_")}
        seeded: set[RetrievalList] = {"local"} if self._seeded(evidence) else set()
        return "vector" not in wanted and wanted <= empty | seeded

    def _same_reach(self, evidence: GraphEvidence) -> bool:
        """Return whether the search of the graph goes as far."""
        now, then, wanted = graph_options(self.config), graph_options(self.record.config), self.wanted()
        around = (now.hops, now.max_entities) == (then.hops, then.max_entities)
        inside = now.max_communities == then.max_communities
        return ("local" not in wanted or around or _not_begun(evidence, "local")) and (
            "global" not in wanted or inside or _not_begun(evidence, "global")
        )

    def _deep_enough(self, recorded: Round, evidence: GraphEvidence) -> bool:
        depth, asked = self.record.config.fetch_k, self.config.fetch_k
        if self._seeded(evidence) and depth != asked and min(depth, asked) < _SEEDS:
            return False
        # A list shorter than was asked for has nothing below it.
        return asked <= depth or all(len(items) < depth for items in self.lists(recorded).values())

    def _same_scores(self, recorded: Round) -> bool:
        """Return whether graph scores belong to the remaining lists: of two lists a record keeps the better score."""
        if not graph_options(self.config).graph_threshold:
            return True
        dropped = {"local", "global"} - set(self.wanted())
        return len(dropped) != 1 or not any({"local", "global"} <= set(item.found_in) for item in recorded.candidates)

    def _seeded(self, evidence: GraphEvidence | None) -> bool:
        return evidence is not None and any(item.linked_by == "passage" for item in evidence.entities)


def _not_begun(evidence: GraphEvidence, name: RetrievalList) -> bool:
    return any(note.list == name and note.code in _NOT_BEGUN[name] for note in evidence.notes)


def _unreachable(evidence: GraphEvidence) -> bool:
    return any(note.code == "graph_unreachable" for note in evidence.notes)
