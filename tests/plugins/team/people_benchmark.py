"""What it costs to ask who acts: for a request of the API, and for a call of the engine, with and without sign-in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from starlette.applications import Starlette

from engine.api import middleware
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.people import acting_as
from plugins.team.page_cookie import NAME
from plugins.team.team import Team
from tests.api.served import engine_of
from tests.benchmarks.harness import Bench, Row, in_turn, ratio
from tests.plugins.team.people.asgi import Headers, answer_of
from tests.plugins.team.signing_in import COOKIES, people_sign_in
from tests.support.people import ADMIN, VIEWER

_REQUESTS, _CALLS = 20, 20_000
_LIMITED = 50
"""Collections that are limited to groups."""


def people(bench: Bench) -> Iterator[Row]:
    """Requests and calls, each as where nothing is set up, and as where people sign in."""
    with engine_of(bench.folder) as engine, asyncio.Runner() as runner:
        run_id = engine.start("Why?", RunConfig())
        engine.wait(run_id)
        engine.flush()
        yield from _requests(bench, engine, runner, f"/api/runs/{run_id}")
        yield from _calls(bench, engine)


def _requests(bench: Bench, engine: Engine, runner: asyncio.Runner, path: str) -> Iterator[Row]:
    with people_sign_in(engine) as doors, acting_as(ADMIN):
        token = Team.of(engine).make_token("measured", "viewer")[1]
        for number in range(_LIMITED):
            engine.limits.limit([f"ward {number}"], ["clinic"])
    open_to_all = Starlette(middleware=middleware(lambda: engine, engine.settings))
    closed = Starlette(middleware=middleware(lambda: engine, engine.settings, sign_in=doors))
    plain = partial(_asked, runner, open_to_all, path, {})
    by_token = _signing_in(engine, partial(_asked, runner, closed, path, {"authorization": f"Bearer {token}"}))
    by_cookie = _signing_in(
        engine, partial(_asked, runner, closed, path, {"cookie": f"{NAME}={COOKIES.made(VIEWER, 2e9)}"})
    )
    taken = in_turn(plain, by_token, by_cookie, repeats=bench.sizes.repeats, warm_ups=2)
    plain_ms, token_ms, cookie_ms = (tuple(ms / _REQUESTS for ms in each) for each in taken)
    yield Row("request for a run, nothing set up", "ms", plain_ms)
    yield Row("request for a run, with a token", "ms", token_ms, note=f"{_LIMITED} limited collections")
    yield ratio("request for a run, with a token / nothing set up", token_ms, plain_ms)
    yield Row("request for a run, with the cookie of a page", "ms", cookie_ms)
    yield ratio("request for a run, with the cookie of a page / nothing set up", cookie_ms, plain_ms)


def _calls(bench: Bench, engine: Engine) -> Iterator[Row]:
    bare = Engine.active_runs.__wrapped__  # type: ignore[attr-defined]
    taken = in_turn(
        partial(_repeated, partial(bare, engine)),
        partial(_repeated, engine.active_runs),
        _signing_in(engine, _as_viewer(partial(_repeated, engine.active_runs))),
        repeats=bench.sizes.repeats,
    )
    bare_ms, open_ms, closed_ms = (tuple(ms / _CALLS for ms in each) for each in taken)
    yield Row("call of the engine past its door", "ms", bare_ms)
    yield Row("call of the engine, nothing set up", "ms", open_ms)
    yield Row("call of the engine by a person who signed in", "ms", closed_ms)


def _signing_in(engine: Engine, work: Callable[[], object]) -> Callable[[], None]:
    def worked() -> None:
        with people_sign_in(engine):
            work()

    return worked


def _as_viewer(work: Callable[[], object]) -> Callable[[], None]:
    def worked() -> None:
        with acting_as(VIEWER):
            work()

    return worked


def _asked(runner: asyncio.Runner, app: Any, path: str, headers: Headers) -> None:
    async def all_of_them() -> None:
        for _ in range(_REQUESTS):
            assert (await answer_of(app, "GET", path, headers)).status == 200

    runner.run(all_of_them())


def _repeated(call: Callable[[], object]) -> None:
    for _ in range(_CALLS):
        call()
