"""Roles of a branch: they answer from the run it parted from, and ask the real ones only for what that never asked.

A reply that was received is evidence, an unreadable verdict included; a failure is not, and is tried again. What is
reused is reported as a cached call, so that nothing is hidden and nothing is paid for twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.events import Decided, PassageGraded, Retrieved, Rewritten
from engine.fork import Branch
from engine.nodes.run_context import NodeTrace, Retrieval, Retriever, Roles, RunContext, Step
from engine.roles import (
    SILENT,
    GenerationRequest,
    Generator,
    Grader,
    RewriteProposal,
    Rewriter,
    RewriteRequest,
    Trace,
)
from engine.values import BY_HAND, ModelCall, Passage, PassageId, Rewrite, Round, Verdict, contents

_ANSWERED = ("answered", "answered_forced", "answered_unverified")


def recorded_roles(branch: Branch, roles: Roles, round_now: Callable[[], int]) -> Roles:
    """``roles`` behind the evidence of ``branch``; ``round_now`` gives the round that the branch has come to."""
    return Roles(
        retriever=RecordedRetriever(branch, roles.retriever),
        grader=RecordedGrader(branch, roles.grader, round_now),
        rewriter=RecordedRewriter(branch, roles.rewriter),
        generator=RecordedGenerator(branch, roles.generator),
        # Built in, it says the same of the same request.
        stand_in=roles.stand_in,
    )


class RecordedRetriever:
    """Gives the recorded candidates of a recorded query, as far down as is asked, or searches."""

    def __init__(self, branch: Branch, retriever: Retriever) -> None:
        self._branch = branch
        self._retriever = retriever

    async def search(self, query: str, limit: int) -> Retrieval:
        for recorded in self._branch.evidence.rounds:
            if recorded.searched and recorded.query == query and self._reaches(recorded, limit):
                passages = tuple(item.passage for item in recorded.candidates[:limit])
                return Retrieval(passages, recorded.floor, recorded.anchors)
        return await self._retriever.search(query, limit)

    def _reaches(self, recorded: Round, limit: int) -> bool:
        depth, parent = len(recorded.candidates), self._branch.parent
        # A search that gave fewer than were asked for had no more. A round that the parent took over from its own
        # parent was searched by other settings, which no one knows here.
        own = parent.fork is None or recorded.index >= parent.fork.round
        return depth >= limit or (own and depth < parent.config.fetch_k)


class RecordedGrader:
    """Gives recorded verdicts by passage, and lets the grader judge the rest; verdicts set by hand win always."""

    def __init__(self, branch: Branch, grader: Grader, round_now: Callable[[], int]) -> None:
        self._grader = grader
        self._round_now = round_now
        self._rounds = branch.evidence.rounds
        self._by_hand = branch.by_hand
        self._same_model = branch.same_model("grader")
        self._texts = {item.passage.id: _content(item.passage) for own in self._rounds for item in own.candidates}
        self._calls: dict[tuple[int, PassageId | None], list[ModelCall]] = {}
        for call in branch.parent.model_calls:
            if call.role == "grader":
                self._calls.setdefault((call.round, call.passage_id), []).append(call)

    async def grade(self, question: str, passages: Sequence[Passage], trace: Trace = SILENT) -> list[Verdict]:
        index = self._round_now()
        known: dict[PassageId, Verdict] = {}
        for passage in passages:
            verdict = self._by_hand.get(passage.id) or self._recorded(index, passage)
            if verdict is not None:
                known[passage.id] = verdict
                self._report(passage.id, verdict, trace)
        missing = [passage for passage in passages if passage.id not in known]
        judged = await self._grader.grade(question, missing, trace) if missing else []
        known |= {passage.id: verdict for passage, verdict in zip(missing, judged, strict=True)}
        return [known[passage.id] for passage in passages]

    def _recorded(self, index: int, passage: Passage) -> Verdict | None:
        if not self._same_model or self._texts.get(passage.id) != _content(passage):
            return None
        # That of the same round first, as every what-if has it: an unreadable one was asked for again later.
        own = self._rounds[index].verdicts.get(passage.id) if index < len(self._rounds) else None
        if own is not None:
            return own
        found = [item.verdicts[passage.id] for item in self._rounds if passage.id in item.verdicts]
        return next((item for item in found if item.relevant is not None), found[0] if found else None)

    def _report(self, passage_id: PassageId, verdict: Verdict, trace: Trace) -> None:
        if verdict.grader != BY_HAND:
            own = (item for item in self._rounds if passage_id not in item.reused)
            judged = next((item.index for item in own if item.verdicts.get(passage_id) == verdict), 0)
            _repeat(self._calls.get((judged, passage_id), ()), trace)
        trace.verdict(passage_id, verdict)


class RecordedRewriter:
    """Proposes again what was proposed to exactly this request, refused proposals included."""

    def __init__(self, branch: Branch, rewriter: Rewriter) -> None:
        self._branch = branch
        self._rewriter = rewriter
        self._asked: RewriteRequest | None = None
        self._left: list[RewriteProposal] = []

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        if self._left and self._asked is not None and _retries(request, self._asked):
            return self._left.pop(0)
        made = self._recorded(request)
        if made is None:
            return await self._rewriter.rewrite(request, trace)
        _repeat(_calls(self._branch, "rewrite", made.round), trace)
        self._asked, self._left = request, _proposals(made)
        return self._left.pop(0)

    def _recorded(self, request: RewriteRequest) -> Rewrite | None:
        if not self._branch.same_model("rewriter"):
            return None
        digest = request.digest()
        answered = (item for item in self._branch.parent.rewrites if not item.failed and item.strategy != BY_HAND)
        return next((item for item in answered if item.input_hash == digest), None)


class RecordedGenerator:
    """Gives the recorded answer where the generator would be shown exactly what it was shown."""

    def __init__(self, branch: Branch, generator: Generator) -> None:
        self._branch = branch
        self._generator = generator

    @property
    def context_tokens(self) -> int:
        return self._generator.context_tokens

    def count_tokens(self, text: str) -> int:
        return self._generator.count_tokens(text)

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        if not self._same_input(request):
            return await self._generator.generate(request, trace)
        calls = [call for call in self._branch.parent.model_calls if call.role == "generator"]
        _repeat(calls, trace)
        # As it was written: the answer of the record has its citations resolved already.
        written = next((call.reply for call in reversed(calls) if call.reply and not call.error), "")
        text = written or self._branch.parent.answer
        trace.token(text)
        return text

    def _same_input(self, request: GenerationRequest) -> bool:
        parent = self._branch.parent
        given = parent.context
        if given is None or parent.outcome not in _ANSWERED or not self._branch.same_model("generator"):
            return False
        return request.verified == given.verified and contents(request.passages) == contents(given.passages)


class StandingRounds:
    """The rounds before the branch as they were: nothing is searched, judged, decided or rewritten again there.

    A verdict set by hand is about its passage and holds in these rounds too; their decisions stand all the same.
    """

    def __init__(self, branch: Branch) -> None:
        self._branch = branch
        self._steps: Mapping[str, Step] = {"retrieve": self._retrieve, "grade": self._grade, "rewrite": self._rewrite}

    def __call__(self, node: str, round_index: int) -> Step | None:
        """What takes the place of a node's own step; None from the branch's round on."""
        return self._steps.get(node) if round_index < self._branch.fork.round else None

    async def _retrieve(self, state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
        opened = replace(self._branch.evidence.rounds[trace.round], verdicts={}, reused=())
        run.emit(Retrieved.opening(opened))
        return {"rounds": (*state.get("rounds", ()), opened)}

    async def _grade(self, state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
        recorded = self._branch.evidence.rounds[trace.round]
        _repeat(_calls(self._branch, "grade", trace.round), trace)
        for passage_id, verdict in recorded.verdicts.items():
            reused = passage_id in recorded.reused
            run.emit(PassageGraded(round=trace.round, passage_id=passage_id, verdict=verdict, reused=reused))
        decision = next(item for item in self._branch.parent.decisions if item.round == trace.round)
        run.emit(Decided(decision=decision))
        return {"rounds": (*state["rounds"][:-1], recorded), "decision": decision}

    async def _rewrite(self, state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
        fork, current = self._branch.fork, state["rounds"][-1]
        if fork.query and trace.round == fork.round - 1:
            made = Rewrite(trace.round, current.query, fork.query, "Written by hand.", strategy=BY_HAND)
        else:
            made = next(item for item in self._branch.parent.rewrites if item.round == trace.round)
            _repeat(_calls(self._branch, "rewrite", trace.round), trace)
        run.emit(Rewritten(rewrite=made))
        return {"rewrites": (*state.get("rewrites", ()), made), "query": made.rewritten_query}


def _calls(branch: Branch, node: str, round_index: int) -> list[ModelCall]:
    return [call for call in branch.parent.model_calls if call.node == node and call.round == round_index]


def _repeat(calls: Iterable[ModelCall], trace: Trace) -> None:
    for call in calls:
        trace.call(replace(call, cached=True, start_ms=trace.now_ms(), duration_ms=0.0))


def _proposals(made: Rewrite) -> list[RewriteProposal]:
    """What the rewriter said, in its order: proposals that were refused, then the one that was taken, if any."""
    queries = made.refused if made.repeated or made.by else (*made.refused, made.rewritten_query)
    return [RewriteProposal(query, made.reason, made.keywords, made.strategy) for query in queries]


def _retries(request: RewriteRequest, asked: RewriteRequest) -> bool:
    """Whether the node asks once more after a refusal, which it adds to the same request."""
    return request.history[:-1] == asked.history and replace(request, history=asked.history) == asked


def _content(passage: Passage) -> tuple[str, str, str]:
    """What a verdict is about: an id may belong to another text after its source was ingested again."""
    return passage.text, passage.title, passage.section
