"""What the record of a dual loop tells: which search found what, which strategies could be used, how the run began."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.builtin.strategy_router import choose
from engine.config import RunConfig
from engine.policies.dual import (
    INITIAL,
    MOST_RECALLED,
    WEB,
    Skip,
    dual_options,
    first_strategy,
    holding,
    of_this_question,
    passed_over,
    skips,
    untried,
    usable_strategies,
)
from engine.roles import StrategyRequest
from engine.values import (
    STRATEGIES,
    Decision,
    Draft,
    Memory,
    PassageId,
    Rewrite,
    Round,
    RouteChoice,
    RunRecord,
    Strategy,
    TriedRoute,
    Verdict,
)
from engine.whatif.values import Gap

ANSWER = "grade_relevance"
"""The node that decides about answers."""
Status = Literal["searched", "nothing_found"]


@dataclass(frozen=True, slots=True)
class Found:
    """The recorded round that tells what one search of a path would find."""

    round: Round
    as_recorded: bool
    """Whether it is this very search that was recorded, and not the same one of another pass."""
    failed: str = ""
    """Code of the error that the search failed with; empty where it did not."""
    out_of_time: bool = False
    """Whether the time was over before it."""


class DualRecord:
    """The evidence of one recorded run, under another config."""

    def __init__(self, record: RunRecord, config: RunConfig) -> None:
        self.record = record
        self.config = config
        web_was, web_is = dual_options(record.config).web_search, dual_options(config).web_search
        self.could_use = _used(record)
        self.skipped = self._skipped(web_is)
        self.usable = usable_strategies(self.skipped)
        self.web_unknown = web_is and not web_was
        """Whether the web may be searched now and nothing says whether this machine has a search engine."""

    @property
    def initial_rewrite(self) -> Rewrite | None:
        return next((item for item in self.record.rewrites if _is_initial(item)), None)

    @property
    def verdicts(self) -> dict[PassageId, Verdict]:
        """Of every passage that any round judged."""
        return {name: verdict for item in self.record.rounds for name, verdict in item.verdicts.items()}

    def correction(self, number: int) -> Rewrite | None:
        """The corrective rewrite that began the pass after ``number`` others."""
        found = [item for item in self.record.rewrites if not _is_initial(item)]
        return found[number] if number < len(found) else None

    def draft(self, number: int, attempt: int) -> Draft | None:
        """The answer of that number, where the pass ``attempt`` wrote it."""
        found = self.record.drafts[number] if number < len(self.record.drafts) else None
        return found if found is not None and found.attempt == attempt else None

    def judgement(self, number: int) -> Decision | None:
        """The decision about an answer, counted from 0."""
        found = [item for item in self.record.decisions if item.node == ANSWER]
        return found[number] if number < len(found) else None

    def rounds_until(self, attempt: int) -> list[Round]:
        """What had been searched when the answer of a pass was written."""
        return [item for item in self.record.rounds if item.attempt <= attempt]

    def search(self, strategy: Strategy, query: str, attempt: int, former: Sequence[Round]) -> Found | None:
        """What a strategy would find for a query after the rounds ``former``; None where nothing tells it.

        What was searched in a former pass is not searched again, so its candidates come up as they were.
        """
        same = [item for item in self.record.rounds if (item.strategy, item.query) == (strategy, query)]
        own = next((item for item in same if item.attempt == attempt), None)
        first = next((item for item in same if item.searched), None)
        if any(item.searched and (item.strategy, item.query) == (strategy, query) for item in former):
            if own is not None and not own.searched:
                return Found(own, as_recorded=own.index == len(former))
            return None if first is None else Found(replace(first, searched=False), as_recorded=False)
        if own is None:
            return None if first is None else Found(first, as_recorded=False)
        tried = next((i for i in self.record.tried_routes if (i.strategy, i.attempt) == (strategy, attempt)), None)
        if tried is None or tried.status == "failed":
            failed = tried.why if tried else ""
            return Found(own, own.index == len(former), failed, out_of_time=tried is None)
        if own.searched:
            return Found(own, as_recorded=own.index == len(former))
        return None if first is None else Found(first, as_recorded=False)

    def choice(self) -> RouteChoice | Gap:
        """How the run would begin, or why that is not known."""
        recorded, recall = self.record.route, self.record.recall
        if recorded is None or recall is None:
            return "unrecorded"
        memories, own = holding(recall), self._own_memories()
        remembers, remembered = dual_options(self.config).memory, dual_options(self.record.config).memory
        if remembers and not remembered:
            return "memory"
        if remembered and not remembers and memories:
            if not self.config.models.router.built_in:
                return "memory"
            return self._chosen(())
        if own:
            return self._without_own(memories, own, recorded)
        if self.web_unknown or self.usable != self.could_use:
            return self._chosen(memories) if self.config.models.router.built_in else "routing"
        return recorded

    def same_memories(self) -> bool:
        """Whether an answer without a search would be written from the same memories."""
        remembers, remembered = dual_options(self.config).memory, dual_options(self.record.config).memory
        if self._own_memories():
            return False
        return remembers == remembered or self.record.recall is None or not holding(self.record.recall)

    def _own_memories(self) -> tuple[Memory, ...]:
        """Memories that answered this run and that no run with other settings recalls: its own question left them.

        Under the settings of the record itself they stand: there is nothing that a trial would show.
        """
        if self.record.recall is None or self.config == self.record.config:
            return ()
        return tuple(item for item in holding(self.record.recall) if of_this_question(item, self.record.question))

    def _without_own(
        self, memories: tuple[Memory, ...], own: tuple[Memory, ...], recorded: RouteChoice
    ) -> RouteChoice | Gap:
        """How a trial begins: with other memories, which are more where the own one took a place among the nearest."""
        recall = self.record.recall
        full = recall is not None and len(recall.memories) >= MOST_RECALLED
        if full or not self.config.models.router.built_in:
            return "memory"
        choice = self._chosen(tuple(item for item in memories if item not in own))
        searches = isinstance(choice, RouteChoice) and choice.route != "direct"
        # What memory answered was never searched, so nothing tells what a search finds.
        return "memory" if searches and recorded.route == "direct" else choice

    def _chosen(self, memories: tuple[Memory, ...]) -> RouteChoice | Gap:
        """What the built-in router, which is the same for the same question, would choose."""
        choice = choose(StrategyRequest(self.record.question, memories, self.usable))
        if self.web_unknown:
            web = choose(StrategyRequest(self.record.question, memories, (*self.usable, WEB)))
            if web.route != choice.route:
                return "web"
        if choice.route == "direct":
            return choice
        return RouteChoice(first_strategy(choice, self.usable), choice.code, choice.reason)

    def _skipped(self, web_on: bool) -> dict[Strategy, Skip]:
        return skips(summaries="hierarchical_search" in self.could_use, web_on=web_on, web_set=WEB in self.could_use)


class TriedStrategies:
    """What was tried on the path so far, noted as the run's own steps note it."""

    def __init__(self, told_by: DualRecord) -> None:
        self._usable, self._skipped = told_by.usable, told_by.skipped
        self.noted: tuple[TriedRoute, ...] = ()

    def of(self, attempt: int) -> list[TriedRoute]:
        """Those of one pass."""
        return [item for item in self.noted if item.attempt == attempt]

    def left(self, attempt: int) -> tuple[Strategy, ...]:
        """Usable strategies that the pass has not tried."""
        return untried(self._usable, self.noted, attempt)

    def note(self, tried: TriedRoute) -> None:
        self.noted = (*self.noted, tried)

    def skip_web(self, after: Strategy, attempt: int) -> None:
        """Note once in a pass that the web cannot be searched, where its turn would be."""
        if after != WEB and WEB in self._skipped and all(item.strategy != WEB for item in self.of(attempt)):
            self.note(TriedRoute(WEB, attempt, "skipped", self._skipped[WEB]))

    def pass_over(self, to: Strategy | None, attempt: int) -> None:
        """Note the strategies that cannot be used and whose turn went by."""
        for strategy in passed_over(to, self._skipped, self.of(attempt)):
            self.note(TriedRoute(strategy, attempt, "skipped", self._skipped[strategy]))


def _is_initial(rewrite: Rewrite) -> bool:
    return rewrite.round < 0 and rewrite.strategy == INITIAL


def _used(record: RunRecord) -> tuple[Strategy, ...]:
    """Strategies that the run could use: by its manifest, by its options and by what it skipped itself."""
    named = record.manifest.get("strategies")
    skipped = {item.strategy for item in record.tried_routes if item.status == "skipped"}
    if not dual_options(record.config).web_search:
        skipped.add(WEB)
    listed = STRATEGIES if named is None else tuple(item for item in STRATEGIES if item in named.split(","))
    return tuple(item for item in listed if item not in skipped)
