"""Collections that are limited to groups: no way leads a passage to a person who may not read it (TM-14)."""

from __future__ import annotations

import asyncio
import json
import threading
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import (
    EvaluationError,
    NotAllowed,
    RecordError,
    UnknownBatch,
    UnknownCollection,
    UnknownQuerySet,
    UnknownRun,
)
from engine.evaluation.cases import QuerySet, case_of, sample_set
from engine.evaluation.values import AnswerJudgement
from engine.knowledge.ingest import IngestItem
from engine.llm.cache import VerdictCache
from engine.llm.grader import CachedReply, verdict_key
from engine.model.config import WORKFLOWS, RoleModel, RunConfig, WorkflowName
from engine.model.events import RunStarted
from engine.model.values import RunId
from engine.people import Person, acting_as, current_user
from engine.records.listing import Wanted
from engine.records.store import RunStore
from engine.records.writer import RecordWriter
from tests.plugins.team.people.ward import MEMBER, OUTSIDER, QUESTION, SECRET, TEXT, Ward, asked, cookie
from tests.support.errors import raises
from tests.support.gates import PATIENCE_S
from tests.support.people import ADMIN

NOW = "2026-01-01T00:00:00.000+00:00"


def test_those_of_its_groups_read_it(ward: Ward) -> None:
    for person in (MEMBER, ADMIN):
        with ward.as_(person):
            assert SECRET in repr(ward.engine.passages("ward", "protocol.md"))
            assert "ward" in [info.name for info in ward.engine.collections()]
            assert ward.engine.record(ward.run).answer


@pytest.mark.parametrize("collection", ["ward", "station"])
@pytest.mark.parametrize("workflow", sorted(WORKFLOWS))
def test_no_run_of_theirs_searches_it(ward: Ward, workflow: WorkflowName, collection: str) -> None:
    config = RunConfig(collection=collection, workflow=workflow)
    with ward.as_(OUTSIDER), pytest.raises(UnknownCollection):
        ward.engine.start(QUESTION, config)
    # Nor does one that was let in by a name that was not limited yet.
    with acting_as(replace(OUTSIDER, hidden=frozenset({"ward"}))):
        run = ward.engine.start(QUESTION, RunConfig(collection="station", workflow=workflow))
        ward.engine.wait(run)
        record = ward.engine.record(run)
    assert (record.outcome, record.rounds, record.answer) == ("failed", (), "")


def test_it_is_not_reached_through_another_address(tmp_path: Path, ward: Ward) -> None:
    with ward.as_(OUTSIDER):
        run = ward.engine.start(QUESTION, RunConfig(collection="guessed", milvus_address=str(tmp_path / "other.db")))
        ward.engine.wait(run)
        error = ward.engine.record(run).error
    assert error is not None
    assert error.code == NotAllowed.code


# -- runs -------------------------------------------------------------------------------------------------------------


def test_no_list_of_runs_shows_it(ward: Ward) -> None:
    engine = ward.engine
    with ward.as_(OUTSIDER):
        own = [item for item in engine.runs(500) if item.author != OUTSIDER.id]
        assert {item.collection for item in own} == {"samples"}
        assert engine.runs(text=SECRET, author=MEMBER.id) == []
        assert engine.runs(text=ward.run[:8]) == []
        assert engine.runs(tag="of the ward") == []
        assert "of the ward" not in engine.tags()
        assert engine.run_configs([ward.run, ward.open_run]).keys() == {ward.open_run}
        assert engine.under_way(ward.run) == (0.0, 0)
    with ward.as_(MEMBER):
        assert {"ward", "station"} <= {item.collection for item in engine.runs(500)}
        assert engine.tags()["of the ward"] == 1


def test_a_run_that_asked_by_an_alias_is_hidden_after_a_restart_too(ward: Ward) -> None:
    with ward.as_(MEMBER):
        [by_alias] = [item.id for item in ward.engine.runs(500, collection="station", author=MEMBER.id)]
    with ward.as_(replace(OUTSIDER, hidden=frozenset())), acting_as(replace(OUTSIDER, hidden=frozenset({"ward"}))):
        assert by_alias not in [item.id for item in ward.engine.runs(500)]


