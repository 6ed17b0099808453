"""Where people sign in every route needs a token, which does what its role may; pages have a cookie (TM-10, TM-12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from engine.api import middleware
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.people import Role, acting_as
from plugins.team.claims import SignedIn
from plugins.team.page_cookie import NAME
from plugins.team.signed_in import Doors, SignedInApi
from plugins.team.team import Team
from plugins.team.tokens import stamp
from tests.api.served import ADDRESS, engine_of
from tests.plugins.team.signing_in import COOKIES, people_sign_in
from tests.support.people import ADMIN, EDITOR, VIEWER

SOCKET = "ws://127.0.0.1:8501/_stcore/stream"


async def page(_: Request) -> Response:
    return PlainTextResponse("a page")


async def signed_in_again(_: Request) -> Response:
    return RedirectResponse("/", 302)


async def stream(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


PAGES = [
    Route("/oauth2callback", signed_in_again),
    Route("/auth/logout", page),
    WebSocketRoute("/_stcore/stream", stream),
    Route("/{path:path}", page, methods=["GET", "PUT", "DELETE"]),
]


@dataclass
class Installation:
    """An engine behind the doors of people who sign in."""

    engine: Engine
    client: TestClient
    run_id: str
    doors: Doors

    def token(self, role: Role = "viewer", **options: Any) -> str:
        with acting_as(ADMIN):
            return Team.of(self.engine).make_token(f"a {role}", role, **options)[1]

    def call(self, route: str, token: str | None, **more: Any) -> Any:
        method, _, path = route.partition(" ")
        path = path.replace("{run_id}", self.run_id).replace("{name}", "samples")
        path = re.sub(r"\{[^}]*\}", "x", path)
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        body: dict[str, Any] = {"json": {}} if method in ("POST", "PUT") else {}
        return self.client.request(method, f"/api{path}", headers=headers, **{**body, **more})


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    with engine_of(tmp_path) as engine, people_sign_in(engine) as doors:
        with acting_as(EDITOR):
            run_id = engine.start("Why?", RunConfig())
            engine.wait(run_id)
            engine.flush()
        with_pages = replace(doors, of_page=lambda cookies: known(cookies.get("streamlit")))
        app = Starlette(routes=PAGES, middleware=stack(engine, with_pages))
        with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
            yield Installation(engine, client, run_id, doors)


def stack(engine: Engine, doors: Doors) -> Any:
    def views(record: RunRecord, _: Any) -> dict[str, Any]:
        return {"outcome": record.outcome}

    return middleware(lambda: engine, engine.settings, views=views, sign_in=doors)


def known(cookie: str | None) -> SignedIn | None:
    """The pages' own cookie, of which this suite knows no more than who it is about."""
    people = {"vera": VIEWER, "edith": EDITOR}
    return SignedIn(people[cookie], time() + 60) if cookie in people else None


def test_a_proxy_may_ask_whether_this_replica_takes_work_and_no_more(here: Installation) -> None:
    assert here.call("GET /ready", None).json().keys() == {"ready", "draining"}
    for near in ("/api/ready/", "/api/ready/x", "/api//ready"):
        assert here.client.get(f"{ADDRESS}{near}").status_code == 401


@pytest.mark.parametrize("given", ["Bearer wbt_wrong", "Bearer ", "bearer x" * 100])
def test_a_wrong_token_is_refused(here: Installation, given: str) -> None:
    refused = here.client.get("/api/runs", headers={"authorization": given})
    assert (refused.status_code, refused.json()["code"]) == (401, "WB822")
    assert "invalid_token" in refused.headers["www-authenticate"]


def test_another_way_to_sign_in_is_refused(here: Installation) -> None:
    refused = here.client.get("/api/runs", headers={"authorization": "Basic YTpi"})
    assert (refused.status_code, refused.json()["code"]) == (401, "WB820")


def test_a_revoked_token_is_refused(here: Installation) -> None:
    token = here.token("admin")
    assert here.call("GET /runs", token).status_code == 200
    [made] = here.call("GET /tokens", token).json()
    assert here.call(f"DELETE /tokens/{made['id']}", token).status_code == 204
    refused = here.call("GET /runs", token)
    assert (refused.status_code, refused.json()["fact"]) == (401, "The token of the request was revoked.")


def test_a_token_that_is_over_is_refused(here: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    token = here.token(days=1)

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=1)

    monkeypatch.setattr("plugins.team.team.datetime", Tomorrow)
    refused = here.call("GET /runs", token)
    assert (refused.status_code, refused.json()["fact"]) == (401, "The token of the request has expired.")


