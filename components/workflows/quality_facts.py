"""The lines of facts that the boxes of the quality-control loop carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from components.common.i18n import Words
from components.common.own import Fact
from components.labels.runs import GRADE_NAMES
from components.picture.facts import cost_of, executions, judging, reused_text, time_of, unfinished
from components.picture.words import Lines, lines, searched_line, word
from engine.messages import NC_
from engine.model.values import SOURCE_KINDS, RunRecord


def _router_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    coming = executions(name, record)[-1].round
    chosen = [item.routing for item in record.rounds if item.index == coming and item.routing]
    if not chosen:
        return lines([words("choosing")] if tone == "active" else [], cost_of(name, record, words))
    routing = chosen[-1]
    shares = {kind: routing.shares[kind] for kind in SOURCE_KINDS if kind in routing.shares}
    named = [word(words, "kind", kind) for kind in shares]
    parts = [f"{text} {share * 100:.0f} %" for text, share in zip(named, shares.values(), strict=True)]
    first = (" · ".join(parts), " · ".join(named), _sources(len(named), words))
    return (first, *lines([words("wide") if routing.wide else "", *cost_of(name, record, words)]))


def _listed_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    spent = time_of(name, record, words)
    if not searched:
        return (*lines([words("searching")]), *searched_line(record, words, spent))
    candidates = searched[-1].candidates
    counted = [(kind, sum(kind in item.found_at for item in candidates)) for kind in SOURCE_KINDS]
    return (
        (_by_kind(counted, words), words("{n} found", n=sum(number for _, number in counted))),
        *searched_line(record, words, spent),
    )


def _fuse_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    if not record.rounds or tone == "active":
        return lines([time_of(name, record, words)])
    candidates = record.rounds[-1].candidates
    kept = [item.kind for item in candidates if item.gate == "kept"]
    counted = [(kind, kept.count(kind)) for kind in SOURCE_KINDS]
    merged = [words("{n} distinct", n=len(candidates)), words("{n} kept", n=len(kept))]
    sources = _sources(sum(number > 0 for _, number in counted), words)
    second = lines([_by_kind(counted, words), time_of(name, record, words)])
    return (*lines(merged), *((*line, sources) for line in second))


def _by_kind(counted: Sequence[tuple[str, int]], words: Words) -> str:
    return " · ".join(word(words, "kind", kind) + f" {number}" for kind, number in counted if number)


def _rerank_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    saved = reused_text(record, words)
    if tone == "active":
        return judging(record, words, saved)
    ended = lines([time_of(name, record, words), saved])
    if tone in ("fault", "stopped"):
        return (*unfinished(name, record, words), *ended)
    verdicts = list(record.rounds[-1].verdicts.values()) if record.rounds else []
    best = [words("best {p}", p=f"{max(item.p_relevant for item in verdicts):.2f}")] if verdicts else []
    return (*lines([words("{n} judged", n=len(verdicts)), *best]), *ended)


def _quality_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    checked = [item.quality for item in record.rounds if item.quality]
    spent = cost_of(name, record, words)
    if not checked:
        return lines(spent)
    course = " → ".join(f"{item.routing_score:.2f}" for item in checked)
    last = checked[-1]
    newest = f"{last.routing_score:.2f}"
    grade = words(GRADE_NAMES[last.routing_grade])
    first = (words("score {score}", score=f"{course} · {grade}"), f"{course} · {grade}", f"{newest} · {grade}")
    issues = len(last.issues)
    return (first, *lines([words.count("1 issue", "{n} issues", issues) if issues else "", *spent]))


def _sources(number: int, words: Words) -> str:
    return words(NC_("picture", "1 source")) if number == 1 else words("{n} sources", n=number)


FACTS: Mapping[str, Fact] = MappingProxyType(
    {
        "question_router": _router_facts,
        "retrieve": _listed_facts,
        "fuse": _fuse_facts,
        "rerank": _rerank_facts,
        "grade_documents": _quality_facts,
    }
)
