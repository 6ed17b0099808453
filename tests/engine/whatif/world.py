"""A small world to run questions in without any model: what a search finds, what a grader says, what a rewriter does.

Everything is a function of what is asked, so that one question can honestly be run again under other settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from hypothesis import strategies as st

from engine.builtin.abstain import abstained_answer
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.config.role_models import Reasons
from engine.model.decide import Evidence, by_cut, cascades, decide, gated, kept_passages, outcome_of, passed_ids
from engine.model.values import (
    Candidate,
    Decision,
    ModelCall,
    NodeExecution,
    Passage,
    PassageId,
    Rewrite,
    Round,
    RunId,
    RunRecord,
    Verdict,
)
from engine.retrieval.assemble import assemble
from engine.roles.rewrite_input import rewrite_request
from tests.engine.strategies import fractions

QUESTION = "What are the early signs?"
SCORING = RoleModel("cross_encoder:small")
CHAT = RoleModels(grader=RoleModel("ollama:qwen3:4b"), screener=SCORING, generator=RoleModel("ollama:qwen3:4b"))
_BY_SCORES = RoleModels(grader=SCORING, screener=SCORING)
Stage = Literal["retrieve", "grade", "decide"]
Step = Literal["retrieve", "grade", "decide", "rewrite", "generate"]
Rewriting = Literal["new", "repeated", "failed"]


@dataclass(frozen=True)
class World:
    """What every role would do."""

    found: tuple[tuple[tuple[int, float], ...], ...]
    """By query: passages and similarities, best first."""
    verdicts: tuple[Verdict, ...]
    """By passage; one that cannot be read can never be read."""
    rewriting: tuple[Rewriting, ...]
    """By query that would come next."""
    chances: tuple[float, ...] = ()
    """P(relevant) by passage, as a screener says it; above 1 for one that it cannot read."""
    time_up: tuple[int, Stage] | None = None
    """Round and step in which the deadline passes."""
    unreached: int | None = None
    """Round in which the grader cannot be reached."""
    cut_off: tuple[int, Step] | None = None
    """Round and step in which the run is cancelled."""
    token_budget: int = 100

    def search(self, query: str, limit: int) -> tuple[Passage, ...]:
        return tuple(
            Passage(PassageId(f"p{name:02}"), "s.md", f"text of {name}", similarity, similarity / 2, ordinal=name)
            for name, similarity in self.found[_place(query)][:limit]
        )

    def verdict(self, passage: Passage, config: RunConfig) -> Verdict:
        """Built-in graders always make themselves understood; the same model says the same in every role."""
        if config.models.grader == SCORING:
            return self.screened(passage)
        made = self.verdicts[passage.ordinal]
        mute = made.relevant is None and config.models.grader.built_in
        return replace(made, relevant=False) if mute else made

    def screened(self, passage: Passage) -> Verdict:
        chance = self.chances[passage.ordinal]
        if chance > 1:
            return Verdict(None, 0.0, "no score")
        return Verdict(chance >= 0.5, max(chance, 1 - chance), "a score", grader=SCORING.name, raw=chance)

    def late(self, index: int, stage: Stage) -> bool:
        order = ("retrieve", "grade", "decide")
        return self.time_up is not None and (index, order.index(stage)) >= (
            self.time_up[0],
            order.index(self.time_up[1]),
        )


@dataclass
class _Run:
    world: World
    config: RunConfig
    rounds: list[Round] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    nodes: list[NodeExecution] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    t_ms: float = 0.0

    def record(self, **ending: object) -> RunRecord:
        made = RunRecord(
            id=RunId("run-1"),
            question=QUESTION,
            config=self.config,
            started_at="2025-03-01T09:30:00+00:00",
            rounds=tuple(self.rounds),
            decisions=tuple(self.decisions),
            rewrites=tuple(self.rewrites),
            nodes=tuple(self.nodes),
            model_calls=tuple(self.calls),
        )
        return replace(made, **ending)  # type: ignore[arg-type]

    def visited(self, node: str, index: int, took_ms: float) -> None:
        self.nodes.append(NodeExecution(node, index, index + 1, self.t_ms, took_ms))
        self.t_ms += took_ms

    def called(self, role: Literal["grader", "screener", "rewriter", "generator", "verifier"], node: str) -> None:
        model = self.config.models.of(role)
        place = len(self.rounds) - 1
        self.calls.append(ModelCall(role, node, place, model.model, (), "", built_in=model.in_process))


def run_in(world: World, config: RunConfig) -> RunRecord:
    """The record that the loop would leave, node by node as ``engine.workflows.steps`` has it."""
    run = _Run(world, config)
    query = QUESTION
    while True:
        index = len(run.rounds)
        cut = world.cut_off[1] if world.cut_off and world.cut_off[0] == index else ""
        run.rounds.append(_retrieved(run, query))
        run.visited("retrieve", index, config.budget_s * 1000.0 if world.late(index, "retrieve") else 30.0)
        if cut == "retrieve":
            return run.record(outcome="cancelled", reason="cancelled")
        unreached = _graded(run, cut == "grade")
        run.visited("grade", index, config.budget_s * 1000.0 if world.late(index, "decide") else 100.0)
        if cut == "grade":
            return run.record(outcome="interrupted")
        if unreached and not any(passed_ids(item, config) for item in run.rounds[:-1]):
            return run.record(outcome="failed", reason="grader_unavailable")
        decision = _decided(run, unreached)
        run.decisions.append(decision)
        if cut == "decide":
            return run.record(outcome="cancelled", reason="cancelled")
        if decision.route == "end":
            return run.record(outcome="failed", reason="grader_failed")
        if decision.route == "generate":
            return _answered(run, decision, cut == "generate")
        query = _rewritten(run)
        run.visited("rewrite", index, 20.0)
        if cut == "rewrite":
            return run.record(outcome="cancelled", reason="cancelled")


def _retrieved(run: _Run, query: str) -> Round:
    index, last = len(run.rounds), run.rewrites[-1] if run.rewrites else None
    hashed = last.input_hash if last else ""
    if (last is not None and (last.repeated or last.failed)) or run.world.late(index, "retrieve"):
        former: tuple[Candidate, ...] = run.rounds[-1].candidates if run.rounds else ()
        return Round(index, query, former, searched=False, rewrite_input=hashed)
    found = run.world.search(query, run.config.fetch_k)
    return Round(index, query, gated(found, run.config), rewrite_input=hashed)


def _graded(run: _Run, cut: bool) -> bool:
    current, config, world = run.rounds[-1], run.config, run.world
    probed = [item.passage for item in current.candidates]
    wanted = probed if config.grade_probe else kept_passages(current, config)
    known = {
        name: item for past in run.rounds[:-1] for name, item in past.verdicts.items() if item.relevant is not None
    }
    fresh = [item for item in wanted if item.id not in known] if current.searched else []
    settled: dict[PassageId, Verdict] = {}
    screened: dict[PassageId, Verdict] = {}
    if cascades(config) and not world.late(current.index, "retrieve"):
        screened = {item.id: world.screened(item) for item in fresh}
        for _ in fresh:
            run.called("screener", "grade")
        settled = {name: stands for name, item in screened.items() if (stands := by_cut(item, config)) is not None}
        fresh = [item for item in fresh if item.id not in settled]
    unreached = current.index == world.unreached and bool(fresh)
    late = world.late(current.index, "grade")
    if late:
        fresh = fresh[: 0 if world.late(current.index, "retrieve") else 1]
    elif unreached or cut:
        fresh = fresh[:1]
    for item in fresh:
        run.called("grader", "grade")
        judged = world.verdict(item, config)
        if judged.relevant is not None and judged.kind == "token" and config.reasons == "before":
            run.called("grader", "grade")
    reused = tuple(item.id for item in wanted if item.id in known)
    verdicts = {name: known[name] for name in reused} | settled
    verdicts |= {item.id: world.verdict(item, config) for item in fresh}
    run.rounds[-1] = replace(current, verdicts=verdicts, screened=screened, reused=reused)
    return unreached and not late


def _decided(run: _Run, unreached: bool) -> Decision:
    last = run.rewrites[-1] if run.rewrites else None
    late = run.world.late(len(run.rounds) - 1, "decide")
    evidence = Evidence(
        rounds=tuple(run.rounds),
        elapsed_s=run.config.budget_s + 0.5 if late else 0.0,
        repeated_rewrite=bool(last and last.repeated),
        rewriter_failed=bool(last and last.failed),
        grader_unavailable=unreached,
    )
    return decide(evidence, run.config)


def _rewritten(run: _Run) -> str:
    current = run.rounds[-1]
    request = rewrite_request(QUESTION, run.rounds, run.rewrites, run.config)
    digest = request.digest()
    place = 1 + int(digest, 16) % (len(run.world.found) - 1)
    how = run.world.rewriting[place]
    query = f"query {place} after {len(run.rounds)}" if how == "new" else current.query
    run.called("rewriter", "rewrite")
    run.rewrites.append(
        Rewrite(
            round=current.index,
            query=current.query,
            rewritten_query=query,
            reason="why",
            repeated=how == "repeated",
            failed=how == "failed",
            input_hash=digest,
        )
    )
    return query


def _answered(run: _Run, decision: Decision, cut: bool) -> RunRecord:
    context = assemble(run.rounds, run.config, run.world.token_budget, len)
    outcome = outcome_of(decision, context)
    if not context.passages:
        run.visited("generate", decision.round, 1.0)
        answer = abstained_answer(QUESTION, run.rounds)
        return run.record(outcome=outcome, reason=decision.reason, context=context, answer=answer)
    run.called("generator", "generate")
    run.visited("generate", decision.round, 400.0)
    answer = " ".join(passage.text for passage in context.passages)
    if cut:
        return run.record(outcome="cancelled", reason="cancelled", context=context, answer=answer[:5])
    for _ in () if run.config.models.verifier.built_in else context.passages:
        run.called("verifier", "generate")
    return run.record(outcome=outcome, reason=decision.reason, context=context, answer=answer)


def _place(query: str) -> int:
    return 0 if query == QUESTION else int(query.split()[1])


_verdicts = st.builds(
    Verdict,
    relevant=st.sampled_from([True, True, False, False, False, None]),
    confidence=st.sampled_from([0.5, 0.6, 0.7, 0.9, 1.0]),
    reason=st.sampled_from(["because", "it is not"]),
    kind=st.sampled_from(["said", "token"]),
)
_chances = st.sampled_from([0.02, 0.1, 0.2, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 0.97, 2.0])
_cuts = st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.6, 0.8, 0.9, 1.0]) | fractions
_similarities = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.3, 0.35, 0.4, 0.5, 0.6, 0.9])


_time_up: st.SearchStrategy[tuple[int, Stage]] = st.tuples(
    st.integers(0, 3), st.sampled_from(("retrieve", "grade", "decide"))
)
_cut_off: st.SearchStrategy[tuple[int, Step]] = st.tuples(
    st.integers(0, 3), st.sampled_from(("retrieve", "grade", "decide", "rewrite", "generate"))
)
_rewriting: st.SearchStrategy[Rewriting] = st.sampled_from(("new", "new", "new", "repeated", "failed"))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Worlds of four queries and up to fourteen passages; in about half of them something goes wrong."""
    passages = draw(st.integers(4, 14))
    found = []
    for _ in range(4):
        least = 0 if draw(st.integers(0, 9)) == 0 else 3
        names = draw(st.lists(st.integers(0, passages - 1), unique=True, min_size=least, max_size=9))
        similarities = sorted(draw(st.lists(_similarities, min_size=len(names), max_size=len(names))), reverse=True)
        found.append(tuple(zip(names, similarities, strict=True)))
    return World(
        found=tuple(found),
        verdicts=tuple(draw(st.lists(_verdicts, min_size=passages, max_size=passages))),
        chances=tuple(draw(st.lists(_chances, min_size=passages, max_size=passages))),
        rewriting=tuple(draw(_rewriting) for _ in range(4)),
        time_up=draw(st.none() | _time_up),
        unreached=draw(st.none() | st.none() | st.integers(1, 3)),
        cut_off=draw(st.none() | _cut_off),
        token_budget=draw(st.sampled_from([10, 30, 1000])),
    )


