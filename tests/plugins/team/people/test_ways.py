"""Every way by which something of a limited collection could reach others, and that it leads nowhere (TM-14, TM-18).

Methods and routes declare what viewers and editors can call. Each of it stands in one of three tables here, so that
whoever adds to it has to say which; routes come from the router itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace

import pytest

import engine.evaluation.batch  # noqa: F401 - its operations are declared when it is imported
from engine.errors import (
    EvaluationError,
    StoreError,
    UnknownBatch,
    UnknownCollection,
    UnknownJob,
    UnknownQuerySet,
    UnknownRun,
    WorkbenchError,
)
from engine.evaluation.annotation.pairs import Item
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.values import AnswerJudgement, Batch, Label
from engine.knowledge.ingest import IngestItem
from engine.knowledge.weak_points import WeakPoint
from engine.model.config import RoleModel, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import PassageId, RunId
from engine.people import Person
from engine.people.authorization import OPERATIONS
from tests.plugins.team.people.dumping import tables
from tests.plugins.team.people.ward import DRAFT, MEMBER, OUTSIDER, QUESTION, SECRET, Ward, cookie
from tests.support.brought import brought
from tests.support.errors import raises
from tests.support.people import VIEWER
from tests.support.requests import address, body_of, declared

Call = Callable[[Ward, str], object]
ELSEWHERE = Person("token t", "t", "editor", frozenset(), frozenset({"samples"}))
"""Who may read nothing but the samples, as a token that names them."""
NOT_THERE = (
    UnknownBatch,
    UnknownCollection,
    EvaluationError.unknown_draft,
    UnknownJob,
    UnknownQuerySet,
    UnknownRun,
    EvaluationError.set_reserved,
    StoreError.collection_exists,
)
FILE = [IngestItem("a.md", data=b"# A\n\nB.")]
IDS = brought("IDS")
ENTITY = f"{SECRET} protocol"
CASE = Case("q", "Why?")
JUDGEMENT = json.dumps({"question": QUESTION, "passage": "protocol.md#1", "relevant": True})
SET = QuerySet("of the ward", (CASE,), "ward")
NAMES = pytest.mark.parametrize("name", ["ward", "station"], ids=["by its name", "by an alias"])
OTHERS = pytest.mark.parametrize("person", [OUTSIDER, ELSEWHERE], ids=["of another group", "of other collections"])


def followed(ward: Ward) -> list[object]:
    async def gathered() -> list[object]:
        events: AsyncIterator[object] = ward.engine.aevents(ward.run)
        return [event async for event in events]

    return asyncio.run(gathered())


def another_batch(ward: Ward, name: str) -> None:
    """A batch that would keep the cases of the ward's set where all may see it, or the ward's answers to other ones."""
    batch = Batch("b", "of the ward", RunConfig(collection="samples"), 1, "2026", (CASE.id,), {}, {})
    ward.engine.evaluation.add_batch(batch, [CASE], "x")


REFUSED: dict[str, Call] = {
    "Engine.warnings_before": lambda w, name: w.engine.warnings_before(
        QUESTION, RunConfig(collection=name, workflow="quality_loop")
    ),
    "Engine.wait": lambda w, _: w.engine.wait(w.run),
    "Engine.record": lambda w, _: w.engine.record(w.run),
    "Engine.events": lambda w, _: list(w.engine.events(w.run)),
    "Engine.aevents": lambda w, _: followed(w),
    "Engine.start": lambda w, name: w.engine.start(QUESTION, RunConfig(collection=name)),
    "Engine.run": lambda w, name: w.engine.run(QUESTION, RunConfig(collection=name)),
    "Engine.stream": lambda w, name: list(w.engine.stream(QUESTION, RunConfig(collection=name))),
    "Engine.fork": lambda w, _: w.engine.fork(w.run, RunConfig(collection="ward", top_k=2)),
    "Engine.cancel": lambda w, _: w.engine.cancel(w.run),
    "Engine.tag_run": lambda w, _: w.engine.tag_run(w.run, "seen"),
    "Engine.untag_run": lambda w, _: w.engine.untag_run(w.run, "seen"),
    "Engine.describe": lambda w, name: w.engine.describe(name),
    "Engine.sources": lambda w, name: w.engine.sources(name),
    "Engine.passages": lambda w, name: w.engine.passages(name, "protocol.md"),
    "Engine.source_kinds": lambda w, name: w.engine.source_kinds(name),
    "Engine.ingest": lambda w, name: w.engine.ingest(FILE, name),
    "Engine.start_ingest": lambda w, name: w.engine.start_ingest(FILE, name).result(),
    "Library.search": lambda w, name: w.engine.library.search(name, SECRET),
    "Library.passage_map": lambda w, name: w.engine.library.passage_map(name, SECRET),
    "Library.advice": lambda w, name: w.engine.library.advice(name),
    "Library.given": lambda w, name: w.engine.library.given(RunConfig(collection=name), lambda _: asyncio.sleep(0)),
    "Library.create": lambda w, name: w.engine.library.create(name),
    "Library.set_description": lambda w, name: w.engine.library.set_description(name, "x"),
    "Ingestions.job": lambda w, _: w.engine.ingestions.job(w.job),
    "Ingestions.wait": lambda w, _: w.engine.ingestions.wait(w.job),
    "Ingestions.stop": lambda w, _: w.engine.ingestions.stop(w.job),
    "JobList.stop": lambda w, _: w.engine.jobs.stop(w.job),
    "JobList.resume": lambda w, _: w.engine.jobs.resume(w.job),
    "Ingestions.resume": lambda w, _: w.engine.ingestions.resume(w.job),
    "Ingestions.preview": lambda w, name: w.engine.ingestions.preview(FILE, name),
    "Ingestions.context_price": lambda w, name: w.engine.ingestions.context_price(name, "ollama:m"),
    "Ingestions.start": lambda w, name: w.engine.ingestions.start(FILE, name),
    "Ingestions.start_graph": lambda w, name: w.engine.ingestions.start_graph(name, "builtin"),
    "Ingestions.start_add_full_text": lambda w, name: w.engine.ingestions.start_add_full_text(name),
    "Graphs.describe": lambda w, name: w.engine.graphs.describe(name),
    "Graphs.entity": lambda w, name: w.engine.graphs.entity(name, [SECRET]),
    "Graphs.entities": lambda w, name: w.engine.graphs.entities(name),
    "Graphs.communities": lambda w, name: w.engine.graphs.communities(name),
    "Graphs.neighbourhood": lambda w, name: w.engine.graphs.neighbourhood(name, [ENTITY]),
    "Graphs.overview": lambda w, name: w.engine.graphs.overview(name),
    "Graphs.passages": lambda w, name: w.engine.graphs.passages(name, [PassageId("protocol.md#0")]),
    "Graphs.to_dict": lambda w, name: w.engine.graphs.to_dict(name),
    "Graphs.checked": lambda w, name: w.engine.graphs.checked(name, "builtin"),
    "Graphs.build": lambda w, name: w.engine.graphs.build(name),
    "EvaluationStore.query_set": lambda w, _: w.engine.evaluation.query_set("of the ward"),
    "EvaluationStore.save_query_set": lambda w, _: w.engine.evaluation.save_query_set(SET),
    "EvaluationStore.add_case": lambda w, _: w.engine.evaluation.add_case("of the ward", CASE, "ward"),
    "EvaluationStore.bind_query_set": lambda w, _: w.engine.evaluation.bind_query_set("of the ward", "ward"),
    "EvaluationStore.batch": lambda w, _: w.engine.evaluation.batch(w.batch),
    "EvaluationStore.batch_cases": lambda w, _: w.engine.evaluation.batch_cases(w.batch),
    "EvaluationStore.run_of": lambda w, _: w.engine.evaluation.run_of(w.batch, case_of_batch(w)),
    "EvaluationStore.begin_case": lambda w, _: w.engine.evaluation.begin_case(w.batch, case_of_batch(w), "r"),
    "EvaluationStore.end_case": lambda w, _: w.engine.evaluation.end_case(w.batch, case_of_batch(w), "r"),
    "EvaluationStore.claim_batch": lambda w, _: w.engine.evaluation.claim_batch(w.batch, "x", lambda _: False),
    "EvaluationStore.release_batch": lambda w, _: w.engine.evaluation.release_batch(w.batch, "x"),
    "EvaluationStore.add_batch": another_batch,
    "BatchRunner.start": lambda w, name: w.engine.batches.start("of the ward", RunConfig(collection=name)),
    "BatchRunner.progress": lambda w, _: w.engine.batches.progress(w.batch),
    "BatchRunner.results": lambda w, _: w.engine.batches.results(w.batch),
    "BatchRunner.evidence": lambda w, _: w.engine.batches.evidence(w.batch),
    "BatchRunner.resume": lambda w, _: w.engine.batches.resume(w.batch),
    "BatchRunner.stop": lambda w, _: w.engine.batches.stop(w.batch),
    "BatchRunner.judge": lambda w, _: w.engine.batches.judge(w.batch, RoleModel("ollama:small")),
    "BatchRunner.judging": lambda w, _: w.engine.batches.judging(w.batch, "ollama:small"),
    "BatchRunner.judge_at_work": lambda w, _: w.engine.batches.judge_at_work(w.batch),
    "BatchRunner.stop_judging": lambda w, _: w.engine.batches.stop_judging(w.batch),
    "EvaluationStore.remove_case": lambda w, _: w.engine.evaluation.remove_case("of the ward", CASE.id),
    "Drafting.start": lambda w, name: w.engine.drafting.start(name, 1, "ollama:m").result(),
    "Drafting.make": lambda w, name: w.engine.drafting.make(name, 1, "ollama:m"),
    "Drafting.draft": lambda w, _: w.engine.drafting.draft(DRAFT),
    "Drafting.accept": lambda w, _: w.engine.drafting.accept(DRAFT, "of the ward"),
    "Drafting.refuse": lambda w, _: w.engine.drafting.refuse(DRAFT),
    "Drafting.reopen": lambda w, _: w.engine.drafting.reopen(DRAFT),
    "Judging.desk": lambda w, _: w.engine.judging.desk(w.batch, "passage", "Nurse"),
    "Judging.guidelines": lambda w, _: w.engine.judging.guidelines("of the ward"),
    "Judging.set_guidelines": lambda w, _: w.engine.judging.set_guidelines("of the ward", "x"),
    "Judging.exported": lambda w, _: w.engine.judging.exported("of the ward", "jsonl"),
    "Judging.imported": lambda w, _: w.engine.judging.imported("of the ward", JUDGEMENT),
    "Judging.history": lambda w, _: w.engine.judging.history("of the ward"),
    "Judging.grader": lambda w, _: w.engine.judging.grader("of the ward"),
    "Judging.note_history": lambda w, _: w.engine.judging.note_history(w.batch, "x"),
    # Last, for nothing is left of them.
    "Drafting.forget": lambda w, name: w.engine.drafting.forget(name),
    "EvaluationStore.forget_cases": lambda w, _: w.engine.evaluation.forget_cases(w.batch, [case_of_batch(w)]),
    "Ingestions.discard": lambda w, _: w.engine.ingestions.discard(w.job),
}
"""What names something of the ward: for others it is not there."""

LISTS: dict[str, Callable[[Ward], object]] = {
    "Engine.runs": lambda w: (w.engine.runs(500), w.engine.runs(text=SECRET), w.engine.runs(text=w.run[:8])),
    "Engine.run_configs": lambda w: w.engine.run_configs([w.run, w.open_run]),
    "Engine.tags": lambda w: w.engine.tags(),
    "Engine.collections": lambda w: w.engine.collections(),
    "Engine.memories": lambda w: w.engine.memories(),
    "Ingestions.jobs": lambda w: w.engine.ingestions.jobs(),
    "Ingestions.every": lambda w: w.engine.ingestions.every(),
    "JobList.all": lambda w: w.engine.jobs.all(),
    "BatchRunner.newest": lambda w: w.engine.batches.newest(20),
    "Graphs.all": lambda w: w.engine.graphs.all(),
    "EvaluationStore.query_sets": lambda w: w.engine.evaluation.query_sets(),
    "EvaluationStore.cases_asking": lambda w: w.engine.evaluation.cases_asking(QUESTION, "ward", w.run),
    "EvaluationStore.batches": lambda w: w.engine.evaluation.batches(),
    "EvaluationStore.settings": lambda w: w.engine.evaluation.settings(),
    "EvaluationStore.saved_at": lambda w: w.engine.evaluation.saved_at(),
    "Drafting.list": lambda w: (w.engine.drafting.list(), w.engine.drafting.list("ward")),
    "WeakPoints.list": lambda w: w.engine.weak_points.list(),
    "WeakPoints.collections": lambda w: w.engine.weak_points.collections(),
    "WeakPoints.passages": lambda w: w.engine.weak_points.passages("ward", "Another question?"),
    "GraderFits.of": lambda w: (w.engine.grader_fits.of("ward"), w.engine.grader_fits.of("station")),
    "CollectionLimits.all": lambda w: w.engine.limits.all(),
}
"""What lists things: those of the ward are left out for others."""

ANSWER = AnswerJudgement(QUESTION, f"The {SECRET} protocol.", "no", judge=MEMBER.author)
PASSAGE = Item("", "passage", "q", QUESTION, "", RunId("r"), PassageId("protocol.md#0"))
OPEN_SET = "for all of the hall"


def set_labels(ward: Ward) -> None:
    """Set and take back a label, of nobody and of the member."""
    for said in (False, None):
        for judge in ("", MEMBER.author):
            ward.engine.evaluation.set_label(QUESTION, "protocol.md#0", said, judge=judge)


SAME_NAME: dict[str, Callable[[Ward], object]] = {
    "EvaluationStore.save_settings": lambda w: w.engine.evaluation.save_settings("for the ward", RunConfig(top_k=9)),
    "EvaluationStore.delete_settings": lambda w: w.engine.evaluation.delete_settings("for the ward"),
    "EvaluationStore.set_label": set_labels,
    "EvaluationStore.judge_answer": lambda w: w.engine.evaluation.judge_answer(ANSWER),
    "EvaluationStore.remove_answer_judgement": lambda w: w.engine.evaluation.remove_answer_judgement(ANSWER),
    "EvaluationStore.take_judgements": lambda w: w.engine.evaluation.take_judgements(
        OPEN_SET, [Label(QUESTION, PassageId("protocol.md#0"), False, "", judge=MEMBER.author)], [ANSWER]
    ),
    "Judging.say": lambda w: w.engine.judging.say(PASSAGE, "no", MEMBER.author),
    "Judging.take_back": lambda w: w.engine.judging.take_back(PASSAGE, MEMBER.author),
    "Judging.named": lambda w: w.engine.judging.named(MEMBER.author),
    "WeakPoints.note": lambda w: w.engine.weak_points.note(WeakPoint("w1", "samples", "Why?", "refused", "r", "2027")),
    "GraderFits.keep": lambda w: w.engine.grader_fits.keep(GraderFit("examples", "ollama:m", "ward", {"examples": []})),
}
"""What is written under a name or an id that something of the ward has: that stays as it is."""

NOTHING: dict[str, tuple[str, ...]] = {
    "only works with values that the caller has": (
        "Engine.what_if",
        "Engine.condense",
        "Engine.read_attachment",
        "Library.embedding_models",
    ),
    "says how this process is": (
        *("Engine.flush", "Engine.active_runs", "Engine.ollama", "Engine.opening_fault", "Engine.unopened"),
        "Engine.open_again",
        *("Engine.faults", "Engine.noted_faults"),
    ),
    "says how the program is made": ("Engine.graph", "Engine.worst_case_calls"),
    "a part, which is asked itself": ("Engine.weak_points", "Engine.evaluation", "Engine.batches"),
    "counts milliseconds and calls": ("Engine.under_way",),
    "takes records, which the caller has read": (
        "Engine.reasons_coming",
        "Engine.start_regrade",
        "GraderFits.start_examples",
    ),
    "is about models": (
        *("Host.providers", "Host.offered", "Host.models", "Host.pulls"),
        *("Host.local_models", "Host.catalogue", "Host.cross_encoders", "Host.runs_files"),
        *("Engine.chat_models", "Host.try_model"),
    ),
    "looks at the parts of this process, and leaves out connections to limited collections": ("Host.health",),
    "says nothing of what is there": (
        *("Ingestions.check_graph", "WeakPoints.is_on"),
        "BatchRunner.wait",
    ),
    "says what was judged of a question that the caller knows, by ids": ("EvaluationStore.labels",),
    "says what was judged of answers that the caller has": ("EvaluationStore.answer_judgements",),
    "names who has judged anything": ("Judging.judges",),
}
"""What brings nothing of a collection, and why."""


def case_of_batch(ward: Ward) -> str:
    from engine.people import WORKBENCH, acting_as

    with acting_as(WORKBENCH):
        return ward.engine.evaluation.batch(ward.batch).case_ids[0]


def traces(ward: Ward, value: object) -> set[str]:
    """What in a value, or in an answer, gives the ward away."""
    text = value if isinstance(value, str) else repr(value)
    known = (SECRET, "rounds begin", "of the ward", "for the ward", ward.run, ward.job, ward.batch)
    names = ("'ward'", "'station'", '"ward"', '"station"')
    return {item for item in (*known, *names) if item in text}


def test_every_operation_of_viewers_and_editors_is_in_a_table() -> None:
    open_to_all = {
        f"{kind.__name__}.{name}"
        for kind, operations in OPERATIONS.items()
        if kind.__module__.startswith("engine.")
        for name, operation in operations.items()
        if operation is not None and operation.least != "admin"
    }
    said = [*REFUSED, *LISTS, *SAME_NAME, *(name for names in NOTHING.values() for name in names)]
    assert set(said) == open_to_all
    assert len(said) == len(set(said))


@OTHERS
@NAMES
@pytest.mark.parametrize("operation", REFUSED)
def test_for_others_it_is_not_there(ward: Ward, operation: str, name: str, person: Person) -> None:
    with ward.as_(person), raises(*NOT_THERE) as refused:
        REFUSED[operation](ward, name)
    assert not traces(ward, str(refused.value).replace(repr(name), "").replace("'of the ward'", "")) - {
        ward.run,
        ward.job,
        ward.batch,
    }


@pytest.mark.parametrize("person", [OUTSIDER, ELSEWHERE, VIEWER], ids=["another group", "other collections", "viewer"])
@pytest.mark.parametrize("operation", SAME_NAME)
def test_nothing_of_it_is_changed_under_the_same_name(ward: Ward, operation: str, person: Person) -> None:
    with ward.as_(MEMBER):
        ward.engine.evaluation.judge_answer(replace(ANSWER, right="yes"))
        before = tables(ward.engine)
    with ward.as_(person), suppress(WorkbenchError):
        SAME_NAME[operation](ward)
    after = tables(ward.engine)
    for table, rows in before.items():
        lost = set(rows) - set(after.get(table, ()))
        assert not {row for row in lost if person.id not in row}, lost
    assert before["grader_fits"] == after["grader_fits"]


@pytest.mark.parametrize("operation", ["wait", "record", "events", "aevents", "fork", "cancel", "tag_run", "untag_run"])
def test_nor_once_the_run_has_left_memory(ward: Ward, operation: str) -> None:
    ward.engine._runs.forget(ward.run)
    with ward.as_(OUTSIDER), pytest.raises(UnknownRun):
        REFUSED[f"Engine.{operation}"](ward, "ward")


@OTHERS
@pytest.mark.parametrize("way", LISTS)
def test_no_list_has_it(ward: Ward, way: str, person: Person) -> None:
    with ward.as_(person):
        assert not traces(ward, LISTS[way](ward))
    with ward.as_(MEMBER):
        assert traces(ward, LISTS[way](ward))


def test_what_is_not_for_others_sounds_like_what_is_not_there(ward: Ward) -> None:
    def said(call: Callable[[], object]) -> str:
        with pytest.raises(WorkbenchError) as refused:
            call()
        return f"{refused.value.code} {refused.value}"

    def like(call: Callable[[str], object], there: str, made_up: str) -> None:
        assert said(lambda: call(there)).replace(there, made_up) == said(lambda: call(made_up))

    with ward.as_(OUTSIDER):
        like(ward.engine.describe, "ward", "nowhere")
        like(ward.engine.record, ward.run, "0" * 32)
        like(ward.engine.ingestions.job, ward.job, "0" * 12)
        like(ward.engine.batches.progress, ward.batch, "0" * 32)
        like(ward.engine.evaluation.query_set, "of the ward", "of no one")


# -- routes -----------------------------------------------------------------------------------------------------------


def routes(ward: Ward) -> list[str]:
    """Those of viewers and editors, as the router has them."""
    return sorted(route for route, least in declared().items() if least != "admin")


@NAMES
def test_no_route_gives_it_to_others(ward: Ward, name: str) -> None:
    given = {"name": name, "run_id": ward.run, "job_id": ward.job, "set_name": "of the ward", **IDS}
    asked = {"collection": name, "text": SECRET, "entity": ENTITY, "query": SECRET}
    callers = (ward.token(), ward.token(collections=["samples"]), cookie(OUTSIDER))
    tried = 0
    for route in routes(ward):
        for headers in callers:
            method, path = address(route, **given)
            if "cookie" in headers and method != "GET":
                continue
            query = {} if path.endswith("/runs") else asked
            answer = ward.client.request(method, path, params=query, headers=headers, json=body_of(route, name))
            text = answer.text.replace(repr(name), "").replace(f'"{name}"', "")
            found = traces(ward, text) - ({SECRET} if method == "POST" else set())
            if any(f"{{{part}" in route for part in given):
                assert answer.status_code == 404, (route, answer.text)
                found -= {ward.run, ward.job, "of the ward", *IDS.values()}
            assert not found, (route, found, answer.text)
            tried += 1
    assert tried > 50


def test_to_a_member_they_give_it(ward: Ward) -> None:
    given = {"name": "ward", "run_id": ward.run, "job_id": ward.job, "set_name": "of the ward", **IDS}
    silent = {"/health", "/ready", "/openapi.json", "/host/health", "/metrics", "/me", "/runs/{run_id}/events"}
    for route in routes(ward):
        method, path = address(route, **given)
        if method == "GET" and route.removeprefix("GET ") not in silent:
            answer = ward.client.get(path, params={"entity": ENTITY}, headers=cookie(MEMBER))
            assert answer.status_code == 200, (route, answer.text)
            assert traces(ward, answer.text), route


# -- at the end, for it changes what is there ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation", [name for name in REFUSED if name not in ("EvaluationStore.add_batch", "Graphs.discard")]
)
def test_for_a_member_it_is_there(ward: Ward, operation: str) -> None:
    refused = ""
    with ward.as_(MEMBER):
        try:
            REFUSED[operation](ward, "ward")
        except WorkbenchError as error:
            refused = error.code
    assert operation == "Library.create" or refused not in {kind.code for kind in NOT_THERE}
