"""The short facts of a path: what one visit came to, in a box, aloud, and why it went on from there."""

from __future__ import annotations

from dataclasses import dataclass

from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.outcomes import REASONS, reason_text
from components.common.phrases import probability_text
from components.common.workflow_view import view_of
from components.path.rows import Stop
from components.picture.drawing import width_of
from components.picture.facts import facts_of, given_text, time_of
from components.picture.words import comparison_text, inequality, word
from engine.flow import workflow
from engine.model.values import Decision, PassageId, Round

_SIZE = 13.0
_WIDEST = 140.0
"""Pixels that a fact may take where it has a shorter wording."""
_OF_THE_GATE = frozenset(
    {
        *("relevant_passages", "pass_rate", "covered_parts", "sufficiency", "quality_score", "top3_relevance"),
        *("suggestions", "table_coverage"),
    }
)
"""Quantities that a gate compares; what else a decision compares limits the attempts, which its reason says."""


@dataclass(frozen=True, slots=True)
class Short:
    """A fact as it is drawn, and as it is read aloud."""

    shown: tuple[Node | str, ...] = ()
    spoken: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts of the passages that a round kept."""

    passed: int
    failed: int
    unreadable: int
    waiting: int


def kept_of(current: Round) -> list[PassageId]:
    """The passages of a round that its grader was given, in their order."""
    return [item.passage.id for item in current.candidates if item.gate == "kept"]


def judged(current: Round, least: float) -> Judged:
    kept = kept_of(current)
    verdicts = [current.verdicts[name] for name in kept if name in current.verdicts]
    passed = sum(item.passes(least) for item in verdicts)
    unreadable = sum(item.relevant is None for item in verdicts)
    return Judged(passed, len(verdicts) - passed - unreadable, unreadable, len(kept) - len(verdicts))


def short_fact(stop: Stop, tone: str, words: Words) -> Short:
    """What a visit came to; nothing where there is nothing to say yet."""
    flow, own = workflow(stop.seen.workflow).flow, view_of(stop.seen.workflow).facts
    kind = flow.nodes[stop.node].kind if stop.node in flow.nodes else ""
    if kind == "search" and stop.seen.rounds and (stop.node not in own or _routed(stop)):
        return _searched(stop, words)
    if kind == "grade" and stop.node not in own and stop.seen.rounds:
        return _graded(stop, words)
    direct = not stop.seen.rounds or any(item.direct for item in stop.seen.drafts)
    if kind == "answer" and tone == "passed" and not (stop.node in own and direct):
        return _written(stop, words)
    found = facts_of(stop.node, stop.seen, words, tone) if stop.visit is not None else ()
    line = found[0] if found else ()
    if not line or line[0] == time_of(stop.node, stop.seen, words):
        return Short()
    text = (
        line[-1] if kind == "rewrite" else next((text for text in line if width_of(text, _SIZE) <= _WIDEST), line[-1])
    )
    return Short((text,), line[0])


def _routed(stop: Stop) -> bool:
    return any(item.strategy or item.graph for item in stop.seen.rounds)


def _searched(stop: Stop, words: Words) -> Short:
    """``20→5``: the candidates, and those that were kept for the grader."""
    shown, spoken = [], []
    for current in stop.seen.rounds:
        if not current.searched:
            continue
        found, kept = len(current.candidates), sum(item.gate == "kept" for item in current.candidates)
        how = word(words, "strategy", current.strategy) if current.strategy else ""
        if current.graph is not None:
            graphs = sum(item.graph_score is not None for item in current.candidates)
            fell = words("! vectors instead") if current.graph.fell_back_to else ""
            how = fell or (words("{n} from the graph", n=graphs) if graphs else "")
        shown.append(f"{how} {found}→{kept}".strip())
        counted = words.count("1 passage found, {kept} kept", "{n} passages found, {kept} kept", found, kept=kept)
        best = current.best_similarity
        if best is not None and current.scaled:
            counted += words(" · ") + words("best similarity {value}", value=probability_text(best))
        spoken.append(f"{how} {counted}".strip())
    return Short((words(" · ").join(shown),), words("; ").join(spoken))


def _graded(stop: Stop, words: Words) -> Short:
    """``✓1 ✗4``, as far as the grader has come."""
    found = judged(stop.seen.rounds[-1], stop.seen.config.min_confidence)
    counts = (("yes", "✓", found.passed), ("no", "✗", found.failed), ("fault", "?", found.unreadable))
    shown = [node("span", look, f"{sign}{n}") for look, sign, n in counts if n or look != "fault"]
    said = [words("{n} relevant", n=found.passed), words("{n} not relevant", n=found.failed)]
    if found.unreadable:
        said.append(words("{n} unreadable", n=found.unreadable))
    if found.waiting:
        shown.append(node("span", "muted", f"–{found.waiting}"))
        said.append(words("{n} not graded", n=found.waiting))
    return Short(tuple(shown), words(", ").join(said))


def _written(stop: Stop, words: Words) -> Short:
    """How many passages it cites, else how many it was given."""
    drafts = stop.seen.drafts
    cited = len(drafts[0].citations if drafts else stop.seen.citations)
    text = words("{n} cited", n=cited) if cited else given_text(stop.seen, words)
    if stop.last_answer and stop.seen.outcome == "abstained":
        text = words("nothing passed, says so")
    context = stop.seen.context
    if context is not None and context.refined:
        kept, of = context.sentences
        short = words("{kept}/{n} sentences", kept=kept, n=of)
        cut = words("{kept} of {n} sentences kept", kept=kept, n=of)
        return Short((words(" · ").join((text, short)),), words(" · ").join((text, cut)))
    return Short((text,) if text else (), text)


def because(decision: Decision, words: Words) -> str:
    """The inequality of the gate, ``0 < 1``; its reason where the attempts ended before their aim, or none compared."""
    compared = [item for item in decision.comparisons if item.quantity in _OF_THE_GATE]
    named = len(compared) > 1
    parts = [comparison_text(item, words, short=True) if named else inequality(item) for item in compared]
    mark = REASONS.get(decision.reason)
    if not parts or mark is None or mark.tone in ("grey", "fault"):
        parts.append(reason_text(decision.reason, words))
    return words(" · ").join(parts)
