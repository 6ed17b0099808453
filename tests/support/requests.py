"""A request for every route that would do what the route is for, if it were let in."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route

from engine.api import create_api
from engine.api.incoming import QuickRoute
from engine.engine import Engine
from engine.model.people import Role
from engine.people.authorization import declared as needed
from tests.support.brought import brought

_FILE = base64.b64encode(b"# A\n\nB.").decode()
_BODIES: Mapping[str, Mapping[str, Any]] = {
    "POST /self-corrective-rag": {"query": "Why?", "milvusConfig": {"collectionName": "{name}"}},
    "POST /runs": {"question": "Why?", "config": {"collection": "{name}"}},
    "POST /runs/check": {"question": "Why?", "config": {"collection": "{name}"}},
    "PUT /runs/{run_id}/answer/judgement": {"right": "no", "judge": "Ada"},
    "POST /runs/{run_id}/answer/verdict": {"model": "ollama:small"},
    "POST /runs/{run_id}/cancel": {},
    "POST /runs/{run_id}/what-if": {"config": {"top_k": 2}},
    "POST /runs/{run_id}/fork": {"config": {"top_k": 2}},
    "POST /runs/{run_id}/fork/price": {"config": {"top_k": 2}},
    "PUT /runs/{run_id}/tags/{tag:path}": {},
    "POST /attachments": {"name": "a.csv", "data": base64.b64encode(b"a,b\n1,2\n").decode()},
    "POST /collections/{name}/sources": {"name": "a.md", "content_base64": _FILE},
    "POST /collections/{name}/sources/price": {"name": "a.md", "content_base64": _FILE},
    "POST /collections/{name}/graph": {"extractor": "builtin"},
    "POST /collections/{name}/drafts": {"limit": 1, "model": "ollama:m"},
    "POST /query-sets/{set_name:path}/judgements": {"content": "rubbish"},
    "PUT /drafts/{draft_id}": {"state": "refused"},
    "PUT /collections/{name}/weak-points": {"on": True},
    "POST /ingestions/{job_id}/stop": {},
    "POST /ingestions/{job_id}/resume": {},
    **brought("BODIES"),
}


def declared() -> Mapping[str, Role]:
    """Return the least role for every route, by its method and path."""
    return {**_below_api(), **brought("ROUTES")}


@cache
def _below_api() -> Mapping[str, Role]:
    return routes_of(whole_api())


def whole_api() -> FastAPI:
    """The API with all its routes, over no engine."""
    return create_api(no_engine, views=lambda *_: {})


def no_engine() -> Engine:
    raise AssertionError("no request is answered")


def routes_of(api: FastAPI, prefix: str = "", owners: str | tuple[str, ...] = "") -> Mapping[str, Role]:
    """Return the least role for each method and path of an API; raises ``LookupError`` for one that declares none."""
    return {
        f"{method} {prefix}{route.path}": _least(route)
        for route in api.routes
        if isinstance(route, Route) and route.endpoint.__module__.startswith(owners)
        for method in (route.methods or set()) - {"HEAD"}
    }


def _least(route: Route) -> Role:
    if not isinstance(route, QuickRoute):
        return "viewer"  # the library's own: the description of the API
    operation = needed(route.endpoint)
    assert operation is not None
    return operation.least


def address(route: str, **given: str) -> tuple[str, str]:
    """Method and path of a route as the router has it, with ids and names in place of its parameters."""
    method, _, path = route.partition(" ")
    filled = re.sub(r"\{(\w+)(:\w+)?\}", lambda found: given.get(found[1], "x"), path)
    return method, f"/api{filled}" if route in _below_api() else filled


def body_of(route: str, name: str) -> Any:
    """A body that will do; ``KeyError`` for a new route that takes one."""
    method = route.partition(" ")[0]
    return _filled(_BODIES[route], name) if method in ("POST", "PUT", "PATCH") else None


def _filled(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, name) for item in value]
    return name if value == "{name}" else value
