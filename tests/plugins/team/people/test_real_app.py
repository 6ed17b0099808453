"""The app as it is served, with Streamlit's own sockets, cookies and files, for those who have not signed in (TM-10).

No provider is asked: what one would have said is in a cookie that is signed as Streamlit signs it.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app import create_streamlit_routes
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from pages._serving import forwards
from plugins.team.page_cookie import NAME, PageCookies
from tests.browser.server import App, started_app
from tests.support.people import VIEWER

SECRET = "0123456789abcdef0123456789abcdef"
AUTH = f"""[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "workbench"
client_secret = "x"
server_metadata_url = "http://127.0.0.1:1/.well-known/openid-configuration"
"""
OF_THE_BASE = (b"truth table", b"dc-complications", b"WORKBENCH_", b"Recorded demos", b"Passes at once", b"Vera")
"""What pages show those who signed in; none of it is for anybody else."""
OPEN = frozenset(
    {
        # What the page to sign in is made of: files of the program, and how it is.
        *("/_stcore/health", "/_stcore/host-config", "/_stcore/bidi-components/x", "/component/x", "/static/x"),
        *("/auth/login", "/auth/logout", "/oauth2callback"),
    }
)
_PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder: Path = tmp_path_factory.mktemp("served")
    (folder / "secrets.toml").write_text(AUTH)
    env = {"STREAMLIT_SECRETS_FILES": str(folder / "secrets.toml"), "WORKBENCH_OLLAMA_URL": "http://127.0.0.1:1"}
    with started_app(folder, {**env, "WORKBENCH_EMBEDDING_MODEL": "hashing"}) as started:
        started.wait_until_served()
        started.wait_until_ready()
        yield started


def streamlits(app: App, *, name: str = "vera", ago_s: float = 0.0, secret: str = SECRET, inside: bool = True) -> str:
    """The cookie that Streamlit sets for a person who signed in some seconds ago."""
    said = {"sub": name, "name": name.title(), "email": f"{name}@example.org", "email_verified": True}
    claims = {"origin": app.url, "is_logged_in": inside, "iat": time.time() - ago_s, **said}
    return create_signed_value(secret, USER_COOKIE_NAME, json.dumps(claims)).decode()


@dataclass
class Page:
    """A page that a browser would show, without the browser."""

    socket: ClientConnection
    session: str = ""

    def run(self, path: str = "", query: str = "") -> bytes:
        """What the server sends until the script has run."""
        back = BackMsg()
        back.rerun_script.page_name = path
        back.rerun_script.query_string = query
        self.socket.send(back.SerializeToString())
        return self.until("script_finished")

    def until(self, kind: str) -> bytes:
        frames = []
        while True:
            frame = self.socket.recv(_PATIENCE_S)
            assert isinstance(frame, bytes)
            frames.append(frame)
            message = ForwardMsg.FromString(frame)
            if message.WhichOneof("type") == "new_session":
                self.session = message.new_session.initialize.session_id
            if message.WhichOneof("type") == kind:
                return b"".join(frames)


@contextmanager
def opened(app: App, user: str = "", session: str = "", **more: str) -> Iterator[Page]:
    """A page with Streamlit's cookie of a person; with a session that was there before, as after a lost connection."""
    token = generate_xsrf_token_string()
    cookies = {XSRF_COOKIE_NAME: token, **({USER_COOKIE_NAME: user} if user else {}), **more}
    headers = {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    protocols: Any = ["streamlit", token, *([session] if session else [])]
    origin: Any = app.url
    with connect(
        stream_of(app), origin=origin, additional_headers=headers, subprotocols=protocols, max_size=None
    ) as it:
        yield Page(it)


def stream_of(app: App) -> str:
    return app.url.replace("http", "ws") + "/_stcore/stream"


def asked(app: App, method: str, path: str, headers: Mapping[str, str] | None = None) -> int:
    connection = http.client.HTTPConnection(urlsplit(app.url).netloc, timeout=_PATIENCE_S)
    try:
        connection.request(method, path, headers=dict(headers or {}))
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def routes_of_streamlit() -> dict[str, set[str]]:
    """Methods by path, as Streamlit itself declares them."""
    stats = SimpleNamespace(registered_families=list)
    parts: Any = SimpleNamespace(
        media_file_mgr=SimpleNamespace(_storage=None),
        uploaded_file_mgr=None,
        component_registry=None,
        bidi_component_registry=None,
        stats_mgr=stats,
    )
    found: dict[str, set[str]] = {}
    for route in (*create_streamlit_routes(parts), *forwards()):
        path = getattr(route, "path", "")
        if path == "/{name}":
            # Of no page: a sentence, for strangers too.
            continue
        filled = path.replace("{path:path}", "x").replace("{file_id:path}", "x").replace("{session_id}", "x")
        filled = filled.replace("{file_id}", "x")
        found.setdefault(filled, set()).update(getattr(route, "methods", None) or {"GET"})
    return found


def test_every_route_of_the_pages_is_closed_but_what_it_takes_to_sign_in(app: App) -> None:
    known = routes_of_streamlit()
    assert {"/media/x", "/_stcore/upload_file/x/x", "/_stcore/metrics", "/_stcore/stream"} <= known.keys()
    closed = 0
    for path, methods in known.items():
        if path == "/_stcore/stream" or path in OPEN or path.startswith(("/static", "/app/")) or not path.strip("/"):
            continue
        own = {route.path for route in forwards()}  # type: ignore[attr-defined]
        for method in methods | {"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"}:
            status = asked(app, method, path)
            # Addresses of earlier versions lead to pages, which show the way to sign in.
            assert status == 401 or (path in own and status in (307, 308, 405)), (method, path, status)
            closed += status == 401
    assert closed > 20


def test_without_signing_in_a_socket_shows_the_way_to_do_so_and_nothing_else(app: App) -> None:
    another = "another secret of the same length"
    cases = {
        "no cookie": "",
        "over": streamlits(app, ago_s=13 * 3600),
        "signed by another": streamlits(app, secret=another),
        "not signed in": streamlits(app, inside=False),
        "altered": streamlits(app)[:-2] + "xx",
    }
    page_cookie = PageCookies.of(SECRET).made(VIEWER, time.time() + 60)
    for case, user in cases.items():
        with opened(app, user, **{NAME: page_cookie}) as page:
            for path, query in (
                ("", "run=demo-forced-en"),
                ("knowledge", "view=collections"),
                ("runs", ""),
                ("tune", ""),
                ("system", "part=settings"),
            ):
                sent = page.run(path, query)
                assert b"Sign in" in sent, case
                assert not [known for known in OF_THE_BASE if known in sent], case


def test_one_who_signed_in_is_shown_more_by_the_same_socket(app: App) -> None:
    with opened(app, streamlits(app)) as page:
        sent = page.run("", "run=demo-forced-en")
    assert b"Vera" in sent
    assert b"Recorded demos" in sent or b"truth table" in sent


@pytest.mark.parametrize("ended", [False, True], ids=["while it is open", "after its connection was lost"])
@pytest.mark.parametrize("who", ["no one", "another person"])
def test_the_session_of_a_person_is_not_taken_over(app: App, who: str, ended: bool) -> None:
    as_whom = streamlits(app, name="oscar") if who == "another person" else ""
    with opened(app, streamlits(app)) as theirs:
        theirs.run("", "run=demo-forced-en")
        if ended:
            theirs.socket.close()
        with opened(app, as_whom, session=theirs.session) as mine:
            sent = mine.run()
    assert mine.session
    assert mine.session != theirs.session
    assert b"Vera" not in sent
    assert (b"Sign in" in sent) == (who == "no one")


def test_after_a_lost_connection_a_person_finds_their_own(app: App) -> None:
    user = streamlits(app)
    with opened(app, user) as before:
        before.run()
    with opened(app, user, session=before.session) as after:
        after.run()
    assert after.session == before.session


def test_no_page_of_another_place_opens_a_socket(app: App) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        headers = {"cookie": f"{USER_COOKIE_NAME}={streamlits(app)}"}
        foreign: Any = origin
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(stream_of(app), origin=foreign, additional_headers=headers),
        ):
            pytest.fail("it was opened")
        assert refused.value.response.status_code == 403


def test_a_stranger_uploads_nothing_even_to_a_session_of_their_own(app: App) -> None:
    with opened(app) as page:
        page.run()
        back = BackMsg()
        back.file_urls_request.request_id = "1"
        back.file_urls_request.file_names.append("a.md")
        back.file_urls_request.session_id = page.session
        page.socket.send(back.SerializeToString())
        frames = page.until("file_urls_response")
        assert b"upload_file" in frames
        token = generate_xsrf_token_string()
        xsrf = {"x-xsrftoken": token, "cookie": f"{XSRF_COOKIE_NAME}={token}"}
        for place in (f"/_stcore/upload_file/{page.session}/a", f"//_stcore/upload_file/{page.session}/a"):
            for method in ("PUT", "DELETE", "OPTIONS"):
                assert asked(app, method, place, xsrf) == 401
        # Who signed in comes as far as what is wrong with this one.
        mine = {**xsrf, "cookie": f"{xsrf['cookie']}; {NAME}={PageCookies.of(SECRET).made(VIEWER, time.time() + 60)}"}
        assert asked(app, "PUT", f"/_stcore/upload_file/{page.session}/a", mine) == 400


@pytest.mark.parametrize("path", ["/api/runs/demo-forced-en/view", "/api/runs/demo-forced-en/events", "/media/a.png"])
def test_no_stream_and_no_file_comes_by_a_cookie_of_another_secret_or_time(app: App, path: str) -> None:
    for value in (
        PageCookies.of("another").made(VIEWER, time.time() + 60),
        PageCookies.of(SECRET).made(VIEWER, time.time() - 1),
        streamlits(app),
    ):
        assert asked(app, "GET", path, {"cookie": f"{NAME}={value}"}) == 401


def test_a_file_comes_by_the_cookie_of_streamlit_where_it_holds(app: App) -> None:
    found = {
        "good": streamlits(app),
        "over": streamlits(app, ago_s=13 * 3600),
        "signed by another": streamlits(app, secret="another secret of the same length"),
        "not signed in": streamlits(app, inside=False),
    }
    answers = {
        case: asked(app, "GET", "/media/a", {"cookie": f"{USER_COOKIE_NAME}={it}"}) for case, it in found.items()
    }
    # There is no such file.
    assert answers == {"good": 404, "over": 401, "signed by another": 401, "not signed in": 401}
