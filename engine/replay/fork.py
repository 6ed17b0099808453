"""Branching off a finished run: what is reused, what is changed, and what going on from there costs.

Pure functions over a record; :mod:`engine.replay.recorded` does what they describe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.errors import RecordError
from engine.model.config import RunConfig
from engine.model.decide import judging
from engine.model.settings_difference import settings_difference
from engine.model.values import BY_HAND, Decision, Fork, PassageId, Round, RunRecord, Verdict
from engine.replay import CallsNeeded, WhatIf, what_if
from engine.replay.cost import cost_model, unanswered

_KEPT_SETTINGS = ("workflow", "collection", "milvus_address", "mode", "search")
_NEVER_ANSWERED = ("deadline", "grader_unavailable")
"""Reasons of decisions that time or a silent server brought about; a branch has its own time and asks again."""
_REASON = "Set by hand."
_NO_VERDICTS: Mapping[PassageId, bool] = {}


@dataclass(frozen=True, slots=True)
class Branch:
    """A run that continues from another one."""

    parent: RunRecord
    fork: Fork
    config: RunConfig
    """Of the rounds from ``fork.round`` on."""
    evidence: RunRecord
    """The parent, with the verdicts set by hand in place of its own."""

    @property
    def first_query(self) -> str:
        """Query of round 0."""
        changed = self.fork.query if self.fork.round == 0 else ""
        return changed or self.parent.rounds[0].query

    @property
    def by_hand(self) -> dict[PassageId, Verdict]:
        """Verdicts set by hand, those that the parent itself had from its reader included."""
        former = {
            name: verdict
            for current in self.parent.rounds
            for name, verdict in current.verdicts.items()
            if verdict.grader == BY_HAND
        }
        return former | {name: hand_set(relevant) for name, relevant in self.fork.verdicts.items()}


def branch_off(
    parent: RunRecord,
    config: RunConfig,
    *,
    round_index: int | None = None,
    query: str = "",
    verdicts: Mapping[PassageId, bool] = _NO_VERDICTS,
    longest_query: int = 2000,
) -> Branch:
    """Check and describe a branch; a ``query`` that the round searched anyway is no change.

    Without a round it begins where every what-if of this record does: at round 0, or where the record itself parted.

    Raises ``RecordError`` for a run still in progress, and ``RecordError`` for a round that it does not have, a passage
    that it never saw, a query above ``longest_query`` characters, or another collection, workflow or mode.
    """
    if round_index is None:
        round_index = parent.fork.round if parent.fork else 0
    if parent.active:
        raise RecordError.run_not_over(run=parent.id)
    if parent.origin is not None:
        raise RecordError.fork_imported()
    if not parent.rounds:
        raise RecordError.fork_nothing_searched()
    if not 0 <= round_index < len(parent.rounds):
        raise RecordError.fork_no_such_round(round=round_index, last=len(parent.rounds) - 1)
    for name in _KEPT_SETTINGS:
        if getattr(config, name) != getattr(parent.config, name):
            raise RecordError.fork_other_setting(field=name)
    seen = {item.passage.id for current in parent.rounds for item in current.candidates}
    for passage_id in verdicts:
        if passage_id not in seen:
            raise RecordError.fork_unseen_passage(passage=passage_id)
    query = query.strip()
    if len(query) > longest_query:
        raise RecordError.fork_query_too_long(length=len(query), limit=longest_query)
    round_index = visit_of(parent, round_index)
    query = "" if query == parent.rounds[round_index].query else query
    if query and not takes_query(parent, round_index):
        raise RecordError.fork_query_not_made(round=round_index)
    fork = Fork(
        parent=parent.id,
        round=round_index,
        settings=tuple(item.name for item in settings_difference(parent.config, config)),
        query=query,
        verdicts=dict(verdicts),
    )
    return Branch(parent, fork, config, with_verdicts(parent, round_index, verdicts))


def takes_query(parent: RunRecord, round_index: int) -> bool:
    """Return whether the query of a round can be set by hand: a rewrite made it, or it is the question itself."""
    made = {item.round + 1 for item in parent.rewrites}
    return (round_index in made) != (round_index == 0)


def visit_of(parent: RunRecord, round_index: int) -> int:
    """The round that began the search which opened this one: several strategies may be tried without a decision."""
    decided = {item.round for item in parent.decisions}
    while round_index > 0 and round_index - 1 not in decided:
        round_index -= 1
    return round_index


def hand_set(relevant: bool) -> Verdict:
    """The verdict of a reader: without doubt, and marked as theirs."""
    return Verdict(relevant, 1.0, _REASON, grader=BY_HAND)


def with_verdicts(record: RunRecord, round_index: int, verdicts: Mapping[PassageId, bool]) -> RunRecord:
    """The record as if a reader had judged these passages: from a round on, and wherever they were judged before it."""
    if not verdicts:
        return record
    return replace(record, rounds=tuple(_judged(item, round_index, verdicts) for item in record.rounds))


def fork_price(
    record: RunRecord,
    config: RunConfig,
    round_index: int | None = None,
    query: str = "",
    verdicts: Mapping[PassageId, bool] = _NO_VERDICTS,
) -> CallsNeeded:
    """Price :meth:`Engine.fork` beyond what is reused: the next step, and the rest at worst.

    After another query "next" is the most that its round can cost: passages judged before cost nothing. Raises as
    :func:`branch_off` does.
    """
    branch = branch_off(record, config, round_index=round_index, query=query, verdicts=verdicts)
    prices = cost_model(record, config)
    if branch.fork.query:
        depth = config.fetch_k if config.grade_probe else config.top_k
        first = prices.search + prices.judging * depth
        needed = CallsNeeded(first, first + prices.rounds_after(branch.fork.round, config) + prices.answering(config))
    else:
        outlook = fork_outlook(branch)
        probing = prices.judging * _probed_again(branch, outlook)
        needed = CallsNeeded(outlook.calls_needed.next + probing, outlook.calls_needed.worst + probing)
    return needed.without_times() if unanswered(record, config) else needed


def fork_outlook(branch: Branch) -> WhatIf:
    """The path of a branch without a new query, as far as its parent's evidence can tell; no calls.

    It is a what-if's own, save that the clock starts over and what once failed is tried again. Rounds that the parent
    took over from its own parent were decided by settings that no one knows here, so their decisions are no evidence.
    """
    record, first = branch.evidence, branch.fork.round
    own = max(first, record.fork.round if record.fork else 0)
    tried = replace(
        record,
        fork=branch.fork,
        rounds=_deep_enough(branch, own),
        config=replace(record.config, budget_s=branch.config.budget_s),
        decisions=tuple(i for i in record.decisions if _stands(i, first, own)),
        rewrites=tuple(i for i in record.rewrites if i.round < first or not i.failed),
    )
    return what_if(tried, branch.config)


def _deep_enough(branch: Branch, own: int) -> tuple[Round, ...]:
    """The rounds up to the first that was taken over and that these settings would search deeper."""
    rounds, top_k = branch.evidence.rounds, branch.config.top_k
    taken_over = range(branch.fork.round, own)
    shallow = (item for item in taken_over if rounds[item].searched and len(rounds[item].candidates) < top_k)
    return rounds[: next(shallow, len(rounds))]


def _stands(decision: Decision, first: int, own: int) -> bool:
    """Return whether a decision shows what a branch from round ``first`` does; ``own``: the parent's first one."""
    return decision.round < first or (decision.round >= own and decision.reason not in _NEVER_ANSWERED)


