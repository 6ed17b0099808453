"""A process that is killed in the middle of a batch loses nothing that it had finished."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import engine
from engine.evaluation.cases import QuerySet, sample_set
from engine.model.config import RunConfig
from tests.api.served import engine_of, relevant
from tests.support.fakes import FakeRetriever
from tests.support.gates import PATIENCE_S

ROOT = Path(str(engine.__file__)).parent.parent
SIXTY = sample_set().cases[:60]

CHILD = """
import asyncio, sys
from pathlib import Path
from engine.model.config import RunConfig
from tests.api.served import engine_of, relevant
from tests.support.fakes import FakeRetriever

class Telling(FakeRetriever):
    "Says each search, and never ends the 45th one, so that the batch cannot end before it is killed."

    async def search(self, query, limit):
        print("search", flush=True)
        if len(self.queries) >= 44:
            await asyncio.Event().wait()
        return await super().search(query, limit)

with engine_of(Path(sys.argv[1]), relevant(retriever=Telling())) as engine:
    batch_id = engine.batches.start("sixty", RunConfig(), concurrency=3)
    engine.batches.wait(batch_id)
"""


def killed_after(searches: int, folder: Path) -> None:
    """Run the batch in a process of its own and kill that when it has begun so many searches, wherever it is then."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHILD, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            said = [child.stdout.readline() for _ in range(searches)]
        finally:
            child.kill()
        assert said == ["search\n"] * searches


def test_a_killed_batch_of_sixty_is_resumed_without_running_anything_twice(tmp_path: Path) -> None:
    """SC-10: an interrupted run is found as such, what was finished stays, and the rest is run."""
    with engine_of(tmp_path) as engine:
        engine.evaluation.save_query_set(QuerySet("sixty", SIXTY))
    killed_after(30, tmp_path)
    retriever = FakeRetriever()
    with engine_of(tmp_path, relevant(retriever=retriever)) as engine:
        (batch,) = engine.evaluation.batches("sixty")
        left_finished = {item.id: item.question for item in engine.runs(200) if item.outcome == "answered"}
        assert 20 <= len(left_finished) < 60
        assert not engine.batches.progress(batch.id).running
        assert engine.batches.resume(batch.id)
        assert engine.batches.wait(batch.id, PATIENCE_S)

        after = engine.evaluation.batch(batch.id)
        assert after.done == {case.id for case in SIXTY} and after.failures == {}
        assert set(left_finished) <= set(after.runs.values())
        assert sorted(retriever.queries) == sorted({case.question for case in SIXTY} - set(left_finished.values()))
        outcomes = Counter(item.outcome for item in engine.runs(200))
        assert outcomes["answered"] == 60 and set(outcomes) <= {"answered", "interrupted"}
        assert [case for case, _ in engine.batches.results(batch.id)] == list(SIXTY)
        assert engine.evaluation.batch(batch.id).config == RunConfig()