def test_a_run_by_token_names_the_token(here: Installation) -> None:
    asked = here.call("POST /runs", here.token("editor"), json={"question": "Why?"}).json()
    assert asked["author"] == "token a editor"


def test_a_token_is_shown_once_and_kept_as_a_hash(here: Installation) -> None:
    admin = here.token("admin")
    made = here.call("POST /tokens", admin, json={"name": "nightly", "role": "editor", "days": 7}).json()
    assert made["token"].startswith("wbt_")
    listed = here.call("GET /tokens", admin).json()[0]
    assert listed == {name: value for name, value in made.items() if name != "token"}
    assert (listed["name"], listed["role"], listed["made_by"]) == ("nightly", "editor", "token a admin")
    kept = b"".join(file.read_bytes() for file in here.engine.settings.data_dir.glob("people.db*"))
    assert b"nightly" in kept
    assert made["token"].encode() not in kept


def test_the_last_use_of_a_token_is_noted(here: Installation) -> None:
    began = stamp(datetime.now(UTC))
    admin = here.token("admin")
    here.token("viewer")
    viewers, admins = here.call("GET /tokens", admin).json()
    assert viewers["used_at"] == ""
    assert admins["used_at"] >= began


@pytest.mark.parametrize(
    ("body", "field"),
    [({"name": " "}, "name"), ({"name": "a", "role": "admin", "collections": ["samples"]}, "collections")],
)
def test_a_token_that_cannot_be_is_not_made(here: Installation, body: dict[str, Any], field: str) -> None:
    refused = here.call("POST /tokens", here.token("admin"), json=body)
    assert (refused.status_code, refused.json()["field"]) == (422, field)


def test_changes_are_read_page_by_page_and_as_a_table(here: Installation) -> None:
    admin = here.token("admin")
    first, *_ = here.call("GET /audit", admin, params={"limit": 1}).json()
    assert (first["operation"], first["on"], first["who"]) == ("Team.make_token", "a admin", ADMIN.id)
    [before] = here.call("GET /audit", admin, params={"before": first["number"]}).json()
    assert (before["operation"], before["on"], before["who"]) == ("Engine.start", here.run_id, EDITOR.id)
    table = here.call("GET /audit.csv", admin)
    assert table.headers["content-type"].startswith("text/csv")
    assert [line.split(",")[0] for line in table.text.splitlines()] == ["number", "2", "1"]


def test_without_sign_in_no_token_can_be_made(tmp_path: Path) -> None:
    with engine_of(tmp_path) as engine:
        app = Starlette(middleware=middleware(lambda: engine, engine.settings))
        with TestClient(app, base_url=ADDRESS) as client:
            refused = client.post("/api/tokens", json={"name": "a"})
            assert (refused.status_code, refused.json()["code"]) == (409, "WB825")
            refused = client.put("/api/collections/samples/groups", json={"groups": ["clinic"]})
            assert (refused.status_code, refused.json()["code"]) == (409, "WB825")
            # As ever, whoever can reach it can use it, whatever they send along.
            assert client.get("/api/runs", headers={"authorization": "Bearer wrong"}).status_code == 200


# -- the cookie of pages ----------------------------------------------------------------------------------------------


def cookies_of(socket: Any) -> list[str]:
    return [value.decode() for header, value in socket.extra_headers or () if header == b"set-cookie"]


def cookie_of(here: Installation, name: str) -> dict[str, str]:
    """The cookie that a person's page gets as it connects."""
    with here.client.websocket_connect(SOCKET, headers={"cookie": f"streamlit={name}"}) as socket:
        [made] = cookies_of(socket)
    assert all(part in made for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
    return {"cookie": made.partition(";")[0]}


def test_a_page_follows_a_run_by_its_cookie(here: Installation) -> None:
    headers = cookie_of(here, "vera")
    assert headers["cookie"].startswith(f"{NAME}=")
    for stream_of_run in ("view", "events"):
        followed = here.client.get(f"/api/runs/{here.run_id}/{stream_of_run}", headers=headers)
        assert (followed.status_code, followed.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")


def test_a_cookie_changes_nothing(here: Installation) -> None:
    headers = cookie_of(here, "edith")
    path = f"/api/runs/{here.run_id}"
    assert here.client.post(f"{path}/cancel", headers=headers).status_code == 401
    assert here.client.put(f"{path}/tags/a", headers=headers).status_code == 401


def test_a_cookie_that_is_over_or_altered_is_worth_nothing(here: Installation) -> None:
    for value in (COOKIES.made(VIEWER, time() - 1), COOKIES.made(VIEWER, time() + 60)[:-2] + "xx"):
        assert here.client.get("/api/runs", headers={"cookie": f"{NAME}={value}"}).status_code == 401


def test_a_page_of_nobody_gets_no_cookie(here: Installation) -> None:
    with here.client.websocket_connect(SOCKET) as socket:
        assert cookies_of(socket) == []


def test_signing_out_takes_the_cookie_back(here: Installation) -> None:
    left = here.client.get("/auth/logout").headers["set-cookie"]
    assert left.startswith(f"{NAME}=; Max-Age=0")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/media/abc.png"),
        ("PUT", "/_stcore/upload_file/session/file"),
        ("DELETE", "/_stcore/upload_file/session/file"),
        ("GET", "/_stcore/metrics"),
        ("GET", "/_stcore/agent/interact"),
        ("GET", "//media/abc.png"),
    ],
)
def test_files_and_uploads_of_pages_are_for_those_who_signed_in(here: Installation, method: str, path: str) -> None:
    assert here.client.request(method, ADDRESS + path).status_code == 401
    assert here.client.request(method, ADDRESS + path, headers=cookie_of(here, "vera")).status_code == 200
    assert here.client.request(method, ADDRESS + path, headers={"cookie": "streamlit=vera"}).status_code == 200


