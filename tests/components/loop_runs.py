"""Runs of the three other loops as components get them: built by hand from values, with every state they can show."""

from __future__ import annotations

from dataclasses import replace

from engine.model.config import RunConfig
from engine.model.decide import Evidence, gated
from engine.model.values import (
    Candidate,
    Citation,
    Comparison,
    Context,
    Decision,
    Draft,
    Evaluation,
    Excerpt,
    FoundSection,
    Memory,
    NodeExecution,
    Passage,
    PassageId,
    Reason,
    Recall,
    Rewrite,
    Round,
    RouteChoice,
    Routing,
    RunId,
    RunRecord,
    SourceKind,
    Strategy,
    TriedRoute,
    Verdict,
)
from engine.model.wording import suggested
from engine.retrieval.fuse import fuse
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.answer_evaluation.policy import excerpts
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from engine.workflows.quality_loop.policy import check_quality, decide_quality

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> ![pixel](http://127.0.0.1:9/leak.png)"
QUESTION = "血糖太高身体会有什么感觉？"
LONG = "血糖长期偏高时，肾脏来不及把葡萄糖收回血液，糖就随尿排出，并且带走水分。" * 16


def passage(name: str, text: str, similarity: float, *, source: str = "dc-symptoms.zh.md", title: str = "") -> Passage:
    return Passage(PassageId(name), source, text, similarity, 0.8 + similarity / 5, section="症状", title=title)


def verdict(p_relevant: float) -> Verdict:
    relevant = p_relevant >= 0.5
    return Verdict(relevant, p_relevant if relevant else 1 - p_relevant, "", covered=("血糖",))


# -- quality-control loop -------------------------------------------------------------------------------------------

QUALITY = RunConfig(workflow="quality_loop", top_k=4, options=QualityOptions())
_LISTS: dict[SourceKind, list[Passage]] = {
    "vector": [passage("v1", "血糖高会口渴。", 0.6), passage("v2", "多尿。", 0.5), passage("v3", "疲乏。", 0.4)],
    "graph": [
        passage("g1", "胰岛素：降低血糖的激素。", 0.42, source="entities.zh.md"),
        passage("v1", "血糖高会口渴。", 0.6),
    ],
    "temporal": [passage("t1", "2026-03-18 错题：血糖单位。", 0.35, source="log-2026-03.zh.md")],
}


def _quality_round(index: int, query: str, routing: Routing, scores: dict[str, float], config: RunConfig) -> Round:
    lists = {kind: _LISTS[kind] for kind in routing.shares}
    candidates = fuse(lists, routing, config)
    verdicts = {PassageId(name): verdict(p) for name, p in scores.items()}
    kept = [item.passage.id for item in candidates if item.gate == "kept"]
    order = tuple(sorted(kept, key=lambda name: -verdicts[name].p_relevant))
    made = Round(index, query, candidates, routing=routing, verdicts=verdicts, reranked=order)
    return replace(made, quality=check_quality(made, config))


def quality_record(config: RunConfig = QUALITY, *, reason: Reason | None = None) -> RunRecord:
    """Two rounds: the first finds one kind of source and little that helps, the second asks for the study log."""
    plain = Routing(QUESTION, {"vector": 1.0}, code="plain")
    asked = Routing(
        "血糖 高 感觉", {"vector": 0.5, "graph": 0.25, "temporal": 0.25}, wide=True, code="asked", missing=("graph",)
    )
    query = "血糖 高 感觉（结合我的历史薄弱点记录；检索多个来源）"
    first = _quality_round(0, QUESTION, plain, {"v1": 0.45, "v2": 0.2, "v3": 0.1}, config)
    scores = {"v1": 0.97, "v2": 0.93, "g1": 0.88, "t1": 0.71, "v3": 0.1}
    second = _quality_round(1, query, asked, scores, config)
    decisions = (
        decide_quality(Evidence((first,)), config),
        decide_quality(Evidence((first, second)), config),
    )
    given = (_LISTS["vector"][0], _LISTS["vector"][1])
    met = decisions[-1].reason == "quality_met"
    return RunRecord(
        id=RunId("q-1"),
        question=QUESTION,
        config=config,
        started_at="2026-05-02T08:00:00Z",
        rounds=(first, second),
        decisions=decisions,
        rewrites=(Rewrite(0, QUESTION, query, "", keywords=("血糖",), strategy="history+several+sharper"),),
        context=Context(given, tokens=60, token_budget=3000),
        answer="最常见的感觉是口渴 [1] 和多尿 [2]。",
        citations=tuple(Citation(n, item.id, item.source, item.section) for n, item in enumerate(given, 1)),
        outcome="answered" if met and reason is None else "answered_forced",
        reason=reason or decisions[-1].reason,
        duration_ms=180.0,
    )


# -- dual loop ------------------------------------------------------------------------------------------------------

DUAL = RunConfig(workflow="dual_loop", options=DualLoopOptions(max_corrections=2, web_search=True))
FRESH = Memory(
    "m1", "血糖高会怎样？", "会口渴、多尿。", "samples", "r-1", "2026-04-01T10:00:00.000+00:00",
    sources=("dc-symptoms.zh.md",), fingerprint="now", similarity=0.82,
)  # fmt: skip
STALE = replace(FRESH, id="m2", question="高血糖的症状", fingerprint="then", similarity=0.78, answer=HOSTILE)


def _searched(index: int, strategy: Strategy, attempt: int, found: list[Passage], scores: dict[str, float]) -> Round:
    sections: tuple[FoundSection, ...] = ()
    if strategy == "hierarchical_search":
        sections = (
            FoundSection("dc-symptoms.zh.md", "症状", "多饮、多尿、多食，体重下降。", 0.61),
            FoundSection("dc-complications.zh.md", "", "并发症一览。", 0.4),
        )
    return Round(
        index,
        QUESTION if attempt == 0 else "高血糖 症状 感觉",
        gated(found, DUAL),
        strategy=strategy,
        attempt=attempt,
        sections=sections,
        verdicts={PassageId(name): verdict(p) for name, p in scores.items()},
    )


def _decided(round_index: int, node: str, route: str, reason: Reason, *comparisons: Comparison) -> Decision:
    return Decision(round_index, route, reason, comparisons, 0, 1, node=node)


def dual_record() -> RunRecord:
    """Two passes: the second strategy finds an answer that is off; after a correction the web's answer stands."""
    web = passage("w1", f"高血糖的感觉：口渴。{HOSTILE}", 0.6, source="https://example.org/a?x=1", title="高血糖")
    near = passage("v1", "血糖高会口渴。", 0.6)
    rounds = (
        _searched(0, "hierarchical_search", 0, [passage("s1", "胰岛素简史。", 0.5)], {"s1": 0.1}),
        _searched(1, "direct_chunk_search", 0, [near], {"v1": 0.8}),
        _searched(2, "direct_chunk_search", 1, [], {}),
        _searched(3, "web_search", 1, [web], {"w1": 0.9}),
    )
    off = Evaluation(False, (suggested("off_topic", terms="感觉"),))
    drafts = (
        Draft(0, "胰岛素是一种激素 [1]。", evaluation=off, seen=(Excerpt(near.id, near.text),)),
        Draft(
            1,
            "会觉得口渴 [1]。",
            (Citation(1, web.id, web.source, web.section),),
            attempt=1,
            evaluation=Evaluation(True),
            seen=(Excerpt(web.id, web.text),),
        ),
    )
    one, none = Comparison("relevant_passages", 1, ">=", 1), Comparison("suggestions", 0, "<", 1)
    return RunRecord(
        id=RunId("d-1"),
        question=QUESTION,
        config=DUAL,
        started_at="2026-05-02T08:00:00Z",
        manifest={"strategies": "hierarchical_search,direct_chunk_search,web_search"},
        rounds=rounds,
        decisions=(
            _decided(0, "route_query", "rewrite_query", "search"),
            _decided(1, "grade_documents", "generate_response", "documents_relevant", one),
            _decided(3, "grade_relevance", "consolidate_memory", "answer_relevant", none),
        ),
        rewrites=(
            Rewrite(-1, QUESTION, QUESTION, "", strategy="initial"),
            Rewrite(1, QUESTION, "高血糖 症状 感觉", "", keywords=("高血糖", "症状", "感觉"), strategy="emphasise"),
        ),
        recall=Recall((FRESH, STALE), stale=("m2",)),
        route=RouteChoice("hierarchical_search", "overview", "", without_memory="direct_chunk_search"),
        tried_routes=(
            TriedRoute("hierarchical_search", 0, "searched"),
            TriedRoute("direct_chunk_search", 0, "searched"),
            TriedRoute("hierarchical_search", 1, "skipped", "no_summaries"),
            TriedRoute("direct_chunk_search", 1, "nothing_found"),
            TriedRoute("web_search", 1, "searched"),
        ),
        remembered=replace(FRESH, id="m3", question=QUESTION, answer=drafts[1].text, sources=(web.source,)),
        context=Context((web,), tokens=20, token_budget=3000),
        answer=drafts[1].text,
        citations=drafts[1].citations,
        drafts=drafts,
        outcome="answered",
        reason="answer_relevant",
        duration_ms=900.0,
    )


def direct_record() -> RunRecord:
    """Answered from memory, nothing searched."""
    draft = Draft(0, "以下来自记忆：会口渴、多尿。", direct=True, evaluation=Evaluation(True))
    return replace(
        dual_record(),
        rounds=(),
        rewrites=(),
        tried_routes=(),
        drafts=(draft,),
        route=RouteChoice("direct", "remembered", "", without_memory="direct_chunk_search"),
        decisions=(_decided(0, "route_query", "direct_response", "direct"),),
        context=Context(()),
        answer=draft.text,
        citations=(),
        remembered=None,
    )


def fallback_record() -> RunRecord:
    """Every strategy that can be used was tried, nothing passed; the web is switched off."""
    return replace(
        dual_record(),
        config=replace(DUAL, options=DualLoopOptions()),
        rounds=dual_record().rounds[:1],
        rewrites=dual_record().rewrites[:1],
        drafts=(),
        tried_routes=(
            TriedRoute("hierarchical_search", 0, "searched"),
            TriedRoute("direct_chunk_search", 0, "failed", "WB201"),
            TriedRoute("web_search", 0, "skipped", "web_off"),
        ),
        recall=Recall(),
        route=RouteChoice("hierarchical_search", "overview", ""),
        context=None,
        answer="没有找到能回答这个问题的内容，所以我不作猜测。",
        citations=(),
        remembered=None,
        outcome="fallback",
        reason="strategies_exhausted",
    )


# -- answer evaluation ----------------------------------------------------------------------------------------------

ANSWERS = RunConfig(workflow="answer_evaluation", options=AnswerEvaluationOptions(gener_epoch=3))
_GIVEN = (passage("v1", LONG, 0.7), passage("v2", "多尿、口渴、多食，体重下降。", 0.6))
_FIRST = "血糖高时肾脏排糖 [1]。人会觉得很冷。体重往往下降 [2]。"
_SECOND = "血糖高时肾脏排糖，带走水分 [1]。人会觉得很冷。体重往往下降 [2]。还会口渴 [2]。"
_THIRD = "血糖高时肾脏排糖，带走水分 [1]。体重往往下降 [2]。还会口渴 [2]。"


def _seen(count: int = 2) -> tuple[Excerpt, ...]:
    return excerpts(_GIVEN, count)


def _cites(*markers: int) -> tuple[Citation, ...]:
    return tuple(Citation(n, _GIVEN[n - 1].id, _GIVEN[n - 1].source, _GIVEN[n - 1].section) for n in markers)


def answers_record(*, drafts: int = 3) -> RunRecord:
    """Three answers: of two suggestions one is followed and one ignored, the third answer passes."""
    invented = suggested("invented", "人会觉得很冷。")
    missing = suggested("terms_unsaid", terms="感觉")
    made = (
        Draft(0, _FIRST, _cites(1, 2), evaluation=Evaluation(False, (missing, invented)), seen=_seen()),
        Draft(1, _SECOND, _cites(1, 2), ("[7]",), evaluation=Evaluation(False, (invented,)), seen=_seen()),
        Draft(2, _THIRD, _cites(1, 2), evaluation=Evaluation(True), seen=_seen(1)),
    )[:drafts]
    passed = drafts == 3
    last = made[-1]
    candidates = tuple(Candidate(item, rank, "kept", 0.3) for rank, item in enumerate(_GIVEN, 1))
    verdicts = {item.id: verdict(0.9) for item in _GIVEN}
    return RunRecord(
        id=RunId("a-1"),
        question=QUESTION,
        config=ANSWERS,
        started_at="2026-05-02T08:00:00Z",
        rounds=(Round(0, QUESTION, candidates, verdicts=verdicts),),
        decisions=(
            Decision(0, "prepare", "passed", (Comparison("pass_rate", 1.0, ">=", 0.6),), 2, 2),
            Decision(0, "end", "evaluation_passed", (Comparison("suggestions", 0, "<", 1),), 2, 2, node="eval_answer"),
        ),
        context=Context(_GIVEN, tokens=600, token_budget=3000),
        answer=last.text,
        citations=last.citations,
        drafts=made,
        outcome="answered" if passed else "answered_forced",
        reason="evaluation_passed" if passed else "max_epochs",
        duration_ms=700.0,
    )


def writing_record(node: str = "generate_answer") -> RunRecord:
    """The run while its second answer is written or evaluated."""
    done = answers_record(drafts=2 if node == "eval_answer" else 1)
    visit = NodeExecution(node, 0, 2, 300.0)
    newest = done.drafts[-1]
    if node == "eval_answer":
        newest = replace(newest, evaluation=None, seen=())
    return replace(done, outcome=None, reason="", nodes=(visit,), drafts=(*done.drafts[:-1], newest))
