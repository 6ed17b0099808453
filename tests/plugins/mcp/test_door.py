"""Who comes in at ``/mcp``, and as whom (MC-01, MC-03)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette

from engine.api import middleware
from engine.engine import Engine
from engine.errors import InvalidSettings
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.model.values import RunId
from engine.people import Person, Role, acting_as
from engine.settings import Settings
from plugins.mcp import door as doors
from plugins.mcp.door import MODE_HEADER
from plugins.mcp.plugin import _check
from plugins.mcp.server import TOOLS
from tests.api.served import serving
from tests.plugins.mcp.agents import HELLO, Agent
from tests.plugins.mcp.conftest import Served, served
from tests.support.gates import PATIENCE_S
from tests.support.people import ADMIN

SECRET = "zanthium"
TEXT = f"# The {SECRET} protocol\n\nThe {SECRET} protocol of the ward says that rounds begin at six.\n"
QUESTION = f"When do the rounds of the {SECRET} protocol begin?"
MEMBER = Person("nurse@example.org", "Nurse", "editor", frozenset({"clinic"}))
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def sent(url: str, body: object = HELLO, **headers: str) -> httpx2.Response:
    """What comes of a message that no client has looked over."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(url, content=content, headers={**ACCEPT, **headers}, timeout=60)


def test_off_there_is_nothing_and_the_answer_says_how_to_turn_it_on(engine: Engine) -> None:
    with served(engine) as app:
        for url in (app.url, f"{app.url}/"):
            for answer in (sent(url), httpx2.get(url), sent(url, authorization="Bearer guessed")):
                assert answer.status_code == 404
                assert answer.json()["code"] == "WB973"
                assert "WORKBENCH_MCP" in answer.json()["remedy"]


def test_the_command_of_this_machine_is_let_in_though_it_is_off(engine: Engine) -> None:
    """By the secret of the data folder, and in the mode that it asks for (MC-04)."""
    token = {"authorization": f"Bearer {engine.local_token}"}
    with served(engine) as app:
        assert "save_settings" not in Agent(app.url, token).tools()
        assert "save_settings" in Agent(app.url, {**token, MODE_HEADER: "write"}).tools()


def test_it_is_below_the_base_of_the_app_too(engine: Engine) -> None:
    """Where a proxy hands on only what is below it (MC-01)."""
    chosen = engine.settings.model_copy(update={"mcp": "read"})
    app = Starlette(middleware=middleware(lambda: engine, chosen, base="/bench"))
    with serving(app) as port:
        for base in ("", "/bench", "/bench/mcp"):
            answer = sent(f"http://127.0.0.1:{port}{base}/mcp")
            assert answer.status_code == (404 if base == "/bench/mcp" else 200)


def test_another_mode_is_nothing_that_a_caller_can_ask_for(reading: Served) -> None:
    assert "save_settings" not in Agent(reading.url, {MODE_HEADER: "write"}).tools()


def test_the_guards_of_the_app_stand_before_it(reading: Served) -> None:
    """Pages of other origins and other host names reach nothing: no address leads around DNS (MC-03)."""
    assert sent(reading.url).status_code == 200
    assert sent(reading.url, host="evil.example").status_code == 400
    assert sent(reading.url, origin="http://evil.example").status_code == 403
    assert sent(reading.url, b"a=b", **{"content-type": "application/x-www-form-urlencoded"}).status_code == 415
    assert sent(reading.url, b'{"a": "' + b"x" * 70_000 + b'"}').status_code == 413
    assert sent(reading.url, b"{" * 10_000).status_code in (400, 422)
    answer = sent(reading.url)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("accept", ["application/json", "application/*;q=0.9", ""])
def test_a_client_that_takes_json_alone_gets_json(reading: Served, accept: str) -> None:
    answer = sent(reading.url, accept=accept)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["result"]["serverInfo"]["name"] == "rag-workbench"
    session = {"mcp-session-id": answer.headers["mcp-session-id"], "accept": accept}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert sent(reading.url, ready, **session).status_code == 202
    call = {"name": "search", "arguments": {"query": "树", "k": "3"}}
    found = sent(reading.url, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, **session)
    assert len(found.json()["result"]["structuredContent"]["passages"]) == 3
    assert sent(reading.url, accept="text/html").status_code == 406