def test_nor_where_the_server_puts_a_path_before_all(here: Installation) -> None:
    client = TestClient(here.client.app, base_url=ADDRESS, root_path="/rag")
    for path in ("/media/abc.png", "/_stcore/metrics", "/api/runs"):
        assert client.get(f"/rag{path}").status_code == 401


def test_nor_below_the_base_of_the_app(here: Installation) -> None:
    layers = middleware(lambda: here.engine, here.engine.settings, sign_in=here.doors, base="/rag")
    app = Starlette(routes=[WebSocketRoute("/rag/_stcore/stream", stream), *PAGES], middleware=layers)
    with_pages = TestClient(app, base_url=ADDRESS)
    for path in ("/media/abc.png", "/_stcore/metrics"):
        assert with_pages.get(f"/rag{path}").status_code == 401
    left = with_pages.get("/rag/auth/logout").headers["set-cookie"]
    assert left.startswith(f"{NAME}=; Max-Age=0; Path=/rag; ")


def test_over_https_the_cookie_of_a_page_is_for_https_alone(here: Installation) -> None:
    with here.client.websocket_connect(SOCKET.replace("ws:", "wss:"), headers={"cookie": "streamlit=vera"}) as socket:
        assert "; Secure" in cookies_of(socket)[0]


@pytest.mark.parametrize(
    "path", ["/", "/knowledge", "/static/js/index.js", "/static/media/letters.woff2", "/_stcore/health", "/auth/login"]
)
def test_what_it_takes_to_sign_in_is_open(here: Installation, path: str) -> None:
    assert here.client.get(path).status_code == 200


def test_no_socket_leads_to_the_api(here: Installation) -> None:
    with pytest.raises(WebSocketDisconnect), here.client.websocket_connect("ws://127.0.0.1:8501/api/runs"):
        pytest.fail("it was opened")


def test_nor_where_the_api_had_one(here: Installation) -> None:
    api = SignedInApi(Starlette(routes=[WebSocketRoute("/runs", stream)]), here.doors)
    client = TestClient(api, base_url=ADDRESS, headers={"authorization": f"Bearer {here.token('admin')}"})
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("ws://127.0.0.1:8501/runs"):
        pytest.fail("it was opened")


def onward(here: Installation, wanted: str) -> str:
    """Where a sign-in leads to after this address was asked for."""
    kept = here.client.get(wanted).headers.get("set-cookie", "")
    headers = {"cookie": kept.partition(";")[0]}
    back = here.client.get("/oauth2callback", headers=headers, follow_redirects=False)
    return back.headers["location"]


def test_after_the_sign_in_comes_the_page_that_was_asked_for(here: Installation) -> None:
    assert onward(here, "/?run=abc&lang=zh") == "/?run=abc&lang=zh"
    assert onward(here, "/knowledge?view=memory") == "/knowledge?view=memory"
    assert onward(here, "/") == "/"
    assert onward(here, "/static/js/index.js") == "/"


@pytest.mark.parametrize("evil", ["//evil.example", "/\\evil.example", "https://evil.example", "/a\r\nb", "x"])
def test_it_never_leads_to_another_place(here: Installation, evil: str) -> None:
    headers = {"cookie": f"workbench_next={quote(evil, safe='')}"}
    back = here.client.get("/oauth2callback", headers=headers, follow_redirects=False)
    assert back.headers["location"] == "/"