@st.composite
def recordings(draw: st.DrawFn) -> RunConfig:
    """Settings to record a run with: mostly such that it is running for some rounds; a model checks some answers."""
    config = draw(settings())
    if draw(st.booleans()):
        config = replace(config, models=replace(config.models, verifier=CHAT.grader))
    if draw(st.integers(0, 3)) == 0:
        return config
    near = st.sampled_from([0.5, 0.6, 0.7])
    return replace(
        config,
        similarity_threshold=draw(st.sampled_from([0.0, 0.1, 0.3])),
        grade_pass_threshold=draw(st.sampled_from([0.6, 0.8, 1.0])),
        min_confidence=draw(near),
        min_relevant=draw(st.integers(2, 4)),
        max_rewrites=draw(st.integers(2, 5)),
    )


@st.composite
def settings(draw: st.DrawFn, base: RunConfig | None = None) -> RunConfig:
    """Settings near those that matter in such a world; with ``base`` only its grid columns are redrawn."""
    near = st.sampled_from([0.0, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.75, 1.0]) | fractions
    columns: dict[str, Any] = {
        "top_k": draw(st.integers(1, 10)),
        "similarity_threshold": draw(near),
        "grade_pass_threshold": draw(near),
        "max_rewrites": draw(st.integers(0, 5)),
        "min_confidence": draw(near),
        "min_relevant": draw(st.integers(1, 4)),
        **dict(zip(("cascade_low", "cascade_high"), sorted([draw(_cuts), draw(_cuts)]), strict=True)),
        "gate": draw(st.sampled_from(["pass_rate", "pass_rate", "min_relevant"])),
        "context": draw(st.sampled_from(["union", "union", "last_round"])),
    }
    if base is not None:
        return replace(base, **columns)
    return RunConfig(
        **columns,
        answer_unverified=draw(st.booleans()),
        probe_k=draw(st.sampled_from([3, 6, 20])),
        grade_probe=draw(st.booleans()),
        models=draw(st.sampled_from([RoleModels(), CHAT, CHAT])),
        cascade=draw(st.booleans()),
        reasons=draw(st.sampled_from(get_args(Reasons))),
    )


