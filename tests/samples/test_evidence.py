"""The shipped runs of the sample questions: those of today's program, on no list of the user's runs, and deletable."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import RecordError, UnknownBatch, UnknownRun
from engine.evaluation.cases import SAMPLE_SET, sample_set
from engine.evaluation.values import SHIPPED_BATCH, shipped_batch
from engine.model.values import RunRecord
from engine.samples.shipped import EVIDENCE, EVIDENCE_CONFIG, evidence_lines, evidence_run, shipped_record
from engine.settings import Settings

MOST_BYTES = 500_000
DRAWN = 6


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as opened:
        yield opened


def said(record: RunRecord) -> tuple[object, ...]:
    """What a run decided, and what its decisions rest on."""
    verdicts = [{name: item.relevant for name, item in current.verdicts.items()} for current in record.rounds]
    queries = [current.query for current in record.rounds]
    return record.outcome, record.reason, record.decisions, queries, verdicts, record.answer, record.citations


def test_every_sample_question_has_its_run_and_all_are_small() -> None:
    assert list(evidence_lines()) == [evidence_run(case.id) for case in sample_set().cases]
    assert len((files("engine.samples") / EVIDENCE).read_bytes()) < MOST_BYTES


def test_runs_of_today_say_what_the_shipped_ones_say(engine: Engine) -> None:
    """EV-08: other questions each time; evidence that a change made stale does not last."""
    engine.wait_until_ready()
    for case in random.sample(sample_set().cases, DRAWN):
        shipped = shipped_record(evidence_run(case.id))
        assert (shipped.question, shipped.config) == (case.question, EVIDENCE_CONFIG)
        assert said(engine.run(case.question, EVIDENCE_CONFIG)) == said(shipped), f"{case.id}: run `make samples`"


def test_tune_has_them_at_once_and_no_list_of_runs_or_jobs_does(engine: Engine) -> None:
    assert engine.evaluation.batches(SAMPLE_SET) == (shipped_batch(),)
    assert len(engine.batches.results(SHIPPED_BATCH)) == len(sample_set().cases)
    assert not engine.batches.evidence(SHIPPED_BATCH).failed
    assert engine.batches.progress(SHIPPED_BATCH).done == shipped_batch().total
    assert (engine.runs(), engine.evaluation.batches(), engine.batches.newest(5)) == ([], (), ())
    assert engine.judging.history(SAMPLE_SET) == ()


def test_a_run_of_them_opens_and_cannot_be_changed(engine: Engine) -> None:
    run_id = evidence_run("dc-en-03")
    assert engine.record(run_id).outcome == "answered" and list(engine.events(run_id))
    with pytest.raises(RecordError, match="ships"):
        engine.delete_run(run_id)
    with pytest.raises(UnknownRun):
        engine.record("sample-nothing")


def test_deleted_they_are_gone_for_good(engine: Engine) -> None:
    engine.evaluation.delete_shipped()
    engine.evaluation.delete_shipped()
    assert engine.evaluation.batches(SAMPLE_SET) == engine.evaluation.batches() == ()
    for ask in (engine.evaluation.batch, engine.evaluation.batch_cases, engine.batches.resume):
        with pytest.raises(UnknownBatch):
            ask(SHIPPED_BATCH)


def test_own_runs_of_the_samples_come_before_them(engine: Engine) -> None:
    engine.wait_until_ready()
    own = engine.batches.start(SAMPLE_SET, EVIDENCE_CONFIG, case_ids=["dc-en-03"])
    assert engine.batches.wait(own, 60.0)
    assert [batch.id for batch in engine.evaluation.batches(SAMPLE_SET)] == [own, SHIPPED_BATCH]
