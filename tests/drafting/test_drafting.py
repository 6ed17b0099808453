"""Drafts of a real collection: made, kept apart from query sets, accepted, refused and taken back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from engine.cli.main import main
from engine.database.base import Database
from engine.database.tables import DRAFTS, Part
from engine.drafting.making import Step, make
from engine.drafting.store import DraftStore
from engine.drafting.values import Draft, draft_id
from engine.engine import Engine
from engine.errors import (
    EvaluationError,
    InvalidConfig,
    InvalidQuerySet,
    InvalidQuestion,
    UnknownCollection,
    UnknownDraft,
)
from engine.evaluation.cases import QuerySet
from engine.model.values import PassageId
from engine.people import Person, acting_as
from engine.roles import SourceInfo, StoredPassage
from engine.settings import Settings
from tests.api.served import ADDRESS, app_of
from tests.drafting.documents import ITEMS, passages

ONE = Draft(
    draft_id("docs", "What is a chain?"), "docs", "What is a chain?", "definition", "en", (PassageId("a.md#1"),), "a.md"
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("drafting"), ollama_url="http://127.0.0.1:1")
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        engine.ingest(ITEMS, "docs", embedding_model="hashing")
        yield engine


@pytest.fixture
def engine(shared: Engine) -> Engine:
    """The engine without drafts and without query sets of its own."""
    with shared._evaluations.drafts._writing() as connection:
        connection.execute(DRAFTS.delete())
    for name in shared.evaluation.query_sets()[1:]:
        shared.evaluation.delete_query_set(name)
    return shared


def test_drafts_wait_apart_and_count_nowhere(engine: Engine) -> None:
    steps: list[Step] = []
    made = engine.drafting.start("docs", 12, note=steps.append).result()
    assert len(made.drafts) == 12 and made.passages == sum(item.passages for item in engine.sources("docs"))
    assert [item.draft for item in engine.drafting.list("docs", "open")] == list(made.drafts)
    assert engine.evaluation.query_sets() == ("samples",)
    assert {step.stage for step in steps} == {"reading", "checking"}
    assert any(not item.answerable for item in made.drafts)
    again = engine.drafting.make("docs", 200)
    assert not {item.id for item in again.drafts} & {item.id for item in made.drafts}
    assert engine.drafting.make("docs", 200).drafts == ()


def test_an_accepted_draft_is_a_question_of_its_set_and_leaves_it_when_taken_back(engine: Engine) -> None:
    made = engine.drafting.make("docs", 40).drafts
    port = next(item for item in made if item.question == "What is the default of server.port?")
    kept = engine.drafting.accept(port.id, "my set", question="On which port does the server listen?")
    assert (kept.state, kept.set_name) == ("accepted", "my set")
    found = engine.evaluation.query_set("my set")
    (case,) = found.cases
    assert (found.collection, found.origin) == ("docs", "drafts")
    assert (case.question, case.gold_answers, case.answerable) == (
        "On which port does the server listen?",
        ("8123",),
        True,
    )
    assert [item.value for item in case.expected] == list(port.passages)
    missed = next(item for item in made if not item.answerable)
    engine.drafting.accept(missed.id, "my set")
    assert engine.evaluation.query_set("my set").cases[1].answerable is False
    assert engine.drafting.reopen(port.id).state == "open"
    assert [item.id for item in engine.evaluation.query_set("my set").cases] == [missed.id]


def test_a_question_is_in_no_other_set_than_the_one_that_its_draft_names(engine: Engine) -> None:
    (draft,) = engine.drafting.make("docs", 1).drafts

    def holding() -> list[str]:
        store = engine.evaluation
        return [name for name in store.query_sets() if draft.id in {item.id for item in store.query_set(name).cases}]

    engine.drafting.accept(draft.id, "one")
    engine.drafting.accept(draft.id, "one", question="Otherwise?")
    assert holding() == ["one"] and engine.evaluation.query_set("one").cases[0].question == "Otherwise?"
    engine.drafting.accept(draft.id, "two")
    assert holding() == ["two"]
    assert engine.drafting.refuse(draft.id).state == "refused"
    assert holding() == []


def test_what_was_refused_or_accepted_is_not_drafted_again(engine: Engine) -> None:
    first, second = engine.drafting.make("docs", 2).drafts
    engine.drafting.refuse(first.id)
    engine.drafting.accept(second.id, "s")
    engine.drafting.forget("docs")
    left = engine.drafting.make("docs", 200).drafts
    assert left and not {first.id, second.id} & {item.id for item in left}
    assert [item.draft.id for item in engine.drafting.list("docs", "refused")] == [first.id]


def test_bad_calls_say_what_is_wrong(engine: Engine) -> None:
    (draft,) = engine.drafting.make("docs", 1).drafts
    engine.evaluation.save_query_set(QuerySet("others", ()))
    with pytest.raises(InvalidQuerySet, match="'others' is asked of the collection 'samples'"):
        engine.drafting.accept(draft.id, "others")
    with pytest.raises(InvalidQuerySet):
        engine.drafting.accept(draft.id, "samples")
    with pytest.raises(InvalidQuestion):
        engine.drafting.accept(draft.id, "mine", question="  ")
    with pytest.raises(UnknownDraft):
        engine.drafting.refuse("d-nothing")
    with pytest.raises(UnknownCollection):
        engine.drafting.make("nowhere")
    with pytest.raises(InvalidConfig):
        engine.drafting.start("docs", 0)
    assert engine.drafting.draft(draft.id).state == "open"


def test_drafts_over_http(engine: Engine) -> None:
    with TestClient(app_of(engine), base_url=ADDRESS) as client:
        made = client.post("/api/collections/docs/drafts", json={"limit": 3}).json()
        assert len(made["drafts"]) == 3 and made["unchecked"] is False
        waiting = client.get("/api/drafts", params={"collection": "docs"}).json()
        assert [item["id"] for item in waiting] == [item["id"] for item in made["drafts"]]
        first, second, _ = (item["id"] for item in waiting)
        edited = {"state": "accepted", "set": "http", "question": "Why so?", "gold_answers": ["because"]}
        assert client.put(f"/api/drafts/{first}", json=edited).json()["set"] == "http"
        assert engine.evaluation.query_set("http").cases[0].gold_answers == ("because",)
        assert client.put(f"/api/drafts/{second}", json={"state": "refused"}).json()["state"] == "refused"
        assert client.put(f"/api/drafts/{first}", json={"state": "open"}).json()["set"] == ""
        assert client.put("/api/drafts/d-none", json={"state": "refused"}).status_code == 404
        assert client.put(f"/api/drafts/{first}", json={"state": "accepted", "set": "samples"}).status_code == 422
        assert client.put(f"/api/drafts/{first}", json={"state": "maybe"}).status_code == 422
        assert client.post("/api/collections/docs/drafts", json={"limit": 500}).status_code == 422
        assert client.post("/api/collections/nowhere/drafts", json={}).status_code == 404
        states = [item["state"] for item in client.get("/api/drafts", params={"state": "all"}).json()]
        assert sorted(states) == ["open", "open", "refused"]


def test_who_may_not_read_the_collection_sees_none_of_its_drafts(engine: Engine) -> None:
    (draft,) = engine.drafting.make("docs", 1).drafts
    outsider = Person("o", "Oz", "editor", hidden=frozenset({"docs"}))
    with acting_as(outsider):
        assert engine.drafting.list() == ()
        with pytest.raises(UnknownDraft):
            engine.drafting.accept(draft.id, "mine")
        with pytest.raises(UnknownCollection):
            engine.drafting.make("docs")


def test_drafts_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("WORKBENCH_OLLAMA_URL", "http://127.0.0.1:1")
    with Engine.open(Settings.load()) as engine:
        engine.ingest(ITEMS, "docs", embedding_model="hashing")
    assert main(["drafts", "make", "docs", "--limit", "3"]) == 0
    assert capsys.readouterr().out.count("d-") == 3
    assert main(["drafts", "list", "--json"]) == 0
    first, second, _ = (item["id"] for item in json.loads(capsys.readouterr().out))
    assert main(["drafts", "accept", first, "--set", "cli", "--gold", "9", "--question", "How many?"]) == 0
    assert main(["drafts", "refuse", second]) == 0
    assert main(["drafts", "reopen", second]) == 0
    with Engine.open(Settings.load()) as engine:
        (case,) = engine.evaluation.query_set("cli").cases
        assert (case.question, case.gold_answers) == ("How many?", ("9",))
        assert engine.drafting.draft(second).state == "open"
    assert main(["drafts", "accept", "d-none", "--set", "cli"]) == 1
    assert "no drafted question" in capsys.readouterr().err


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("evaluation")


def test_drafts_in_both_databases_keep_their_order_and_what_was_decided(database: Database) -> None:
    two = Draft(draft_id("docs", "Why?"), "docs", "Why?", "way", "en", swapped=("a", "b"))
    with closing(DraftStore(database)) as store:
        store.add([ONE, two])
        store.decide(ONE.id, "refused")
        store.add([ONE])
        assert [(item.draft, item.state) for item in store.drafts("docs")] == [(ONE, "refused"), (two, "open")]
        assert store.drafts("other") == () and [item.draft for item in store.drafts(state="open")] == [two]
        assert store.forget("docs") == 1 and [item.draft for item in store.drafts()] == [ONE]


def test_a_damaged_draft_is_named_as_damage(database: Database) -> None:
    with closing(DraftStore(database)) as store:
        store.add([ONE])
        with database.writing() as connection:
            connection.execute(update(DRAFTS).values(data="{"))
        with pytest.raises(EvaluationError, match="damaged"):
            store.drafts()


class _Few:
    """A knowledge base of a few passages, whose search gives them all."""

    def __init__(self, found: list[StoredPassage]) -> None:
        self._found = found

    async def sources(self, _: str) -> list[SourceInfo]:
        return [SourceInfo(name, "", 1, "", "") for name in dict.fromkeys(item.source for item in self._found)]

    async def passages(self, _: str, source: str) -> list[StoredPassage]:
        return [item for item in self._found if item.source == source]

    async def retriever(self, _: str) -> _Few:
        return self

    async def search(self, _: str, limit: int) -> SimpleNamespace:
        return SimpleNamespace(passages=self._found[:limit])


@pytest.mark.parametrize(("nearest", "kept"), [("a firewall of its own", True), ("a firewall rule of its own", False)])
def test_a_near_miss_that_a_passage_found_for_it_may_answer_is_dropped(nearest: str, kept: bool) -> None:
    """The nearest passages are held to a lower bar than all the others."""
    server = (
        "# Server\n\n## server.port\n\n- Type: `number`\n\nIf `server.port` is blocked by a firewall rule, the backup "
        "server exits with code 3 at once.\n\n## server.host\n\n- Type: `string`\n\nSpecify where others find it.\n"
    )
    clients = f"# Clients\n\nA client needs `server.host` and {nearest}.\n"
    few: Any = _Few(passages(server=server, clients=clients))
    made = asyncio.run(make(few, "docs", (), 20))
    missed = [item.question for item in made.drafts if not item.answerable]
    assert missed == (["What happens if server.host is blocked by a firewall rule?"] if kept else [])
