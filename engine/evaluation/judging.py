"""Having a chat model judge the answers of runs: each answer once, kept at once, so that a stop loses none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from engine.errors import EngineClosed, EvaluationError, InvalidConfig, ModelTimeout, PromptTooLong, UnreadableReply
from engine.evaluation.cases import Case
from engine.evaluation.judgements import Key, key_of, request_of, verdicts_of
from engine.evaluation.store import EvaluationStore
from engine.evaluation.values import AnswerJudgement, JudgingProgress
from engine.llm.answer_judge import ChatAnswerJudge
from engine.model.config import CROSS_ENCODER, RoleModel
from engine.model.values import Fault, RunRecord
from engine.people.current_user import with_current_user
from engine.roles import AnswerJudge, JudgeRequest
from engine.settings import Settings

_REFUSED = frozenset({"abstained", "failed", "cancelled", "interrupted", "unanswered"})


def judgeable(results: Iterable[tuple[Case, RunRecord]]) -> dict[Key, JudgeRequest]:
    """The distinct answers that can be judged, in order; refusals give none."""
    requests = (request_of(case, record) for case, record in results if record.outcome not in _REFUSED)
    return {key_of(request): request for request in requests if request.judgeable}


def progress_of(
    requests: Mapping[Key, JudgeRequest], said: Mapping[Key, AnswerJudgement], judge: str
) -> JudgingProgress:
    """Return a judge's progress from the stored verdicts."""
    found = [said[key] for key in requests if key in said]
    unreadable = sum(item.right == "unreadable" for item in found)
    return JudgingProgress(judge, len(found) - unreadable, unreadable, len(requests))


async def judge_answers(
    judge: AnswerJudge, requests: Sequence[JudgeRequest], keep: Callable[[AnswerJudgement], object], at_once: int
) -> None:
    """Judge each of these answers and keep it; raises the first fault that is not about one reply alone.

    One that takes too long is about itself alone where the model has answered before.
    """
    turns = asyncio.Semaphore(max(1, at_once))
    answers = False

    async def one(request: JudgeRequest) -> None:
        nonlocal answers
        async with turns:
            try:
                found = await _judged(judge, request)
            except ModelTimeout as late:
                if not answers:
                    raise
                found = _unreadable(judge, request, str(late))
        answers = True
        await asyncio.to_thread(keep, found)

    try:
        async with asyncio.TaskGroup() as group:
            for request in requests:
                group.create_task(one(request))
    except BaseExceptionGroup as failures:
        # Callers wait for an error of ours, not for a group of them.
        raise failures.exceptions[0] from None


async def _judged(judge: AnswerJudge, request: JudgeRequest) -> AnswerJudgement:
    shown = request.digest()
    try:
        said = await judge.judge(request)
    except (UnreadableReply, PromptTooLong):
        return _unreadable(judge, request)
    return AnswerJudgement(
        request.question,
        request.answer,
        "yes" if said.right else "no",
        said.reason,
        by="model",
        judge=judge.name,
        claims=said.claims,
        shown=shown,
    )


def _unreadable(judge: AnswerJudge, request: JudgeRequest, why: str = "") -> AnswerJudgement:
    return AnswerJudgement(
        request.question, request.answer, "unreadable", why, by="model", judge=judge.name, shown=request.digest()
    )


def require_judge(model: RoleModel) -> None:
    """Raise ``InvalidConfig`` for a model that cannot judge answers: only a chat model reads."""
    if model.built_in or model.model.startswith(CROSS_ENCODER):
        raise InvalidConfig.no_judge(model=model.model)


def judge_now(
    model: RoleModel,
    settings: Settings,
    store: EvaluationStore,
    results: Iterable[tuple[Case, RunRecord]],
    note: Callable[[int, int], object],
) -> None:
    """Judge what this model has not judged readably yet, and wait for it; ``note`` gets the number done and the total.

    Raises the fault that ends it; what was judged before is kept.
    """
    left = _left(store, judgeable(results), model.model)
    done = 0

    def keep(judgement: AnswerJudgement) -> None:
        nonlocal done
        store.judge_answer(judgement)
        done += 1
        note(done, len(left))

    note(0, len(left))
    asyncio.run(judge_answers(ChatAnswerJudge(model, settings), left, keep, settings.grader_concurrency))


