"""Results of one round: passages, candidates, verdicts, and the quality check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from engine.model.config import BUILTIN, CROSS_ENCODER, RERANK_SERVER
from engine.model.values.graphs import GraphEvidence, RetrievalList, Stage
from engine.model.values.names import (
    AnswerKind,
    Gate,
    GradeOn,
    Language,
    PassageId,
    QualityDimensionName,
    QualityGrade,
    QualityIssueCode,
    QueryKind,
    SourceKind,
    Strategy,
    Sufficiency,
    VerdictKind,
)
from engine.model.values.origin import NO_SCALE


def heading_of(title: str, section: str) -> str:
    """Return the heading path ``title > section`` of a passage; a section that begins with the title stands alone.

    >>> heading_of("Server options", "server.port")
    'Server options > server.port'
    """
    if title and section != title and not section.startswith(f"{title} > "):
        return f"{title} > {section}" if section else title
    return section


Content = tuple[PassageId, str, str, str, str, int, str, str, str]
"""Id, source, text, section, title, ordinal, date, context and written sentence of a passage."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrievable chunk of a source, as one search saw it."""

    id: PassageId
    source: str
    text: str
    similarity: float
    """In [0, 1], higher is better, regardless of metric, sign or scale the store uses (SC-09)."""
    raw_score: float | None
    """The store's own number: for dense search the cosine, in [-1, 1]; None where another program gave none."""
    section: str = ""
    title: str = ""
    ordinal: int = 0
    """Place within the source, from 1."""
    vector_rank: int | None = None
    """Place among the hits by vectors, from 1; None where no list by words was searched too, or it was not in it."""
    text_rank: int | None = None
    """Place among the hits by words (BM25), from 1; None where these were not searched or it was not among them."""
    dated: str = ""
    """ISO 8601 date of what it tells; empty where its source has none."""
    text_score: float | None = None
    """BM25 score, 0 and up; comparable within one query only."""
    context: str = ""
    """What it continues apart from its headings, a line each: the header row of its table, terms and items above it."""
    written: str = ""
    """The sentence of context that a chat model wrote for it; empty where none did."""

    @property
    def heading(self) -> str:
        """Title and section as one path; empty where it has neither."""
        return heading_of(self.title, self.section)

    @property
    def above(self) -> str:
        """Heading path, context and written sentence, a line each: what says where it stands; may be empty."""
        return "\n".join(filter(None, (self.heading, self.context, self.written)))

    @property
    def content(self) -> Content:
        """Text and metadata for a generator: everything but the figures of the search."""
        place = (self.section, self.title, self.ordinal, self.dated)
        return self.id, self.source, self.text, *place, self.context, self.written


