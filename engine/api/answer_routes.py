"""Routes of what is known of a run's answer: its figures, and judgements by people and models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import FastAPI
from fastapi.responses import Response

from engine.api.bodies import AnswerJudgementRequest, AnswerVerdictRequest
from engine.api.encoding import Json
from engine.engine import Engine
from engine.evaluation.values import AnswerJudgement, RunAnswer
from engine.model.config import BUILTIN, RoleModel
from engine.people import current_user
from engine.people.authorization import needs

GetEngine = Callable[[], Engine]


def add_answers(api: FastAPI, get_engine: GetEngine) -> None:
    """``/runs/{run_id}/answer``, its ``judgement`` and its ``verdict``."""

    @api.get("/runs/{run_id}/answer", summary="Whether a run's answer is right and by what, its figures, who judged it")
    @needs("viewer")
    async def answer(run_id: str) -> Response:
        return Json((await asyncio.to_thread(_known, get_engine(), run_id)).to_dict())

    @api.put("/runs/{run_id}/answer/judgement", summary="Say whether a run's answer is right, or take that back")
    @needs("editor")
    async def judge(run_id: str, body: AnswerJudgementRequest) -> Response:
        return Json((await asyncio.to_thread(_judged, get_engine(), run_id, body)).to_dict())

    @api.post("/runs/{run_id}/answer/verdict", summary="Have a chat model judge a run's answer, unless it has already")
    @needs("editor")
    async def verdict(run_id: str, body: AnswerVerdictRequest) -> Response:
        return Json((await asyncio.to_thread(_asked, get_engine(), run_id, body.model)).to_dict())


# What reads evaluations takes longer to import than the pages have to wait for, so that is done by the first request.


def _known(engine: Engine, run_id: str) -> RunAnswer:
    from engine.evaluation.run_answer import run_answer

    return run_answer(engine.evaluation, engine.record(run_id))


def _judged(engine: Engine, run_id: str, body: AnswerJudgementRequest) -> RunAnswer:
    from engine.evaluation.run_answer import require_answer, run_answer

    record = engine.record(run_id)
    require_answer(record)
    judge = current_user().author or body.judge
    said = AnswerJudgement(
        record.question, record.answer, body.right or "no", body.explanation, judge=judge, drawn=body.drawn
    )
    if body.right is None:
        engine.evaluation.remove_answer_judgement(said)
    else:
        engine.evaluation.judge_answer(said)
    return run_answer(engine.evaluation, record)


def _asked(engine: Engine, run_id: str, name: str) -> RunAnswer:
    from engine.evaluation.judging import judge_now, require_judge
    from engine.evaluation.run_answer import case_for, require_answer, run_answer

    record = engine.record(run_id)
    require_answer(record)
    model = RoleModel(name or engine.settings.judge_model or BUILTIN, num_ctx=record.config.models.generator.num_ctx)
    require_judge(model)
    case = case_for(engine.evaluation, record)
    judge_now(model, engine.settings, engine.evaluation, [(case, record)], lambda *_: None)
    return run_answer(engine.evaluation, record)