def _said(store: EvaluationStore, requests: Mapping[Key, JudgeRequest], judge: str) -> dict[Key, AnswerJudgement]:
    pairs = ((item.question, item.answer) for item in requests.values())
    return verdicts_of(store.answer_judgements(*pairs), judge)


def _left(store: EvaluationStore, requests: Mapping[Key, JudgeRequest], judge: str) -> list[JudgeRequest]:
    """List what a judge has not yet judged readably."""
    said = _said(store, requests, judge)
    return [item for key, item in requests.items() if key not in said or said[key].right == "unreadable"]


@dataclass(slots=True)
class _Going:
    batch_id: str
    judge: str
    over: threading.Event = field(default_factory=threading.Event)
    loop: asyncio.AbstractEventLoop | None = None
    task: asyncio.Task[None] | None = None
    stopped: bool = False


class Judgings:
    """Judges the answers of gatherings in the background, those of one at a time; safe from any thread."""

    def __init__(self, settings: Settings, store: EvaluationStore) -> None:
        self._settings = settings
        self._store = store
        self._guard = threading.Lock()
        self._going: _Going | None = None
        self._faults: dict[tuple[str, str], Fault] = {}
        self._closed = False

    def start(self, batch_id: str, results: Iterable[tuple[Case, RunRecord]], model: RoleModel) -> bool:
        """Judge what this model has not judged readably yet; False where nothing is left.

        Raises ``EvaluationError`` while answers are being judged, ``InvalidConfig`` for a model that cannot judge.
        """
        require_judge(model)
        left = _left(self._store, judgeable(results), model.model)
        with self._guard:
            if self._closed:
                raise EngineClosed()
            if self._going is not None:
                raise EvaluationError.batch_active(batch=self._going.batch_id)
            self._faults.pop((batch_id, model.model), None)
            if not left:
                return False
            going = self._going = _Going(batch_id, model.model)
        work = with_current_user(self._work)
        threading.Thread(target=work, args=(going, model, left), name="judging", daemon=True).start()
        return True

    def progress(self, batch_id: str, results: Iterable[tuple[Case, RunRecord]], judge: str) -> JudgingProgress:
        """Return a judge's progress on the answers of a set."""
        requests = judgeable(results)
        found = progress_of(requests, _said(self._store, requests, judge), judge)
        with self._guard:
            going = self._going
            running = going is not None and (going.batch_id, going.judge) == (batch_id, judge)
            fault = self._faults.get((batch_id, judge))
        return JudgingProgress(found.judge, found.done, found.unreadable, found.total, running, fault)

    def running(self, batch_id: str) -> str | None:
        """The model that judges the answers of a gathering at the moment, if any."""
        with self._guard:
            going = self._going
        return going.judge if going is not None and going.batch_id == batch_id else None

    def stop(self, batch_id: str) -> bool:
        """Ask the model nothing further; what it has judged is kept. False if none is running."""
        with self._guard:
            going = self._going
            if going is None or going.batch_id != batch_id:
                return False
            going.stopped = True
            if going.loop is not None and going.task is not None:
                with suppress(RuntimeError):
                    going.loop.call_soon_threadsafe(going.task.cancel)
        return True

    def close(self, timeout_s: float | None = None) -> None:
        """Stop and wait; a second call does nothing."""
        with self._guard:
            self._closed = True
            going = self._going
        if going is not None:
            self.stop(going.batch_id)
            going.over.wait(timeout_s)

    def _work(self, going: _Going, model: RoleModel, left: Sequence[JudgeRequest]) -> None:
        try:
            asyncio.run(self._judge(going, model, left))
        except asyncio.CancelledError:
            pass
        except Exception as error:
            # Also one that is none of ours: the page must not wait for a thread that is gone.
            with self._guard:
                self._faults[going.batch_id, going.judge] = Fault.of(error)
        finally:
            with self._guard:
                self._going = None
            going.over.set()

    async def _judge(self, going: _Going, model: RoleModel, left: Sequence[JudgeRequest]) -> None:
        with self._guard:
            going.loop, going.task = asyncio.get_running_loop(), asyncio.current_task()
            if going.stopped:
                return
        judge = ChatAnswerJudge(model, self._settings)
        await judge_answers(judge, left, self._store.judge_answer, self._settings.grader_concurrency)