def test_write_takes_documents_as_large_as_the_settings_say(writing: Served) -> None:
    assert sent(writing.url, b'{"a": "' + b"x" * 200_000 + b'"}').status_code == 400  # no message, and not too large


def test_a_client_of_the_earlier_protocol_works_in_the_same_way(reading: Served) -> None:
    assert Agent(reading.url, mode="legacy").tools().keys() == reading.agent().tools().keys()
    assert Agent(reading.url, mode="legacy").result("search", query="tree")["passages"]


def test_replicas_need_no_session(engine: Engine) -> None:
    """Where they share a database each message stands alone, for the next may reach another replica."""
    with served(engine, mcp="read", database_url=SecretStr("postgresql://somewhere")) as app:
        assert "mcp-session-id" not in sent(app.url).headers
        assert Agent(app.url, mode="legacy").result("list_collections")["collections"]


def test_a_package_that_is_missing_ends_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.mcp.plugin.find_spec", lambda _: None)
    with pytest.raises(InvalidSettings, match="WORKBENCH_MCP"):
        _check(Settings(mcp="read"))
    _check(Settings())


# -- where people sign in ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, RunId]]:
    """An installation with a limited collection and a run of it, where agents may write."""
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("ward"), ollama_url="http://127.0.0.1:1", embedding_model="hashing"
    )
    people = pytest.importorskip("tests.plugins.team.signing_in")
    with Engine.open(settings) as engine, people.people_sign_in(engine) as found:
        with acting_as(ADMIN):
            engine.wait_until_ready()
            engine.ingest([IngestItem("protocol.md", data=TEXT.encode())], "ward")
            engine.limit_collection("ward", ["clinic"])
        with acting_as(engine.limits.admitted(MEMBER)):
            run = engine.start(QUESTION, RunConfig(collection="ward"))
            engine.wait(run)
            engine.flush()
            engine.evaluation.save_settings("for the ward", RunConfig(collection="ward"))
            assert SECRET in engine.record(run).answer
        with served(engine, found, mcp="write") as app:
            yield app, run


def team_of(engine: Engine) -> Any:
    return pytest.importorskip("plugins.team.team").Team.of(engine)


def token(app: Served, role: Role, collections: list[str] | None = None) -> dict[str, str]:
    with acting_as(ADMIN):
        return {"authorization": f"Bearer {team_of(app.engine).make_token('t', role, 1, collections)[1]}"}


