"""A what-if held against the real run that it foretells: what every workflow has in common."""

from __future__ import annotations

from engine.model.values import RunRecord
from engine.replay import WhatIf


def refused(record: RunRecord) -> int:
    """Further proposals that a rewriter was asked for, which no path foresees."""
    return sum(call.role == "rewriter" for call in record.model_calls) - len(record.rewrites)


def differences(predicted: WhatIf, real: RunRecord) -> list[str]:
    """In what a what-if and the run that it foretells differ; the path alone where that differs."""
    found = []
    if [(item.node, item.route, item.reason) for item in predicted.decisions] != [
        (item.node, item.route, item.reason) for item in real.decisions
    ]:
        return ["path"]
    bounded = any(step.ungraded or step.unseen for step in predicted.steps)
    if not bounded and predicted.decisions != real.decisions:
        found.append("figures of the decisions")
    if predicted.outcome not in (None, real.outcome):
        found.append("outcome")
    if predicted.state == "known" and predicted.answer != real.answer:
        found.append("answer")
    offered = [*(item.id for item in real.context.passages), *real.context.cut] if real.context else []
    if predicted.passages and [item.id for item in predicted.passages] != offered:
        found.append("what the generator is given")
    if predicted.around is not None and real.context and predicted.passages:
        brought = {*real.context.around_cut, *(name for names in real.context.around.values() for name in names)}
        given = {item.id for item in real.context.passages}
        if brought != {name for own, names in predicted.around.items() if own in given for name in names}:
            found.append("what surrounds it")
    spent = real.built_in_calls - refused(real)
    if not bounded and predicted.cost.built_in_calls != spent:
        found.append(f"cost {predicted.cost.built_in_calls} for {spent}")
    return found
