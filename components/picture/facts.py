"""The lines of facts that the boxes of a drawn workflow carry: what each node of a run has to say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from components.common.i18n import Words
from components.common.outcomes import reason_text, round_text
from components.common.workflow_view import Fact, view_of
from components.picture.words import Lines, cut, duration_of, lines, searched_line
from engine.flow import workflow
from engine.flow.flow import NodeKind
from engine.model.values import Candidate, Draft, NodeExecution, Rewrite, RunRecord, counted
from engine.model.wording import change_of


def facts_of(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """List the facts on a visited node: from its workflow, else from its kind of node."""
    own = view_of(record.workflow).facts.get(name)
    node = workflow(record.workflow).flow.nodes.get(name)
    fact = own or _BY_KIND.get(node.kind if node else "", _plain_facts)
    return fact(name, record, words, tone)


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


def _search_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    took = time_of(name, record, words)
    if not searched:
        return searched_line(record, words, took)
    candidates = searched[-1].candidates
    found = lines([words("{n} probed", n=len(candidates)), kept_text(candidates, words)])
    return (*found, *searched_line(record, words, took))


def _grade_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    own = [item for item in record.decisions if item.node == name]
    rates = [f"{item.passed}/{item.kept}" for item in own]
    saved = reused_text(record, words)
    if tone == "active":
        # Its own decision may be made already, a moment before the node ends.
        former = [f"{item.passed}/{item.kept}" for item in own if item.round < len(record.rounds) - 1]
        return judging(record, words, words("{rates} before", rates=former[-1]) if former else "", saved)
    ended = lines([time_of(name, record, words), saved])
    if tone in ("fault", "stopped"):
        return (*unfinished(name, record, words), *ended)
    passed = lines_of_passing(rates, words)
    return (passed, *ended) if passed else ended


def judging(record: RunRecord, words: Words, *more: str) -> Lines:
    done, total, passed = grading(record)
    now = [words("{done} of {total} graded", done=done, total=total), f"✓ {passed}  ✗ {done - passed}"]
    return lines(now, more)


def unfinished(name: str, record: RunRecord, words: Words) -> Lines:
    done, total, _ = grading(record)
    return lines([words("{done} of {total} graded", done=done, total=total), time_of(name, record, words)])


def lines_of_passing(rates: Sequence[str], words: Words) -> tuple[str, ...]:
    if not rates:
        return ()
    if len(rates) == 1:
        return (words("{a} passed", a=rates[0]),)
    last, best, former = rates[-1], max(rates, key=_share_of), ", ".join(rates[:-1])
    # Where there is no room for every round, the best one is not left out.
    better = _share_of(best) > _share_of(last)
    return (
        words("{all}, then {b} passed", all=former, b=last),
        words("best {best}, last {b} passed", best=best, b=last) if better else words("last {b} passed", b=last),
    )


def _share_of(rate: str) -> float:
    passed, kept = rate.split("/")
    return int(passed) / int(kept) if int(kept) else 0.0


def _rewrite_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    took = time_of(name, record, words)
    if not record.rewrites:
        return lines([took])
    newest = record.rewrites[-1]
    return (changed(newest), *lines([*_gain_of(newest, record, words), took]))


def changed(rewrite: Rewrite) -> tuple[str, ...]:
    before, after = cut(rewrite.query), cut(rewrite.rewritten_query)
    return (f"{before} → {after}", f"→ {after}")


def _gain_of(rewrite: Rewrite, record: RunRecord, words: Words) -> list[str]:
    """By how much the measure of the loop moved with this rewrite, and from which round to which."""
    if rewrite.failed:
        return [reason_text("rewriter_failed", words)]
    if rewrite.repeated:
        return [reason_text("repeated_rewrite", words)]
    scores = {item.index: item.quality.routing_score for item in record.rounds if item.quality}
    worth = scores or record.pass_rates
    before, after = rewrite.round, rewrite.round + 1
    if not {before, after} <= worth.keys():
        return []
    change = change_of(worth[before], worth[after])
    gain = f"{('±', '+', '−')[change.direction]}{change.size}"
    gained = words("score {gain}", gain=gain) if scores else words("pass rate {gain}", gain=gain)
    return [gained, f"{round_text(before, words)} → {round_text(after, words)}"]


def _answer_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    own = workflow(record.workflow)
    if name in own.flow.revising:
        newest = len(record.drafts) + (tone == "active")
        nth = words("answer {n} of at most {most}", n=newest, most=own.most_answers(record.config)) if newest else ""
        return lines([nth, cited_text(record, words)], cost_of(name, record, words))
    if record.outcome == "abstained":
        return lines([words("nothing passed, says so")], cost_of(name, record, words))
    return lines([given_text(record, words), cited_text(record, words)], cost_of(name, record, words))


def _plain_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    return lines(cost_of(name, record, words))


def _context_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    if record.outcome == "abstained":
        return lines([words("nothing passed, says so")], [time_of(name, record, words)])
    return lines([given_text(record, words)], [time_of(name, record, words)])


def _evaluation_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    used = cost_of(name, record, words)
    counts = [_suggestions(item) for item in record.drafts]
    if tone == "active" or not counts:
        former = [str(count) for count in counts if count is not None]
        return lines([words("{rates} before", rates=", ".join(former)) if former else ""], used)
    newest, former = counts[-1], [str(count) for count in counts[:-1] if count is not None]
    said = words("not evaluated")
    if newest is not None:
        said = words.count("1 suggestion", "{n} suggestions", newest) if newest else words("passed")
    return lines([said, words("{rates} before", rates=", ".join(former)) if former else ""], used)


def _suggestions(draft: Draft) -> int | None:
    return len(draft.evaluation.suggestions) if draft.evaluation else None


# -- parts of lines --------------------------------------------------------------------------------------------------


def kept_text(candidates: Sequence[Candidate], words: Words) -> str:
    return words("{n} kept", n=sum(item.gate == "kept" for item in candidates))


def reused_text(record: RunRecord, words: Words) -> str:
    reused = sum(len(item.reused) for item in record.rounds)
    return words.count("1 verdict reused", "{n} verdicts reused", reused) if reused else ""


def given_text(record: RunRecord, words: Words) -> str:
    return words.count("1 passage", "{n} passages", len(record.context.passages)) if record.context else ""


def cited_text(record: RunRecord, words: Words) -> str:
    cited = len(record.citations)
    return words("{n} cited", n=cited) if cited else ""


def cost_of(name: str, record: RunRecord, words: Words) -> list[str]:
    """Time, and what a chat model did in it."""
    own = [item for item in record.model_calls if item.node == name and item.role == "generator"]
    tokens = sum(item.reply_tokens or 0 for item in own)
    calls = 0 if own else counted(item for item in record.model_calls if item.node == name).done
    return [
        time_of(name, record, words),
        words.count("1 token", "{n} tokens", tokens) if tokens else "",
        words.count("1 call", "{n} calls", calls) if calls else "",
    ]


def time_of(name: str, record: RunRecord, words: Words) -> str:
    known = [item.duration_ms for item in executions(name, record) if item.duration_ms is not None]
    return duration_of(math.fsum(known), words) if known else ""


_BY_KIND: Mapping[NodeKind, Fact] = MappingProxyType(
    {
        "search": _search_facts,
        "grade": _grade_facts,
        "rewrite": _rewrite_facts,
        "context": _context_facts,
        "answer": _answer_facts,
        "evaluate": _evaluation_facts,
    }
)
