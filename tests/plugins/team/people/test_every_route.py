"""Each route of the router, as nobody, with tokens that are over, and with a token of each role (TM-10, TM-11, TM-12).

What viewers send does all that it would do if it were let in, so that a missing door shows in what is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.api.incoming import OPEN
from engine.model.people import ROLES, Role
from engine.people import acting_as
from plugins.team.team import Team
from plugins.team.tokens import made, stamp
from tests.plugins.team.people.asgi import Answer, Headers
from tests.plugins.team.people.dumping import everything
from tests.plugins.team.people.ward import MEMBER, Ward, cookie
from tests.support.people import ADMIN
from tests.support.requests import address, body_of, declared


def asked(ward: Ward, route: str, headers: Headers) -> Answer:
    """The answer to a request that would do what the route is for."""
    method, path = address(route, name="samples", run_id=ward.open_run, job_id=ward.job, memory_id="m1", point_id="w1")
    return ward.sent(method, path, headers, body_of(route, "samples"))


def bearer(text: str) -> Headers:
    return {"authorization": f"Bearer {text}"}


def over(ward: Ward) -> dict[str, Headers]:
    """An admin's tokens of which each is worth nothing any more, or never was."""
    with acting_as(ADMIN):
        _, good = Team.of(ward.engine).make_token("good", "admin", 1)
        revoked, text = Team.of(ward.engine).make_token("gone", "admin", 1)
        Team.of(ward.engine).revoke_token(revoked.id)
    expired, late = made("late", "admin", 1, None)
    ended = stamp(datetime.now(UTC) - timedelta(seconds=1))
    Team.of(ward.engine)._records.add_token(replace(expired, expires_at=ended))
    return {
        "revoked": bearer(text),
        "expired": bearer(late),
        "kept of one": bearer(expired.digest),
        "beginning of one": bearer(good[:-1]),
        "with another end": bearer(good[:-1] + ("A" if good[-1] != "A" else "B")),
        "of a page, to change something": cookie(ADMIN),
    }


def require_kept(ward: Ward, before: Mapping[str, Any]) -> None:
    now = everything(ward.engine)
    assert before.keys() == now.keys()
    for name in before:
        assert before[name] == now[name], name


def test_without_a_token_that_holds_no_route_answers(ward: Ward) -> None:
    callers = {"none": {}, **over(ward)}
    before = everything(ward.engine)
    routes = [route for route in sorted(declared()) if route != f"GET {OPEN}"]
    for route in routes:
        for name, headers in callers.items():
            if "cookie" in headers and route.startswith("GET "):
                continue
            refused = asked(ward, route, headers)
            assert (refused.status, refused.headers["www-authenticate"][:6]) == (401, "Bearer"), (route, name)
    assert len(routes) > 40
    require_kept(ward, before)


def spellings(path: str) -> Iterator[str]:
    """Other ways to write an address, some of which a router or a server might take for the same."""
    rest = path.removeprefix("/api")
    yield from (f"{path}/", f"/{path}", f"//{path}", f"/api/{rest}", f"/api/.{rest}", f"/x/..{path}", f"/api{rest}%00")
    yield from (f"/%61pi{rest}", f"/api%2F{rest[1:]}", f"/API{rest}", f"/Api{rest}", f"/api;a=b{rest}", f"/ api{rest}")
    yield from (
        f"/api%0A{rest}",
        f"/api\\{rest[1:]}",
        f"{path};.json",
        f"{path}%2F",
        f"/api/api{rest}",
        f"/%2561pi{rest}",
    )


METHODS = ("HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get", "Delete", "post")
OVERRIDE = {"x-http-method-override": "GET", "x-original-url": "/api/ready", "x-rewrite-url": "/api/ready"}


def test_no_other_spelling_and_no_other_method_leads_past_the_door(ward: Ward) -> None:
    text = ward.token("admin")["authorization"].removeprefix("Bearer ")
    before = everything(ward.engine)
    for route in sorted(declared()):
        method, path = address(route, name="samples", run_id=ward.open_run, job_id=ward.job)
        tries = [(method, spelt) for spelt in spellings(path)] + [(other, path) for other in METHODS]
        tries += [(method, f"{path}?{name}={text}") for name in ("token", "access_token", "authorization")]
        for tried, spelt in tries:
            if path == "/api/ready" and not spelt.startswith("/api/ready?"):
                continue
            answer = ward.sent(tried, spelt, OVERRIDE, body_of(route, "samples"))
            elsewhere = answer.body == b"Not Found"  # where the pages would be
            opened = spelt.startswith("/api/ready?") and answer.status == 200
            assert answer.status == 401 or elsewhere or opened, (tried, spelt, answer.status, answer.body)
    require_kept(ward, before)


def test_nor_does_a_viewer_change_anything_by_one(ward: Ward) -> None:
    token, before = ward.token("viewer"), everything(ward.engine)
    for route in sorted(declared()):
        if declared()[route] == "viewer":
            continue
        method, path = address(route, name="samples", run_id=ward.open_run, job_id=ward.job)
        tries = [(method, spelt) for spelt in spellings(path)] + [(other, path) for other in METHODS if other != "HEAD"]
        for tried, spelt in tries:
            answer = ward.sent(tried, spelt, token, body_of(route, "samples"))
            assert answer.status in (400, 403, 404, 405), (tried, spelt, answer.status, answer.body)
    require_kept(ward, before)


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER {}", "Bearer   {}  "])
def test_how_the_header_is_written_does_not_matter(ward: Ward, form: str) -> None:
    token = ward.token("viewer")["authorization"].removeprefix("Bearer ")
    for name in ("authorization", "Authorization", "AUTHORIZATION"):
        assert ward.sent("GET", "/api/me", {name: form.format(token)}).status == 200
        refused = ward.sent("DELETE", f"/api/runs/{ward.open_run}", {name: form.format(token)})
        assert refused.status == 403


def test_a_token_that_is_refused_does_not_fall_back_to_the_cookie(ward: Ward) -> None:
    for bad in ("Bearer wbt_x", "Basic YTpi", ""):
        assert ward.sent("GET", "/api/runs", {"authorization": bad, **cookie(MEMBER)}).status == 401


@pytest.mark.parametrize("role", ROLES)
def test_a_token_does_what_the_table_says(ward: Ward, role: Role) -> None:
    """A viewer's changes nothing at all; the roles come in turn, the one that deletes last."""
    token, before = ward.token(role), everything(ward.engine)
    for route in sorted(declared()):
        least = declared()[route]
        answer = asked(ward, route, token)
        allowed = ROLES.index(role) >= ROLES.index(least)
        assert (answer.status not in (401, 403)) == allowed, (route, answer.status, answer.body)
        if not allowed:
            said = json.loads(answer.body)
            assert said.get("error", said)["code"] == "WB821"
            # Nor is what was sent along looked at before.
            assert ward.sent(*address(route), token, {"unknown": 1}).status == 403, route
    if role == "viewer":
        require_kept(ward, before)
    else:
        assert everything(ward.engine)["runs"] != before["runs"]
