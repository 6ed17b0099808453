"""A page of another web server on this machine, and a plain client: neither is let into the app's WebSocket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from tests.api.served import dial, received
from tests.browser.conftest import OpenTab
from tests.browser.server import App

_TRY = """async ([app, path]) => {
    const opened = await new Promise((done) => {
        const socket = new WebSocket(app.replace("http", "ws") + "/_stcore/stream");
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    });
    const followed = await new Promise((done) => {
        const events = new EventSource(app + path);
        events.onopen = () => done("open");
        events.onerror = () => done("refused");
    });
    const asked = await fetch(app + "/api/health").then(() => "answered", () => "refused");
    return [opened, followed, asked];
}"""


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another</title>")

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of another web server on the host of the app."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever, name="elsewhere")
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_on_another_port_reaches_nothing(chrome: Browser, app: App, elsewhere: str) -> None:
    run = app.post("/api/self-corrective-rag", {"query": "What is diabetes?"})["runId"]
    page = chrome.new_page()
    try:
        page.goto(elsewhere)
        assert page.evaluate(_TRY, [app.url, f"/api/runs/{run}/events"]) == ["refused", "refused", "refused"]
    finally:
        page.close()


def test_the_app_reaches_its_own(app: App, open_tab: OpenTab) -> None:
    run = app.post("/api/self-corrective-rag", {"query": "What is diabetes?"})["runId"]
    page = open_tab().page
    page.goto(f"{app.url}/api/health")
    assert page.evaluate(_TRY, [app.url, f"/api/runs/{run}/events"]) == ["open", "open", "answered"]


@pytest.mark.parametrize(("port", "status"), [("own", b"101"), ("9999", b"403"), ("", b"403")])
def test_a_client_that_names_an_origin_is_let_in_with_that_of_the_app_alone(app: App, port: str, status: bytes) -> None:
    own = urlsplit(app.url).port or 0
    named = port.replace("own", str(own))
    lines = [
        "GET /_stcore/stream HTTP/1.1",
        f"Host: 127.0.0.1:{own}",
        f"Origin: http://127.0.0.1{':' if named else ''}{named}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    with dial(own) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        assert received(connection, b"\r\n").split()[1] == status
