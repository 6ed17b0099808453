"""The sentence of every step of a run, in all workflows, read back: its figures, its query and where it led."""

from __future__ import annotations

import re
from collections.abc import Iterator

from components.common.i18n import Words
from components.common.outcomes import outcome_text
from components.common.phrases import begun, node_text
from components.sentences.steps import decision_of, sentence
from engine.flow import workflow
from engine.model.values import RunRecord
from engine.replay.playback import ReplayStep, StepKind
from tests.truth.claims import Claim, numbers


def claims(record: RunRecord, words: Words) -> Iterator[Claim]:
    for step in _steps(record):
        said = sentence(step, record, words)
        wrong = ["half a sentence"] if re.search(r"[:：]\s*[.。]|[{}]", said) else []
        decision = decision_of(step, record)
        if decision is not None and node_text(decision.route, record.workflow, words) not in said:
            wrong.append(f"it led to {decision.route}")
        figures = _figures(step, record)
        if figures is not None:
            printed = sorted(float(item) for item in numbers(said))
            if any(all(abs(item - figure) > 0.00501 for figure in figures) for item in printed):
                wrong.append(f"{printed} are not among {sorted(figures)}")
        yield Claim(said, (*wrong, *_omitted(said, step, record, words)))


def _steps(record: RunRecord) -> Iterator[ReplayStep]:
    """What there is to say of a record, with the nodes that said it."""
    flow = workflow(record.workflow).flow

    def step(kind: StepKind, index: int = 0, draft: int = 0, node: str = "") -> ReplayStep:
        return ReplayStep(kind, 0, index, node, draft)

    if record.recall is not None:
        yield step("recalled")
    if record.analysis is not None:
        yield step("analysed")
    for decision in record.decisions:
        if decision.node in flow.preparing:
            yield step("routed", node=decision.node)
    for current in record.rounds:
        yield step("searched", current.index)
        if current.quality is not None:
            yield step("routed", current.index)
            yield step("judged", current.index)
            yield step("checked", current.index, node=flow.gate)
        elif any(item.round == current.index and item.node == flow.gate for item in record.decisions):
            yield step("judged", current.index, node=flow.gate)
    for rewrite in record.rewrites:
        yield step("rewritten", rewrite.round)
    for draft in record.drafts:
        yield step("drafted", draft=draft.index)
        yield step("evaluated", draft=draft.index, node=next(iter(flow.of_kind("evaluate")), ""))
    if record.outcome is not None:
        yield step("ended")


def _figures(step: ReplayStep, record: RunRecord) -> set[float] | None:
    """Every number that a sentence may hold; None where it quotes a question or a fault."""
    current = record.rounds[step.round] if 0 <= step.round < len(record.rounds) else None
    decision = decision_of(step, record)
    match step.kind:
        case "recalled" if record.recall is not None:
            return {len(record.recall.memories)}
        case "searched" if current is not None:
            graphs = sum(item.graph_score is not None for item in current.candidates)
            return {len(current.candidates), len(current.kept), graphs}
        case "judged" if current is not None and current.quality is not None:
            return {max((item.p_relevant for item in current.verdicts.values()), default=0.0)}
        case "judged" if decision is not None:
            return {decision.passed, decision.kept, *(item.value for item in decision.comparisons)}
        case "checked" if current is not None and current.quality is not None and decision is not None:
            return {current.quality.routing_score, *(item.bound for item in decision.comparisons)}
        case "routed" if current is not None and current.routing is not None:
            return {round(share * 100) for share in current.routing.shares.values()}
        case "drafted":
            return {step.draft + 1}
        case "evaluated":
            evaluation = record.drafts[step.draft].evaluation
            return {len(evaluation.suggestions)} if evaluation else set()
        case _:
            return None


def _omitted(said: str, step: ReplayStep, record: RunRecord, words: Words) -> Iterator[str]:
    """What a sentence leaves out that it is there to say."""
    if step.kind == "analysed" and record.analysis is not None:
        names = record.analysis.entities
        if sum(name in said for name in names) < min(3, len(names)):
            yield "names are missing"
    if step.kind == "rewritten":
        rewrite = next(item for item in record.rewrites if item.round == step.round)
        new = rewrite.rewritten_query != rewrite.query and not (rewrite.failed or rewrite.repeated)
        if new != (rewrite.rewritten_query in said and "“" in said):
            yield "the new query"
    if step.kind == "drafted":
        draft = record.drafts[step.draft]
        if draft.direct != (begun(words("without a search")) in said):
            yield "whether it searched"
    label = outcome_text(record.outcome, words)
    if step.kind == "ended" and record.answer_note != "cannot_tell" and label.lower() not in said.lower():
        yield "another end"