def test_nobody_comes_in_without_a_token_that_holds(ward: tuple[Served, RunId]) -> None:
    app, _ = ward
    for headers in ({}, {"authorization": "Bearer guessed"}, {"authorization": "Basic eDp5"}):
        answer = sent(app.url, **headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_tools_are_those_of_the_role(ward: tuple[Served, RunId]) -> None:
    app, _ = ward
    looking = {name for name, role in TOOLS.items() if role == "viewer"}
    viewer = Agent(app.url, token(app, "viewer"))
    assert viewer.tools().keys() == looking
    for name in sorted(TOOLS.keys() - looking):
        assert "WB820" in viewer.refused(name) or "editor" in viewer.refused(name)
    assert Agent(app.url, token(app, "editor")).tools().keys() == TOOLS.keys()


def test_what_is_limited_is_there_for_nobody_else(ward: tuple[Served, RunId]) -> None:
    """No tool and no resource says a word of it to those who may not read it (MC-03, TM-14, TM-18)."""
    app, run = ward
    for headers in (token(app, "editor"), token(app, "editor", ["samples"])):
        other = Agent(app.url, headers)
        said = [json.dumps(other.result(name)) for name in ("list_collections", "list_runs", "list_settings")]
        said += [
            other.refused("search", query=SECRET, collection="ward"),
            other.refused("ask", question=QUESTION.replace(SECRET, ""), collection="ward"),
            other.refused("explain_run", run_id=run),
            other.refused("what_if", run_id=run, settings={}),
            other.refused("diagnose", run_id=run, expected=["protocol.md#1"]),
            other.refused("tag_run", run_id=run, tag="seen"),
            other.refused("judge_passage", run_id=run, passage_id="protocol.md#1", relevant=True),
            other.refused("ask", question="Why?", saved="for the ward"),
            other.refused("ingest_text", name="a.md", text="# A\n\nB.", collection="ward"),
            other.refused("save_settings", name="for the ward", settings={"top_k": 9}),
        ]
        with acting_as(ADMIN):
            assert app.engine.evaluation.settings()["for the ward"] == RunConfig(collection="ward")
        assert not [item for item in said if SECRET in item or "rounds begin" in item]
        listed = json.loads(said[0])["collections"]
        assert [item["name"] for item in listed] == ["samples"]

        async def resources(client: object) -> str:
            return str(await client.list_resources())  # type: ignore[attr-defined]

        found = other.working(resources)
        assert run not in found
        assert "collections/ward" not in found


def test_members_find_what_is_limited_to_them(ward: tuple[Served, RunId]) -> None:
    app, run = ward
    member = Agent(app.url, token(app, "editor", ["ward"]))
    assert [item["name"] for item in member.result("list_collections")["collections"]] == ["ward"]
    assert SECRET in member.result("explain_run", run_id=run)["answer"]


def test_a_session_gives_nobody_the_rights_of_who_began_it(ward: tuple[Served, RunId]) -> None:
    """Each message acts for its own token, also within another person's session (MC-03)."""
    app, _ = ward
    member, other = token(app, "editor", ["ward"]), token(app, "viewer", ["samples"])
    session = sent(app.url, **member).headers["mcp-session-id"]
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_collections", "arguments": {}}}
    answers = [
        sent(app.url, asked, **{**who, "mcp-session-id": session, "mcp-protocol-version": "2025-06-18"}).text
        for who in (member, other)
    ]
    assert "ward" in answers[0]
    assert "ward" not in answers[1]
    assert "samples" in answers[1]


def test_changes_of_an_agent_stand_in_the_log_under_its_token(ward: tuple[Served, RunId]) -> None:
    app, run = ward
    Agent(app.url, token(app, "editor", ["ward"])).result("tag_run", run_id=run, tag="by a token")
    with acting_as(ADMIN):
        newest = next(item for item in team_of(app.engine).entries() if item.operation == "Engine.tag_run")
    assert newest.name == "t"
    assert "by a token" in newest.on


# -- one session ------------------------------------------------------------------------------------------------------


def _session(url: str) -> dict[str, str]:
    """The header of a session that was begun."""
    begun = sent(url)
    header = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
    assert sent(url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **header).status_code == 202
    return header


def _asking(number: object) -> dict[str, object]:
    asked = {"name": "list_collections", "arguments": {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": asked}


@pytest.mark.parametrize("second", [7, "7", " 7"], ids=["the same", "as a text", "with a blank"])
def test_of_two_requests_with_one_id_each_is_answered(
    reading: Served, second: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    collections = Engine.collections

    def slowly(engine: Engine) -> object:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return collections(engine)

    header = _session(reading.url)
    monkeypatch.setattr(Engine, "collections", slowly)
    pool = ThreadPoolExecutor(2)
    try:
        first = pool.submit(sent, reading.url, _asking(7), **header)
        assert begun.wait(PATIENCE_S)
        refused = pool.submit(sent, reading.url, _asking(second), **header).result(PATIENCE_S)
        go_on.set()
        answered = first.result(PATIENCE_S)
    finally:
        go_on.set()
        # Not waited for: where one is never answered, its connection ends with the server.
        pool.shutdown(wait=False)
    assert (refused.status_code, refused.json()["id"]) == (409, second)
    assert "an id of its own" in refused.json()["error"]["message"]
    assert answered.status_code == 200 and '"samples"' in answered.text
    # Once it is answered, the id is free again, and other sessions have ids of their own.
    assert sent(reading.url, _asking(7), **header).status_code == 200
    assert sent(reading.url, _asking(7), **_session(reading.url)).status_code == 200


def test_a_session_works_on_so_many_requests_at_a_time(reading: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    collections = Engine.collections

    def slowly(engine: Engine) -> object:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return collections(engine)

    header = _session(reading.url)
    monkeypatch.setattr(Engine, "collections", slowly)
    monkeypatch.setattr(doors, "MOST_AT_ONCE", 1)
    pool = ThreadPoolExecutor(2)
    try:
        first = pool.submit(sent, reading.url, _asking(1), **header)
        assert begun.wait(PATIENCE_S)
        refused = pool.submit(sent, reading.url, _asking(2), **header).result(PATIENCE_S)
        go_on.set()
        assert first.result(PATIENCE_S).status_code == 200
    finally:
        go_on.set()
        pool.shutdown(wait=False)
    assert refused.status_code == 429 and "Wait for one" in refused.json()["error"]["message"]
