"""Runs of the four-node loop as events, without running anything: the routes come from ``decide``, so they are true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.errors import ModelError
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.decide import Evidence, decide, gated
from engine.model.events import (
    AnswerCompleted,
    ContextAssembled,
    Decided,
    Event,
    ModelCalled,
    NodeFinished,
    NodeStarted,
    PassageGraded,
    Prepared,
    Retrieved,
    Rewritten,
    RunFinished,
    RunStarted,
    TokenStreamed,
    Warned,
)
from engine.model.values import (
    Decision,
    Fault,
    Message,
    ModelCall,
    NodeExecution,
    Outcome,
    Passage,
    PassageId,
    Rewrite,
    Round,
    RunId,
    Verdict,
)
from engine.retrieval.assemble import assemble
from engine.retrieval.citations import resolve

QUESTION = "What do the early signs of type 1 diabetes look like? 一型糖尿病的早期症状是什么?"
STARTED_AT = "2025-03-01T09:30:00.125000+00:00"
GRADER = "ollama:qwen3:4b"

_TEXTS = (
    ("diabetes-symptoms.en.md", "Thirst, frequent urination and weight loss within weeks are the usual first signs."),
    ("diabetes-symptoms.zh.md", "一型糖尿病起病急,常见多饮、多尿、体重下降和疲劳。"),
    ("diabetes-types.en.md", "In type 1 the beta cells are destroyed, so insulin is missing from the start."),
    ("diabetes-diet.en.md", "A plate method helps to estimate carbohydrates without weighing every meal."),
    ("diabetes-insulin.zh.md", "胰岛素笔在室温下可存放约四周,避免阳光直射。"),
    ("discrete-graphs.en.md", "A tree with n vertices has exactly n - 1 edges."),
    ("diabetes-complications.en.md", "Retinopathy develops over years and has no early symptoms."),
)
_QUERIES = ("early signs type 1 diabetes", "一型糖尿病 早期症状", "thirst urination weight loss", "onset of diabetes")
_ANSWER = (
    "The usual first signs are thirst, frequent urination and weight loss within weeks [1]. "
    "常见多饮、多尿和疲劳 [2][9]。"
)


@dataclass
class _Recording:
    """Numbers events and lets time pass between them."""

    events: list[Event] = field(default_factory=list)
    t_ms: float = 0.0
    visits: dict[str, int] = field(default_factory=dict)

    def add(self, event: Event, after_ms: float = 1.5) -> None:
        self.t_ms = round(self.t_ms + after_ms, 3)
        self.events.append(replace(event, seq=len(self.events) + 1, t_ms=self.t_ms))

    def visit(self, node: str, round_index: int, work: Callable[[], int]) -> None:
        """One node visit around ``work``, which returns how many chat calls it made."""
        self.visits[node] = self.visits.get(node, 0) + 1
        self.add(NodeStarted(node=node, round=round_index, visit=self.visits[node]))
        execution = NodeExecution(node=node, round=round_index, visit=self.visits[node], start_ms=self.t_ms)
        calls = work()
        took = round(self.t_ms - execution.start_ms, 3)
        self.add(NodeFinished(execution=replace(execution, duration_ms=took, model_calls=calls)))


def recorded_run(
    rewrites: int = 1,
    outcome: Outcome = "answered",
    *,
    run_id: str = "run-1",
    question: str = QUESTION,
    started_at: str = STARTED_AT,
    **config: Any,
) -> list[Event]:
    """The events of a whole run, numbered from 1: ``rewrites`` failed rounds, then one that leads to ``outcome``.

    ``interrupted`` stops in the middle of the answer, without ``run_finished``; ``cancelled`` stops there too, but
    says so. ``config`` overrides what the run is configured with. ``rewrites`` goes from 0 to 4.
    """
    chosen = RunConfig(
        **{
            "max_rewrites": rewrites + 1 if outcome in ("answered", "cancelled", "interrupted") else rewrites,
            "answer_unverified": outcome == "answered_unverified",
            "models": RoleModels(grader=RoleModel(GRADER)),
            "gate": "pass_rate",
            **config,
        }
    )
    recording = _Recording()
    started = RunStarted(
        run_id=RunId(run_id),
        question=question,
        config=chosen,
        started_at=started_at,
    )
    recording.add(started, after_ms=0.0)
    recording.add(Prepared(manifest={"grader": f"{GRADER}@sha256:3f2a", "collection": "samples"}))
    rounds: list[Round] = []
    decision: Decision | None = None
    for index in range(rewrites + 1):
        last = index == rewrites
        decision = _round(recording, started, rounds, _passing(outcome, last), last and outcome == "failed")
        if not last:
            _rewrite(recording, rounds[-1], question)
    if outcome == "fallback":
        recording.add(RunFinished(outcome="fallback", reason="no_passages"))
    elif outcome == "failed":
        recording.add(_failure(len(rounds[-1].kept)))
    else:
        assert decision is not None
        _answer(recording, chosen, rounds, decision, outcome)
    return recording.events


def _passing(outcome: Outcome, last: bool) -> int:
    """How many passages of a round pass."""
    if outcome in ("answered", "cancelled", "interrupted"):
        return 4 if last else 1
    return 1 if outcome == "answered_forced" else 0


def _round(recording: _Recording, started: RunStarted, rounds: list[Round], passing: int, unreadable: bool) -> Decision:
    index, config = len(rounds), started.config
    opened = Round(
        index=index,
        query=started.question if index == 0 else _QUERIES[index - 1],
        candidates=gated(_passages(index, shared=not unreadable), config),
        floor=0.78,
        anchors="en-100@3f2a",
        rewrite_input="" if index == 0 else f"input-{index - 1}",
    )

    def retrieve() -> int:
        recording.add(
            Retrieved(
                round=index,
                query=opened.query,
                candidates=opened.candidates,
                floor=opened.floor,
                anchors=opened.anchors,
                rewrite_input=opened.rewrite_input,
            ),
            after_ms=31.0,
        )
        return 0

    recording.visit("retrieve", index, retrieve)
    known = {item: verdict for former in rounds for item, verdict in former.verdicts.items()}
    decisions: list[Decision] = []

    def grade() -> int:
        verdicts: dict[PassageId, Verdict] = {}
        calls = 0
        for place, passage in enumerate(opened.kept):
            reused = passage.id in known
            verdict = known.get(passage.id) or _verdict(place < passing, unreadable=unreadable)
            if not reused:
                recording.add(ModelCalled(call=_grading(recording, index, passage, verdict, place)), after_ms=88.0)
                calls += 1
            verdicts[passage.id] = verdict
            recording.add(PassageGraded(round=index, passage_id=passage.id, verdict=verdict, reused=reused))
        reused_ids = tuple(passage.id for passage in opened.kept if passage.id in known)
        rounds.append(replace(opened, verdicts=verdicts, reused=reused_ids))
        decisions.append(decide(Evidence(rounds=rounds, elapsed_s=recording.t_ms / 1000), config))
        recording.add(Decided(decision=decisions[0]))
        return calls

    recording.visit("grade", index, grade)
    return decisions[0]


def _passages(round_index: int, *, shared: bool) -> list[Passage]:
    """Seven candidates, best first: new ones every round, but for the best, which every round finds (``shared``)."""
    return [
        Passage(
            id=PassageId(f"{source}#{1 if shared and place == 0 else round_index + 1}"),
            source=source,
            text=text,
            similarity=round(0.82 - 0.09 * place, 4),
            raw_score=round(0.93 - 0.02 * place, 4),
            section="Signs",
            title=source.partition(".")[0],
            ordinal=1 if shared and place == 0 else round_index + 1,
        )
        for place, (source, text) in enumerate(_TEXTS)
    ]


def _verdict(relevant: bool, *, unreadable: bool) -> Verdict:
    if unreadable:
        return Verdict(relevant=None, confidence=0.0, reason="The reply is no JSON.", grader=GRADER)
    return Verdict(
        relevant=relevant,
        confidence=0.9 if relevant else 0.8,
        reason="It names the first signs." if relevant else "It is about something else.",
        covered=("signs", "症状") if relevant else (),
        missing=() if relevant else ("early", "一型"),
        grader=GRADER,
    )


def _grading(recording: _Recording, index: int, passage: Passage, verdict: Verdict, place: int) -> ModelCall:
    unreadable = verdict.relevant is None
    return ModelCall(
        role="grader",
        node="grade",
        round=index,
        model=GRADER,
        messages=(Message("system", "Judge one passage."), Message("user", f"<passage>{passage.text}</passage>")),
        reply="I think so!" if unreadable else f'{{"relevant": {str(verdict.relevant).lower()}}}',
        parsed=None if unreadable else {"relevant": verdict.relevant, "confidence": verdict.confidence},
        passage_id=passage.id,
        prompt_tokens=212,
        reply_tokens=18,
        start_ms=recording.t_ms,
        duration_ms=87.5,
        cached=place == 1,
    )


def _rewrite(recording: _Recording, failed: Round, question: str) -> None:
    def rewrite() -> int:
        call = ModelCall(
            role="rewriter",
            node="rewrite",
            round=failed.index,
            model="builtin",
            messages=(Message("user", question),),
            reply=_QUERIES[failed.index],
            start_ms=recording.t_ms,
            duration_ms=2.0,
            built_in=True,
        )
        recording.add(ModelCalled(call=call))
        made = Rewrite(
            round=failed.index,
            query=failed.query,
            rewritten_query=_QUERIES[failed.index],
            reason="Terms of the near misses added.",
            keywords=("signs", "症状"),
            strategy="feedback",
            input_hash=f"input-{failed.index}",
        )
        recording.add(Rewritten(rewrite=made))
        return 0

    recording.visit("rewrite", failed.index, rewrite)


def _answer(
    recording: _Recording, config: RunConfig, rounds: Sequence[Round], decision: Decision, outcome: Outcome
) -> None:
    context = assemble(rounds, config, 2000, len)
    warning = Fault("WB403", "The evaluator was slow.", "Choose a smaller model.", {"model": GRADER}, "generate")
    cut_off = outcome in ("cancelled", "interrupted")
    text = _ANSWER[: len(_ANSWER) // 2] if cut_off else _ANSWER

    def generate() -> int:
        recording.add(ContextAssembled(context=context))
        if not context.passages:
            recording.add(AnswerCompleted(answer="Nothing in the knowledge base answers this. 没有找到依据。"))
            return 0
        for start in range(0, len(text), 6):
            recording.add(TokenStreamed(text=text[start : start + 6]), after_ms=24.0)
        recording.add(Warned(warning=warning))
        if outcome != "interrupted":
            resolved = resolve(text, context.passages)
            recording.add(
                AnswerCompleted(answer=resolved.text, citations=resolved.citations, removed_markers=resolved.removed)
            )
        return 0

    if outcome == "interrupted":
        recording.add(NodeStarted(node="generate", round=decision.round, visit=1))
        generate()
        return
    recording.visit("generate", decision.round, generate)
    checked = () if outcome.startswith("answered") else None
    reason = "cancelled" if cut_off else decision.reason
    recording.add(RunFinished(outcome=outcome, reason=reason, unsupported_sentences=checked))


def _failure(kept: int) -> RunFinished:
    error = ModelError.grader_failed(model=GRADER, passages=kept)
    fault = Fault(error.code, error.fact, error.remedy, error.params, "grade")
    return RunFinished(outcome="failed", reason="grader_failed", error=fault)