# -- what was made of it ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", [OUTSIDER, MEMBER], ids=["by others", "by those who read it"])
def test_no_memory_of_it_is_recalled_elsewhere(ward: Ward, person: Person) -> None:
    """Nor for a member: others read the run of the open collection."""
    with ward.as_(person):
        run = ward.engine.start(QUESTION, RunConfig(workflow="dual_loop"))
        ward.engine.wait(run)
        record = ward.engine.record(run)
    assert record.recall is None or not record.recall.memories


def test_no_set_made_from_its_runs_is_seen_or_taken_over(ward: Ward) -> None:
    with ward.as_(OUTSIDER):
        store = ward.engine.evaluation
        assert "of the ward" not in store.query_sets()
        with pytest.raises(UnknownQuerySet):
            store.query_set("of the ward")
        with raises(EvaluationError.set_taken, match="you may not see"):
            store.save_query_set(QuerySet("of the ward", ()))
    with ward.as_(MEMBER):
        case = case_of(ward.engine.record(ward.run))
        store.save_query_set(QuerySet("for all", ()))
        with raises(EvaluationError.other_readers, match="keeps from some people"):
            store.add_case("for all", case, "ward")
        with raises(EvaluationError.other_readers, match="keeps from some people"):
            store.bind_query_set("of the ward", "samples")
        assert store.query_set("of the ward").author == MEMBER.id


def test_no_batch_keeps_its_questions_where_others_see_them(ward: Ward) -> None:
    with ward.as_(MEMBER):
        store = ward.engine.evaluation
        with raises(EvaluationError.other_readers, match="keeps from some people"):
            ward.engine.batches.start("of the ward", RunConfig())
        store.save_query_set(QuerySet("of the hall", (case_of(ward.engine.record(ward.open_run)),)))
        batch = ward.engine.batches.start("of the hall", RunConfig())
        ward.engine.batches.wait(batch)
        store.bind_query_set("of the hall", "ward")
    with ward.as_(OUTSIDER):
        assert batch not in [item.id for item in store.batches()]
        with pytest.raises(UnknownBatch):
            store.batch_cases(batch)
    with ward.as_(MEMBER):
        assert store.batch_cases(batch)


def test_a_stored_verdict_is_found_only_by_whoever_has_the_passage(tmp_path: Path) -> None:
    """The cache is shared by all: its key holds the question and the whole text, so a hit tells no more than these."""
    model = RoleModel("ollama:qwen3:8b")
    key = verdict_key(QUESTION, TEXT, model, "digest", "1")
    near = (verdict_key(QUESTION, other, model, "digest", "1") for other in ("", TEXT[:-1], TEXT.upper(), SECRET))
    others = [*near, verdict_key("What?", TEXT, model, "digest", "1")]
    cache = VerdictCache(tmp_path / "verdicts.db")
    cache.put(key, CachedReply(TEXT))
    assert asyncio.run(cache.get([key, *others])).keys() == {key}
    cache.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert QUESTION.encode() not in kept


def test_a_judgement_names_its_author(ward: Ward) -> None:
    with ward.as_(MEMBER):
        ward.engine.evaluation.set_label(QUESTION, "protocol.md#0", relevant=True)
        [label] = ward.engine.evaluation.labels(QUESTION)
    assert label.author == MEMBER.id


def test_who_signed_in_judges_answers_in_no_other_name(ward: Ward) -> None:
    """Else anybody could replace or take back over HTTP what another person said."""
    with ward.as_(MEMBER):
        record = ward.engine.run(sample_set().cases[0].question, RunConfig())
        assert record.answer
        said = AnswerJudgement(record.question, record.answer, "yes", judge=MEMBER.author)
        ward.engine.evaluation.judge_answer(said)
    path, headers = f"/api/runs/{record.id}/answer/judgement", ward.token()
    for right in ("no", None):
        found = ward.client.put(path, json={"right": right, "judge": MEMBER.author}, headers=headers)
        assert found.status_code == 200, found.text
        kept = {item["judge"]: item["right"] for item in found.json()["judgements"]}
        assert kept.pop(MEMBER.author) == "yes" and list(kept.values()) == ([] if right is None else ["no"])


