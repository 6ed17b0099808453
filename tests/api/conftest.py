"""One API for all tests that need no other: its 50 routes take 0.14 s to declare, as long as most of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

import engine.api
from engine.api import GetEngine
from engine.engine import Engine
from tests.api.served import calling

_engine_of_this_call: ContextVar[GetEngine] = ContextVar("engine_of_this_call")
_create_api = engine.api.create_api


@lru_cache(8)
def _declared(**options: Any) -> FastAPI:
    def get_engine() -> Engine:
        return _engine_of_this_call.get()()

    return _create_api(get_engine, **options)


def _for_one_engine(get_engine: GetEngine, **options: Any) -> ASGIApp:
    api = _declared(**options)

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        _engine_of_this_call.set(get_engine)
        await api(scope, receive, send)

    return call


@pytest.fixture(scope="package", autouse=True)
def declared_once() -> Iterator[None]:
    """Applications made by ``middleware`` share their routes; each call goes to the engine of its application."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.api, "create_api", cast(Any, _for_one_engine))
        yield


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[TestClient, Engine]]:
    with calling(tmp_path) as pair:
        yield pair
