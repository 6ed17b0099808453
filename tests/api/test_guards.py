"""What stands before pages and API: hosts, headers, origins, types, and input that means harm (SC-11)."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from engine.api.web import CSP, HEADERS, HostList, SecurityHeaders, guards, host_name
from engine.engine import Engine
from engine.errors import InvalidSettings
from engine.settings import Settings
from tests.api.served import ADDRESS, app_of, calling, engine_of

SEED = "/api/self-corrective-rag"
SECRET = "sesame-8431"
JSON = {"content-type": "application/json"}


@pytest.fixture
def client(served: tuple[TestClient, Engine]) -> TestClient:
    return served[0]


def test_every_answer_carries_the_security_headers_once(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    run_id = engine.run("first").id
    answers = [
        client.post(SEED, json={"query": "first"}),
        client.get(f"/api/runs/{run_id}/events"),
        client.get("/api/health"),
        client.get("/api/nothing"),
        client.get("/nothing"),
        client.get(SEED),
        client.post(SEED, json={}),
        client.post(SEED, content=b"x"),
        client.post(SEED, content=b"x" * 70_000),
        client.get("/api/health", headers={"host": "evil.example"}),
        client.get("/api/health", headers={"origin": "http://evil.example"}),
        client.get("/api/openapi.json"),
        client.delete("/api/runs/nothing"),
    ]
    assert [item.status_code for item in answers] == [
        200, 200, 200, 404, 404, 405, 422, 415, 413, 400, 403, 200, 404
    ]  # fmt: skip
    for answer in answers:
        for name, value in HEADERS:
            assert answer.headers.get_list(name.decode()) == [value.decode()], answer.request.url


def test_a_crash_is_answered_with_the_headers_and_without_its_text(tmp_path: Path) -> None:
    async def crash(_: Any) -> None:
        raise RuntimeError(SECRET)

    app = Starlette(routes=[Route("/page", crash)], middleware=guards(Settings(data_dir=tmp_path)))
    answer = TestClient(app, base_url=ADDRESS, raise_server_exceptions=False).get("/page")
    assert (answer.status_code, answer.json()["code"]) == (500, "WB000")
    assert "content-security-policy" in answer.headers
    assert SECRET not in answer.text


def test_a_crash_inside_the_api_is_answered_as_one_of_ours(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with calling(tmp_path) as (client, engine):
        engine._faults._noted.append(SECRET)  # type: ignore[arg-type]
        answer = client.get("/api/health")
    assert (answer.status_code, answer.json()["success"], answer.json()["code"]) == (500, False, "WB000")
    assert SECRET not in answer.text
    assert caplog.records


def test_headers_of_the_application_do_not_stand_next_to_ours() -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("x", headers={"X-Frame-Options": "SAMEORIGIN", "X-Own": "1"})(scope, receive, send)

    answer = TestClient(SecurityHeaders(page)).get("/")
    assert answer.headers.get_list("x-frame-options") == ["DENY"]
    assert answer.headers["x-own"] == "1"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8501", "127.0.0.1.evil.example", "", "[::2]", "@localhost"]
)
def test_a_host_name_that_is_not_listed_is_refused_everywhere(client: TestClient, host: str) -> None:
    for path in ("/", "/api/health", SEED):
        answer = client.get(path, headers={"host": host})
        assert (answer.status_code, answer.json()["code"]) == (400, "WB700")
        assert "evil" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9", "localhost:8501", "LOCALHOST", "[::1]", "[::1]:8501"])
def test_a_listed_host_name_is_served_on_any_port(client: TestClient, host: str) -> None:
    assert client.get("/api/health", headers={"host": host}).status_code == 200


def test_a_star_lists_every_host_and_ipv6_may_be_listed_with_or_without_brackets(tmp_path: Path) -> None:
    for allowed, host in (
        ("*", "any.example"),
        ("::1", "[::1]:8501"),
        ("[::1]", "[::1]"),
        ("a.example:80", "A.example"),
    ):
        with calling(tmp_path, allowed_hosts=(allowed,)) as (client, _):
            assert client.get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("host", "name"),
    [("Localhost:1", "localhost"), ("[::1]:8501", "[::1]"), ("[::1", ""), ("", ""), (" a.example ", "a.example")],
)
def test_the_name_of_a_host_is_read_without_its_port(host: str, name: str) -> None:
    assert host_name(host) == name


def echoing(allowed: str) -> Starlette:
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("open")
        await socket.close()

    settings = Settings(allowed_hosts=(allowed,))
    return Starlette(routes=[WebSocketRoute("/_stcore/stream", echo)], middleware=guards(settings))


def test_a_websocket_under_another_host_name_is_refused_before_it_opens() -> None:
    client = TestClient(echoing("127.0.0.1"), base_url=ADDRESS)
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect("/_stcore/stream", headers={"host": "evil.example"}),
    ):
        raise AssertionError("it opened")
    assert denied.value.status_code == 400
    assert "content-security-policy" in denied.value.headers
    with client.websocket_connect("/_stcore/stream", headers={"host": "127.0.0.1:8501"}) as socket:
        assert socket.receive_text() == "open"


def test_a_server_that_cannot_answer_a_websocket_closes_it() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def unreachable(*_: Any) -> None:
        raise AssertionError("it was let through")

    scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"evil.example")]}
    asyncio.run(HostList(unreachable, ["127.0.0.1"])(scope, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_websocket_below_api_leads_nowhere(client: TestClient) -> None:
    headers = {"host": "127.0.0.1"}
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/runs", headers=headers):
        raise AssertionError("it opened")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://127.0.0.1.evil.example",
        "http://127.0.0.1:3000",
        "http://127.0.0.1",
        "null",
        "",
        "http://[::1",
        "file://",
        "127.0.0.1:8501",
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/api/runs"), ("POST", SEED), ("DELETE", "/api/runs/x")])
def test_pages_of_other_origins_may_not_call(client: TestClient, method: str, path: str, origin: str) -> None:
    """Another port is another origin: any local page could otherwise read and delete runs."""
    answer = client.request(method, path, headers={"origin": origin, **JSON})
    assert (answer.status_code, answer.json()["code"]) == (403, "WB701")
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8501", "http://127.0.0.1:8501"),
        ("localhost", "http://localhost"),
        ("localhost", "http://localhost:80"),
        ("LOCALHOST:80", "http://localhost"),
    ],
)
def test_our_own_pages_may_call(client: TestClient, host: str, origin: str) -> None:
    assert client.get("/api/health", headers={"host": host, "origin": origin}).status_code == 200


def test_another_scheme_is_another_origin(tmp_path: Path) -> None:
    def status(scheme: str, origin: str) -> int:
        with engine_of(tmp_path) as engine, TestClient(app_of(engine), base_url=f"{scheme}://localhost") as client:
            return client.get("/api/health", headers={"origin": origin}).status_code

    assert status("http", "https://localhost") == 403
    assert status("https", "https://localhost:443") == 200
    assert status("https", "http://localhost") == 403


def test_an_origin_of_the_settings_may_call(tmp_path: Path) -> None:
    with calling(tmp_path, allowed_origins=("https://rag.example:443",)) as (client, _):
        for origin, status in (("https://rag.example", 200), ("http://rag.example", 403), (ADDRESS, 200)):
            assert client.get("/api/health", headers={"origin": origin}).status_code == status


@pytest.mark.parametrize(
    "value", ["*", "rag.example", "https://rag.example/path", "file://", "https://", "https://a:b"]
)
def test_what_is_no_origin_cannot_be_set(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("WORKBENCH_ALLOWED_ORIGINS", f"https://rag.example, {value}")
    with pytest.raises(InvalidSettings, match="WORKBENCH_ALLOWED_ORIGINS"):
        Settings.load()


@pytest.mark.parametrize("origin", ["http://127.0.0.1:9999", "http://127.0.0.1", "https://127.0.0.1:8501", "null"])
def test_a_page_of_another_origin_opens_neither_page_nor_websocket(origin: str) -> None:
    client = TestClient(echoing("127.0.0.1"), base_url=ADDRESS)
    headers = {"host": "127.0.0.1:8501", "origin": origin}
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect("/_stcore/stream", headers=headers),
    ):
        raise AssertionError("it opened")
    assert (denied.value.status_code, denied.value.json()["code"]) == (403, "WB701")
    assert client.get("/", headers=headers).status_code == 403
    own = {**headers, "origin": "http://127.0.0.1:8501"}
    with client.websocket_connect("/_stcore/stream", headers=own) as socket:
        assert socket.receive_text() == "open"


def test_a_preflight_of_another_origin_is_refused(client: TestClient) -> None:
    answer = client.options(SEED, headers={"origin": "http://evil.example", "access-control-request-method": "POST"})
    assert answer.status_code == 403


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json"])
def test_a_body_of_another_type_is_refused(client: TestClient, kind: str | None) -> None:
    answer = client.post(SEED, content=b'{"query": "first"}', headers={"content-type": kind} if kind else {})
    assert (answer.status_code, answer.json()["code"]) == (415, "WB703")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_json_is_accepted_in_any_spelling(client: TestClient, kind: str) -> None:
    answer = client.post(SEED, content=b'{"query": "first"}', headers={"content-type": kind})
    assert answer.status_code == 200


def test_a_post_without_a_body_needs_no_type(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    assert client.post(f"/api/runs/{engine.run('first').id}/cancel").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/API",
        "/API/health",
        "/Api/runs",
        "/api%0A",
        "/api%0A/runs",
        "/api",
        "/api/",
        "/api/nothing",
        "/api/runs/",
        "/api/runs/x/y",
        "/api/docs",
        "/api/redoc",
    ],
)
def test_an_unknown_path_is_reported_as_json(client: TestClient, path: str) -> None:
    answer = client.get(path, follow_redirects=False)
    assert answer.status_code == 404
    assert answer.json() == {
        "success": False,
        "code": "WB706",
        "fact": "There is nothing at this path.",
        "remedy": "GET /api/openapi.json lists what there is.",
    }


@pytest.mark.parametrize(
    ("method", "path"), [("GET", SEED), ("PUT", "/api/runs"), ("DELETE", "/api/health"), ("PATCH", "/api/runs/x")]
)
def test_a_wrong_method_is_reported_as_json(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (405, "WB706")
    assert answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/runs", {"GET", "POST"}),
        ("/api/runs/x", {"GET", "DELETE"}),
        ("/api/runs/x/tags/y", {"PUT", "DELETE"}),
        ("/api/collections/x/sources", {"GET", "POST"}),
        ("/api/collections/x/graph", {"GET", "POST", "DELETE"}),
        ("/api/ingestions/x", {"GET", "DELETE"}),
        ("/api/health", {"GET"}),
    ],
)
def test_a_wrong_method_gets_all_that_the_path_takes(client: TestClient, path: str, methods: set[str]) -> None:
    answer = client.patch(path)
    assert answer.status_code == 405
    assert {name.strip() for name in answer.headers["allow"].split(",")} - {"HEAD"} == methods


@pytest.mark.parametrize("path", ["//api/health", "/API/health", "/api/../api/health", "/api/%2e%2e/health"])
def test_no_spelling_of_a_path_leads_past_the_guard(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"origin": "http://evil.example"})
    assert answer.status_code in (403, 404)


def test_the_guard_holds_under_a_prefix_too(tmp_path: Path) -> None:
    """A proxy may serve the whole app below a path of its own."""
    with engine_of(tmp_path) as engine:
        outer = Starlette(routes=[Mount("/tools", app_of(engine))])
        with TestClient(outer, base_url=ADDRESS) as client:
            assert client.get("/tools/api/health").status_code == 200
            assert client.get("/tools/api/health", headers={"origin": "null"}).status_code == 403
            assert client.get("/tools/api/openapi.json").json()["servers"] == [{"url": "/tools/api"}]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b'{"query": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"query": ' * 6_000,
        b'{"topK": ' + b"9" * 20_000 + b"}",
        b'{"query": "\xff\xfe\xfd"}',
        b"\xff\xfe" + f'{{"query": {SECRET}}}'.encode("utf-16-le"),
        b"\x00" * 100,
        b'{"query": "first", "query": ' + SECRET.encode() + b"}",
        b'{"query": "\\ud800"}',
    ],
)
def test_a_body_that_means_harm_is_only_refused(client: TestClient, body: bytes) -> None:
    for path in (SEED, "/api/runs"):
        answer = client.post(path, content=body, headers=JSON)
        assert answer.status_code == 422, answer.text
        assert answer.json()["success"] is False
        assert answer.json()["errors"]
        assert SECRET not in answer.text
        assert "99999" not in answer.text
    assert client.get("/api/health").json()["status"] == "ok"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ('{"models": {"grader": {"model": ' + "[" * 900 + "]" * 900 + "}}}", "body"),
        ('{"models": ' * 400 + "{}" + "}" * 400, "body"),
        ('{"options": ' + "[" * 7 + "]" * 7 + "}", "config"),
    ],
)
def test_a_config_nested_too_deeply_is_refused(client: TestClient, config: str, field: str) -> None:
    answer = client.post("/api/runs", content=f'{{"question": "first", "config": {config}}}', headers=JSON)
    assert answer.status_code == 422
    assert {"field": field, "problem": "nested too deeply"} in answer.json()["errors"]


@pytest.mark.parametrize(
    "models",
    [{"grader": {"model": ["a:b"]}}, {"grader": {"num_ctx": "sesame"}}, {"grader": 5}, [], {"nobody": "builtin"}],
)
def test_a_config_of_other_types_is_refused(client: TestClient, models: Any) -> None:
    answer = client.post("/api/runs", json={"question": "first", "config": {"models": models}})
    assert answer.status_code == 422
    assert answer.json()["fact"]


def test_a_file_name_or_id_that_means_harm_stays_a_name(client: TestClient) -> None:
    for name in ("..%2f..%2fetc%2fpasswd", "%00", "%0A", "x%0Ay", "..%5c..", "a'%20OR%20'1'='1", "x" * 3000):
        for path in (
            f"/api/runs/{name}",
            f"/api/ingestions/{name}",
            f"/api/collections/{name}/sources",
            f"/api/{name}",
        ):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["success"]) == (404, False), path


def test_the_policy_allows_the_script_that_stands_in_streamlits_page_and_no_other() -> None:
    """Blocked, it is an error in the console at each load; a new version of Streamlit may bring another."""
    page = Path(streamlit.__file__).parent.joinpath("static", "index.html").read_text(encoding="utf-8")
    inline = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", page, flags=re.DOTALL)
    hashes = {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in inline}
    assert hashes == set(re.findall(r"'sha256-[^']*'", CSP))
    assert "'unsafe-inline'" not in CSP.partition("script-src")[2].partition(";")[0]
