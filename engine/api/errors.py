"""Error responses of the HTTP API: one form, never an echo of the input."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from engine.api.bodies import SEED_FIELD_RANGES
from engine.api.encoding import Json
from engine.api.web import INTERNAL_FACT, INTERNAL_REMEDY, INVALID_FACT, INVALID_REMEDY, error_body
from engine.errors import TooManyRuns, WorkbenchError, status_of
from engine.model.config import PARAMETERS
from engine.model.values import RunRecord

_log = logging.getLogger(__name__)


class CallerLeft(Exception):
    """The caller hung up while a request was being worked on; no one reads the answer."""


NOT_KEPT_YET: Final = (
    "the answer as with 200, but its record is not on the disk yet; `faults` of `GET /api/health` say why."
)
_MOST_PROBLEMS = 20
"""Faults of a request that are reported; the others follow once these are mended."""
_CALLER_LEFT = 499
_FACTS: Final[Mapping[int, str]] = {
    404: "There is nothing at this path.",
    405: "This path does not take that method.",
}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")


def answered(record: RunRecord, body: dict[str, Any], *, kept: bool) -> Response:
    """``body`` for a run that ended; 4xx or 5xx only where no round was graded or nothing was generated (SC-11).

    200 says that its record is on the disk: what could not be ``kept`` is answered with 202.
    """
    error = record.error
    if record.outcome != "failed" or error is None or (record.decisions and record.answer):
        return Json(body, 200 if kept else 202)
    return Json(error_body(error.code, error.fact, error.remedy, runId=record.id), status_of(error.code))


def add_error_handlers(api: FastAPI) -> None:
    """Every way in which a request can fail ends in one of these."""
    api.add_exception_handler(WorkbenchError, _ours)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _refused)
    api.add_exception_handler(CallerLeft, _unread_reply)
    api.add_exception_handler(Exception, _unforeseen)


async def _ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, WorkbenchError)
    body = error_body(error.code, error.fact, error.remedy)
    if "field" in error.params:
        body["field"] = error.params["field"]
    headers = {"retry-after": str(error.retry_after_s)} if isinstance(error, TooManyRuns) else None
    return Json(body, error.status, headers=headers)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # Pydantic's own messages echo the input; ours name field and range only.
    return _unprocessable([_problem(item) for item in error.errors()[:_MOST_PROBLEMS]])


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        # FastAPI's own for what its JSON reader gave up on: bad UTF-8, deep nesting, numbers of thousands of digits.
        return _unprocessable([{"field": "body", "problem": "not valid JSON"}])
    fact = _FACTS.get(error.status_code, "The request was refused.")
    body = error_body("WB706", fact, "GET /api/openapi.json lists what there is.")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["allow"] = ", ".join(_methods(request))
    return Json(body, error.status_code, headers=headers)


def _methods(request: Request) -> list[str]:
    """Methods of every route at this path: the router itself names those of the first one alone."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return sorted(found)


async def _unread_reply(_: Request, __: Exception) -> Response:
    return Response(status_code=_CALLER_LEFT)


async def _unforeseen(request: Request, _: Exception) -> Response:
    _log.error("a request for %s failed", request.scope.get("route", "an unknown route"))
    return Json(error_body("WB000", INTERNAL_FACT, INTERNAL_REMEDY), 500)


def _unprocessable(problems: list[dict[str, str]]) -> Response:
    return Json(error_body("WB705", INVALID_FACT, INVALID_REMEDY, errors=problems), 422)


def _problem(item: Mapping[str, Any]) -> dict[str, str]:
    """Field and range; the first part of pydantic's location only says whether it is body, query or header."""
    path = [str(part) for part in item["loc"][1:]]
    field = ".".join(path[:3]) if all(_PLAIN_NAME.fullmatch(part) for part in path[:3]) else ""
    if item["type"] == "json_invalid" or not path:
        return {"field": "body", "problem": "not valid JSON" if item["type"] == "json_invalid" else "not an object"}
    if item["type"] == "extra_forbidden":
        # A name that is no name stays unsaid: it could be anything.
        return {"field": field or "body", "problem": "unknown field"}
    if item["type"] == "missing":
        return {"field": field, "problem": "required"}
    return {"field": path[0] if path[0] in SEED_FIELD_RANGES else field or path[0], "problem": _range(path[0], item)}


def _range(name: str, item: Mapping[str, Any]) -> str:
    if name in SEED_FIELD_RANGES:
        limits = PARAMETERS[SEED_FIELD_RANGES[name]]
        kind = "a whole number" if limits.whole else "a number"
        return f"must be {kind} from {limits.low:g} to {limits.high:g}"
    limit: Mapping[str, Any] = item.get("ctx", {})
    match item["type"]:
        case "string_too_short":
            return "must not be blank"
        case "string_too_long":
            return f"must have at most {limit['max_length']} characters"
        case "greater_than_equal":
            return f"must be at least {limit['ge']}"
        case "less_than_equal":
            return f"must be at most {limit['le']}"
        case "literal_error":
            return f"must be one of {limit['expected']}"
        case "value_error":
            return str(limit["error"])
        case _:
            return "wrong type"
