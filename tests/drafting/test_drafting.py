"""Drafts of a real collection: written by a chat model, kept apart, accepted, refused and taken back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from engine.cli.main import main
from engine.database.base import Database
from engine.database.tables import DRAFTS, Part
from engine.drafting.drafting import Step, spread_over
from engine.drafting.store import DraftStore
from engine.drafting.values import Draft, draft_id
from engine.engine import Engine
from engine.errors import EvaluationError, InvalidConfig, InvalidQuestion, UnknownCollection
from engine.evaluation.cases import QuerySet
from engine.model.values import PassageId
from engine.people import Person, acting_as
from engine.roles import StoredPassage
from engine.settings import Settings
from tests.api.served import ADDRESS, app_of
from tests.drafting.documents import ITEMS, OPENED, asked_of
from tests.llm.recording import CHAT, role_model
from tests.support.errors import raises
from tests.support.ollama_stand_in import OllamaStandIn

ONE = Draft(
    draft_id("docs", "What is a chain?"), "docs", "What is a chain?", "definition", "en", (PassageId("a.md#1"),), "a.md"
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("drafting")
    with (
        OllamaStandIn(["qwen3:8b"], reply=asked_of) as server,
        Engine.open(Settings(data_dir=folder, ollama_url=server.url, role_models=(f"generator={CHAT}",))) as engine,
    ):
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
    assert len({item.passages for item in made.drafts[: len(OPENED)]}) == len(OPENED)
    assert {(item.rule, item.by) for item in made.drafts} == {("chat", role_model().model)}
    assert [item.draft for item in engine.drafting.list("docs", "open")] == list(made.drafts)
    assert engine.evaluation.query_sets() == ("samples",)
    assert {step.stage for step in steps} == {"reading", "writing"}
    again = engine.drafting.make("docs", 200)
    assert not {item.id for item in again.drafts} & {item.id for item in made.drafts}
    assert engine.drafting.make("docs", 200).drafts == ()


def test_an_accepted_draft_is_a_question_of_its_set_and_leaves_it_when_taken_back(engine: Engine) -> None:
    made = engine.drafting.make("docs", 40).drafts
    when = next(item for item in made if item.question == "When was the granary of the town opened?")
    kept = engine.drafting.accept(when.id, "my set", question="Since when is there a granary?")
    assert (kept.state, kept.set_name) == ("accepted", "my set")
    found = engine.evaluation.query_set("my set")
    (case,) = found.cases
    assert (found.collection, found.origin) == ("docs", "drafts")
    assert (case.question, case.gold_answers, case.answerable) == ("Since when is there a granary?", ("1874",), True)
    assert [item.value for item in case.expected] == list(when.passages)
    missed = replace(ONE, rule="near_miss", passages=(), answerable=False, swapped=("a", "b"))
    engine._evaluations.drafts.add([missed])
    engine.drafting.accept(missed.id, "my set")
    assert engine.evaluation.query_set("my set").cases[1].answerable is False
    assert engine.drafting.reopen(when.id).state == "open"
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
    with raises(EvaluationError.set_reserved, match="'others' is asked of the collection 'samples'"):
        engine.drafting.accept(draft.id, "others")
    with raises(EvaluationError.set_reserved):
        engine.drafting.accept(draft.id, "samples")
    with pytest.raises(InvalidQuestion):
        engine.drafting.accept(draft.id, "mine", question="  ")
    with raises(EvaluationError.unknown_draft):
        engine.drafting.refuse("d-nothing")
    with pytest.raises(UnknownCollection):
        engine.drafting.make("nowhere")
    with pytest.raises(InvalidConfig):
        engine.drafting.start("docs", 0)
    with pytest.raises(InvalidConfig, match="'builtin' cannot draft questions: only a chat model writes them"):
        engine.drafting.make("docs", model="builtin")
    assert engine.drafting.draft(draft.id).state == "open"


def test_drafts_over_http(engine: Engine) -> None:
    with TestClient(app_of(engine), base_url=ADDRESS) as client:
        made = client.post("/api/collections/docs/drafts", json={"limit": 3}).json()
        assert len(made["drafts"]) == 3 and made["unread"] == 0
        refused = client.post("/api/collections/docs/drafts", json={"model": "builtin"})
        assert refused.status_code == 422 and "import a file of questions" in refused.text
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
        with raises(EvaluationError.unknown_draft):
            engine.drafting.accept(draft.id, "mine")
        with pytest.raises(UnknownCollection):
            engine.drafting.make("docs")


def test_drafts_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    with OllamaStandIn(["qwen3:8b"], reply=asked_of) as server:
        monkeypatch.setenv("WORKBENCH_OLLAMA_URL", server.url)
        with Engine.open(Settings.load()) as engine:
            engine.ingest(ITEMS, "docs", embedding_model="hashing")
        assert main(["drafts", "make", "docs"]) == 2
        assert "only a chat model writes them" in capsys.readouterr().err
        assert main(["drafts", "make", "docs", "--limit", "3", "--model", CHAT]) == 0
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


def test_passages_for_a_model_come_from_the_whole_collection() -> None:
    prose = [StoredPassage(PassageId(f"p{place}"), "a.md", "word " * 200) for place in range(10)]
    assert spread_over(prose, 10) == prose
    assert [item.id for item in spread_over(prose, 4)] == ["p0", "p2", "p5", "p7"]