def contents(passages: Iterable[Passage]) -> tuple[Content, ...]:
    """The content of each passage, in their order."""
    return tuple(passage.content for passage in passages)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its rank in one search and the results of the gates."""

    passage: Passage
    rank: int
    """From 1, best first."""
    gate: Gate
    margin: float
    """Similarity minus threshold: below 0 where the similarity gate dropped it."""
    kind: SourceKind | None = None
    """Which source kind it was found under; None where a workflow does not tell them apart."""
    found_at: Mapping[SourceKind, int] = field(default_factory=dict)
    """Its rank in each list that was fused, from 1."""
    fused: float = 0.0
    """Reciprocal-rank score that gave ``rank``; 0 where nothing was fused."""
    found_in: Mapping[RetrievalList, int] = field(default_factory=dict)
    """Its rank in each list of a mode, from 1 (graph + vector retrieval)."""
    graph_score: float | None = None
    """How near it is to the query in the graph, in [0, 1]; None where the graph did not find it."""
    via: tuple[str, ...] = ()
    """Ids of the entities, relationships or communities that led to it, the strongest first."""
    places: Mapping[Stage, int] = field(default_factory=dict)
    """Its place after each stage, from 1; the last one is ``rank``."""
    duplicate_of: PassageId | None = None
    """The better passage that it nearly repeats, below which it was pushed down."""
    freshness: float | None = None
    """In [0, 1], 1 for the newest dated passage of the round; None where it has no date."""
    rerank_score: float | None = None
    """Query-passage match in [0, 1]; None where it was not reranked."""
    found_by: Mapping[QueryKind, int] = field(default_factory=dict)
    """Its rank in the list of each query, from 1; empty where one alone was searched. Similarity and scores are those
    of the translated query where that found it."""


VERDICT_POLICY = 2
"""The rule by which verdicts pass today; 1 was P(relevant) alone, and records written under it keep it."""
_BELOW_HALF = 0.4999
"""The greatest threshold below 0.5: thresholds have four decimals (SC-08)."""
_BY_GRADER = cast("VerdictKind", "")
"""Stands for the kind until the verdict is made."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One grader's judgement of one passage against the question as asked."""

    relevant: bool | None
    """None where the reply could not be read: visible, not passed, never cached."""
    confidence: float
    """In [0, 1], in *this* verdict."""
    reason: str
    covered: tuple[str, ...] = ()
    """Terms of the question that the passage covers; a page renders built-in reasons from these."""
    missing: tuple[str, ...] = ()
    headed: tuple[str, ...] = ()
    """Terms among ``covered`` that stand above the passage and not in it; records from before say of none."""
    wanted: AnswerKind = "other"
    """Kind of answer the question asks for."""
    wanted_found: bool | None = None
    """Whether an answer of that kind stands near the question's terms; None where no kind is asked for."""
    grader: str = "builtin"
    policy: int = VERDICT_POLICY
    """Which rule it passes by; see :data:`VERDICT_POLICY`."""
    raw: float | None = None
    """Score of a model that gives scores, as it came, or the log-odds of yes against no; None for any other grader."""
    fit: str = ""
    """Id of the fit to the collection that it was made with; empty: the grader as shipped."""
    bare: bool = False
    """Whether another program said yes or no alone, so that its confidence stands for nothing."""
    parts: tuple[float, ...] = ()
    """P(relevant) to each part of the question, where it was split; none from a reader, who speaks of all of it."""
    kind: VerdictKind = _BY_GRADER
    """What P(relevant) is; where none is given, as in records from before, what it was with that grader."""
    by_cut: bool = False
    """Whether it is a screener's that stands by the cuts of the cascade: ``min_confidence`` is about a grader's P."""
    cut: float | None = None
    """The cut that it stands by; a branch with other cuts keeps it. None in older records."""

    def __post_init__(self) -> None:
        if not self.kind:
            scored = self.raw is not None or self.grader.startswith((CROSS_ENCODER, RERANK_SERVER))
            kind = "score" if scored else "builtin" if self.grader == BUILTIN else "said"
            object.__setattr__(self, "kind", kind)

    @property
    def known_p(self) -> float | None:
        """P(relevant) as far as it can be said: None where unreadable, and for a yes or no alone."""
        return None if self.relevant is None or self.bare else self.p_relevant

    @property
    def p_relevant(self) -> float:
        """P(relevant): confidence of a yes, its complement of a no, 0 where unreadable (SC-03)."""
        if self.relevant is None:
            return 0.0
        return self.confidence if self.relevant else 1.0 - self.confidence

    @property
    def reach(self) -> float:
        """The greatest ``min_confidence`` at which it passes; below 0 where it could not be read (SC-03).

        That is P(relevant), but a *no* stays below 0.5: real models answer ``false`` with confidence 0.5, and the
        verdict decides that tie. What a cut decided passes as what is certain does, no matter how large its P.
        """
        if self.relevant is None:
            return -1.0
        if self.by_cut:
            return float(self.relevant)
        # Rounded: 1 - 0.7 is 0.30000000000000004 and 1 - 0.9 is 0.09999999999999998, which would cross a bar of 0.1.
        p_relevant = round(self.p_relevant, 9)
        return p_relevant if self.relevant or self.policy < 2 else min(p_relevant, _BELOW_HALF)

    def passes(self, min_confidence: float) -> bool:
        """Return whether it reaches ``min_confidence`` (inclusive); an unreadable verdict never does."""
        return self.reach >= min_confidence

    def covers(self, part: int, min_confidence: float) -> bool:
        """Return whether it passes and answers the part of that place in the question, counted from 0."""
        return self.passes(min_confidence) and (not self.parts or self.parts[part] >= min_confidence)

    def held_back(self, min_confidence: float) -> bool:
        """Return whether P(relevant) alone would let it pass, and its *no* keeps it from that."""
        return not self.by_cut and round(self.p_relevant, 9) >= min_confidence > self.reach >= 0


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """Joint verdict of the passed passages on the original question.

    Whether a context suffices is another matter than whether each passage helps (Joren et al., *Sufficient Context*,
    ICLR 2025).
    """

    passages: tuple[PassageId, ...]
    answered: Sufficiency | None
    """None where a reply could not be read: it does not suffice then."""
    reason: str
    covered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Terms of the question that none of them covers, where it was judged by words."""
    wanted: AnswerKind = "other"
    wanted_found: bool | None = None
    """Whether one of them holds an answer of the kind asked for; None where no kind is asked for."""
    grader: str = "builtin"

    @property
    def sufficiency(self) -> float:
        """1 for yes, one half for in part, 0 for no and for what could not be read."""
        return {"yes": 1.0, "part": 0.5}.get(self.answered or "", 0.0)


@dataclass(frozen=True, slots=True)
class Routing:
    """Source kinds searched for a query, and their shares of ``top_k`` (QL-03)."""

    query: str
    """What is searched: the round's query without words that were meant for the router alone."""
    shares: Mapping[SourceKind, float]
    """By kind, each above 0, summing to 1."""
    wide: bool = False
    """Whether places that a kind cannot fill with passages above the similarity threshold go to the other kinds."""
    code: str = ""
    """What the router went by (``plain``, ``relations``, ``history``, ``asked`` …), for rendering per language."""
    reason: str = ""
    missing: tuple[SourceKind, ...] = ()
    """Kinds that were wanted and that the collection does not have."""
    history_query: str = ""
    """What the ``temporal`` kind is searched with where weak points were asked for; empty: ``query``, as for all."""

    def query_for(self, kind: SourceKind) -> str:
        """Return the query for one kind."""
        return (self.history_query if kind == "temporal" else "") or self.query


