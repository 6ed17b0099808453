"""Batches of a process that is gone are resumed by another (TM-03)."""

from __future__ import annotations

import pytest

from engine.engine import Engine
from engine.errors import RunError
from engine.evaluation.batch import BatchRunner
from engine.model.config import RunConfig
from plugins.team.batches import take_over
from tests.evaluation.test_batch import NAMES, engine, finished  # noqa: F401


def test_a_batch_that_cannot_be_taken_over_holds_no_other_up_and_is_tried_again(
    engine: Engine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches = []
    for _ in range(2):
        batches.append(engine.batches.start("six", RunConfig(max_rewrites=0)))
        finished(engine, batches[-1])
        engine.evaluation.forget_cases(batches[-1], NAMES[:2], done=True)
        engine.evaluation.claim_batch(batches[-1], "gone", lambda _: False)
    resumed = BatchRunner.resume

    def resume(runner: BatchRunner, batch_id: str) -> bool:
        if batch_id == batches[0]:
            raise RunError.waited_too_long(what="a cluster", seconds=180)
        return resumed(runner, batch_id)

    with monkeypatch.context() as patched:
        patched.setattr(BatchRunner, "resume", resume)
        take_over(engine)
        finished(engine, batches[1])
    assert engine.evaluation.batch(batches[1]).finished
    assert not engine.evaluation.batch(batches[0]).finished
    take_over(engine)
    finished(engine, batches[0])
    assert engine.evaluation.batch(batches[0]).finished