def test_a_file_replaces_nothing_that_another_person_said(ward: Ward) -> None:
    engine, question = ward.engine, sample_set().cases[0].question
    with ward.as_(MEMBER):
        engine.evaluation.save_query_set(QuerySet("for all", sample_set().cases[:1]))
        engine.evaluation.set_label(question, "p#1", relevant=True, judge="Nurse")
        engine.evaluation.judge_answer(AnswerJudgement(question, "32", "yes", judge="Nurse"))
    rows = [
        {"question": question, "passage": "p#1", "relevant": False, "judge": "Nurse"},
        {"question": question, "passage": "p#2", "relevant": False, "judge": "Nurse"},
        {"question": question, "answer": "32", "right": "no", "judge": "Nurse"},
        {"question": question, "answer": "31", "right": "no", "judge": "A paid rater"},
    ]
    text = "\n".join(map(json.dumps, rows))
    with ward.as_(OUTSIDER):
        for _ in range(2):
            taken = engine.judging.imported("for all", text)
            assert (taken.passages, taken.answers, taken.left_out_n, len(taken.left_out)) == (1, 1, 2, 2)
        assert {"Nurse", "A paid rater"} <= set(engine.judging.judges())
        said = {item.passage_id: item.relevant for item in engine.evaluation.labels(question)}
        assert said == {"p#1": True, "p#2": False}
        (judgement,) = engine.evaluation.answer_judgements((question, "32"))
        assert (judgement.right, judgement.author) == ("yes", MEMBER.id)
    with ward.as_(MEMBER):
        assert engine.judging.imported("for all", text).passages == 1
    assert "Nurse" in taken.left_out[0]


# -- names that come and go -------------------------------------------------------------------------------------------


def test_a_new_name_and_a_copy_are_limited_as_well(ward: Ward) -> None:
    engine = ward.engine
    with acting_as(ADMIN):
        engine.ingest([IngestItem("a.md", data=TEXT.encode())], "night")
        engine.limit_collection("night", ["clinic"])
        engine.library.rename("night", "late", keep_old=False)
        job = engine.ingestions.start_reembed("late", "later", "builtin")
        engine.ingestions.wait(job)
        assert engine.ingestions.job(job).state == "done"
        engine.library.set_alias("dusk", "later")
        assert {name for name, groups in engine.limits.all().items() if groups == {"clinic"}} >= {
            "night",
            "late",
            "later",
            "dusk",
        }
    with ward.as_(OUTSIDER):
        for name in ("night", "late", "later", "dusk"):
            with pytest.raises(UnknownCollection):
                engine.describe(name)


def test_an_alias_that_led_to_it_shows_nothing_of_it(ward: Ward) -> None:
    """Neither in a batch of that time, nor by a branch, which would take its passages along."""
    engine = ward.engine
    with acting_as(ADMIN):
        engine.ingest([IngestItem("a.md", data=TEXT.encode())], "attic")
        engine.ingest([IngestItem("b.md", data=TEXT.encode())], "porch")
        engine.library.set_alias("latest", "attic")
    with ward.as_(MEMBER):
        run = asked(engine, QUESTION, RunConfig(collection="latest"))
        engine.evaluation.save_query_set(QuerySet("latest", (case_of(engine.record(run)),)))
        batch = engine.batches.start("latest", RunConfig(collection="latest"))
        engine.batches.wait(batch)
        assert engine.batches.results(batch)
    with acting_as(ADMIN):
        engine.library.set_alias("latest", "porch")
        engine.limit_collection("attic", ["clinic"])
    with ward.as_(OUTSIDER):
        assert engine.batches.results(batch) == []
        assert run not in [item.id for item in engine.runs(500)]
    with ward.as_(MEMBER):
        assert engine.batches.results(batch)
        with raises(RecordError.fork_imported, match="another collection"):
            engine.fork(run, RunConfig(collection="latest", top_k=2))