@dataclass(frozen=True, slots=True)
class QualityDimension:
    """One term of the quality score; it adds ``value * weight``."""

    name: QualityDimensionName
    value: float
    """In [0, 1]."""
    weight: float


@dataclass(frozen=True, slots=True)
class QualityIssue:
    """Issue of a round, with the inequality that shows it; no bound holds for ``no_passages``."""

    code: QualityIssueCode
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """A round's quality by both definitions (QL-01, QL-02); the score that ``graded_on`` names routes."""

    dimensions: tuple[QualityDimension, ...]
    """In the order coverage, relevance, diversity, count; empty where there were no passages."""
    score: float
    """Weighted sum, in [0, 1]."""
    top3: float
    """Mean P(relevant) of the three most relevant passages, in [0, 1]."""
    grade: QualityGrade
    """By the weighted score."""
    top3_grade: QualityGrade
    graded_on: GradeOn
    issues: tuple[QualityIssue, ...]
    passages: int
    """How many were judged."""

    @property
    def routing_score(self) -> float:
        return self.score if self.graded_on == "weighted" else self.top3

    @property
    def routing_grade(self) -> QualityGrade:
        return self.grade if self.graded_on == "weighted" else self.top3_grade


@dataclass(frozen=True, slots=True)
class Translation:
    """A round's query in the language of its collection, searched in addition to the query itself."""

    language: Language
    query: str
    """Empty where none could be had: then the query alone was searched."""
    counted: Mapping[Language, int]
    """Passages of the collection that were looked at, by the language that they are in."""
    floor: float = 0.0
    """Cosine that maps to similarity 0 for the translated query."""
    anchors: str = ""


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A source or one section of it whose summary came near the query."""

    source: str
    section: str
    """Empty for the summary of a whole source."""
    summary: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Round:
    """One retrieve + grade pass; round 0 is the original query."""

    index: int
    query: str
    candidates: tuple[Candidate, ...]
    """Every probed candidate in rank order, dropped ones included."""
    floor: float = 0.0
    """Cosine that maps to similarity 0 for this query."""
    anchors: str = ""
    """Which anchor set gave the floor, e.g. ``zh-100@3f2a``."""
    searched: bool = True
    """False where a repeated rewrite or a spent budget left nothing to search again."""
    verdicts: Mapping[PassageId, Verdict] = field(default_factory=dict)
    screened: Mapping[PassageId, Verdict] = field(default_factory=dict)
    """What the screener of a cascade said of each passage that it saw in this round, also where the grader decided."""
    reused: tuple[PassageId, ...] = ()
    """Passages whose verdict came from an earlier round."""
    rewrite_input: str = ""
    """Hash of what the rewriter saw to make this round's query; empty for round 0."""
    routing: Routing | None = None
    """Which source kinds were searched (quality-control loop)."""
    reranked: tuple[PassageId, ...] = ()
    """The kept passages by P(relevant), best first; empty where a workflow does not rerank."""
    quality: QualityCheck | None = None
    strategy: Strategy | None = None
    """How it was searched (dual loop)."""
    attempt: int = 0
    """The pass of the outer loop that it belongs to, from 0 (dual loop)."""
    sections: tuple[FoundSection, ...] = ()
    """What a hierarchical search looked inside, best first."""
    graph: GraphEvidence | None = None
    """What was taken from the knowledge graph (graph + vector retrieval)."""
    whole: SetVerdict | None = None
    """What was passed until then, judged together; None where no one asked."""
    parts: tuple[str, ...] = ()
    """What the question asks one by one, the same in every round; empty where it is not split."""
    translation: Translation | None = None
    """Searched too; None where the collection is in the language of the query, or no one asked for it."""

    @property
    def kept(self) -> tuple[Passage, ...]:
        return tuple(item.passage for item in self.candidates if item.gate == "kept")

    def floor_of(self, item: Candidate) -> float:
        """Cosine that maps to similarity 0 for the query by which a candidate was measured."""
        return self.translation.floor if self.translation and "translated" in item.found_by else self.floor

    @property
    def scaled(self) -> bool:
        """True if its similarities stand for something; else only ranks are known."""
        return self.anchors != NO_SCALE

    @property
    def best_similarity(self) -> float | None:
        """The best similarity of all candidates, dropped ones included; None where there are none or none is known."""
        return max((item.passage.similarity for item in self.candidates), default=None) if self.scaled else None