@st.composite
def variations(draw: st.DrawFn, config: RunConfig) -> RunConfig:
    """Other settings for a run under ``config``: mostly its own with one or two columns changed."""
    other = draw(settings(config))
    names = draw(st.lists(st.sampled_from(_COLUMNS), min_size=1, max_size=3))
    few: dict[str, Any] = {name: getattr(other, name) for name in names}
    if "cascade" in names:
        few |= {name: getattr(other, name) for name in ("cascade_low", "cascade_high")}
    changed = other if draw(st.integers(0, 3)) == 0 else replace(config, **few)
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return replace(changed, budget_s=draw(st.sampled_from([1.0, 60.0, 200.0])))
    if kind == 1:
        return replace(
            changed, models=draw(st.sampled_from([RoleModels(), CHAT, _BY_SCORES, RoleModels(rewriter=CHAT.grader)]))
        )
    if kind == 2:
        probe_k = draw(st.sampled_from([3, 6, 20]))
        return replace(changed, grade_probe=draw(st.booleans()), probe_k=probe_k)
    if kind == 5:
        return replace(changed, reasons=draw(st.sampled_from(get_args(Reasons))))
    if kind == 3:
        return replace(changed, answer_unverified=draw(st.booleans()))
    if kind == 4:
        return replace(changed, cascade=not changed.cascade)
    return changed


_COLUMNS = (
    "top_k",
    "similarity_threshold",
    "grade_pass_threshold",
    "max_rewrites",
    "min_confidence",
    "min_relevant",
    "cascade",
    "gate",
    "context",
)