def test_a_job_is_found_by_whichever_name_it_was_begun_with(ward: Ward) -> None:
    engine = ward.engine
    with acting_as(ADMIN):
        engine.ingest([IngestItem("a.md", data=TEXT.encode())], "shed")
        engine.library.set_alias("hut", "shed")
        job = engine.ingestions.start([IngestItem("b.md", data=b"# B\n\nC.")], "hut")
        engine.ingestions.wait(job)
    for only, there in (("shed", True), ("samples", False)):
        with acting_as(replace(OUTSIDER, collections=frozenset({only}))):
            assert (job in [item.id for item in engine.ingestions.jobs()]) == there


def test_an_alias_stays_limited_wherever_it_leads_later(ward: Ward) -> None:
    """Records have its name, and whoever asked by it may have meant what it led to before."""
    engine = ward.engine
    with acting_as(ADMIN):
        for name in ("cellar", "garden"):
            engine.ingest([IngestItem("a.md", data=TEXT.encode())], name)
        engine.limit_collection("cellar", ["clinic"])
        engine.library.set_alias("below", "cellar")
        engine.library.set_alias("below", "garden")
    with ward.as_(MEMBER):
        run = asked(engine, QUESTION, RunConfig(collection="below"))
        [line] = [item for item in engine.runs(500) if item.id == run]
        assert (line.collection, line.searched) == ("below", "garden")
    with ward.as_(OUTSIDER):
        assert engine.describe("garden")
        for _ in ("in memory", "stored"):
            assert run not in [item.id for item in engine.runs(500)]
            with pytest.raises(UnknownRun):
                engine.record(run)
            engine._runs.forget(run)
        with pytest.raises(UnknownCollection):
            engine.describe("below")
        assert not Wanted(9, reader=current_user()).admits(line)
    with ward.as_(MEMBER):
        assert Wanted(9, reader=current_user()).admits(line)


def test_a_run_of_another_process_is_kept_from_others_while_it_is_in_progress(ward: Ward) -> None:
    engine, run = ward.engine, RunId("e" * 32)
    with RunStore(engine.settings.data_dir / "runs.db") as theirs:
        config = RunConfig(collection="ward")
        theirs.append(run, RunStarted(seq=1, t_ms=0.0, run_id=run, question=QUESTION, config=config, started_at=NOW))
        theirs.flush()
        for _ in ("not followed", "followed"):
            with ward.as_(OUTSIDER):
                for call in (engine.record, engine.events, engine.wait, engine.cancel):
                    with pytest.raises(UnknownRun):
                        call(run)
                assert engine.under_way(run) == (0.0, 0)
            with ward.as_(MEMBER):
                assert next(iter(engine.events(run))).kind == "run_started"
                assert engine.under_way(run) > (0.0, 0)


def test_a_run_that_no_disk_has_taken_yet_is_kept_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecordWriter, "_save", lambda *_, **__: None)
    run, config = RunId("r"), RunConfig(collection="ward")
    with RunStore(tmp_path / "runs.db") as store:
        store.append(run, RunStarted(seq=1, t_ms=0.0, run_id=run, question=QUESTION, config=config, started_at=NOW))
        for person, there in ((MEMBER, [run]), (replace(OUTSIDER, hidden=frozenset({"ward"})), [])):
            assert [item.id for item in store.list(reader=person)] == there
            assert [*store.configs([run], person)] == there


def test_people_who_may_read_other_collections_share_nothing_that_is_kept() -> None:
    hidden = [replace(OUTSIDER, hidden=frozenset(names)) for names in ((), ("ward",), ("ward", "attic"))]
    only = [replace(OUTSIDER, collections=frozenset(names)) for names in (("ward",), ("attic",), ())]
    people = [*hidden, *only, replace(hidden[1], collections=frozenset({"ward"}))]
    assert len({person.scope for person in people}) == len(people)
    assert replace(hidden[1], id="another").scope == hidden[1].scope


