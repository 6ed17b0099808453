"""A chat model judges the answers of a gathering: once each, with progress, stop and going on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.errors import EvaluationError, InvalidConfig, ModelTimeout
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.evidence import gather
from engine.evaluation.judgements import judged_answers, judges_of, verdicts_of
from engine.evaluation.judging import judge_answers, judge_now, judgeable
from engine.evaluation.values import AnswerJudgement
from engine.llm.answer_judge import ChatAnswerJudge
from engine.model.config import RoleModel, RunConfig
from engine.roles import SILENT, AnswerVerdict, JudgeRequest, Trace
from tests.api.served import engine_of
from tests.contracts.chat_models import obedient
from tests.support.errors import raises
from tests.support.gates import PATIENCE_S, until
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest

CASES = tuple(
    Case(f"c{number}", f"question {number}", gold_answers=("The text of p1.", "else") if number % 2 else ())
    for number in range(4)
)
MODEL = RoleModel("ollama:judge:1b")


class Judge:
    """Does what it is asked, or what a script says first; counts what it was asked."""

    def __init__(self) -> None:
        self.script: list[str] = []
        self.asked: list[str] = []
        self.before: Callable[[], object] = lambda: None

    def __call__(self, request: RecordedRequest) -> str:
        self.asked.append(str(request.messages[1]["content"]))
        self.before()
        return self.script.pop(0) if self.script else obedient(request)


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def server(judge: Judge) -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["judge:1b"], reply=judge) as running:
        yield running


@pytest.fixture
def engine(tmp_path: Path, server: OllamaStandIn) -> Iterator[Engine]:
    with engine_of(tmp_path, ollama_url=server.url, grader_concurrency=1) as engine:
        engine.evaluation.save_query_set(QuerySet("four", CASES))
        yield engine


@pytest.fixture
def batch(engine: Engine) -> str:
    batch = engine.batches.start("four", RunConfig())
    assert engine.batches.wait(batch, PATIENCE_S)
    return batch


def judged(engine: Engine, batch: str) -> tuple[AnswerJudgement, ...]:
    results = engine.batches.results(batch)
    return engine.evaluation.answer_judgements(*((case.question, record.answer) for case, record in results))


def finish(engine: Engine, batch: str) -> None:
    assert engine.batches.judge(batch, MODEL)
    until(lambda: engine.batches.judge_at_work(batch) is None)


def test_every_answer_is_judged_once_with_its_claims(engine: Engine, batch: str, judge: Judge) -> None:
    """EV-03"""
    before = engine.batches.judging(batch, MODEL.model)
    assert (before.done, before.total, before.running) == (0, 4, False)
    finish(engine, batch)
    after = engine.batches.judging(batch, MODEL.model)
    assert (after.done, after.unreadable, after.total, after.fault) == (4, 0, 4, None)
    found = judged(engine, batch)
    assert {(item.by, item.judge) for item in found} == {("model", MODEL.model)}
    assert all(item.claims and item.explanation for item in found)
    assert {claim.of for item in found for claim in item.claims} == {"gold", "answer"}
    assert judges_of(found) == (MODEL.model,)
    asked = len(judge.asked)
    assert not engine.batches.judge(batch, MODEL)
    assert len(judge.asked) == asked == 4


def test_a_run_that_gives_the_same_answer_from_the_same_passages_is_judged_already(
    engine: Engine, batch: str, judge: Judge
) -> None:
    finish(engine, batch)
    again = engine.batches.start("four", RunConfig())
    assert engine.batches.wait(again, PATIENCE_S)
    assert engine.batches.judging(again, MODEL.model).done == 4
    assert not engine.batches.judge(again, MODEL)
    # With other gold answers it is another judgement.
    results = [(Case("c1", "question 1", gold_answers=("else",)), engine.batches.results(again)[1][1])]
    (key,) = judgeable(results)
    assert key not in verdicts_of(judged(engine, again), MODEL.model)


def test_what_cannot_be_read_is_counted_left_open_and_asked_again(engine: Engine, batch: str, judge: Judge) -> None:
    judge.script = ["It is right.", '{"right": true}']
    finish(engine, batch)
    progress = engine.batches.judging(batch, MODEL.model)
    assert (progress.done, progress.unreadable, progress.total) == (3, 1, 4)
    assert sum(item.right == "unreadable" for item in judged(engine, batch)) == 1
    assert measured(engine, batch)[0] == 3
    asked = len(judge.asked)
    finish(engine, batch)
    assert engine.batches.judging(batch, MODEL.model).unreadable == 0
    assert len(judge.asked) == asked + 1


def test_a_stop_keeps_what_was_judged_and_the_rest_continues_later(engine: Engine, batch: str, judge: Judge) -> None:
    def stop_at_the_third() -> None:
        if len(judge.asked) == 3:
            assert engine.batches.judge_at_work(batch) == MODEL.model
            with raises(EvaluationError.batch_active):
                engine.batches.judge(batch, MODEL)
            assert engine.batches.stop_judging(batch)

    judge.before = stop_at_the_third
    finish(engine, batch)
    progress = engine.batches.judging(batch, MODEL.model)
    assert (progress.done, progress.running, progress.fault) == (2, False, None)
    assert not engine.batches.stop_judging(batch)
    finish(engine, batch)
    assert engine.batches.judging(batch, MODEL.model).done == 4


def test_a_judge_that_cannot_be_reached_is_said_and_the_rest_continues_later(
    engine: Engine, batch: str, server: OllamaStandIn
) -> None:
    assert engine.batches.judge(batch, RoleModel("ollama:absent"))
    until(lambda: engine.batches.judge_at_work(batch) is None)
    progress = engine.batches.judging(batch, "ollama:absent")
    assert progress.fault is not None and progress.fault.code == "WB402"
    assert progress.done == 0 and not judged(engine, batch)


def test_a_judge_that_breaks_is_said_too(engine: Engine, batch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> AnswerVerdict:
        raise RuntimeError("broken")

    monkeypatch.setattr(ChatAnswerJudge, "judge", broken)
    finish(engine, batch)
    progress = engine.batches.judging(batch, MODEL.model)
    assert progress.fault is not None and not progress.running


class _Slow:
    """A judge whose n-th reply takes too long."""

    name = "slow:1b"

    def __init__(self, late: int) -> None:
        self._late = late
        self._asked = 0

    async def judge(self, request: JudgeRequest, trace: Trace = SILENT) -> AnswerVerdict:
        self._asked += 1
        if self._asked == self._late:
            raise ModelTimeout(model=self.name, seconds=180)
        return AnswerVerdict(right=True, reason="It is.")


def test_one_answer_that_takes_too_long_leaves_the_others_judged_and_a_first_one_ends_it() -> None:
    requests = [JudgeRequest("Why?", f"Because {n}.", ()) for n in range(3)]
    kept: list[AnswerJudgement] = []
    asyncio.run(judge_answers(_Slow(2), requests, kept.append, 1))
    assert [item.right for item in kept] == ["yes", "unreadable", "yes"]
    assert "180" in kept[1].explanation
    with pytest.raises(ModelTimeout):
        asyncio.run(judge_answers(_Slow(1), requests, kept.append, 1))


@pytest.mark.parametrize("model", ["builtin", "cross_encoder:x"])
def test_only_a_chat_model_judges(engine: Engine, batch: str, model: str) -> None:
    with pytest.raises(InvalidConfig, match="cannot judge answers"):
        engine.batches.judge(batch, RoleModel(model))


def measured(engine: Engine, batch: str) -> tuple[int, float | None, float | None, int]:
    results = engine.batches.results(batch)
    said = judged(engine, batch)
    records = {case.id: record for case, record in results}
    cases = [case for case, _ in results]
    evidence = gather(cases, records, (), judged_answers(said), verdicts_of(said, MODEL.model))
    found = evaluate(evidence, [records["c0"].config])
    recall, faithful = found.figure("claim_recall"), found.figure("faithfulness")
    return faithful.known_n, faithful.value, recall.value, recall.known_n


def test_its_verdicts_are_two_measures_and_never_make_an_answer_right(engine: Engine, batch: str, judge: Judge) -> None:
    assert measured(engine, batch) == (0, None, None, 0)

    def reply(supported: bool, said: list[bool]) -> str:
        entries: dict[str, Any] = {"answer": [supported], "expected": said, "right": True, "why": "So."}
        return json.dumps({name: value for name, value in entries.items() if value != []})

    # Of two gold answers the better one counts.
    judge.script = [reply(True, []), reply(False, [True, False]), reply(True, []), reply(True, [False, False])]
    finish(engine, batch)
    assert measured(engine, batch) == (4, 0.75, 0.5, 2)
    results = engine.batches.results(batch)
    evaluation = evaluate(engine.batches.evidence(batch), [results[0][1].config])
    assert evaluation.figure("answered_right").n == 2


def test_who_waits_for_the_judging_hears_of_each_answer(engine: Engine, batch: str) -> None:
    heard: list[tuple[int, int]] = []
    results = engine.batches.results(batch)
    judge_now(MODEL, engine.settings, engine.evaluation, results, lambda done, of: heard.append((done, of)))
    assert heard == [(done, 4) for done in range(5)]
