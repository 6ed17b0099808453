"""Judges the recorded rounds of a run under other settings: what each keeps, and what is known of it.

A passage without a recorded verdict is bounded: counted as irrelevant, then as relevant (and as unreadable, where a
chat model might reply so and decide by it). Every loop's what-if judges its rounds here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.config import RunConfig
from engine.decide import gated, passed_ids
from engine.retrieval.reciprocal import most_similar_below
from engine.values import BY_HAND, Candidate, Passage, PassageId, Round, RunRecord, Verdict
from engine.whatif.clock import RecordedClock

_YES = Verdict(True, 1.0, "")
_NO = Verdict(False, 1.0, "")
_UNREADABLE = Verdict(None, 0.0, "")


@dataclass(frozen=True, slots=True)
class Judged:
    """One round under the new settings."""

    round: Round
    ungraded: tuple[PassageId, ...]
    unseen: int
    as_recorded: bool
    """This round and all before it are the recorded ones: what was left undone there is part of the recording."""

    @property
    def unknown(self) -> int:
        """Kept passages of which no verdict is known."""
        return len(self.ungraded) + self.unseen


class Judge:
    """Judges one round after another; what it judged before is what a later round takes its verdicts from."""

    def __init__(self, record: RunRecord, config: RunConfig, clock: RecordedClock) -> None:
        self.record = record
        self.config = config
        self.clock = clock
        self.same_grader = config.models.grader == record.config.models.grader
        self.upstream = record.fork.round if record.fork else 0
        self.rounds: list[Round] = []
        self.as_recorded = True
        self._graded: set[PassageId] = set()
        self._by_hand = {
            name: verdict
            for item in record.rounds
            for name, verdict in item.verdicts.items()
            if verdict.grader == BY_HAND
        }

    # -- what a loop may have otherwise -------------------------------------------------------------------------

    def gated(self, recorded: Round, config: RunConfig) -> tuple[Candidate, ...]:
        """The candidates of a recorded round with the ranks and gates that ``config`` gives them."""
        passages = [item.passage for item in recorded.candidates]
        # Where words order, what a shallower search leaves out may be more similar than what it finds.
        return gated(passages if config.search == "vector" else passages[: config.fetch_k], config)

    def unseen(self, recorded: Round) -> int:
        """How many passages below the recorded depth these settings might keep."""
        depth = len(recorded.candidates)
        if depth < self.record.config.fetch_k or self.config.top_k <= depth:
            return 0
        most = most_similar_below(recorded.candidates[-1].passage, self.config.search)
        return self.config.top_k - depth if most >= self.config.similarity_threshold else 0

    def enough_to_go_on(self, current: Round) -> bool:
        """Whether a passage has passed already; without one, a grader out of reach here fails the whole run."""
        return any(passed_ids(item, self.config) for item in self.rounds)

    def to_judge(self, current: Round) -> list[Candidate]:
        """What the grader looks at: the kept, or everything that the search would have fetched."""
        return [
            item
            for item in current.candidates
            if item.gate == "kept" or (self.config.grade_probe and item.rank <= self.config.fetch_k)
        ]

    # -- one round ----------------------------------------------------------------------------------------------

    def judge(self, recorded: Round) -> Judged:
        """The recorded round under the new gates, with the verdicts that its passages would have had."""
        judged = self._judged(recorded)
        self.as_recorded = judged.as_recorded
        return judged

    def variants(self, judged: Judged) -> Iterable[Round]:
        """The round with everything unknown counted as failed, as passed, and as unreadable."""
        if not judged.unknown:
            yield judged.round
            return
        extra = tuple(
            Candidate(Passage(PassageId(f"unseen {place}"), "", "", 1.0, 1.0), rank=1, gate="kept", margin=0.0)
            for place in range(judged.unseen)
        )
        wider = replace(judged.round, candidates=(*judged.round.candidates, *extra))
        unknown = (*judged.ungraded, *(item.passage.id for item in extra))
        # A "no" without doubt passes where even P(relevant) = 0 does.
        yield replace(wider, verdicts={**wider.verdicts, **dict.fromkeys(unknown, _NO)})
        yield replace(wider, verdicts={**wider.verdicts, **dict.fromkeys(unknown, _YES)})
        if not self.config.models.grader.built_in:
            yield replace(wider, verdicts={**wider.verdicts, **dict.fromkeys(unknown, _UNREADABLE)})

    def gradings(self, judged: Judged) -> int:
        """How many passages the grader is asked of in this round and was not before."""
        current = judged.round
        if not current.searched:
            return 0
        recorded = self.record.rounds[current.index]
        fresh = 0
        for item in self.to_judge(current):
            name = item.passage.id
            verdict = current.verdicts.get(name)
            left_out = judged.as_recorded and (item.gate == "kept" or self.record.config.grade_probe)
            if name in self._graded or (verdict is None and left_out):
                continue
            fresh += 1
            verdict = verdict or self._recorded_verdict(recorded, name)
            if verdict is None or verdict.relevant is not None:
                self._graded.add(name)
        return fresh

    def _judged(self, recorded: Round) -> Judged:
        if recorded.index < self.upstream:
            return Judged(recorded, (), 0, as_recorded=True)
        regated = replace(recorded, candidates=self.gated(recorded, self.config), reused=())
        unseen = self.unseen(recorded)
        earlier = _readable(self.rounds)
        if not unseen and self._stands(recorded, regated):
            judged_here = {item.passage.id for item in self.to_judge(regated)}
            verdicts = {name: verdict for name, verdict in recorded.verdicts.items() if name in judged_here}
            reused = tuple(name for name in recorded.reused if name in judged_here)
            if not self.clock.cut_short(recorded.index) or all(name in earlier for name in reused):
                return Judged(replace(regated, verdicts=verdicts, reused=reused), (), 0, as_recorded=True)
        verdicts = {}
        ungraded: list[PassageId] = []
        for passage in regated.kept:
            verdict = earlier.get(passage.id)
            if verdict is None and recorded.searched:
                verdict = self._recorded_verdict(recorded, passage.id)
                if verdict is None:
                    ungraded.append(passage.id)
            if verdict is not None:
                verdicts[passage.id] = verdict
        reused = tuple(passage.id for passage in regated.kept if passage.id in earlier)
        judged = replace(regated, verdicts=verdicts, reused=reused)
        return Judged(judged, tuple(ungraded), unseen, as_recorded=False)

    def _stands(self, recorded: Round, regated: Round) -> bool:
        """Whether the round is the recorded one: the same passages kept, and judged by the same grader as far as then.

        Gated again on both sides in a branch: it took rounds over that had the gates of other settings.
        """
        former = recorded
        if self.record.fork is not None:
            former = replace(recorded, candidates=self.gated(recorded, self.record.config))
        return (
            self.as_recorded
            and self.same_grader
            and self.clock.decision(recorded.index) is not None
            and regated.kept == former.kept
            and not (self.clock.unreached(recorded.index) and not self.enough_to_go_on(regated))
        )

    def _recorded_verdict(self, recorded: Round, passage_id: PassageId) -> Verdict | None:
        if passage_id in self._by_hand:
            # What a reader judged holds whoever grades the rest.
            return self._by_hand[passage_id]
        if not self.same_grader:
            return None
        own = recorded.verdicts.get(passage_id)
        if own is not None:
            return own
        others = [item.verdicts[passage_id] for item in self.record.rounds if passage_id in item.verdicts]
        return next((item for item in others if item.relevant is not None), others[0] if others else None)


def _readable(rounds: Sequence[Round]) -> dict[PassageId, Verdict]:
    """Verdicts that a later round reuses."""
    return {
        passage_id: verdict
        for item in rounds
        for passage_id, verdict in item.verdicts.items()
        if verdict.relevant is not None
    }