@pytest.mark.parametrize("way", ["at once", "in the background", "empty", "over HTTP"])
def test_what_a_token_of_some_collections_makes_is_limited_as_these_are(ward: Ward, way: str) -> None:
    engine, name, files = ward.engine, f"made {way}".replace(" ", "_"), [IngestItem("a.md", data=TEXT.encode())]

    def made(only: list[str], name: str) -> bool:
        token = Person("token t", "t", "editor", frozenset(), frozenset(only))
        if way == "over HTTP":
            body = {"name": "a.md", "content_base64": b64encode(TEXT.encode()).decode()}
            path = f"/api/collections/{name}/sources"
            return ward.client.post(path, json=body, headers=ward.token(collections=only)).status_code == 200
        with ward.as_(token):
            try:
                if way == "at once":
                    engine.ingest(files, name)
                elif way == "in the background":
                    job = engine.ingestions.start(files, name)
                    with acting_as(ADMIN):
                        engine.ingestions.wait(job)
                else:
                    engine.library.create(name)
            except NotAllowed:
                return False
        return True

    assert made(["ward", "samples"], name)
    assert not made(["samples"], f"{name}2") and not made([], f"{name}3")
    with acting_as(ADMIN):
        assert engine.limits.all()[name] == {"clinic"}
        assert not {f"{name}2", f"{name}3"} & {info.name for info in engine.collections()}
    with ward.as_(OUTSIDER):
        assert name not in {info.name for info in engine.collections()}
        with pytest.raises(UnknownCollection):
            engine.describe(name)


def test_no_stream_of_a_run_that_is_going_on_is_open_to_others(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, go_on = ward.engine, threading.Event()
    retrieve = engine.resources.knowledge.retriever

    async def slowly(*given: Any, **named: Any) -> Any:
        await asyncio.to_thread(go_on.wait, PATIENCE_S)
        return await retrieve(*given, **named)

    monkeypatch.setattr(engine.resources.knowledge, "retriever", slowly)
    try:
        with ward.as_(MEMBER):
            run = engine.start(QUESTION, RunConfig(collection="ward"))
        callers = (ward.token(), ward.token(collections=["samples"]), cookie(OUTSIDER))
        for path in (f"/api/runs/{run}", f"/api/runs/{run}/events", f"/api/runs/{run}/view", f"/api/runs/{run}/answer"):
            for headers in callers:
                answer = ward.client.get(path, headers=headers)
                assert answer.status_code == 404 and SECRET not in answer.text, path
        for headers in callers:
            assert run not in ward.client.get("/api/runs", headers=headers).text
            assert SECRET not in ward.client.get("/api/metrics", headers=headers).text
    finally:
        go_on.set()
    with ward.as_(MEMBER):
        assert engine.wait(run)
        assert SECRET in ward.client.get(f"/api/runs/{run}/events", headers=cookie(MEMBER)).text


# -- the API ----------------------------------------------------------------------------------------------------------


def test_a_token_reads_what_it_names_and_nothing_else(ward: Ward) -> None:
    named = ward.token(collections=["ward"])
    assert SECRET in ward.client.get(f"/api/runs/{ward.run}", headers=named).text
    assert [item["name"] for item in ward.client.get("/api/collections", headers=named).json()] == ["ward"]
    listed = {item["searched"] or item["collection"] for item in ward.client.get("/api/runs", headers=named).json()}
    assert listed == {"ward"}
    assert ward.client.get(f"/api/runs/{ward.open_run}", headers=named).status_code == 404
    asked = ward.client.post("/api/runs", json={"question": "What is a truth table?"}, headers=named)
    assert (asked.status_code, asked.json()["code"]) == (404, UnknownCollection.code)


def test_a_limit_ends_where_its_groups_do(ward: Ward) -> None:
    engine = ward.engine
    with acting_as(ADMIN):
        engine.ingest([IngestItem("b.md", data=b"# B\n\nOpen to all.")], "hall")
        engine.limit_collection("hall", ["clinic"])
    with ward.as_(OUTSIDER), pytest.raises(UnknownCollection):
        engine.describe("hall")
    with acting_as(ADMIN):
        engine.limit_collection("hall", [])
    with ward.as_(OUTSIDER):
        assert engine.describe("hall").name == "hall"
