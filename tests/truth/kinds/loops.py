"""The presenter's sentences that only other loops than the four-node one have, and how every run ends, read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from components.ask.presenter_sentences import sentence
from components.common.i18n import Words
from components.labels import STRATEGY_PHRASES
from engine.model.values import Decision, Draft, PassageId, Round, RunRecord
from engine.replay.playback import ReplayStep, StepKind
from tests.truth.claims import Claim, numbers

_GRADING = ("grade", "grade_documents")
_MET = ("passed", "quality_met", "documents_relevant")
Check = Callable[[str, ReplayStep, RunRecord, Words], Iterator[str]]


def claims(record: RunRecord, words: Words) -> Iterator[Claim]:
    for step in _steps(record):
        said = sentence(step, record, words)
        wrong = ["half a sentence"] if re.search(r"[:：]\s*[.。]|[{}]|\bno changes", said) else []
        yield Claim(said, (*wrong, *_CHECKS[step.kind](said, step, record, words)))


def _steps(record: RunRecord) -> Iterator[ReplayStep]:
    """What there is to say of a record, without the searches and judgements that another walk reads."""

    def step(kind: StepKind, index: int = 0, draft: int = 0) -> ReplayStep:
        return ReplayStep(kind, 0, index, draft=draft)

    if record.recall is not None:
        yield step("recalled")
    if record.analysis is not None:
        yield step("analysed")
    if record.route is not None or any(item.node == "route_query" for item in record.decisions):
        yield step("routed")
    for current in record.rounds:
        if record.workflow == "quality_loop":
            yield step("routed", current.index)
        yield step("searched", current.index)
        if record.workflow == "quality_loop" and current.quality is not None:
            yield step("judged", current.index)
            yield step("checked", current.index)
        if record.workflow in ("dual_loop", "graph_hybrid") and _decided(current.index, record) is not None:
            yield step("judged", current.index)
    for rewrite in record.rewrites:
        yield step("rewritten", rewrite.round)
    for draft in record.drafts:
        yield step("drafted", draft=draft.index)
        yield step("evaluated", draft=draft.index)
    if record.outcome is not None:
        yield step("ended")


def _figures(said: str, words: Words) -> set[float]:
    """Every number of a sentence, those above one in words too."""
    spoken = words("no one two three four five six seven eight nine ten eleven twelve").split()
    found = {float(item) for item in numbers(said)}
    return found | {float(spoken.index(word)) for word in re.findall(r"[a-z]+", said.lower()) if word in spoken[2:]}


def _strange(said: str, words: Words, *allowed: float) -> Iterator[str]:
    for item in sorted(_figures(said, words) - {float(number) for number in allowed} - {1.0}):
        yield f"{item:g} is no figure of it"


def _recalled(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    assert record.recall is not None
    held = len(record.recall.memories)
    if held > 1 and held not in _figures(said, words):
        yield f"{held} memories"
    yield from _strange(said, words, held)
    idle = {*record.recall.stale, *record.recall.refused}
    if ("not relied on" in said or "不采用" in said or "不采信" in said) and len(idle) < held:
        yield "some are relied on"
    if ("does not find" in said or "没有找到" in said) and not record.recall.refused:
        yield "the grader refused none"


def _analysed(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    assert record.analysis is not None
    if sum(name in said for name in record.analysis.entities) < min(3, len(record.analysis.entities)):
        yield "names are missing"


def _routed(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    if record.workflow == "quality_loop":
        routing = record.rounds[step.round].routing
        shares = sorted(round(share * 100) for share in routing.shares.values()) if routing else []
        if sorted(float(item) for item in numbers(said)) != shares:
            yield f"the shares are {shares}"
    elif record.workflow == "dual_loop" and record.route is not None:
        direct = record.route.route == "direct"
        if direct != ("without a search" in said or "不检索" in said):
            yield f"the route is {record.route.route}"
        if direct and record.rounds and not any(draft.direct for draft in record.drafts):
            yield "it searched first"
        named = words(STRATEGY_PHRASES[record.route.route]) if not direct else ""
        if named not in said:
            yield "another strategy"
    elif not record.rounds and ("needs a search" in said or "需要检索" in said):
        yield "nothing was searched"


def _searched(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    current = record.rounds[step.round]
    kept = sum(item.gate == "kept" for item in current.candidates)
    total = len(current.candidates)
    best = min(total, record.config.top_k)
    graphs = sum(item.graph_score is not None for item in current.candidates)
    alone = sum(item.vector_rank is None and item.text_rank is not None for item in current.kept)
    yield from _strange(said, words, total, kept, best, graphs, alone)
    if "similar enough" in said or "足够相似" in said or "不够相似" in said:
        gates = [item.gate for item in current.candidates if item.rank <= best]
        if set(gates) - {"kept", "below_threshold"}:
            yield "some of the best were dropped for another reason than their similarity"
        if best - kept != gates.count("below_threshold"):
            yield "those that are kept are not among the best"


def _judged(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    current = record.rounds[step.round]
    if record.workflow == "quality_loop":
        best = max((item.p_relevant for item in current.verdicts.values()), default=0.0)
        if numbers(said) != [f"{best:.2f}"]:
            yield f"the best has {best:.4f}"
        return
    decision = _decided(step.round, record)
    assert decision is not None
    if decision.reason == "grader_failed":
        return
    bounds = [item.bound for item in decision.comparisons]
    values = [item.value for item in decision.comparisons]
    yield from _strange(
        said, words, decision.passed, decision.kept, *bounds, *values, *(round(item * 100, 2) for item in bounds)
    )
    if ("there will be no answer" in said or "不会有回答" in said) and record.outcome not in ("fallback", "cancelled"):
        yield f"the run ended as {record.outcome}"
    more = "another way is tried" in said or "换一种办法" in said
    if more and not any(item.index > step.round for item in record.rounds) and record.outcome == "answered":
        yield "no other way was tried"


def _checked(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    check, decision = record.rounds[step.round].quality, _decided(step.round, record)
    if check is None or decision is None or not decision.comparisons or decision.reason == "grader_failed":
        return
    score = check.score if check.graded_on == "weighted" else check.top3
    bar = decision.comparisons[0].bound
    told = re.search(r"(\d\.\d+)(?: of 1, where |（满分 1），及格线为 )(\d\.\d+)", said)
    if told is None:
        yield "score and bar are missing"
        return
    shown = [float(item) for item in told.groups()]
    if abs(shown[0] - score) > 0.00501 or abs(shown[1] - bar) > 0.00501:
        yield f"{score:.4f} and {bar:.4f}"
    enough = "That is enough" in said or "已经够了" in said
    if enough != (score >= bar) or enough != (shown[0] >= shown[1]):
        yield "the figures say otherwise"


def _rewritten(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    rewrite = next(item for item in record.rewrites if item.round == step.round)
    new = rewrite.rewritten_query != (record.question if step.round < 0 else rewrite.query)
    if "“" in said and rewrite.rewritten_query not in said:
        yield "another query"
    if new and not rewrite.failed and not rewrite.repeated and "“" not in said:
        yield "the new query is missing"


def _drafted(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    yield from _strange(said, words, step.draft + 1)
    draft = _draft(step, record)
    if draft.direct != ("without a search" in said or "不检索" in said):
        yield "whether it searched"


def _evaluated(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    evaluation = _draft(step, record).evaluation
    asked = len(evaluation.suggestions) if evaluation else 0
    yield from _strange(said, words, asked)
    if evaluation is not None and not evaluation.passed and asked > 1 and asked not in _figures(said, words):
        yield f"{asked} suggestions"
    if (
        ("revised" in said or "修改回答" in said)
        and step.draft + 1 >= len(record.drafts)
        and record.outcome == "answered"
    ):
        yield "there is no later answer"
    rephrased = "rephrased" in said or "改写问题" in said
    if rephrased and step.draft + 1 >= len(record.drafts) and record.outcome == "answered":
        yield "nothing was searched once more"


def _ended(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    given = record.context.passages if record.context else ()
    if "nothing else" in said or "只根据" in said or "helped, although" in said or "个有用的片段写出" in said:
        yield from _strange(said, words, len(given))
        passed = {name for current in record.rounds for name in _passing(current, record)}
        if not {item.id for item in given} <= passed:
            yield "not all that was given helped"
        if record.answer_note:
            yield f"the answer is {record.answer_note}"
        if not given:
            yield "nothing was given"
    never = "never met" in said or "始终没有达到" in said
    if never and any(item.node in _GRADING and item.reason in _MET for item in record.decisions):
        yield "the bar was met"
    if "Nothing helped" in said or "没有片段有用" in said:
        rounds = record.rounds if record.config.context == "union" else record.rounds[-1:]
        if any(_passing(current, record) for current in rounds):
            yield "some passages helped"
    none = "No passage passed" in said or said.startswith("没有片段通过")
    if none and {item.id for item in given} & {name for current in record.rounds for name in _passing(current, record)}:
        yield "one passed"
    evaluated = "the evaluator passed" in said or "通过评估" in said
    if evaluated and not any(draft.evaluation is not None and draft.evaluation.passed for draft in record.drafts):
        yield "none passed"


def _passing(current: Round, record: RunRecord) -> set[PassageId]:
    kept = {item.passage.id for item in current.candidates if item.gate == "kept"}
    least = record.config.min_confidence
    return {name for name in kept & set(current.verdicts) if current.verdicts[name].passes(least)}


def _decided(index: int, record: RunRecord) -> Decision | None:
    return next((item for item in record.decisions if item.round == index and item.node in _GRADING), None)


def _draft(step: ReplayStep, record: RunRecord) -> Draft:
    return next(item for item in record.drafts if item.index == step.draft)


_CHECKS: Mapping[StepKind, Check] = {
    "recalled": _recalled,
    "analysed": _analysed,
    "routed": _routed,
    "searched": _searched,
    "judged": _judged,
    "checked": _checked,
    "rewritten": _rewritten,
    "drafted": _drafted,
    "evaluated": _evaluated,
    "ended": _ended,
}