def _judged(current: Round, round_index: int, verdicts: Mapping[PassageId, bool]) -> Round:
    found = {item.passage.id for item in current.candidates}
    changed = {
        name: hand_set(relevant)
        for name, relevant in verdicts.items()
        if name in found and (current.index >= round_index or name in current.verdicts)
    }
    return replace(current, verdicts={**current.verdicts, **changed}) if changed else current


def _probed_again(branch: Branch, outlook: WhatIf) -> int:
    """Passages below the gates that ``grade_probe`` has judged on the known part of the path, which decides nothing."""
    if not branch.config.grade_probe:
        return 0
    known: set[PassageId] = set(branch.by_hand)
    if judging(branch.config) == judging(branch.parent.config) and _asked_the_same(branch, outlook):
        known |= {name for current in branch.evidence.rounds for name in current.verdicts}
    steps = [step for step in outlook.steps if step.round.index >= branch.fork.round and step.round.searched]
    below = {
        item.passage.id
        for step in steps
        for item in step.round.candidates
        # Of several lists every passage is judged, no matter what its place among all is.
        if item.gate != "kept" and (item.found_at or item.found_in or item.rank <= branch.config.fetch_k)
    }
    deeper = sum(max(0, _unreached(branch, step.round) - step.unseen) for step in steps)
    return len(below - known) + deeper


def _asked_the_same(branch: Branch, outlook: WhatIf) -> bool:
    """Return whether a grader that is asked about the parts of the question here said as much in the parent."""
    parts = outlook.steps[0].round.parts if outlook.steps else ()
    return parts == branch.parent.rounds[0].parts or not (parts or branch.config.models.grader.chats)


def _unreached(branch: Branch, recorded: Round) -> int:
    """Return how many further passages, below those recorded, a branch's search may bring."""
    parent, deeper = branch.parent, branch.config.fetch_k
    own = parent.fork is None or recorded.index >= parent.fork.round
    lists = Counter(name for item in recorded.candidates for name in (item.found_at or item.found_in or ("",)))
    depths = lists.values() or (0,)
    return sum(max(0, deeper - depth) for depth in depths if not (own and depth < parent.config.fetch_k))
