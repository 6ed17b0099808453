"""The lines of facts that the boxes of a drawn workflow carry: what each node of a run has to say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from components.common.i18n import Words
from components.labels.runs import GRADE_NAMES
from components.picture.words import Lines, cut, duration_of, lines, searched_line, word
from components.workflows import facts_graph as graph
from engine.messages import NC_
from engine.model.values import Candidate, Draft, NodeExecution, Rewrite, RunRecord, SourceKind
from engine.model.wording import change_of

Fact = Callable[[str, RunRecord, Words, str], Lines]
"""From node, record, words and tone."""

_SOURCE_KINDS: tuple[SourceKind, ...] = ("vector", "graph", "temporal")


def facts_of(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """What a node that was visited has to say; in some workflows a name means other work."""
    own = _OWN_FACTS.get(record.workflow, {})
    return own.get(name, _FACTS.get(name, _plain_facts))(name, record, words, tone)


def judges(name: str, record: RunRecord) -> bool:
    """Whether a node has passages judged one by one."""
    if record.workflow == "quality_loop":
        return name == "rerank"
    return name in ("grade", "grade_documents")


def executions(name: str, record: RunRecord | None) -> list[NodeExecution]:
    return [item for item in record.nodes if item.node == name] if record else []


def grading(record: RunRecord) -> tuple[int, int, int]:
    """Verdicts so far, verdicts expected and passed ones of the newest round."""
    if not record.rounds:
        return 0, 0, 0
    newest, least = record.rounds[-1], record.config.min_confidence
    verdicts = list(newest.verdicts.values())
    kept = sum(item.gate == "kept" for item in newest.candidates)
    return len(verdicts), max(kept, len(verdicts)), sum(item.passes(least) for item in verdicts)


# -- the four-node loop, and what others share with it ---------------------------------------------------------------


def _retrieve_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    spent = _time_of(name, record, words)
    if not searched:
        return (*lines([words("searching")]), *searched_line(record, words, spent))
    candidates = searched[-1].candidates
    found = lines([words("{n} probed", n=len(candidates)), _kept_of(candidates, words)])
    return (*found, *searched_line(record, words, spent))


def _grade_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    own = [item for item in record.decisions if item.node == name]
    rates = [f"{item.passed}/{item.kept}" for item in own]
    saved = _reused(record, words)
    if tone == "active":
        # Its own decision may be made already, a moment before the node ends.
        former = [f"{item.passed}/{item.kept}" for item in own if item.round < len(record.rounds) - 1]
        return _judging(record, words, words("{rates} before", rates=former[-1]) if former else "", saved)
    ended = lines([_time_of(name, record, words), saved])
    if tone in ("fault", "stopped"):
        return (*_unfinished(name, record, words), *ended)
    passed = lines_of_passing(rates, words)
    return (passed, *ended) if passed else ended


def _judging(record: RunRecord, words: Words, *more: str) -> Lines:
    done, total, passed = grading(record)
    now = [words("{n} of {total} judged", n=done, total=total), words("✓ {yes}  ✗ {no}", yes=passed, no=done - passed)]
    return lines(now, more)


def _unfinished(name: str, record: RunRecord, words: Words) -> Lines:
    done, total, _ = grading(record)
    return lines([words("{n} of {total} judged", n=done, total=total), _time_of(name, record, words)])


def lines_of_passing(rates: Sequence[str], words: Words) -> tuple[str, ...]:
    if not rates:
        return ()
    if len(rates) == 1:
        return (words("{a} passed", a=rates[0]),)
    last, best, former = rates[-1], max(rates, key=_share_of), ", ".join(rates[:-1])
    # Where there is no room for every round, the best one is not left out.
    better = _share_of(best) > _share_of(last)
    twice = len(rates) == 2
    return (
        words("{a} passed, then {b}", a=rates[0], b=last)
        if twice
        else words("{all}, then {b} passed", all=former, b=last),
        words("best {best}, last {b} passed", best=best, b=last) if better else words("last {b} passed", b=last),
    )


def _share_of(rate: str) -> float:
    passed, kept = rate.split("/")
    return int(passed) / int(kept) if int(kept) else 0.0


def _rewrite_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    spent = _time_of(name, record, words)
    if not record.rewrites:
        return lines([words("rephrasing")], [spent])
    newest = record.rewrites[-1]
    return (_changed(newest), *lines([*_gain_of(newest, record, words), spent]))


def _changed(rewrite: Rewrite) -> tuple[str, ...]:
    before, after = cut(rewrite.query), cut(rewrite.rewritten_query)
    return (f"{before} → {after}", f"→ {after}")


def _gain_of(rewrite: Rewrite, record: RunRecord, words: Words) -> list[str]:
    """By how much the measure of the loop moved with this rewrite, and from which round to which."""
    if rewrite.failed:
        return [words("failed, old query stands")]
    if rewrite.repeated:
        return [words("repeated itself")]
    scored = record.workflow == "quality_loop"
    worth = _scores(record) if scored else record.pass_rates
    before, after = rewrite.round, rewrite.round + 1
    if not {before, after} <= worth.keys():
        return []
    change = change_of(worth[before], worth[after])
    gain = f"{('±', '+', '−')[change.direction]}{change.size}"
    gained = words("score {gain}", gain=gain) if scored else words("pass rate {gain}", gain=gain)
    return [gained, f"r{before} → r{after}"]


def _generate_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    if record.outcome == "abstained":
        return lines([words("nothing passed, says so")], _spent(name, record, words))
    return lines(
        [_given(record, words) or words(NC_("picture", "writing")), _cited(record, words)], _spent(name, record, words)
    )


def _plain_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    return lines(_spent(name, record, words))


# -- quality control -------------------------------------------------------------------------------------------------


def _router_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    coming = executions(name, record)[-1].round
    chosen = [item.routing for item in record.rounds if item.index == coming and item.routing]
    if not chosen:
        return lines([words("choosing")] if tone == "active" else [], _spent(name, record, words))
    routing = chosen[-1]
    shares = {kind: routing.shares[kind] for kind in _SOURCE_KINDS if kind in routing.shares}
    named = [word(words, "kind", kind) for kind in shares]
    parts = [f"{text} {share * 100:.0f} %" for text, share in zip(named, shares.values(), strict=True)]
    first = (" · ".join(parts), " · ".join(named), _sources(len(named), words))
    return (first, *lines([words("wide") if routing.wide else "", *_spent(name, record, words)]))


def _listed_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    spent = _time_of(name, record, words)
    if not searched:
        return (*lines([words("searching")]), *searched_line(record, words, spent))
    candidates = searched[-1].candidates
    counted = [(kind, sum(kind in item.found_at for item in candidates)) for kind in _SOURCE_KINDS]
    return (
        (_by_kind(counted, words), words("{n} found", n=sum(number for _, number in counted))),
        *searched_line(record, words, spent),
    )


def _fuse_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    if not record.rounds or tone == "active":
        return lines([_time_of(name, record, words)])
    candidates = record.rounds[-1].candidates
    kept = [item.kind for item in candidates if item.gate == "kept"]
    counted = [(kind, kept.count(kind)) for kind in _SOURCE_KINDS]
    merged = [words("{n} distinct", n=len(candidates)), words("{n} kept", n=len(kept))]
    sources = _sources(sum(number > 0 for _, number in counted), words)
    second = lines([_by_kind(counted, words), _time_of(name, record, words)])
    return (*lines(merged), *((*line, sources) for line in second))


def _by_kind(counted: Sequence[tuple[str, int]], words: Words) -> str:
    return " · ".join(word(words, "kind", kind) + f" {number}" for kind, number in counted if number)


def _rerank_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    saved = _reused(record, words)
    if tone == "active":
        return _judging(record, words, saved)
    ended = lines([_time_of(name, record, words), saved])
    if tone in ("fault", "stopped"):
        return (*_unfinished(name, record, words), *ended)
    verdicts = list(record.rounds[-1].verdicts.values()) if record.rounds else []
    best = [words("best {p}", p=f"{max(item.p_relevant for item in verdicts):.2f}")] if verdicts else []
    return (*lines([words("{n} judged", n=len(verdicts)), *best]), *ended)


def _quality_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    checked = [item.quality for item in record.rounds if item.quality]
    spent = _spent(name, record, words)
    if not checked:
        return lines(spent)
    course = " → ".join(f"{item.routing_score:.2f}" for item in checked)
    last = checked[-1]
    newest = f"{last.routing_score:.2f}"
    grade = words(GRADE_NAMES[last.routing_grade])
    first = (words("score {score}", score=f"{course} · {grade}"), f"{course} · {grade}", f"{newest} · {grade}")
    issues = len(last.issues)
    return (first, *lines([words.count("1 issue", "{n} issues", issues) if issues else "", *spent]))


def _scores(record: RunRecord) -> dict[int, float]:
    return {item.index: item.quality.routing_score for item in record.rounds if item.quality}


# -- dual loop -------------------------------------------------------------------------------------------------------


def _recall_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    recall, spent = record.recall, _time_of(name, record, words)
    if recall is None:
        return lines([words("looking back")] if tone == "active" else [], [spent])
    if recall.off or recall.failed:
        return lines([words("switched off") if recall.off else words("could not be read")], [spent])
    found, stale = len(recall.memories), len(recall.stale)
    first = [
        words("{n} recalled", n=found) if found else words("nothing recalled"),
        words("{n} outdated", n=stale) if stale else "",
    ]
    return lines(first, [spent])


def _route_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    choice = record.route
    if choice is None:
        return lines([words("choosing")] if tone == "active" else [], _spent(name, record, words))
    other = choice.without_memory
    why = words("because of memory") if other is not None and other != choice.route else ""
    return lines([word(words, "strategy", choice.route)], [why, *_spent(name, record, words)])


def _rewrite_query_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    spent = _time_of(name, record, words)
    if not record.rewrites:
        return lines([words("rephrasing")], [spent])
    newest = record.rewrites[-1]
    note = words("failed, old query stands") if newest.failed else words("repeated itself") if newest.repeated else ""
    if newest.query.strip() == newest.rewritten_query.strip():
        return lines([words("as asked")], [note, spent])
    return (_changed(newest), *lines([note, spent]))


def _strategy_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    tried = [item for item in record.tried_routes if item.status != "skipped"]
    count = words("{n} searches", n=len(tried)) if len(tried) > 1 else ""
    spent = _time_of(name, record, words)
    if not searched:
        return lines([words("searching") if tone == "active" else ""], [count, spent])
    candidates, strategy = searched[-1].candidates, searched[-1].strategy
    how = word(words, "strategy", strategy) if strategy else ""
    found = lines([how, _kept_of(candidates, words), words("{n} probed", n=len(candidates))])
    ended = lines([count, spent]) if strategy == "web_search" else searched_line(record, words, count, spent)
    return (*found, *ended)


def _direct_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    remembered = record.route is not None and record.route.code == "remembered"
    return lines([words("from memory") if remembered else words("without a search")], _spent(name, record, words))


def _keep_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    kept = record.remembered
    if tone == "active":
        return lines([_time_of(name, record, words)])
    said = words("nothing kept")
    if kept:
        said = words(NC_("picture", "kept")) if kept.passed else words("kept as a failure")
    return lines([said], [_time_of(name, record, words)])


# -- answers that are judged -----------------------------------------------------------------------------------------


def _prepare_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    if record.outcome == "abstained":
        return lines([words("nothing passed, says so")], [_time_of(name, record, words)])
    return lines([_given(record, words)], [_time_of(name, record, words)])


def _answer_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    written = len(record.drafts)
    newest = written + 1 if tone == "active" else written
    nth = words("answer {a} of {b}", a=newest, b=getattr(record.config.options, "gener_epoch", 1)) if newest else ""
    return lines([nth, _cited(record, words)], _spent(name, record, words))


def _evaluation_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    spent = _spent(name, record, words)
    counts = [_suggestions(item) for item in record.drafts]
    if tone == "active" or not counts:
        former = [str(count) for count in counts if count is not None]
        return lines([words("{rates} before", rates=", ".join(former)) if former else ""], spent)
    newest, former = counts[-1], [str(count) for count in counts[:-1] if count is not None]
    said = words("not evaluated")
    if newest is not None:
        said = _to_improve(newest, words) if newest else words("passed")
    return lines([said, words("{rates} before", rates=", ".join(former)) if former else ""], spent)


def _suggestions(draft: Draft) -> int | None:
    return len(draft.evaluation.suggestions) if draft.evaluation else None


# -- parts of lines --------------------------------------------------------------------------------------------------


def _sources(number: int, words: Words) -> str:
    return words(NC_("picture", "1 source")) if number == 1 else words("{n} sources", n=number)


def _to_improve(number: int, words: Words) -> str:
    return words(NC_("picture", "1 suggestion")) if number == 1 else words("{n} suggestions", n=number)


def _kept_of(candidates: Sequence[Candidate], words: Words) -> str:
    return words("{n} kept", n=sum(item.gate == "kept" for item in candidates))


def _reused(record: RunRecord, words: Words) -> str:
    reused = sum(len(item.reused) for item in record.rounds)
    return words.count("1 verdict reused", "{n} verdicts reused", reused) if reused else ""


def _given(record: RunRecord, words: Words) -> str:
    return words.count("1 passage", "{n} passages", len(record.context.passages)) if record.context else ""


def _cited(record: RunRecord, words: Words) -> str:
    cited = len(record.citations)
    return words("{n} cited", n=cited) if cited else ""


def _spent(name: str, record: RunRecord, words: Words) -> list[str]:
    """Time, and what a chat model did in it."""
    own = [item for item in record.model_calls if item.node == name and item.role == "generator"]
    tokens = sum(item.reply_tokens or 0 for item in own)
    calls = 0 if own else sum(item.model_calls for item in executions(name, record))
    return [
        _time_of(name, record, words),
        words.count("1 token", "{n} tokens", tokens) if tokens else "",
        words.count("1 call", "{n} calls", calls) if calls else "",
    ]


def _time_of(name: str, record: RunRecord, words: Words) -> str:
    known = [item.duration_ms for item in executions(name, record) if item.duration_ms is not None]
    return duration_of(math.fsum(known), words) if known else ""


_FACTS: Mapping[str, Fact] = MappingProxyType(
    {
        "retrieve": _retrieve_facts,
        "grade": _grade_facts,
        "rewrite": _rewrite_facts,
        "generate": _generate_facts,
        "retrieve_memory": _recall_facts,
        "route_query": _route_facts,
        "rewrite_query": _rewrite_query_facts,
        "retrieve_documents": _strategy_facts,
        "grade_documents": _grade_facts,
        "generate_response": _generate_facts,
        "direct_response": _direct_facts,
        "grade_relevance": _evaluation_facts,
        "consolidate_memory": _keep_facts,
        "prepare": _prepare_facts,
        "generate_answer": _answer_facts,
        "eval_answer": _evaluation_facts,
    }
)
_QUALITY_FACTS: Mapping[str, Fact] = MappingProxyType(
    {
        "question_router": _router_facts,
        "retrieve": _listed_facts,
        "fuse": _fuse_facts,
        "rerank": _rerank_facts,
        "grade_documents": _quality_facts,
    }
)


def _analyze_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    return graph.analyze_facts(name, record, words, _spent(name, record, words))


def _graph_route_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    return graph.route_facts(name, record, words, _time_of(name, record, words))


def _graph_retrieve_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    return graph.retrieve_facts(record, words, _time_of(name, record, words))


def _graph_answer_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    return graph.answer_facts(record, words, _given(record, words), _spent(name, record, words))


_OWN_FACTS: Mapping[str, Mapping[str, Fact]] = MappingProxyType(
    {
        "quality_loop": _QUALITY_FACTS,
        "graph_hybrid": MappingProxyType(
            {
                "analyze_query": _analyze_facts,
                "route_query": _graph_route_facts,
                "retrieve": _graph_retrieve_facts,
                "refine_query": _rewrite_facts,
                "generate_answer": _graph_answer_facts,
            }
        ),
    }
)
